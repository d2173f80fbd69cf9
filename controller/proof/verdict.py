"""The findings of a verification."""

from __future__ import annotations

import msgspec

from common.extensions import ExtensionRecord
from controller.proof.outcome import ProofOutcome, conclude

MAX_LISTED_PROBLEMS = 20
"""Maximum problems listed; the rest are counted."""


class Problem(msgspec.Struct, frozen=True):
    """One problem. ``position``: the entry, if it concerns one; ``source``: the file."""

    source: str
    position: int | None
    what: str


class PositionRange(msgspec.Struct, frozen=True):
    """Entries of one file's chain, from the first to the last inclusive."""

    journal: str
    first: int
    last: int

    @property
    def count(self) -> int:
        """The number of entries."""
        return self.last - self.first + 1


class Verdict(msgspec.Struct, kw_only=True):
    """The findings. ``keys``: the public keys with which checkpoints were verified; ``trusted``:
    the caller gave them, so they are not merely those that the journal names. ``through``: the
    position of the last entry that a signed checkpoint covers.

    ``proved``: how many entries such a checkpoint covers; ``unproved``: the others. ``missing``:
    entries of absent days whose removal the chain does not record; ``removed``: those whose removal
    it records. ``extensions``: the drivers from outside that the entries ``boot`` name. ``unread``:
    what could not be read or decided, and why. ``elsewhere``: the number of checkpoints of other
    journals; ``disbelieved``: of those of this journal that no trusted key has signed.
    """

    journal: str
    site: str = ""
    simulated: bool = False
    entries: int = 0
    segments: int = 0
    first: str = ""
    last: str = ""
    head: int = 0
    checkpoints: int = 0
    unsigned: int = 0
    elsewhere: int = 0
    disbelieved: int = 0
    through: int = 0
    keys: list[str] = []
    trusted: bool = False
    witnessed: int = 0
    proved: int = 0
    unproved: list[PositionRange] = []
    missing: list[PositionRange] = []
    removed: list[PositionRange] = []
    extensions: list[ExtensionRecord] = []
    unread: list[str] = []
    notes: list[str] = []
    problems: list[Problem] = []
    more: int = 0

    @property
    def outcome(self) -> ProofOutcome:
        """The verdict. Unless a key was given, it does not include who wrote the journal."""
        lacking = (
            self.unread or self.missing or not self.entries or (self.trusted and self.unproved)
        )
        return conclude(against=bool(self.problems), lacking=bool(lacking))

    @property
    def holds(self) -> bool:
        """True if nothing is wrong, and nothing needed is missing."""
        return self.outcome is ProofOutcome.HOLDS

    def wrong(self, source: str, position: int | None, what: str) -> None:
        """Record a problem."""
        if len(self.problems) < MAX_LISTED_PROBLEMS:
            self.problems.append(Problem(source, position, what))
        else:
            self.more += 1

    def add(self, later: Verdict) -> None:
        """Add the findings of later entries."""
        self.entries += later.entries
        self.segments += later.segments
        self.checkpoints += later.checkpoints
        self.unsigned += later.unsigned
        self.first = self.first or later.first
        self.last = later.last or self.last
        self.keys += (key for key in later.keys if key not in self.keys)
        self.extensions += (each for each in later.extensions if each not in self.extensions)
        self.unread += later.unread
        self.notes += later.notes
        self.more += later.more
        for problem in later.problems:
            self.wrong(problem.source, problem.position, problem.what)
