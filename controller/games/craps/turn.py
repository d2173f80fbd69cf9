"""One step of a table of craps: the moves that readings and commands consist of.

Each move changes the state and emits its event together, so that the two cannot diverge.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from common.contract.commands import Command, VoidReason
from common.contract.events import (
    BetsClosed,
    Frame,
    LastRounds,
    PointSet,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    Settled,
    ShooterChanged,
)
from common.readings import Reading
from controller.games.craps.bets import (
    Bets,
    Dice,
    moved,
    next_point,
    settle,
    settle_all,
    sevens_out,
)
from controller.games.craps.settings import CrapsSettings
from controller.games.craps.state import CrapsDiceSet, CrapsEntry, CrapsRound, CrapsState
from controller.games.moves import Moves
from controller.games.stakes import Stake
from controller.rulebooks.craps import Craps
from controller.rulebooks.law import Law

DECISIONS = ("round.confirm", "round.void")
"""Commands of the person in charge for a throw that the machine must not decide."""
DICE_DECISIONS = ("dice.tell", *DECISIONS)
"""Commands for a throw that only the device did not see."""

Why = Literal["silence", "undecided"]
ShooterWhy = Literal["first", "seven", "refused", "withdrawn", "corrected"]


class CrapsTurn(Moves[Craps, CrapsSettings, CrapsState]):
    """One step of a table of craps."""

    rules: Bets

    @property
    def bets(self) -> Bets:
        """The bets that the table offers."""
        return self.rules

    @property
    def point(self) -> int | None:
        """The present point."""
        return self.state.point(self.book.points)

    @property
    def by_itself(self) -> bool:
        """Whether the bets open by themselves, and the moving dice close them."""
        return self.settings.rounds == "dice"

    def lacking(self) -> str | None:
        """The command that the dice need before they may be thrown; None if they are ready."""
        dice = self.state.set
        if self.settings.serials == "unwatched":
            return None
        if dice is None or dice.unfit:
            return "dice.set"
        if len(dice.playing) == 2:
            return None
        return "dice.choose" if len(self.on_offer(dice)) >= 2 else "dice.set"

    def on_offer(self, dice: CrapsDiceSet) -> tuple[str, ...]:
        """The dice that the shooter may choose from; within a series those in reserve, if one in
        play was lost.
        """
        from_reserve = self.point is not None and dice.lost and self.settings.floor_die == "two"
        remaining = dice.reserve if from_reserve else dice.serials
        return tuple(serial for serial in remaining if serial not in dice.lost)

    # The course of a round

    def after_input(self) -> None:
        """Open the bets for the next throw, if they open by themselves and nothing needs a
        decision.
        """
        state = self.state
        free = state.open and state.current is None and state.dice != "moving" and state.last != 0
        if self.by_itself and free and not state.unresolved() and not self.lacking():
            self.open_bets()

    def begin(self) -> CrapsRound:
        """Begin the next round without an event: its bets opened unseen."""
        current = CrapsRound(round=self.state.round + 1, uncounted=self.state.gap)
        self.change(round=current.round, current=current, relaunch=False, stray=False)
        return current

    def open_bets(self, by: str | None = None) -> None:
        """Open bets for the next throw."""
        relaunch = self.state.relaunch
        current = self.begin()
        self.emit(RoundOpened(round=current.round, by=by, relaunch=relaunch))

    def close_bets(
        self, frames: tuple[Frame, ...] = (), *, by: str | None = None, unobserved: bool = False
    ) -> None:
        """Close the bets: the shooter throws. The shooter must have a bet on the table, and the
        dice must be registered.
        """
        current = self.state.current
        assert current is not None
        self.change_current(closed=True, frames=current.frames + frames)
        call = self.book.announcements.get("bets_closed")
        self.emit(BetsClosed(round=current.round, by=by, unobserved=unobserved, announcement=call))
        if current.early and self.settings.early_throw == "ask":
            self.ask("throw_before_close")
        if lacking := self.lacking():
            self.ask("dice_unregistered", detail=lacking)
        if self.settings.shooter == "told":
            self._check_shooter()

    def _check_shooter(self) -> None:
        state = self.state
        if state.shooter is None:
            self.ask("shooter_missing")
        elif not state.taken_over and not any(
            self.holds(f"seat:{state.shooter}", bet) for bet in ("win", "dont_win")
        ):
            self.ask("shooter_no_bet", detail=f"seat {state.shooter}")

    def holds(self, who: str, bet: str) -> Stake | None:
        """The reported bet of this name by this player."""
        return next(
            (placed for placed in self.state.bets if (placed.who, placed.bet) == (who, bet)), None
        )

    # Its outcome: a result, void, or unresolved

    def result(
        self, round_: CrapsRound | CrapsEntry, dice: Dice, confirmed_by: str | None = None
    ) -> None:
        """Publish the result, from the dice or from a person: settle the bets, and continue or end
        the series.
        """
        state, total = self.state, sum(dice)
        point = state.point(self.book.points, before_round=round_.round)
        shooter = round_.shooter if isinstance(round_, CrapsEntry) else state.shooter
        entry = CrapsEntry(
            round=round_.round,
            kind="result",
            dice=dice,
            point=point,
            shooter=shooter,
            bets=state.bets,
            throw=round_.throw,
            frames=round_.frames,
        )
        self._record(entry)
        self.emit(
            RoundResult(
                round=round_.round,
                outcome=entry.outcome,
                bets=self.settled(entry),
                frames=round_.frames,
                confirmed_by=confirmed_by,
            )
        )
        self.change(bets=self.left_lying(entry))
        self.emit_point(round_.round, point, next_point(self.book.points, point, total))
        if self.point is None:
            self.change(taken_over=False)
            self._miss_lost_dice()
        if sevens_out(point, total) and state.open and state.shooter == shooter:
            self.pass_dice(round_.round)

    def settled(self, entry: CrapsEntry) -> tuple[Settled, ...]:
        """The effect of a throw on every kind of bet, and on each reported bet."""
        assert entry.dice is not None
        own = [
            replace(settle(self.bets, bet.bet, entry.dice, entry.point), who=bet.who)
            for bet in entry.bets
        ]
        return (*settle_all(self.bets, entry.dice, entry.point), *own)

    def left_lying(self, entry: CrapsEntry) -> tuple[Stake, ...]:
        """The reported bets that a throw does not decide, at their new places."""
        assert entry.dice is not None
        after = ((bet, moved(self.bets, bet.bet, entry.dice, entry.point)) for bet in entry.bets)
        return tuple(replace(placed, bet=name) for placed, name in after if name)

    def emit_point(self, number: int, before: int | None, now: int | None) -> None:
        """Announce that the marker moves to another number, or away. Nothing at a closed table."""
        if before != now and self.state.open:
            self.emit(PointSet(round=number, point=now))

    def void(
        self,
        round_: CrapsRound | CrapsEntry,
        reason: VoidReason,
        law: Law,
        by: Command | None = None,
    ) -> None:
        """Void the throw: no bet is decided and the point stays."""
        entry = CrapsEntry(
            round=round_.round, kind="void", throw=round_.throw, reason=reason, article=law.article
        )
        self._record(entry)
        self.change(relaunch=True)
        self.emit_void(round_.round, reason, law, by, self.book.announcements.get("void"))

    def unresolved(
        self, round_: CrapsRound | CrapsEntry, why: Why, dice: Dice | None = None
    ) -> None:
        """Leave the result open: it is uncertain, and is not invented."""
        shooter = round_.shooter if isinstance(round_, CrapsEntry) else self.state.shooter
        entry = CrapsEntry(
            round=round_.round,
            kind="unresolved",
            candidate=dice,
            shooter=shooter,
            throw=round_.throw,
            frames=round_.frames,
        )
        self._record(entry)
        self.emit(
            RoundUnresolved(
                round=round_.round, why=why, candidate=None, dice=dice, frames=round_.frames
            )
        )

    def _record(self, entry: CrapsEntry) -> None:
        current = self.state.current
        self.state = self.state.after(entry, self.book.points)
        if current is not None and current.round == entry.round:
            throw = self.state.throw if current.throw is None else current.throw
            self.change(current=None, moved=False, gap=False, airborne=None, throw=throw)

    # The shooter

    def pass_dice(self, number: int) -> None:
        """Pass the dice on after the 7 that loses. After the last shooter they are not assigned."""
        last = None if self.state.last is None else self.state.last - 1
        seat = None if last == 0 else self.next_seat()
        self.give_dice(seat, "seven", number=number)
        if last is not None:
            self.change(last=last)
            self.emit(LastRounds(round=number, purpose="close", left=last))

    def next_seat(self) -> int | None:
        """The next seat clockwise; None if the seats are not known."""
        seats, thrown = self.state.seats, self.state.thrown
        if not seats:
            return None
        after = [seat for seat in seats if thrown is not None and seat > thrown]
        return (after or list(seats))[0]

    def give_dice(
        self, seat: int | None, why: ShooterWhy, *, number: int = 0, by: str | None = None
    ) -> None:
        """Give the dice to a seat, or leave them unassigned."""
        self.change(shooter=seat, thrown=self.state.thrown if seat is None else seat)
        self.emit(
            ShooterChanged(
                round=number,
                seat=seat,
                why=why,
                last=seat is not None and self.state.last == 1,
                by=by,
            )
        )

    def _miss_lost_dice(self) -> None:
        """Request a new set of dice if the play is over and a die was not found."""
        dice = self.state.set
        if dice and dice.lost and not dice.unfit:
            self.change(set=replace(dice, unfit=("die_lost",)))
            self.irregular("die_lost", asks=("dice.set",), detail=", ".join(dice.lost))

    # Irregularities

    def ask(
        self,
        what: str,
        asks: tuple[str, ...] = DECISIONS,
        *,
        reading: Reading | None = None,
        detail: str | None = None,
    ) -> None:
        """Report a breach in the round in progress, once, and wait for a person. The gravest breach
        sets the requested commands.
        """
        current = self.state.current
        if current is None or what in current.said:
            return
        self.change_current(
            said=(*current.said, what), asks=current.asks if current.asks == DECISIONS else asks
        )
        self.irregular(what, reading=reading, asks=asks, detail=detail)


def are_dice(values: Dice) -> bool:
    """Whether these are the faces of two dice."""
    return len(values) == 2 and all(1 <= value <= 6 for value in values)
