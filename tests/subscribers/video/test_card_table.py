"""A daemon at a poker table with face-down cards: nothing sent to a receiver of bookmarks names a
card before it is face up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from tests.daemon.conftest import daemon, mosquitto, subscribe, tell  # noqa: F401
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.daemon.tables import poker_table
from tests.support.devices.parts import Pty
from tests.support.video.sending import EVENTS, Receivers, Recorder
from tests.support.waiting import until

TABLE = "novamas/v1/palma/p1"
DEALT = ("Ah", "2c", "Th", "3c", "9h", "4c", "8h", "5c", "7h", "6c")
"""To the box and the bank in turn; the last lies face up."""


@pytest.mark.usefixtures("programs")
def test_no_receiver_gets_a_card_before_it_is_face_up(
    mosquitto: Mosquitto,  # noqa: F811
    daemon: Callable[[str], Daemon],  # noqa: F811
    subscribe: Callable[..., Subscriber],  # noqa: F811
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["keygen", str(tmp_path / "surveillance.key")]) == 0
    surveillance = capsys.readouterr().out
    port = Pty(tmp_path)
    ending.callback(port.unplug)
    subscriber = subscribe(mosquitto.port)
    place = str(tmp_path / "archive.sqlite3")
    ending.callback(Recorder(place, subscriber).close)
    receivers = Receivers(place, ending)
    run = daemon(configuration(mosquitto.port, poker_table(port.url)) + surveillance)
    run.start()
    until("the table", lambda: subscriber.latest(f"{TABLE}/state"), run.log)
    until_open(subscriber, run, "p1", "reader")

    def say(name: str, **fields: Any) -> None:
        reply = command(subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    def draw(card: str) -> None:
        known = len(subscriber.events("card.dealt"))
        port.say(f"[Game]<Card:{card.replace('T', '10').upper()}>\r\n".encode())
        until(f"{card} is dealt", lambda: len(subscriber.events("card.dealt")) > known, run.log)

    def all_sent() -> bool:
        count = sum(event["type"] in EVENTS for event in subscriber.events())
        return all(receiver.progress.sent == count for receiver in receivers.all.values())

    def speak(line: str) -> None:
        known = len(subscriber.on("/sealed"))
        port.say(line.encode() + b"\r\n")
        until(
            f"sealed: {line}",
            lambda: len(subscriber.on("/sealed")) > known,
            run.log,
        )

    say("session.open")
    speak("[Game]<Alarm:E9 AH misread>")
    say("deck.check", cards=52)
    say("bets.open")
    say("boxes.set", boxes=[1])
    say("bets.close")
    for card in DEALT:
        draw(card)
    speak("[Game]<Alarm:E8 10H twice>")  # it speaks of a card that lies face down
    until("all is sent", all_sent, run.log)
    assert len(subscriber.on("/sealed")) >= len(DEALT) - 1  # the archive has them, unread
    hidden = {*DEALT} - {subscriber.events("card.dealt")[-1]["card"]}
    assert named(receivers, hidden) == set()
    assert receivers.webhook.requests

    say("round.void", reason="misdeal")  # the cards are never turned
    until("the void round is sent", partial(sent, receivers, "round.void"), run.log)
    until("all is sent", all_sent, run.log)
    assert named(receivers, hidden) == set()
    assert run.stop() == 0


def sent(receivers: Receivers, kind: str) -> bool:
    return all(kind.encode() in each for each in every(receivers))


def every(receivers: Receivers) -> tuple[bytes, ...]:
    """Return everything sent to each receiver."""
    return (
        b"\n".join(request.path.encode() + request.body for request in receivers.webhook.requests),
        b"\n".join(
            request.path.replace("_", ".").encode() + request.body
            for request in receivers.frigate.requests
        ),
        b"\n".join(receivers.pos.lines),
        b"\n".join(receivers.milestone.lines),
    )


def named(receivers: Receivers, cards: set[str]) -> set[str]:
    """Return the cards named to any receiver, in any notation."""
    return named_in("\n".join(each.decode() for each in every(receivers)), cards)


def test_the_search_finds_a_card_however_it_is_written() -> None:
    assert named_in("10♥ Ah 2C", {"Th", "Ah", "2c", "9h"}) == {"Th", "Ah", "2c"}
    assert named_in(r"\u0031\u0030\u2665", {"Th"}) == {"Th"}


def named_in(told: str, cards: set[str]) -> set[str]:
    suits = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    told += "\n" + told.encode().decode("unicode_escape", "replace")  # what JSON may have escaped
    found = set()
    for card in cards:
        rank, suit = card[0], card[1]
        ranks = {rank, "10"} if rank == "T" else {rank}
        spellings = "|".join(
            f"{each}{suit}|{each}{suit.upper()}|{each}{suits[suit]}" for each in ranks
        )
        if re.search(rf"(?<![A-Za-z0-9])(?:{spellings})(?![A-Za-z0-9])", told):
            found.add(card)
    return found
