"""A table of craps to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
import pytest

from controller.commands import AnyCommand
from controller.events import AnyEvent, Event, RoundResult
from controller.games.craps.game import CrapsGame
from controller.games.craps.state import State
from controller.games.games import make_game
from controller.notation import read_input
from devices.readings import AnyReading, DiceFault, DiceFaultName, DiceRead, DiceState, LinkLost, LinkUp

E = TypeVar("E", bound=Event)
DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")

SET = tuple(f"{number}" for number in range(101, 107))
"""The serial numbers of six dice."""
OTHERS = tuple(f"{number}" for number in range(201, 207))


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "ARA02", **settings: Any) -> None:
        made = make_game("craps", decree, settings)
        assert isinstance(made, CrapsGame)
        self.game = made
        self.state: State = made.begin()
        self.events: list[AnyEvent] = []
        self.at = 0.0
        self.throws = 0

    def take(self, *given: AnyReading | AnyCommand) -> list[AnyEvent]:
        said: list[AnyEvent] = []
        for each in given:
            self.state, events = self.game.step(self.state, each)
            said += events
        self.events += said
        return said

    def say(self, command: str, role: str = "table_head", **fields: Any) -> list[AnyEvent]:
        line = {"at": self.now(), "type": command, "by": "M. Lasa", "role": role, **fields}
        return self.take(read_input(msgspec.json.encode(line)))

    def move(self, **fields: Any) -> list[AnyEvent]:
        """The dice begin to move."""
        self.throws += 1
        return self.state_said("moving", **fields)

    def state_said(self, state: Any, **fields: Any) -> list[AnyEvent]:
        given = {"throw": self.throws, **fields}
        return self.take(DiceState(at=self.now(), device="dice", frame=f"{state} {self.throws}", state=state, **given))

    def lie(self, *values: int, **fields: Any) -> list[AnyEvent]:
        """The dice came to rest and are read."""
        given = {"throw": self.throws, **fields}
        return self.take(DiceRead(at=self.now(), device="dice", frame=f"read {self.throws}", values=values, **given))

    def throw(self, *values: int) -> list[AnyEvent]:
        """The dice move and are read."""
        return [*self.move(), *self.state_said("settled"), *self.lie(*values)]

    def fault(self, fault: DiceFaultName, active: bool = True) -> list[AnyEvent]:
        return self.take(DiceFault(at=self.now(), device="dice", frame="f", fault=fault, active=active, throw=self.throws))

    def gap(self) -> list[AnyEvent]:
        """The device is not heard for a while."""
        return self.take(LinkLost(at=self.now(), device="dice", reason="unplugged"), LinkUp(at=self.now(), device="dice"))

    def open(self, serials: tuple[str, ...] = SET) -> list[AnyEvent]:
        """A session, its dice, and who sits where."""
        return [
            *self.say("session.open", minimum=500, currency="EUR"),
            *self.say("dice.set", role="croupier", serials=serials, side=200, same_colour=True),
            *self.say("dice.choose", role="croupier", serials=serials[:2]),
            *self.say("boxes.set", role="croupier", boxes=[1, 2, 4]),
            *self.say("shooter.set", role="croupier", seat=1),
        ]

    def bet(self, bet: str, who: str = "", **fields: Any) -> list[AnyEvent]:
        """A bet of the shooter's, or of somebody else."""
        return self.say("bet.place", role="croupier", who=who or f"seat:{self.state.shooter}", bet=bet, **fields)

    def bets(self) -> list[AnyEvent]:
        """Bets open, with the shooter's among them, and close."""
        opened = self.say("bets.open", role="croupier")
        who = f"seat:{self.state.shooter}"
        bare = self.state.shooter and not any(each.who == who for each in self.state.bets)
        placed = self.bet("win") if bare and self.point is None else []
        return [*opened, *placed, *self.say("bets.close", role="croupier")]

    def play(self, *values: int) -> list[AnyEvent]:
        """A whole round at a table with keys."""
        return [*self.bets(), *self.throw(*values)]

    def totals(self, *totals: int) -> list[AnyEvent]:
        """Whole rounds, by the totals that are thrown."""
        return [event for total in totals for event in self.play(*faces(total))]

    def again(self) -> None:
        """Written down and taken up again, as after a restart."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=State)

    @property
    def point(self) -> int | None:
        return self.state.point(self.game.book.points)

    @property
    def shown(self) -> dict[str, Any]:
        return self.game.show(self.state)

    def now(self) -> float:
        self.at += 1.0
        return self.at


def table(decree: str = "ARA02", **settings: Any) -> Play:
    """A table with an open session, six dice and a shooter."""
    play = Play(decree, **settings)
    play.open()
    return play


def ruled(*rules: str) -> pytest.MarkDecorator:
    """Every decree, each with those of its rules that are named; several are parted by a space."""
    named = {ids.split("-")[0]: ids.split() for ids in rules}
    cases = [pytest.param(decree, marks=pytest.mark.rule(*named.get(decree, ()))) for decree in DECREES]
    return pytest.mark.parametrize("decree", cases)


def faces(total: int) -> tuple[int, int]:
    """Two dice that make a total, unequal where they can be."""
    high = min(6, total - 1)
    return total - high, high


def of(events: list[AnyEvent], kind: type[E]) -> list[E]:
    """Those events that are of one kind."""
    return [event for event in events if isinstance(event, kind)]


def only(events: list[AnyEvent], kind: type[E]) -> E:
    """The one event of its kind."""
    (event,) = of(events, kind)
    return event


def whats(events: list[AnyEvent]) -> list[str]:
    """What each event says, in short: its type, and what an irregularity is about."""
    return [str(getattr(event, "what", type(event).__struct_config__.tag)) for event in events]


def outcomes(events: list[AnyEvent]) -> dict[str, str]:
    """What became of each kind of bet in the last result."""
    result = of(events, RoundResult)[-1]
    assert isinstance(result.bets, tuple)
    return {each.bet: each.outcome for each in result.bets if each.who is None}
