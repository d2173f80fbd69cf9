"""Checks the numbers of readings, by which events name them."""

from __future__ import annotations

from common.chain.schema import Entry
from common.confidential.bodies import is_sealed
from controller.proof.audit_record import AuditRecord
from controller.proof.references import ReadingRange, named_by, number_in
from controller.tables.table import Table


class ReadingNumbers:
    """The numbers so far. ``latest``: by table, that of its latest reading since a boot or a day
    began.
    """

    def __init__(self, record: AuditRecord) -> None:
        self.latest: dict[str, int] = {}
        self._record = record

    def check_number(self, entry: Entry, body: bytes, table: Table | None) -> None:
        """Check that the number of a reading, by which events name it, follows the one before."""
        number, latest = number_in(entry.body), self.latest.get(entry.table)
        if table is not None and table.face_down:
            latest = table.readings
        if is_sealed(entry.body) and not is_sealed(body) and number_in(body) != number:
            what = "the number beside the box is not that of its reading"
            self._record.differs(entry, what, None)
        if number is None:
            return
        if latest is not None and number != latest + 1:
            what = f"the reading has the number {number}, and the one before it {latest}"
            self._record.differs(entry, what, None)
        self.latest[entry.table] = number
        self._record.reading_ranges.setdefault(entry.table, ReadingRange()).add_reading(number)

    def check_references(self, entry: Entry) -> None:
        """Check that the readings that an event names exist."""
        numbers = named_by(entry.body)
        if not numbers:
            return
        self._record.audit.named += len(numbers)
        self._record.reading_ranges.setdefault(entry.table, ReadingRange()).add_references(numbers)
        latest = self.latest.get(entry.table)
        if latest is not None and max(numbers) > latest:
            what = f"it names reading {max(numbers)}, and the last one of its table was {latest}"
            self._record.differs(entry, what, None)
