"""The verdicts of `verify` and `audit`, and their exit statuses."""

from __future__ import annotations

from enum import StrEnum


class ProofOutcome(StrEnum):
    """The verdict. ``NOT_JUDGED``: nothing contradicts the journal, but something needed to confirm
    it is missing, unreadable or unsigned.
    """

    HOLDS = "holds"
    DOES_NOT_HOLD = "does_not_hold"
    NOT_JUDGED = "could_not_be_judged"

    @property
    def status(self) -> int:
        """The exit status. 2 is wrong usage, for every command."""
        return STATUS[self]


STATUS = {ProofOutcome.HOLDS: 0, ProofOutcome.DOES_NOT_HOLD: 1, ProofOutcome.NOT_JUDGED: 3}


def conclude(*, against: bool, lacking: bool) -> ProofOutcome:
    """Return the verdict. ``against``: something contradicts the journal, which outweighs
    ``lacking``: something needed is missing.
    """
    if against:
        return ProofOutcome.DOES_NOT_HOLD
    return ProofOutcome.NOT_JUDGED if lacking else ProofOutcome.HOLDS
