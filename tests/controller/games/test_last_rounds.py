"""The last rounds before closing: they are announced, counted, and no bets open after the last of
them.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.events import AnyEvent, LastRounds, RoundOpened
from common.contract.notation import read_input
from common.contract.refusals import RejectedError
from controller.games.game import Game
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.outcomes import shown

THREE = {"eu": "azken hiru eskuak"}
NOBODY_GOES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "poker-no-draw": (
        ("boxes.set", {"boxes": [1]}),
        ("bets.close", {}),
        ("cards.deal", {"count": 10}),
        ("pass", {}),
    ),
    "poker-draw-house": (
        ("boxes.set", {"boxes": [1]}),
        ("bets.close", {}),
        ("cards.deal", {"count": 10}),
        ("pass", {}),
    ),
    "three-card-poker": (
        ("boxes.set", {"boxes": [1]}),
        ("bets.close", {}),
        ("cards.deal", {"count": 6}),
        ("pass", {}),
    ),
    "texas-house": (
        ("bets.close", {}),
        *(("cards.deal", {"who": who}) for who in ("box:1", "dealer") * 2),
        ("cards.deal", {"who": "board", "count": 3, "cards": ["2c", "7d", "Jh"]}),
        ("pass", {}),
    ),
    "pai-gow": (
        ("bets.close", {}),
        ("dice.tell", {"values": [1, 1, 5]}),
        *(("cards.deal", {"who": who, "count": 7}) for who in ("dealer", "box:1")),
        ("deck.check", {"cards": 39}),
        ("set", {}),
        (
            "cards.show",
            {
                "who": "dealer",
                "cards": ["As", "Ks", "Qs", "Js", "9s", "2d", "3d"],
                "low": ["2d", "3d"],
            },
        ),
        (
            "cards.show",
            {
                "who": "box:1",
                "cards": ["Ah", "Kh", "Qh", "Jh", "9h", "4d", "5d"],
                "low": ["4d", "5d"],
            },
        ),
    ),
    "trijoker": (
        ("bets.close", {}),
        *(
            ("cards.deal", {"who": who})
            for who in ("box:1", "common:1", "box:1", "common:2", "box:1")
        ),
        ("cards.show", {"who": "common:1", "cards": ["2c"]}),
        ("cards.show", {"who": "common:2", "cards": ["7d"]}),
        ("cards.show", {"who": "box:1", "cards": ["Jh", "4s", "9c"]}),
        ("deck.check", {"cards": 52}),
    ),
}
"""A whole round from the opening of bets on, at a table without a reader."""


class Table:
    """A table that follows input lines and commands."""

    def __init__(self, game: str, decree: str, **settings: Any) -> None:
        self.game: Game = make_game(game, decree, settings)
        self.state: Any = self.game.begin()
        self.at = 0.0

    def take(self, line: dict[str, Any]) -> tuple[AnyEvent, ...]:
        self.at += 1.0
        self.state, events = self.game.step(
            self.state, read_input(msgspec.json.encode({"at": self.at, **line}))
        )
        return events

    def send(self, command: str, **fields: Any) -> tuple[AnyEvent, ...]:
        if command in ("pass", "set"):
            command, fields = "hand.act", {"who": "box:1", "action": command}
        return self.take({"type": command, "by": "M. Lasa", "role": "table_head"} | fields)

    def last(self, events: tuple[AnyEvent, ...]) -> list[int]:
        """The published numbers of last rounds that are left."""
        return [event.left for event in events if isinstance(event, LastRounds)]


def house(game: str) -> Table:
    table = Table(game, "EUS96")
    table.send("session.open", minimum=500, currency="EUR")
    if game in ("texas-house", "pai-gow", "trijoker"):
        table.send("boxes.set", boxes=[1])
    return table


@pytest.mark.rule("EUS96-182", "EUS96-183")
@for_each("game", NOBODY_GOES)
def test_the_last_three_are_announced_at_every_table_of_cards_and_no_fourth_begins(
    game: str,
) -> None:
    table = house(game)
    [announced] = table.send("last_rounds.announce")
    assert isinstance(announced, LastRounds)
    assert (announced.left, announced.announcement) == (
        3,
        {"eu": "azken hiru jokaldiak"} if game == "trijoker" else THREE,
    )
    left = []
    for _ in range(3):
        table.send("bets.open")
        for command, fields in NOBODY_GOES[game]:
            left += table.last(table.send(command, **fields))
    assert left == [2, 1, 0]
    with pytest.raises(
        RejectedError,
        match=r"the announced last rounds have been played; send session-close",
    ):
        table.send("bets.open")
    table.send("session.close")
    table.send("session.open", minimum=500, currency="EUR")
    if game in ("texas-house", "pai-gow", "trijoker"):
        table.send("boxes.set", boxes=[1])
    assert any(isinstance(event, RoundOpened) for event in table.send("bets.open")), (
        "another session has no announcement yet"
    )


TWO_CLOTHS = ("8h", "9h", "8c", "Kd", "Kh", "Ks")


@pytest.mark.rule("EUS96-183")
@pytest.mark.parametrize("game", ["chemin-de-fer", "baccarat-two-cloths"])
def test_last_rounds_are_announced_where_a_player_holds_the_bank(game: str) -> None:
    table = Table(game, "EUS96")
    table.send("session.open", minimum=500, currency="EUR")
    table.send("shoe.start", shoe="7")
    table.send("bets.open")
    [announced] = table.send("last_rounds.announce")
    assert isinstance(announced, LastRounds)
    assert (announced.left, announced.announcement) == (3, THREE)
    with pytest.raises(RejectedError, match="already announced"):
        table.send("last_rounds.announce")
    left: list[int] = []
    table.send("round.void", role="inspector", reason="inspector")
    for turned in (True, False, True):
        table.send("bets.open")
        table.send("bets.close")
        if turned:
            # every hand has a natural: none lays down before another has spoken
            cards = ("8h", "9h", "Kc", "Kd") if game == "chemin-de-fer" else TWO_CLOTHS
            for card in cards:
                table.take({"type": "card.drawn", "device": "shoe", "card": card})
            left += table.last(table.send("cards.turn"))
        else:
            table.take({"type": "link.lost", "device": "shoe", "reason": "unplugged"})
            left += table.last(
                table.send(
                    "round.confirm", winner="player" if game == "chemin-de-fer" else "cloth:1,tie"
                )
            )
            table.take({"type": "link.up", "device": "shoe"})
    assert left == [2, 1, 0]
    assert shown(table.game, table.state)["last_rounds"] == 0
    with pytest.raises(RejectedError, match="the announced last rounds have been played"):
        table.send("bets.open")
    table.send("session.close")
    table.send("session.open", minimum=500, currency="EUR")
    assert table.state.last is None


@for_each("game", ["chemin-de-fer", "baccarat-two-cloths"])
@for_each("decree", ["BAL05", "ARA02", "GAL07"])
def test_other_decrees_have_no_such_announcement(game: str, decree: str) -> None:
    table = Table(game, decree)
    table.send("session.open", minimum=500, currency="EUR")
    with pytest.raises(RejectedError, match="the decree has no announcement of last rounds"):
        table.send("last_rounds.announce")


def test_a_null_round_does_not_count_as_a_last_one() -> None:
    table = house("poker-no-draw")
    table.send("last_rounds.announce")
    for _ in range(4):
        table.send("bets.open")
        table.send("round.void", reason="inspector")
    assert table.state.last == 3


@pytest.mark.rule("EUS96-030")
def test_no_ball_is_announced_after_the_last() -> None:
    table = Table("roulette-french", "EUS96", phases="person")
    table.send("session.open", minimum=500, currency="EUR")
    table.send("last_rounds.announce")
    for _ in range(3):
        table.send("bets.open")
        table.send("bets.close")
        table.take({"type": "wheel.number", "device": "wheel", "number": 7})
    assert table.state.left("close") == 0
    with pytest.raises(RejectedError, match="the announced last rounds have been played"):
        table.send("bets.open")
