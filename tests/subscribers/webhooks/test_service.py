"""Webhooks with a real daemon, broker and receivers, whatever ends meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.daemon.conftest import daemon as daemon
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.daemon.conftest import wheel as wheel
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, serve, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration
from tests.support.video.receivers import HTTPReceiver
from tests.support.waiting import until
from tests.support.webhooks.program import Webhooks, first_of_each, runs, secret

pytestmark = pytest.mark.usefixtures("programs")


@pytest.fixture
def receiver(ending: ExitStack) -> HTTPReceiver:
    made = HTTPReceiver()
    ending.callback(made.stop)
    return made


@pytest.fixture
def webhooks(tmp_path: Path, ending: ExitStack) -> Callable[[str], Webhooks]:
    """``webhooks(configuration)``: in a folder of its own, not yet started."""

    def make(text: str) -> Webhooks:
        folder = tmp_path / "webhooks"
        folder.mkdir()
        secret(folder)
        made = Webhooks(folder, text)
        ending.callback(made.kill)
        return made

    return make


def hook(address: str, lines: str = "", name: str = "shop") -> str:
    return f"""
[[webhook]]
id = "{name}"
address = "{address}"
secret_file = "hook.secret"
{lines}"""


@pytest.mark.essential
def test_each_event_comes_signed_and_in_order_whatever_ends(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    receiver: HTTPReceiver,
    webhooks: Callable[[str], Webhooks],
) -> None:
    served, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    service = webhooks(configuration(mosquitto.port) + hook(f"{receiver.address}/novamas?a=b"))
    service.start()
    service.until_logged("connected")

    def came(boot: str | None, kind: str, count: int = 1) -> Callable[[], bool]:
        return lambda: (
            sum(
                (request.told["boot"], request.told["type"]) == (boot, kind)
                for request in first_of_each(receiver)
            )
            >= count
        )

    assert command(subscriber, "session.open")["ok"]
    spin(wheel, subscriber, "17", 2)
    until("the first result", came(served.boot(), "round.result"), service.log)
    one = next(each for each in receiver.requests if each.told["type"] == "round.result")
    assert one.path == "/novamas?a=b"
    assert one.headers["ce-type"] == "round.result"
    assert one.headers["ce-source"] == "novamas/v1/palma/r1"
    assert one.headers["ce-id"] == one.headers["webhook-id"]
    assert one.headers["ce-time"] == one.told["time"]
    assert one.headers["webhook-signature"].startswith("v1,")
    service.kill()
    spin(wheel, subscriber, "32", 3, before="17")
    served.kill()
    served.start()
    until_up(subscriber, served)
    assert command(subscriber, "session.close")["ok"]
    assert command(subscriber, "session.open")["ok"]
    service.start()
    until("the second run", came(served.boot(), "session.opened"), service.log)
    receiver.stop()
    subscriber.subscribed.clear()
    mosquitto.kill()
    mosquitto.start()
    assert subscriber.subscribed.wait(60)
    served.until_logged("broker connected", 2)
    assert command(subscriber, "session.close")["ok"]
    until("it waits", lambda: "waiting" in service.say("list"), service.log)
    service.until_logged("requests wait")
    service.kill()
    receiver.start()
    service.start()
    until("the last event", came(served.boot(), "session.closed", 2), service.log)
    found = runs(first_of_each(receiver))
    assert list(found) == list(dict.fromkeys(found))
    assert len(found) == 2
    first, second = found.values()
    assert first == list(range(first[0], first[-1] + 1))
    assert second == list(range(1, len(second) + 1))
    until(
        "nothing waits",
        lambda: service.say("list") == "shop: 0 waiting, 0 dead\n",
        lambda: service.say("list"),
    )
    assert service.stop() == 0
    assert "Traceback" not in service.log()
    assert "/novamas" not in service.log()
    assert "whsec" not in service.log()
