"""Webhooks, broker and daemon are killed in turn while a receiver answers as it likes: it gets
every event of the journal from the first one on, each table's in order.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from controller.journal.reader import JournalReader
from tests.daemon.conftest import daemon, mosquitto, subscribe, tell  # noqa: F401
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.process import Daemon, configuration, table
from tests.support.video.receivers import HTTPReceiver, Request
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.webhooks.program import Webhooks, first_of_each, secret

pytestmark = pytest.mark.usefixtures("programs")

TABLES = ("r1", "r2", "r3")
KILLS_SHORT, KILLS_LONG = 6, 100
ROOT = "novamas/v1/palma"
DEVICE = """
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:{port}"
"""
"""It never answers: only people act at these tables."""


def recorded(journal: Path, name: str) -> list[tuple[str, int]]:
    """The events of a table in the journal, in order."""
    with closing(JournalReader(journal)) as reader:
        found: list[tuple[str, int]] = []
        boot, seq = "", 0
        while entries := reader.events_since(name, boot, seq, 100):
            found += [(entry.boot, entry.seq) for entry in entries]
            boot, seq = found[-1]
        return found


def test_no_kill_loses_an_event_or_its_order(
    mosquitto: Mosquitto,  # noqa: F811
    daemon: Callable[[str], Daemon],  # noqa: F811
    subscribe: Callable[..., Subscriber],  # noqa: F811
    ending: ExitStack,
    tmp_path: Path,
    long: bool,
) -> None:
    chance = random.Random(20261128)
    answers = iter(lambda: chance.choice((200, 200, 200, 503, 500)), None)
    receiver = HTTPReceiver(lambda _: (next(answers), {}))
    ending.callback(receiver.stop)
    tables = [table(name, None) + DEVICE.format(port=free_port()) for name in TABLES]
    run = daemon(configuration(mosquitto.port, *tables))
    folder = tmp_path / "webhooks"
    folder.mkdir()
    hook = f'[[webhook]]\nid = "shop"\naddress = "{receiver.address}"\nsecret_file = "s"\n'
    service = Webhooks(folder, f"{configuration(mosquitto.port)}\n{hook}")
    secret(folder, "s")
    ending.callback(service.kill)
    subscriber = subscribe(mosquitto.port)
    run.start()
    for name in TABLES:
        until(name, lambda name=name: subscriber.latest(f"{ROOT}/{name}/state"), run.log)  # type: ignore[misc]
    service.start()
    service.until_logged("connected")
    ended = threading.Event()

    def play() -> None:
        """Open and close sessions; what is said while the daemon is away is lost."""
        count = 0
        while not ended.wait(0.02):
            count += 1
            name, word = TABLES[count % 3], ("open", "close")[count // 3 % 2]
            body = b'{"by":"M. Lasa","role":"table_head"}'
            subscriber.publish_nowait(f"{ROOT}/{name}/command/session-{word}", body)

    playing = threading.Thread(target=play)
    playing.start()
    try:
        until("the first came", lambda: receiver.requests, service.log)
        for _ in range(KILLS_LONG if long else KILLS_SHORT):
            known = len(receiver.requests)
            until("more came", lambda known=known: len(receiver.requests) > known, service.log)  # type: ignore[misc]
            match chance.choice(("service", "service", "broker", "daemon")):
                case "service":
                    service.kill()
                    service.start()
                case "daemon":
                    run.kill()
                    run.start()
                case "broker":
                    subscriber.subscribed.clear()
                    mosquitto.kill()
                    mosquitto.start()
                    assert subscriber.subscribed.wait(TIMEOUT_SECONDS)
    finally:
        ended.set()
        playing.join()
    receiver.answers = lambda _: (200, {})
    journal = tmp_path / "journal.sqlite3"

    def came(name: str) -> list[tuple[str, int]]:
        told = [request.told for request in first_of_each(receiver)]
        return [(each["boot"], each["seq"]) for each in told if each["table"] == name]

    for name in TABLES:
        until(
            f"the last of {name}",
            lambda name=name: came(name)[-1:] == recorded(journal, name)[-1:],  # type: ignore[misc]
            service.log,
        )
        expected = recorded(journal, name)
        begin = expected.index(came(name)[0])
        assert came(name) == expected[begin:]
    assert not [each for each in receiver.requests if _is_gap(each)]
    assert "Traceback" not in service.log()


def _is_gap(request: Request) -> bool:
    return bool(request.told["type"] == "gap")
