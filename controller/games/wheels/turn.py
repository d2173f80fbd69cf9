"""One step of a table with a wheel: the moves that readings and commands consist of, in any game.
Each move changes the state and emits its event together, so that the two cannot diverge.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeGuard

from msgspec.structs import replace

from common.contract.commands import Command, VoidReason
from common.contract.events import (
    AnyOutcome,
    BetsClosed,
    Frame,
    LastRounds,
    LimitChanged,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    Settled,
)
from common.contract.refusals import RejectedError
from common.readings import Number, Phase, Reading
from controller.games import stakes
from controller.games.moves import Moves
from controller.games.silences import is_brief, quiet_since_of
from controller.games.stakes import Bounds, Stake
from controller.games.wheels.settings import Policy, WheelBreach, WheelSettings
from controller.games.wheels.state import WheelEntry, WheelRound, WheelState
from controller.rulebooks.law import Law
from controller.rulebooks.wheels import WheelBook

DECISIONS = ("round.confirm", "round.void")
"""Commands for a round that the machine must not decide."""

WRONG_DEVICE = "wrong_device"
"""The alert for a device that reports what no wheel of this game reports."""

Why = Literal[
    "silence",
    "witnesses_disagree",
    "number_unknown",
    "before_no_more_bets",
    "no_launch",
    "undecided",
]


def _opens(turn: Any) -> bool:
    """The wheel reports that bets are open."""
    state = turn.state
    return bool(
        turn.settings.phases == "device"
        and state.open
        and state.phase in turn.course.opening
        and state.current is None
    )


def _nothing(turn: Any, *about: Any) -> None:
    """Make no move."""


class WheelCourse(NamedTuple):
    """What differs between the games of a wheel. Each function gets the turn first."""

    opening: tuple[Phase, ...]
    """The phases in which such a wheel has bets open, where the wheel reports it."""
    breaches: Mapping[str, WheelBreach]
    """Breaches that a setting of the same name decides."""
    put_back: bool
    """Whether the ball goes back to the last number after a void spin, before it is launched
    again.
    """
    numbers: Callable[[Any], Container[Number]]
    """The numbers of the wheel."""
    numbers_in_words: Callable[[Any], str]
    """The numbers of the wheel, as a refusal lists them."""
    outcome: Callable[[Any, WheelEntry], AnyOutcome]
    """The outcome of a round that has a number. It may change with an earlier round."""
    offered: Callable[[Any], Mapping[str, Bounds]]
    """The available bets and the limits of each."""
    allow_highest: Callable[[Any, int], None]
    """Rejects a minimum with which the decree does not allow the table's highest stakes."""
    settled: Callable[[Any, Number, tuple[Stake, ...]], tuple[Settled, ...]] = lambda *_: ()
    """The outcome and payment of the placed bets with this number; roulette has none."""
    concerns: Callable[[str, WheelRound], bool] = lambda _, current: current.launched
    """Whether a fault of the spin concerns the round in progress: its ball was launched, or its
    wheel set going.
    """
    may_be_stated: Callable[[WheelRound], bool] = lambda _: False
    """Whether a person may give the result of a round in progress that needs a decision, though no
    number was reported; in most games only the ball decides.
    """
    opens: Callable[[Any], bool] = _opens
    """Whether bets open by themselves now, while no round is in progress."""
    silent: Callable[[Any, Reading], None] = _nothing
    """After a silence of the device."""
    forget: Callable[[Any], None] = _nothing
    """Resets what does not outlast a session."""
    begins: Callable[[Any], None] = _nothing
    """Before a round begins."""
    voids: Callable[[Any, WheelRound | WheelEntry], None] = _nothing
    """Before a round becomes void."""
    ended: Callable[[Any], None] = _nothing
    """After a round has a result, or stays without one."""


class WheelTurn(Moves[WheelBook, WheelSettings, WheelState]):
    """One step of a table with a wheel. A game supplies its course, and the types of its state and
    settings.
    """

    course: ClassVar[WheelCourse]

    def after_input(self) -> None:
        """Make no move: at a wheel, none follows from an input without another one."""

    def has_number(self, number: Number | None) -> TypeGuard[Number]:
        """Whether the wheel has this number."""
        return number is not None and number in self.course.numbers(self)

    def outcome(self, entry: WheelEntry) -> AnyOutcome:
        """The outcome of a round that has a number."""
        return self.course.outcome(self, entry)

    def offered(self) -> Mapping[str, Bounds]:
        """The available bets and the limits of each."""
        return self.course.offered(self)

    def require_highest(self, minimum: int) -> None:
        """Reject a minimum with which the decree does not allow the table's highest stakes."""
        self.course.allow_highest(self, minimum)

    def silence(self, reading: Reading) -> None:
        """Record a silence of the device: what it did meanwhile is unknown."""
        self.change(gap=True, spent=False)
        self.miss(reading)
        self.course.silent(self, reading)

    def miss(self, reading: Reading) -> None:
        """Record that the number of the round in progress may have come unseen: its ball runs, or
        was thrown by a person who has closed the bets.
        """
        current = self.state.current
        if current and (current.closed if self.settings.phases == "person" else current.begun):
            self.change_current(
                missed=True,
                uncounted=current.uncounted or not is_brief(reading, current.quiet_since),
                quiet_since=quiet_since_of(reading),
            )

    # The round in progress

    @property
    def bets_open_at_wheel(self) -> bool:
        """Whether bets open by themselves now, while no round is in progress."""
        return self.course.opens(self)

    def over(self, spin: int | None) -> WheelEntry | None:
        """The last round, if the wheel still reports that spin; its outcome is known."""
        current, last = self.state.current, self.state.entries[-1:]
        if spin is None or not last or last[0].spin != spin or (current and current.spin == spin):
            return None
        return last[0]

    def begin(self, spin: int | None) -> WheelRound:
        """Begin the next round without an event: its bets opened unseen."""
        self.course.begins(self)
        number = self.state.round + 1
        last, relaunch = self.state.left("close") == 1, self.state.relaunch
        before = self.state.entry(number - 1) if relaunch else None
        current = WheelRound(
            round=number,
            spin=spin,
            relaunch=relaunch,
            last=last,
            bets=before.bets if before else (),
        )
        self.change(round=number, current=current, relaunch=False, spent=False)
        return current

    def aside(self, spin: int | None) -> WheelRound:
        """A round that ended before it was known, while another is in progress."""
        self.change(round=self.state.round + 1)
        return WheelRound(round=self.state.round, spin=spin)

    def open_bets(
        self, spin: int | None, frames: tuple[Frame, ...] = (), by: str | None = None
    ) -> None:
        """Open bets for the next round."""
        current = self.begin(spin)
        self.change_current(frames=frames)
        calls = self.book.announcements
        self.emit(
            RoundOpened(
                round=current.round,
                spin=spin,
                by=by,
                relaunch=current.relaunch,
                last_number=self.state.tally().number,
                last_of_session=current.last,
                announcement=calls.get(
                    "relaunch" if current.relaunch and "relaunch" in calls else "bets_open"
                ),
            )
        )

    def close_bets(
        self, frames: tuple[Frame, ...] = (), *, by: str | None = None, unobserved: bool = False
    ) -> None:
        """No more bets."""
        current = self.state.current
        assert current is not None
        self.change_current(closed=True, frames=current.frames + frames)
        self.emit(
            BetsClosed(
                round=current.round,
                spin=current.spin,
                by=by,
                unobserved=unobserved,
                announcement=self.book.announcements.get("bets_closed"),
            )
        )

    # Its outcome: a result, void, or unresolved

    def result(
        self,
        round_: WheelRound | WheelEntry,
        number: Number,
        confirmed_by: str | None = None,
        cell: int | None = None,
    ) -> None:
        """Publish the result: the ball or the wheel rests for good, or a person confirms it."""
        last = round_.last or (self.state.left("close") == 1 and round_.round == self.state.round)
        entry = WheelEntry(
            round=round_.round,
            kind="result",
            spin=round_.spin,
            number=number,
            cell=cell,
            last=last,
            bets=round_.bets,
        )
        self._record(entry)
        self.emit(
            RoundResult(
                round=round_.round,
                outcome=self.outcome(entry),
                spin=round_.spin,
                bets=self.course.settled(self, number, round_.bets),
                frames=round_.frames,
                confirmed_by=confirmed_by,
            )
        )
        self._count_down(round_.round)
        self.course.ended(self)

    def void(
        self,
        round_: WheelRound | WheelEntry,
        reason: VoidReason,
        law: Law,
        by: Command | None = None,
    ) -> None:
        """Void the spin: it has no number, and the last valid one remains until the next."""
        self.course.voids(self, round_)
        self._record(
            WheelEntry(
                round=round_.round,
                kind="void",
                spin=round_.spin,
                reason=reason,
                article=law.article,
                last=round_.last,
                bets=round_.bets,
            )
        )
        current = self.state.current
        if current is None and round_.round == self.state.round:
            self.change(relaunch=True, gap=False)
        elif current and round_.round == current.round - 1 and not current.launched:
            self.change_current(relaunch=True, bets=stakes.merged(round_.bets, current.bets))
        last = self.state.tally(upto=round_.round).number
        self.emit_void(
            round_.round, reason, law, by, self.book.announcements.get("void"), last, round_.spin
        )
        if self.settings.last_rounds_count == "all":
            self._count_down(round_.round)
        if self.state.relaunch and self.bets_open_at_wheel:
            self.open_bets(self.state.spin)

    def unresolved(
        self,
        round_: WheelRound | WheelEntry,
        why: Why,
        candidate: Number | None = None,
        cell: int | None = None,
    ) -> None:
        """The result is uncertain and is not invented."""
        entry = WheelEntry(
            round=round_.round,
            kind="unresolved",
            spin=round_.spin,
            candidate=candidate,
            cell=cell,
            frames=round_.frames,
            last=round_.last,
            bets=round_.bets,
        )
        self._record(entry)
        self.emit(
            RoundUnresolved(
                round=round_.round,
                why=why,
                candidate=candidate,
                spin=round_.spin,
                frames=round_.frames,
            )
        )
        self.course.ended(self)

    def _record(self, entry: WheelEntry) -> None:
        current = self.state.current
        self.state = self.state.with_entry(entry)
        if current is not None and current.round == entry.round:
            self.change(current=None, spent=True)

    def _count_down(self, number: int) -> None:
        """Count down the announced last balls; after the last of them the new minimum holds."""
        for countdown in self.state.countdowns:
            if countdown.left == 0 or number < countdown.since:
                continue
            left = countdown.left - 1
            done = left == 0 and countdown.purpose == "limit"
            others = tuple(
                other for other in self.state.countdowns if other.purpose != countdown.purpose
            )
            self.change(countdowns=others if done else (*others, replace(countdown, left=left)))
            self.emit(LastRounds(round=number, purpose=countdown.purpose, left=left))
            if done and countdown.minimum is not None:
                previous_minimum = self.state.minimum
                self.change(minimum=countdown.minimum)
                self.emit(
                    LimitChanged(
                        round=number,
                        minimum=countdown.minimum,
                        was=previous_minimum,
                        currency=self.state.currency,
                    )
                )

    # Irregularities

    def breach(self, what: str, reading: Reading) -> None:
        """Report a breach in the round in progress, once; the table's policy says whether a person
        decides or the spin is void.
        """
        current = self.state.current
        if current is None or what in current.said:
            return
        policy: Policy = getattr(self.settings, what)
        breach = self.course.breaches[what]
        void_law = self.book.void.get(breach.reason)
        law = self.book.laws[breach.law] if breach.law else void_law
        assert law is not None
        asks = DECISIONS if policy == "ask" else ()
        current = replace(current, said=(*current.said, what), asks=current.asks or asks)
        self.change(current=current)
        self.irregular(what, law, reading=reading, asks=asks)
        if policy == "void":
            self.void(current, breach.reason, void_law or law)

    # Preconditions of commands

    def pocket(self, number: Number) -> Number:
        """The number, if the wheel has it; any other is rejected."""
        if self.has_number(number):
            return number
        raise RejectedError(
            "number_not_on_wheel", number=number, numbers=self.course.numbers_in_words(self)
        )
