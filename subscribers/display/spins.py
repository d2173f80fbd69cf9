"""The latest balls of a wheel, as every game with a wheel shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.contract.messages.messages import word
from controller.contract.outcomes import BouleOutcome, FortuneOutcome, RouletteOutcome
from controller.contract.shown import WheelShown
from subscribers.display.rounds import Round, last_result
from subscribers.display.seen import Seen
from subscribers.display.statistics import Window

LATEST = 20
"""Rounds that are shown, newest first."""
ZERO = "green"
"""The colour of zero, which is neither red nor black."""
PLAIN = "plain"
"""That of the middle number of boule, which has none."""
OnWheel = RouletteOutcome | BouleOutcome | FortuneOutcome


class Spin(msgspec.Struct, frozen=True, kw_only=True):
    """What one round came to. A void or unresolved one has no number."""

    round: int | None
    """None where the state alone told of it."""
    kind: Literal["result", "void", "unresolved"]
    number: str | None = None
    colour: str | None = None
    corrected: bool = False


class WheelBody(msgspec.Struct, frozen=True, kw_only=True):
    """What the pictures of all wheels have."""

    last: Spin | None
    """The last valid number, or symbol, of the session."""
    spins: tuple[Spin, ...]
    """The latest rounds, newest first."""
    windows: tuple[Window, ...]
    """How often each chance, or symbol, came; zero and the middle number of boule are neither of
    any pair.
    """
    unheard: int
    """Rounds that are missing in the longest window."""


def latest(rounds: Sequence[Round], count: int = LATEST) -> tuple[Spin, ...]:
    """The latest rounds, newest first, also those without a number."""
    return tuple(_spin(each) for each in reversed(rounds[-count:]))


def results(rounds: Sequence[Round]) -> tuple[Spin, ...]:
    """Those that have a number, newest first."""
    spins = (_spin(each) for each in reversed(rounds))
    return tuple(spin for spin in spins if spin.number is not None)


def _spin(each: Round) -> Spin:
    if each.kind != "result" or not isinstance(each.outcome, OnWheel):
        return Spin(round=each.round, kind="void" if each.kind == "void" else "unresolved")
    return Spin(
        round=each.round,
        kind="result",
        number=str(each.outcome.number),
        colour=_colour(each.outcome),
        corrected=each.corrected,
    )


def _colour(outcome: OnWheel) -> str | None:
    match outcome:
        case RouletteOutcome():
            return outcome.colour or ZERO
        case BouleOutcome():
            return outcome.colour or PLAIN
        case FortuneOutcome():
            return None


def last(seen: Seen, shown: WheelShown, colour: str | None) -> Spin | None:
    """The last valid number of the session, as the state has it; None before there is one."""
    number = shown.last_number
    if number is None:
        return None
    of = last_result(seen.rounds, shown.session)
    told = of is not None and isinstance(of.outcome, OnWheel) and of.outcome.number == number
    return Spin(
        round=of.round if told and of else None,
        kind="result",
        number=str(number),
        colour=colour,
        corrected=bool(told and of and of.corrected),
    )


def even_chances(language: str, neither: str) -> dict[str, dict[str, str]]:
    """The groups of the chances that pay even money, and their texts. ``neither``: the colour of a
    number that is neither red nor black.
    """
    return {
        group: {name: word(group, name, language) for name in names}
        for group, names in (
            ("colour", ("red", "black", neither)),
            ("parity", ("even", "odd")),
            ("half", ("falta", "pasa")),
        )
    }
