"""A table of craps to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import AnyEvent, RoundResult
from common.readings import DiceFault, DiceFaultName, DiceRead, DiceState
from controller.games.craps.game import CrapsGame
from controller.games.craps.state import CrapsState
from tests.support.games.play import AnyPlay, of_kind

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")

SET = tuple(f"{number}" for number in range(101, 107))
"""The serial numbers of six dice."""
OTHERS = tuple(f"{number}" for number in range(201, 207))


class Play(AnyPlay[CrapsGame, CrapsState]):
    """A table in play."""

    device = "dice"

    def __init__(self, decree: str = "ARA02", **settings: Any) -> None:
        super().__init__(CrapsGame, "craps", decree, settings)
        self.throws = 0

    def move(self, **fields: Any) -> list[AnyEvent]:
        """The dice begin to move."""
        self.throws += 1
        return self.state_said("moving", **fields)

    def state_said(self, state: Any, **fields: Any) -> list[AnyEvent]:
        given = {"throw": self.throws, **fields}
        return self.take(
            DiceState(
                at=self.now(), device="dice", frame=f"{state} {self.throws}", state=state, **given
            )
        )

    def lie(self, *values: int, **fields: Any) -> list[AnyEvent]:
        """The dice came to rest and are read."""
        given = {"throw": self.throws, **fields}
        return self.take(
            DiceRead(
                at=self.now(), device="dice", frame=f"read {self.throws}", values=values, **given
            )
        )

    def throw(self, *values: int) -> list[AnyEvent]:
        """The dice move and are read."""
        return [*self.move(), *self.state_said("settled"), *self.lie(*values)]

    def fault(self, fault: DiceFaultName, active: bool = True) -> list[AnyEvent]:
        return self.take(
            DiceFault(
                at=self.now(),
                device="dice",
                frame="f",
                fault=fault,
                active=active,
                throw=self.throws,
            )
        )

    def open(self, serials: tuple[str, ...] = SET) -> list[AnyEvent]:
        """A session, its dice, and who sits where."""
        return [
            *self.send("session.open", minimum=500, currency="EUR"),
            *self.send("dice.set", role="croupier", serials=serials, side=200, same_colour=True),
            *self.send("dice.choose", role="croupier", serials=serials[:2]),
            *self.send("boxes.set", role="croupier", boxes=[1, 2, 4]),
            *self.send("shooter.set", role="croupier", seat=1),
        ]

    def bet(self, bet: str, who: str = "", **fields: Any) -> list[AnyEvent]:
        """A bet of the shooter's, or of another player."""
        return self.send(
            "bet.place", role="croupier", who=who or f"seat:{self.state.shooter}", bet=bet, **fields
        )

    def bets(self) -> list[AnyEvent]:
        """Bets open, with the shooter's among them, and close."""
        opened = self.send("bets.open", role="croupier")
        who = f"seat:{self.state.shooter}"
        bare = self.state.shooter and not any(each.who == who for each in self.state.bets)
        placed = self.bet("win") if bare and self.point is None else []
        return [*opened, *placed, *self.send("bets.close", role="croupier")]

    def play(self, *values: int) -> list[AnyEvent]:
        """A whole round at a table with keys."""
        return [*self.bets(), *self.throw(*values)]

    def totals(self, *totals: int) -> list[AnyEvent]:
        """Whole rounds, by the totals that are thrown."""
        return [event for total in totals for event in self.play(*faces(total))]

    @property
    def point(self) -> int | None:
        return self.state.point(self.game.book.points)


def table(decree: str = "ARA02", **settings: Any) -> Play:
    """A table with an open session, six dice and a shooter."""
    play = Play(decree, **settings)
    play.open()
    return play


def ruled(*rules: str) -> pytest.MarkDecorator:
    """Every decree, each with those of its rules that are named; several are separated by
    a space.
    """
    named = {ids.split("-")[0]: ids.split() for ids in rules}
    cases = [
        pytest.param(decree, marks=pytest.mark.rule(*named.get(decree, ()))) for decree in DECREES
    ]
    return pytest.mark.parametrize("decree", cases)


def faces(total: int) -> tuple[int, int]:
    """Two dice that make a total, unequal where they can be."""
    high = min(6, total - 1)
    return total - high, high


def outcomes(events: list[AnyEvent]) -> dict[str, str]:
    """The outcome of each kind of bet in the last result."""
    result = of_kind(events, RoundResult)[-1]
    assert isinstance(result.bets, tuple)
    return {each.bet: each.outcome for each in result.bets if each.who is None}
