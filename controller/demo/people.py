"""The people of the demo: for each game, what the table head or the croupier says next, given what
they see.

Everything is pure and without memory: what a person says follows from the table's state and from
the latest events, so that whoever comes to an open table can continue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

Said = tuple[str, dict[str, Any]]
"""A command's name, and what it says."""


class TableSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What a person sees. ``shown``: the table's state; ``heard``: the latest event of each type
    since he came; ``seed``: of the cards that lie before him, where he alone sees them; ``slips``:
    in each so-many-th round he misreads one.
    """

    shown: Mapping[str, Any]
    heard: Mapping[str, Mapping[str, Any]] = {}
    seed: str = ""
    slips: int = 0

    @property
    def what(self) -> str | None:
        """What was last irregular."""
        return self.heard.get("irregularity", {}).get("what")

    def since(self, event: str, *others: str) -> bool:
        """Whether an event was heard, and none of the others after it."""
        last = (self.heard[name]["seq"] for name in others if name in self.heard)
        return event in self.heard and self.heard[event]["seq"] > max(last, default=0)


Person = Callable[[TableSeen], Said | None]

VOID = ("ball_with_rotor", "rotor_not_reversed")
"""What is irregular at a wheel and makes the round void by a reason of its own; all else by the
word of who is in charge.
"""
CARDS = {"card_unsure": "next_round", "silence": "accept"}
"""What becomes of a card that stops the table between rounds: one too many is kept for the next, a
burn that was not seen whole is over. Any other is removed.
"""
SEATS = (1, 2, 3)
"""Where players stand at the dice."""
BETS = (("win", 1000), ("dont_win", 500))
"""What the shooter bets before the first throw of a series, and what the player after him does."""
THROWS: Mapping[str, Said] = {
    "shooter_no_bet": ("round.confirm", {}),
    "die_cocked": ("round.void", {"reason": "die_on_chips"}),
    "die_off_table": ("round.void", {"reason": "die_off_table"}),
}
"""What becomes of a throw that waits, where the table does not see why; any other is void by the
word of who is in charge.
"""


def wheel(seen: TableSeen) -> Said | None:
    """A wheel that plays by itself: what waits there is void."""
    shown = seen.shown
    if shown["phase"] == "closed":
        return "session.open", {}
    if shown["asks"]:
        return void(shown["round"], seen.what if seen.what in VOID else "inspector")
    return void(shown["unresolved"][0]) if shown["unresolved"] else None


def shoe(seen: TableSeen) -> Said | None:
    """Punto y banca: shoes are given out, a misdeal is void. Of an earlier demo's shoe nobody knows
    what is left.
    """
    shown, asks = seen.shown, seen.shown["asks"]
    if shown["phase"] == "closed":
        return "session.open", {}
    if shown["hands"] and ("round.void" in asks or "shoe.started" not in seen.heard):
        return void(shown["round"], "misdeal")
    if "shoe.start" in asks or "shoe.started" not in seen.heard or shown["phase"] == "shoe_over":
        return "shoe.start", {"shoe": str(int(shown["shoe"]["number"]) + 1 if shown["shoe"] else 1)}
    if "card.decide" in asks:
        return "card.decide", {"action": CARDS.get(seen.what or "", "remove")}
    return void(shown["unresolved"][0]) if shown["unresolved"] else None


def dice(seen: TableSeen) -> Said | None:
    """Craps: the dice of the session, seats, a shooter and his bet; then throws that cannot count,
    and dice that are lost.
    """
    shown, asks, own = seen.shown, seen.shown["asks"], seen.shown["dice"]
    if shown["phase"] == "closed":
        return "session.open", {}
    if "dice.set" in asks:
        return "dice.set", {
            "serials": [f"{each}{shown['session']:02}{shown['round']:03}" for each in "ABCDEF"],
            "side": 200,
        }
    if "dice.choose" in asks:
        return "dice.choose", {"serials": [*own["reserve"], *own["playing"]][:2]}
    if shown["unresolved"]:
        return void(shown["unresolved"][0])
    if asks and seen.what == "dice_count" and len(own["playing"]) == 2:
        return "die.report", {"serial": own["playing"][0]}
    if asks:
        name, more = THROWS.get(seen.what or "", void(shown["round"]))
        return name, {**more, "round": shown["round"]}
    return _players(shown)


def _players(shown: Mapping[str, Any]) -> Said | None:
    """Who stands at the dice, who throws, and what is bet before the first throw of a series."""
    if not shown["seats"]:
        return "boxes.set", {"boxes": SEATS}
    if shown["shooter"] is None:
        return "shooter.set", {"seat": SEATS[0]}
    if shown["series"] == "come_out" and shown["phase"] in ("waiting", "bets_open", "relaunch"):
        after = SEATS[SEATS.index(shown["shooter"]) + 1 - len(SEATS)]
        for seat, (bet, amount) in zip((shown["shooter"], after), BETS, strict=True):
            if not any(
                (each["who"], each["bet"]) == (f"seat:{seat}", bet) for each in shown["bets"]
            ):
                return "bet.place", {"who": f"seat:{seat}", "bet": bet, "amount": amount}
    return None


def void(number: int, reason: str = "inspector") -> Said:
    """A round is void."""
    return "round.void", {"reason": reason, "round": number}
