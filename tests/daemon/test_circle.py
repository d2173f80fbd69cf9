"""A round of hold'em through the started daemon: covered cards from a barcode scanner, a daemon
that is killed in the middle.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from simulators.shoe.barcode import card_code
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said
from tests.support.daemon.process import Daemon, configuration
from tests.support.devices.parts import Pty
from tests.support.waiting import until

TABLE = "novamas-sim/v1/palma/c1"
HOLES = ("Ah", "Kh", "Qh", "Jh", "As", "Ks", "Qs", "Js")
BURNED = ("2c", "2d", "2h")
BOARD = ("3c", "4c", "9d", "Td", "7d")


def test_a_face_down_card_is_published_when_it_is_turned(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    port = Pty(tmp_path)
    ending.callback(port.unplug)
    subscriber = subscribe(mosquitto.port)
    table = f"""
[[table]]
id = "c1"
game = "texas-holdem"
decree = "EUS96"
simulated = true

[[table.device]]
id = "reader"
driver = "barcode-serial"
link = "{port.url}"
options = {{ min_draw = 0.0, repeat = 60.0 }}
"""
    run = daemon(configuration(mosquitto.port, table))
    run.start()
    until("the table", lambda: subscriber.latest(f"{TABLE}/state"), run.log)
    until_open(subscriber, run, "c1", "reader")

    def say(name: str, **fields: Any) -> None:
        reply = command(subscriber, name, TABLE, **fields)
        assert reply["ok"], reply

    def scan(*cards: str) -> None:
        for card in cards:
            port.say(f"{card_code(card)}\r\n".encode())

    # A reader that reports only when it reads must be up before the game; else its first cards are
    # in doubt.
    scan("8s")
    until_said(subscriber, "irregularity", 1)
    say("session.open", minimum=500, currency="EUR")
    say("boxes.set", boxes=[1, 2, 3, 4])
    say("button.set", seat=4)
    say("deck.check", cards=52)
    say("bets.open")
    say("bets.close")
    scan(*HOLES)
    dealt = until_said(subscriber, "card.dealt", 8)
    assert [event["to"] for event in dealt] == [f"seat:{number}" for number in (4, 3, 2, 1)] * 2
    assert {event["card"] for event in dealt} == {None}
    say("hand.act", who="seat:3", action="bet")
    run.kill()
    run.start()
    until(
        "the table is back",
        lambda: subscriber.latest(f"{TABLE}/state")["boot"] != dealt[0]["boot"],
        run.log,
    )
    until_open(subscriber, run, "c1", "reader")
    say("hand.act", who="seat:2", action="fold")
    for burned, cards, told in (
        (BURNED[0], BOARD[:3], 11),
        (BURNED[1], BOARD[3:4], 12),
        (BURNED[2], BOARD[4:], 13),
    ):
        say("betting.close")
        scan(burned, *cards)
        until_said(subscriber, "card.dealt", told)
        if (
            told == 11
        ):  # the first cards after the restart: one may have gone unseen, and a person has looked
            asked = until_said(subscriber, "irregularity", 2)[1]
            assert (asked["what"], "card.decide" in asked["asks"]) == ("silence", True)
            say("card.decide", action="accept")
    say("betting.close")
    say(
        "cards.turn", who="seat:4"
    )  # all that was due came from the reader: who answered has not to say what lies there
    say("cards.show", who="seat:3", cards=["Kh", "Ks"])
    say("hand.act", who="seat:1", action="muck")
    (result,) = until_said(subscriber, "round.result", 1)
    assert result["outcome"]["winner"] == "seat:4"
    assert [(hand["who"], hand["cards"]) for hand in result["outcome"]["hands"]] == [
        ("seat:4", ["Ah", "As"]),
        ("seat:3", ["Kh", "Ks"]),
        ("board", list(BOARD)),
    ]
    public = str(
        [
            message.body
            for message in subscriber.on(f"{TABLE}/event")
            + subscriber.on(f"{TABLE}/state")
            + subscriber.on(f"{TABLE}/result")
        ]
    )
    assert [
        card for card in (*HOLES, *BURNED) if f"'{card}'" in public or card_code(card) in public
    ] == ["Ah", "Kh", "As", "Ks"]
    assert run.stop() == 0
