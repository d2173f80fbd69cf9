"""Tables that were removed from the configuration while the daemon was down: nothing of them stays
at a real broker, and nothing of any other daemon's is cleared.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

LIVE, SIMULATED = "novamas/v1/palma", "novamas-sim/v1/palma"


def tables(subscriber: Subscriber, root: str) -> set[str]:
    """The tables of which the broker retains anything."""
    topics = [
        topic.removeprefix(f"{root}/") for topic in retained(subscriber) if topic.startswith(root)
    ]
    return {topic.partition("/")[0] for topic in topics} - {"node"}


def retained(subscriber: Subscriber) -> set[str]:
    found = dict[str, bool]()
    for message in list(subscriber.messages):
        leaf = message.topic.split("/")[4:]
        if leaf[:1] in (["info"], ["state"], ["result"], ["history"], ["shoe"], ["alert"]):
            found[message.topic] = message.payload != b""
    return {topic for topic, there in found.items() if there}


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_what_is_retained_of_a_removed_table_is_cleared_at_the_next_start(
    protocol: str,
    tmp_path: Path,
    ending: ExitStack,
    mosquitto: Mosquitto,
    wheel: Wheel,
    subscribe: Callable[..., Subscriber],
) -> None:
    wheels = [wheel]
    for number in range(4):
        wheels.append(Wheel(tmp_path / f"wheel-{number}"))
        ending.callback(wheels[-1].close)
    r1, r2, r3, r4 = (table(f"r{n}", each) for n, each in enumerate(wheels[:4], 1))
    s1 = table("s1", wheels[4], simulated=True)

    def made(node: str, *configured: str) -> Daemon:
        folder = tmp_path / node
        folder.mkdir(exist_ok=True)
        line = f'protocol = "{protocol}"'
        text = configuration(mosquitto.port, *configured, broker=line).replace("pit-1", node)
        daemon = Daemon(folder, text)
        ending.callback(daemon.kill)
        return daemon

    subscriber = subscribe(mosquitto.port)
    first = made("pit-1", r1, r2, r3, s1)
    first.start()
    until("all are told", lambda: tables(subscriber, LIVE) == {"r1", "r2", "r3"}, first.log)
    until("the simulated one too", lambda: tables(subscriber, SIMULATED) == {"s1"}, first.log)
    first.kill()
    # r3 goes to another daemon, which has r4 besides, and is stopped again
    second = made("pit-2", r3, r4)
    second.start()
    second.until_logged("broker connected")
    until("r4 is told", lambda: "r4" in tables(subscriber, LIVE), second.log)
    second.stop()
    # uncleared alerts, at the removed table and at that of the other daemon
    for where in ("r2", "r3"):
        subscriber.publish(f"{LIVE}/{where}/alert/wheel", {"alert": "wheel"}, retain=True)
    again = made("pit-1", r1)
    again.start()
    again.until_logged("tables removed while the daemon was down")
    until("r2 is gone", lambda: "r2" not in tables(subscriber, LIVE), again.log)
    until("s1 is gone", lambda: not tables(subscriber, SIMULATED), again.log)
    late = subscribe(mosquitto.port)
    until("the others stay", lambda: tables(late, LIVE) == {"r1", "r3", "r4"}, again.log)
    assert f"{LIVE}/r3/alert/wheel" in retained(late)
    assert tables(late, SIMULATED) == set()
