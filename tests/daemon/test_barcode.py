"""``novamas run`` with barcode scanners: one on a pseudo-terminal, one on a virtual USB bus below
the real pyusb.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest

from simulators.shoe.barcode import card_code, key_reports
from tests.daemon import virtual_usb
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_more, until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.daemon.tables import mini_table
from tests.support.devices.parts import Pty
from tests.support.waiting import TIMEOUT_SECONDS, until

TABLE = "novamas-sim/v1/palma/b1"
BURN = ("2h", "Kc", "Kd")
COUP = ("9h", "2c", "Kd", "3s")
OTHER = ("2h", "Tc", "3d", "3s", "7h", "4h")


class Scanner(Protocol):
    """What both have."""

    driver: str
    url: str

    def begin(self, daemon: Daemon) -> None: ...

    def ready(self, subscriber: Subscriber) -> None:
        """Wait until the daemon has it open."""

    def say(self, text: str, half: bool = False) -> None: ...

    def unplug(self) -> None: ...

    def plug(self) -> None: ...

    def close(self) -> None: ...


class Serial:
    driver = "barcode-serial"

    def __init__(self, folder: Path) -> None:
        self._port = Pty(folder)
        self.url = self._port.url

    def begin(self, daemon: Daemon) -> None:
        self._daemon = daemon
        daemon.start()

    def ready(self, subscriber: Subscriber) -> None:
        until_open(subscriber, self._daemon, "b1", "shoe")

    def say(self, text: str, half: bool = False) -> None:
        self._port.say(text[:-1].encode() if half else f"{text}\r\n".encode())

    def unplug(self) -> None:
        self._port.unplug()

    def plug(self) -> None:
        self._port.plug()

    def close(self) -> None:
        self._port.unplug()


class Usb:
    driver = "barcode-hid"
    url = "usb://0c2e:0b61/17?timeout=0.2"

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "bus")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(self._path)
        self._listening.listen()
        self._listening.settimeout(TIMEOUT_SECONDS)
        self._open = ExitStack()

    def begin(self, daemon: Daemon) -> None:
        daemon.program = (virtual_usb.__file__, self._path)
        daemon.start()
        connection, _ = self._listening.accept()
        with connection:
            self._lines = self._open.enter_context(connection.makefile("rw"))

    def ask(self, line: str) -> list[str]:
        print(line, file=self._lines, flush=True)
        log: list[str] = json.loads(self._lines.readline())
        return log

    def ready(self, subscriber: Subscriber) -> None:  # noqa: ARG002  a virtual bus says it itself
        until("the interface is claimed", lambda: "clear_halt 81" in self.ask(""))

    def say(self, text: str, half: bool = False) -> None:
        reports = key_reports(text)[: 2 if half else None]
        self.ask(f"report {' '.join(report.hex() for report in reports)}")

    def unplug(self) -> None:
        self.ask("unplug")

    def plug(self) -> None:
        self.ask("plug")

    def close(self) -> None:
        self._open.close()
        self._listening.close()


@pytest.fixture(params=[Serial, Usb], ids=lambda kind: str(kind.driver))
def scanner(programs: None, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scanner]:
    made: Scanner = request.param(tmp_path)
    yield made
    made.close()


@pytest.fixture
def subscriber(
    scanner: Scanner,
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> Subscriber:
    """A small table without keys, cards face up, its shoe started and burned."""
    listening = subscribe(mosquitto.port)
    # nobody draws in a test, and no machine is so slow
    options = "min_draw = 0.0, repeat = 60.0"
    table = mini_table("b1", scanner.driver, scanner.url, options)
    made = daemon(configuration(mosquitto.port, table))
    scanner.begin(made)
    until("the table", lambda: listening.latest(f"{TABLE}/state"), made.log)
    assert command(listening, "session.open", TABLE)["ok"]
    assert command(listening, "shoe.start", TABLE, shoe="S1")["ok"]
    scanner.ready(listening)
    scan(scanner, *BURN)
    return listening


def scan(scanner: Scanner, *cards: str) -> None:
    for card in cards:
        scanner.say(card_code(card))


def health(subscriber: Subscriber) -> dict[str, Any]:
    """The scanner's alert, as published by the daemon."""
    report: dict[str, Any] = subscriber.latest("/health")["tables"]["b1"]["devices"]["shoe"]
    return report


def standing(subscriber: Subscriber) -> dict[str, Any]:
    """The scanner's state, as published by its table."""
    body: dict[str, Any] = subscriber.latest(f"{TABLE}/state")["devices"]["shoe"]
    return body


def alert(subscriber: Subscriber) -> Any:
    """That of its link, or None."""
    return subscriber.latest(f"{TABLE}/alert/shoe-link")


def first(subscriber: Subscriber, kind: str) -> dict[str, Any]:
    return until_more(subscriber, kind, 0)[0]


@pytest.mark.essential
def test_scanned_cards_become_a_result(scanner: Scanner, subscriber: Subscriber) -> None:
    scan(scanner, *COUP)
    result = first(subscriber, "round.result")
    assert result["outcome"]["winner"] == "player"
    assert [
        event["card"] for event in subscriber.events("card.dealt") if event["to"] != "burn"
    ] == list(COUP)
    assert [event["count"] for event in subscriber.events("cards.burned")] == [2]
    assert (result["frames"], len(result["readings"])) == ([], len(COUP))
    scan(scanner, *OTHER)
    assert [event["outcome"]["winner"] for event in until_more(subscriber, "round.result", 1)] == [
        "banker"
    ]
    assert subscriber.events("irregularity") == []


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((card_code("2c"),), "card_unsure"),
        (("NOREAD",), "card_unread"),
        (("5901234123457",), "card_unread"),
    ],
)
def test_an_uncertain_scan_stops_the_table_and_asks(
    scanner: Scanner, subscriber: Subscriber, words: tuple[str, ...], what: str
) -> None:
    scan(scanner, *COUP[:2])
    for word in words:
        scanner.say(word)
    asked = first(subscriber, "irregularity")
    assert asked["what"] == what
    assert "card.decide" in asked["asks"]
    assert subscriber.events("round.result") == []


def test_a_scanner_that_is_plugged_in_again_is_open_until_it_reads_something(
    scanner: Scanner, subscriber: Subscriber
) -> None:
    scan(scanner, *COUP[:1])
    until(
        "a card",
        lambda: [event for event in subscriber.events("card.dealt") if event["to"] != "burn"],
    )
    scanner.unplug()
    until("the loss", lambda: alert(subscriber) and alert(subscriber)["what"] == "link.lost")
    scanner.plug()
    until("the opening", lambda: alert(subscriber)["what"] == "link.open")
    assert alert(subscriber)["severity"] == "warning"
    until("its table reports it", lambda: standing(subscriber)["state"] == "open")
    assert standing(subscriber)["detail"] == "nothing heard yet"
    assert subscriber.latest(f"{TABLE}/state")["status"] == "stale"
    scanner.ready(subscriber)
    asked = len(subscriber.events("irregularity"))
    scan(scanner, COUP[1])
    until("the scanner is up", lambda: standing(subscriber)["state"] == "up")
    until("the alert is gone", lambda: not alert(subscriber))
    assert len(subscriber.events("irregularity")) >= asked
    assert subscriber.events("round.result") == []


def test_half_a_code_before_the_unplugging_is_never_completed(
    scanner: Scanner, subscriber: Subscriber
) -> None:
    scan(scanner, *COUP[:3])
    until(
        "three cards",
        lambda: (
            len([event for event in subscriber.events("card.dealt") if event["to"] != "burn"]) == 3
        ),
    )
    scanner.say(card_code(COUP[3]), half=True)
    scanner.unplug()
    until("the device is lost", lambda: health(subscriber)["state"] == "lost")
    scanner.plug()
    scanner.ready(subscriber)
    scan(scanner, *OTHER)
    unresolved = first(subscriber, "round.unresolved")
    assert (unresolved["round"], unresolved["why"]) == (1, "silence")

    def states() -> list[str]:
        return [event["state"] for event in subscriber.events("device.state")]

    until(
        "its states", lambda: states()[-4:] == ["up", "lost", "open", "up"], subscriber.transcript
    )
    assert [event for event in subscriber.events("round.result") if event["round"] == 1] == []
