"""Records what an audit finds: counts, differences, and what could not be derived."""

from __future__ import annotations

import msgspec

from common.chain.schema import Entry
from controller.proof.findings import Audit, AuditedRun, Difference
from controller.proof.references import ReadingRange
from controller.proof.verdict import Verdict


class AuditFindings(msgspec.Struct, frozen=True):
    """The findings of an auditor in some entries. ``tables``: for each table, the number of its
    events and of those derived; ``spans``: the readings that its events name.
    """

    audit: Audit
    tables: dict[str, tuple[int, int]]
    spans: dict[str, ReadingRange]


class AuditRecord:
    """The findings so far. ``runs``: by boot."""

    def __init__(self, journal: str) -> None:
        self.audit = Audit(journal=journal, chain=Verdict(journal=journal))
        self.runs: dict[str, AuditedRun] = {}
        self.reading_ranges: dict[str, ReadingRange] = {}
        """By table, the readings that its events name."""
        self._tables: dict[str, tuple[int, int]] = {}
        """By table, the number of its events and of those derived."""

    def run(self, entry: Entry) -> AuditedRun | None:
        """Return the run of an entry; None if its beginning is not stored."""
        return self.runs.get(entry.boot)

    def count(self, entry: Entry, *, proved: int) -> None:
        """Count an event of a table, and whether it was derived."""
        events, derived = self._tables.get(entry.table, (0, 0))
        self._tables[entry.table] = events + 1, derived + proved

    def unproved(self, why: str) -> None:
        """Count something that could not be derived, for this reason."""
        self.audit.unproved[why] = self.audit.unproved.get(why, 0) + 1

    def differs(
        self, entry: Entry, what: str, derived: bytes | None, found: bytes | None = None
    ) -> None:
        """Record that an entry is not what was ``derived``."""
        if run := self.run(entry):
            run.differences += 1
        self.audit.note(
            Difference(
                position=entry.position,
                time=entry.time,
                table=entry.table,
                boot=entry.boot,
                what=what,
                derived=None if derived is None else _text(derived),
                found=_text(entry.body if found is None else found),
            )
        )

    def missing(self, table: str, boot: str, derived: bytes, entry: Entry | None) -> None:
        """Record that a derived event did not come before this entry, or before the end."""
        self.audit.note(
            Difference(
                position=entry.position if entry else 0,
                time=entry.time if entry else "",
                table=table,
                boot=boot,
                what="an event follows from the input before, and is not there",
                derived=_text(derived),
                found=None,
            )
        )

    def pop_findings(self) -> AuditFindings:
        """Return the findings since the last call."""
        findings = AuditFindings(self.audit, self._tables, self.reading_ranges)
        self.audit = Audit(journal=findings.audit.journal, chain=findings.audit.chain)
        self._tables, self.reading_ranges = {}, {}
        self.runs = {
            boot: AuditedRun(
                boot=boot,
                software=run.software,
                python=run.python,
                since="",
                first=run.first,
                extensions=[*run.extensions],
            )
            for boot, run in self.runs.items()
        }
        self.audit.runs = list(self.runs.values())
        return findings

    def add(self, found: AuditFindings) -> None:
        """Add what another process has found in later entries."""
        self.audit.add(found.audit)
        for table, (events, derived) in found.tables.items():
            known = self._tables.get(table, (0, 0))
            self._tables[table] = known[0] + events, known[1] + derived
        for table, span in found.spans.items():
            self.reading_ranges.setdefault(table, ReadingRange()).add(span)

    def conclude(self, chain: Verdict) -> Audit:
        """Return all findings. ``chain``: the verdict on the entries themselves."""
        self.audit.chain = chain
        self.audit.unkept = sum(len(span.below) for span in self.reading_ranges.values())
        self.audit.unproved_tables = [
            table for table, (events, proved) in self._tables.items() if events and not proved
        ]
        return self.audit


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")
