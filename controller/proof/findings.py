"""The findings of an audit."""

from __future__ import annotations

import msgspec

from common.extensions import ExtensionRecord
from controller.proof.outcome import ProofOutcome, conclude
from controller.proof.verdict import Verdict

MAX_LISTED_DIFFERENCES = 20
"""Maximum differences listed; the rest are counted."""

SEALED = "sealed for surveillance"
OTHER_KEY = "sealed for another key than the one given"
NO_BEGINNING = "the beginning of its run is not stored"
LOST = "inputs were lost while the journal could not be written"
NO_SETUP = "this software cannot set its table up"


COUNTS = (
    "entries",
    "readings",
    "proved_readings",
    "commands",
    "events",
    "proved_events",
    "unheard",
    "sealed",
    "named",
    "more",
)
"""What an audit counts."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that does not follow from those before it. ``derived``: the entry that follows; null
    if none does.
    """

    position: int
    time: str
    table: str
    boot: str
    what: str
    derived: str | None
    found: str | None


class AuditedRun(msgspec.Struct, kw_only=True):
    """One run of the daemon, and the software that wrote its entries."""

    boot: str
    software: str
    python: str
    since: str
    first: int
    entries: int = 0
    readings: int = 0
    commands: int = 0
    events: int = 0
    differences: int = 0
    extensions: list[ExtensionRecord] = []
    """The drivers from outside that decoded its devices."""

    def add(self, later: AuditedRun) -> None:
        """Add the counts of later entries of this run."""
        self.extensions += [each for each in later.extensions if each not in self.extensions]
        self.entries += later.entries
        self.readings += later.readings
        self.commands += later.commands
        self.events += later.events
        self.differences += later.differences


class Audit(msgspec.Struct, kw_only=True):
    """The findings. ``proved_readings`` follow from bytes, ``proved_events`` from inputs;
    ``signed``: commands with a proved signer, by people files that the ``site_keys`` signed;
    ``unproved``: by reason, how many others could not be derived. ``sealed``: entries that only
    surveillance can open and that remain closed. ``named``: readings that events name as their
    evidence; ``unkept``: those of them that are not stored. ``unproved_tables``: tables with events
    of which none was derived. ``chain``: whether the entries are those that were written.
    """

    journal: str
    chain: Verdict
    entries: int = 0
    readings: int = 0
    proved_readings: int = 0
    commands: int = 0
    signed: int = 0
    events: int = 0
    proved_events: int = 0
    unheard: int = 0
    sealed: int = 0
    named: int = 0
    unkept: int = 0
    unproved: dict[str, int] = {}
    unproved_tables: list[str] = []
    site_keys: list[str] = []
    notes: list[str] = []
    runs: list[AuditedRun] = []
    differences: list[Difference] = []
    more: int = 0

    @property
    def outcome(self) -> ProofOutcome:
        """The verdict on the derivation, and on the chain that proves the entries."""
        lacking = (
            self.chain.outcome is not ProofOutcome.HOLDS
            or self.sealed
            or self.unproved_tables
            or not self.derived
        )
        against = self.differences or self.chain.outcome is ProofOutcome.DOES_NOT_HOLD
        return conclude(against=bool(against), lacking=bool(lacking))

    @property
    def derived(self) -> int:
        """How many entries were derived."""
        return self.proved_readings + self.proved_events

    @property
    def derivable(self) -> int:
        """How many entries should be derived."""
        return self.readings + self.events

    @property
    def proves(self) -> bool:
        """True if nothing differs, and everything derivable was derived."""
        return self.outcome is ProofOutcome.HOLDS

    def add(self, later: Audit) -> None:
        """Add the findings of later entries."""
        for count in COUNTS:
            setattr(self, count, getattr(self, count) + getattr(later, count))
        for why, unproved in later.unproved.items():
            self.unproved[why] = self.unproved.get(why, 0) + unproved
        self.notes += later.notes
        for difference in later.differences:
            self.note(difference)
        known = {run.boot: run for run in self.runs}
        for run in later.runs:
            if run.boot in known:
                known[run.boot].add(run)
            else:
                self.runs.append(run)

    def note(self, difference: Difference) -> None:
        """Record a difference."""
        if len(self.differences) < MAX_LISTED_DIFFERENCES:
            self.differences.append(difference)
        else:
            self.more += 1
