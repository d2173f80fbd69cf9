"""The result of a wheel, and whether it still applies. Pure."""

from __future__ import annotations

import msgspec

from common.contract.retained import State
from common.contract.shown import WheelShown
from common.readings import Number


class WheelResult(msgspec.Struct, frozen=True):
    """A live result of a wheel. ``family``: that of its outcome."""

    table: str
    boot: str
    seq: int
    session: int
    round: int
    family: str
    number: Number


def still_stands(result: WheelResult, state: State) -> bool:
    """Return whether a result is still the last one of the open session: it was not corrected, and
    no later round lacks its result. A state older than the result says nothing against it.
    """
    shown = state.shown
    if not isinstance(shown, WheelShown) or state.boot != result.boot:
        return False
    return state.seq < result.seq or (
        shown.phase != "closed"
        and shown.session == result.session
        and shown.last_number == result.number
        and all(unresolved <= result.round for unresolved in shown.unresolved)
    )
