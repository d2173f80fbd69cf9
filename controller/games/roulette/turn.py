"""One step of a roulette table: its moves besides those of every wheel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from controller.contract.commands import Command, VoidReason
from controller.contract.events import RouletteOutcome
from controller.games import stakes
from controller.games.roulette.chances import chances
from controller.games.roulette.settings import BREACHES, RouletteSettings
from controller.games.roulette.state import RouletteState, WheelEntry, WheelRound
from controller.games.stakes import Bounds, bounds
from controller.games.wheels.turn import WheelTurn
from controller.rulebooks.law import Law
from controller.rulebooks.wheels import Roulette
from devices.readings import LinkGap, LinkLate, Number, Reading, WheelNumber, WheelPhase


class RouletteTurn(WheelTurn):
    """One step of a roulette table."""

    book: Roulette
    settings: RouletteSettings
    state: RouletteState
    opening = ("bets_open",)
    breaches = BREACHES
    put_back = True

    def has_number(self, number: Number | None) -> TypeGuard[Number]:
        """Whether the wheel has this number. No decree has a double zero."""
        return isinstance(number, int) and 0 <= number < self.book.pockets

    def numbers(self) -> str:
        """The numbers of the wheel, as a refusal lists them."""
        return f"0–{self.book.pockets - 1}"

    def outcome(self, entry: WheelEntry) -> RouletteOutcome:
        """The number, its chances, and the zeros running up to it."""
        assert entry.number is not None
        number = int(entry.number)
        own = chances(number, self.book)
        return RouletteOutcome(
            number=number,
            colour=own.colour,
            parity=own.parity,
            half=own.half,
            dozen=own.dozen,
            column=own.column,
            zeros=0 if number else self.state.tally(upto=entry.round).zeros,
            last_of_session=entry.last,
        )

    def offered(self) -> Mapping[str, Bounds]:
        """Every kind of bet with its limits; simple ones by their chance."""
        minimum, highest = self.state.minimum, self.settings.highest
        kinds = {
            name: bounds(minimum, bet.limits, highest.get(name))
            for name, bet in self.book.bets.items()
        }
        simple = kinds.pop("simple")
        return {**kinds, **dict.fromkeys(self.book.chances, simple)}

    def require_highest(self, minimum: int) -> None:
        """Reject a minimum of which the highest stakes are not multiples that the decree allows."""
        law = self.book.laws.get("bet_limit")
        stakes.require_lawful(self.settings.highest, bands(self.book), minimum, law)

    def concerns(self, fault: str, current: WheelRound) -> bool:
        """Also a failed launch, which has launched nothing."""
        return fault == "failed_launch" or current.launched

    def silence(self, reading: Reading) -> None:
        """Forget the wheel's movement and the rotor's last direction. After a short silence whose
        lines came late, the wheel's own counter may still show that no spin was missed.
        """
        super().silence(reading)
        short = isinstance(reading, LinkGap | LinkLate | WheelPhase | WheelNumber)
        self.change(heard=False, rotor=self.state.rotor if short else None)

    def forget(self) -> None:
        """Forget the rotor's direction: it may turn either way at the first launch of a session."""
        self.change(rotor=None)

    def void(
        self,
        round_: WheelRound | WheelEntry,
        reason: VoidReason,
        law: Law,
        by: Command | None = None,
    ) -> None:
        """Void the spin: the ball goes back into the last valid number before it is launched
        again.
        """
        if (
            isinstance(round_, WheelRound)
            and round_.launched
            and self.settings.rotor_after_void == "ignored"
        ):
            self.change(rotor=self.state.rotor_before)
        super().void(round_, reason, law, by)


def bands(book: Roulette) -> dict[str, stakes.Band]:
    """The highest stakes that the decree allows each bet."""
    return {
        name: stakes.Band(bet.limits, raised=book.limits_raised) for name, bet in book.bets.items()
    }
