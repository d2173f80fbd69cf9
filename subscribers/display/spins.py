"""The latest spins of a wheel, common to all wheel games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from common.contract.messages.messages import word
from common.contract.outcomes import BouleOutcome, FortuneOutcome, RouletteOutcome
from common.contract.shown import WheelShown
from subscribers.display.context import PictureContext
from subscribers.display.rounds import PlayedRound, last_result
from subscribers.display.statistics import Window

MAX_LATEST_SPINS = 40
"""Number of rounds that a picture has; a screen shows as many as there is room for."""
ZERO_COLOUR = "green"
"""The colour of zero, which is neither red nor black."""
NO_COLOUR = "plain"
"""The colour of the middle number of boule, which is neither red nor black."""
WheelOutcome = RouletteOutcome | BouleOutcome | FortuneOutcome


class SpinPicture(msgspec.Struct, frozen=True, kw_only=True):
    """One round. A void or unresolved one has no number."""

    round: int | None
    """None if it is known only from the state."""
    kind: Literal["result", "void", "unresolved"]
    number: str | None = None
    colour: str | None = None
    corrected: bool = False


class WheelBody(msgspec.Struct, frozen=True, kw_only=True):
    """Common fields of the pictures of all wheels."""

    last: SpinPicture | None
    """The last valid number, or symbol, of the session."""
    spins: tuple[SpinPicture, ...]
    """The latest rounds, newest first."""
    windows: tuple[Window, ...]
    """Frequency of each chance or symbol; zero and the middle number of boule belong to no pair."""
    unheard: int
    """Number of missing rounds in the longest window."""


def latest_spins(
    rounds: Sequence[PlayedRound], count: int = MAX_LATEST_SPINS
) -> tuple[SpinPicture, ...]:
    """Return the latest rounds, newest first, including those without a number."""
    return tuple(_spin(round_) for round_ in reversed(rounds[-count:]))


def spins_with_number(rounds: Sequence[PlayedRound]) -> tuple[SpinPicture, ...]:
    """Return the spins that have a number, newest first."""
    spins = (_spin(round_) for round_ in reversed(rounds))
    return tuple(spin for spin in spins if spin.number is not None)


def _spin(round_: PlayedRound) -> SpinPicture:
    if round_.kind != "result" or not isinstance(round_.outcome, WheelOutcome):
        return SpinPicture(
            round=round_.round, kind="void" if round_.kind == "void" else "unresolved"
        )
    return SpinPicture(
        round=round_.round,
        kind="result",
        number=str(round_.outcome.number),
        colour=_colour(round_.outcome),
        corrected=round_.corrected,
    )


def _colour(outcome: WheelOutcome) -> str | None:
    match outcome:
        case RouletteOutcome():
            return outcome.colour or ZERO_COLOUR
        case BouleOutcome():
            return outcome.colour or NO_COLOUR
        case FortuneOutcome():
            return None


def last_spin(context: PictureContext, shown: WheelShown, colour: str | None) -> SpinPicture | None:
    """Return the last valid number of the session, according to the state, if any."""
    number = shown.last_number
    if number is None:
        return None
    round_ = last_result(context.rounds, shown.session)
    is_known = (
        round_ is not None
        and isinstance(round_.outcome, WheelOutcome)
        and round_.outcome.number == number
    )
    return SpinPicture(
        round=round_.round if is_known and round_ else None,
        kind="result",
        number=str(number),
        colour=colour,
        corrected=bool(is_known and round_ and round_.corrected),
    )


def even_chances(language: str, neither: str) -> dict[str, dict[str, str]]:
    """Return the groups of even-money chances with their texts. ``neither``: the colour of a number
    that is neither red nor black.
    """
    return {
        group: {name: word(group, name, language) for name in names}
        for group, names in (
            ("colour", ("red", "black", neither)),
            ("parity", ("even", "odd")),
            ("half", ("falta", "pasa")),
        )
    }
