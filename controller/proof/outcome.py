"""What `verify` and `audit` can conclude, and with which exit status they say it."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The verdict. ``NOT_JUDGED``: nothing speaks against the journal, and something that is needed
    to say that it holds is not there, cannot be read or is not signed.
    """

    HOLDS = "holds"
    DOES_NOT_HOLD = "does_not_hold"
    NOT_JUDGED = "could_not_be_judged"

    @property
    def status(self) -> int:
        """The exit status. 2 is a wrong call, at every command."""
        return STATUS[self]


STATUS = {Outcome.HOLDS: 0, Outcome.DOES_NOT_HOLD: 1, Outcome.NOT_JUDGED: 3}


def conclude(*, against: bool, lacking: bool) -> Outcome:
    """``against``: something contradicts the journal, which weighs more than what is
    ``lacking``.
    """
    if against:
        return Outcome.DOES_NOT_HOLD
    return Outcome.NOT_JUDGED if lacking else Outcome.HOLDS
