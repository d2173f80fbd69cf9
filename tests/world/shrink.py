"""Makes a failing world small: fewer faults, tables and hours that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from tests.world.run import Plan, run

KIND_CHARACTERS = 24
"""So much of a finding says what kind it is; the rest are facts of the run."""


def shrink(failing: Plan) -> Plan:
    """Return the smallest plan found that fails as this one does."""
    finding = run(failing).finding
    if finding is None:
        raise ValueError(f"seed {failing.seed} finds nothing")
    kind = finding[:KIND_CHARACTERS]

    def fails(candidate: Plan) -> bool:
        found = run(candidate).finding
        return found is not None and found.startswith(kind)

    best = _fewer_faults(failing, fails)
    for candidate in (
        msgspec.structs.replace(best, tables=1),
        msgspec.structs.replace(best, hours=best.hours / 4),
        msgspec.structs.replace(best, tables=1, hours=best.hours / 4),
    ):
        if fails(candidate):
            best = candidate
    return best


def _fewer_faults(plan: Plan, fails: Callable[[Plan], bool]) -> Plan:
    """Leave out parts of the faults, in halves first, as long as it still fails."""
    faults = plan.faults
    size = max(1, len(faults) // 2)
    while faults:
        for first in range(0, len(faults), size):
            fewer = faults[:first] + faults[first + size :]
            if fails(msgspec.structs.replace(plan, faults=fewer)):
                faults = fewer
                break
        else:
            if size == 1:
                break
            size //= 2
    return msgspec.structs.replace(plan, faults=faults)
