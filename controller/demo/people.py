"""The demo's people: for each game, the next command of the table head or the croupier.

The functions are pure. A command depends only on the table's state and its latest events, so a
person can take over an open table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

CommandFields = tuple[str, dict[str, Any]]
"""A command's name and its fields."""


class Stacked(NamedTuple):
    """A prepared deck: in the round ``first``, or the next one with a coin, a player who takes part
    in the jackpot gets ``hand``; and again some rounds after each award.
    """

    first: int
    hand: tuple[str, ...]


class TableSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A table as seen by a person.

    ``shown``: the table's state; ``latest_events``: by type, since the person arrived; ``seed``:
    determines the cards that only this person sees; ``slips``: the person misreads a card in every
    round whose number is a multiple of this (0: never); ``stacked``: the prepared deck.
    """

    shown: Mapping[str, Any]
    latest_events: Mapping[str, Mapping[str, Any]] = {}
    seed: str = ""
    slips: int = 0
    stacked: Stacked | None = None

    @property
    def what(self) -> str | None:
        """The kind of the latest irregularity."""
        return self.latest_events.get("irregularity", {}).get("what")

    def since(self, event: str, *others: str) -> bool:
        """True if ``event`` was received, and none of ``others`` after it."""
        last = (self.latest_events[name]["seq"] for name in others if name in self.latest_events)
        return event in self.latest_events and self.latest_events[event]["seq"] > max(
            last, default=0
        )


Player = Callable[[TableSeen], CommandFields | None]

VOID_IRREGULARITIES = ("ball_with_rotor", "rotor_not_reversed")
"""Irregularities of a wheel that are themselves the reason for a void round. For any other, the
reason is ``inspector``.
"""
CARD_ACTIONS = {"card_unsure": "next_round", "silence": "accept"}
"""The action for a card that stops the table between rounds: an extra card is kept for the next
round, and an incompletely seen burn is accepted. Any other card is removed.
"""
SEATS = (1, 2, 3)
"""The players' seats at the dice table."""
DICE_BETS = (("win", 1000), ("dont_win", 500))
"""The bets of the shooter and of the next player before the first throw of a series."""
THROW_COMMANDS: Mapping[str, CommandFields] = {
    "shooter_no_bet": ("round.confirm", {}),
    "die_cocked": ("round.void", {"reason": "die_on_chips"}),
    "die_off_table": ("round.void", {"reason": "die_off_table"}),
}
"""The command for a throw that waits for a decision, by irregularity. For any other, the throw is
void with the reason ``inspector``.
"""


def wheel(seen: TableSeen) -> CommandFields | None:
    """A wheel that plays by itself: declare any round void that waits for a decision."""
    shown = seen.shown
    if shown["phase"] == "closed":
        return "session.open", {}
    if shown["asks"]:
        return void(shown["round"], seen.what if seen.what in VOID_IRREGULARITIES else "inspector")
    return void(shown["unresolved"][0]) if shown["unresolved"] else None


def shoe(seen: TableSeen) -> CommandFields | None:
    """Punto y banca: start shoes and declare misdeals void. A shoe of an earlier demo is replaced,
    because its remaining cards are unknown.
    """
    shown, asks = seen.shown, seen.shown["asks"]
    if shown["phase"] == "closed":
        return "session.open", {}
    if shown["hands"] and ("round.void" in asks or "shoe.started" not in seen.latest_events):
        return void(shown["round"], "misdeal")
    if (
        "shoe.start" in asks
        or "shoe.started" not in seen.latest_events
        or shown["phase"] == "shoe_over"
    ):
        return "shoe.start", {"shoe": str(int(shown["shoe"]["number"]) + 1 if shown["shoe"] else 1)}
    if "card.decide" in asks:
        return "card.decide", {"action": CARD_ACTIONS.get(seen.what or "", "remove")}
    return void(shown["unresolved"][0]) if shown["unresolved"] else None


def dice(seen: TableSeen) -> CommandFields | None:
    """Craps: name the session's dice, the seats, the shooter and the bets. Then decide on throws
    that cannot count, and report lost dice.
    """
    shown, asks, own = seen.shown, seen.shown["asks"], seen.shown["dice"]
    if shown["phase"] == "closed":
        return "session.open", {}
    if "dice.set" in asks:
        return "dice.set", {
            "serials": [f"{letter}{shown['session']:02}{shown['round']:03}" for letter in "ABCDEF"],
            "side": 200,
        }
    if "dice.choose" in asks:
        return "dice.choose", {"serials": [*own["reserve"], *own["playing"]][:2]}
    if shown["unresolved"]:
        return void(shown["unresolved"][0])
    if asks and seen.what == "dice_count" and len(own["playing"]) == 2:
        return "die.report", {"serial": own["playing"][0]}
    if asks:
        name, more = THROW_COMMANDS.get(seen.what or "", void(shown["round"]))
        return name, {**more, "round": shown["round"]}
    return _players(shown)


def _players(shown: Mapping[str, Any]) -> CommandFields | None:
    """Name the seats and the shooter, and place the bets before the first throw of a series."""
    if not shown["seats"]:
        return "boxes.set", {"boxes": SEATS}
    if shown["shooter"] is None:
        return "shooter.set", {"seat": SEATS[0]}
    if shown["series"] == "come_out" and shown["phase"] in ("waiting", "bets_open", "relaunch"):
        next_seat = SEATS[SEATS.index(shown["shooter"]) + 1 - len(SEATS)]
        for seat, (bet, amount) in zip((shown["shooter"], next_seat), DICE_BETS, strict=True):
            if not any(
                (bet_shown["who"], bet_shown["bet"]) == (f"seat:{seat}", bet)
                for bet_shown in shown["bets"]
            ):
                return "bet.place", {"who": f"seat:{seat}", "bet": bet, "amount": amount}
    return None


def void(number: int, reason: str = "inspector") -> CommandFields:
    """The command that declares a round void."""
    return "round.void", {"reason": reason, "round": number}
