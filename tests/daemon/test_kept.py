"""Data that a device server stored while no client was connected is not played live by a restarted
daemon. After a takeover: ``test_standby.py``.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.pair import NetworkWheel, spins
from tests.support.daemon.play import TABLE, command, serve, spin, until_more, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.daemon.tables import mini_table
from tests.support.waiting import until

SHOE = "novamas-sim/v1/palma/r1"

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]


@pytest.fixture
def wheel(programs: None) -> Iterator[NetworkWheel]:
    made = NetworkWheel()
    yield made
    made.close()


def proved(daemon: Daemon) -> None:
    """End the daemon, and derive again from the bytes what it read and published."""
    assert daemon.stop() == 0
    found = audit(daemon.folder / "journal.sqlite3")
    assert found.differences == []
    assert found.unproved == {}


def test_spins_that_a_device_server_kept_are_no_results(
    wheel: NetworkWheel, mosquitto: Mosquitto, daemon: Make, subscribe: Subscribe
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    assert command(subscriber, "session.open")["ok"]
    spin(wheel, subscriber, "17", 2)
    known = len(subscriber.events("round.opened"))
    wheel.show(2, 3, "17")
    until_more(subscriber, "round.opened", known)
    before = len(subscriber.events())
    # the spin of the round, and three more, in as many bytes as come in one packet
    wheel.unplug()
    kept = spins(3, "17", (" 7", "23", " 0", "36"))
    wheel.kept, wheel.line = kept, b"*X;2;007;36;0;200;0"
    assert made.stop() == 0
    made.start()
    until("the stored data is delivered", lambda: not wheel.kept, made.log)
    until_up(subscriber, made)

    def after(kind: str) -> list[dict[str, Any]]:
        return [event for event in subscriber.events()[before:] if event["type"] == kind]

    # the wheel continues at its own pace, and its lines are live again
    until("late lines are reported", lambda: after("data.late"), made.log)
    until("bets are open", lambda: after("round.opened")[-1:], made.log)
    waiting = {each["round"]: each for each in after("round.unresolved")}
    assert {each["why"] for each in waiting.values()} == {"silence"}
    assert waiting[2]["candidate"] == 7
    assert after("round.result") == []
    assert after("bets.closed") == []
    known = len(subscriber.events("round.result"))
    for state in (3, 4, 5):
        wheel.show(state, 7, "12" if state == 5 else "36")
    (result,) = until_more(subscriber, "round.result", known)
    assert (result["outcome"]["number"], result["spin"]) == (12, 7)
    reply = command(subscriber, "round.confirm", TABLE, round=2)
    assert reply["ok"], reply
    assert until_more(subscriber, "round.result", known + 1)[0]["outcome"]["number"] == 7
    proved(made)


class Scanner:
    """A scanner behind a device server, which delivers stored data to any client that connects."""

    def __init__(self) -> None:
        self.kept = b""
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"tcp://127.0.0.1:{self._door.getsockname()[1]}"
        self._clients: list[socket.socket] = []
        self._taking = threading.Thread(target=self._take)
        self._taking.start()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                kept, self.kept = self.kept, b""
                client.sendall(kept)
                self._clients.append(client)

    def close(self) -> None:
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._taking.join()
        for client in self._clients:
            client.close()


@pytest.fixture
def scanner(programs: None) -> Iterator[Scanner]:
    made = Scanner()
    yield made
    made.close()


def test_a_card_that_a_device_server_kept_is_not_dealt(
    scanner: Scanner, mosquitto: Mosquitto, daemon: Make, subscribe: Subscribe
) -> None:
    subscriber = subscribe(mosquitto.port)
    made = daemon(
        configuration(
            mosquitto.port,
            mini_table("r1", "barcode-serial", scanner.url, "min_draw = 10.0"),
        )
    )
    made.start()
    until("the table", lambda: subscriber.latest(f"{SHOE}/state"), made.log)
    assert command(subscriber, "session.open", SHOE)["ok"]
    assert command(subscriber, "shoe.start", SHOE, shoe="S1")["ok"]
    assert made.stop() == 0
    before = len(subscriber.events())
    scanner.kept = b"D2\r\n"
    made.start()
    until("the stored data is delivered", lambda: not scanner.kept, made.log)

    def after() -> list[str]:
        return [event["type"] for event in subscriber.events()[before:]]

    until("it is reported as late", lambda: "data.late" in after(), made.log)
    assert not {"card.dealt", "cards.burned", "round.opened", "round.result"} & {*after()}
    until("it waits", lambda: subscriber.latest(f"{SHOE}/state")["status"] == "waiting", made.log)
