"""Compares the table ``saved`` of a journal, which no hash covers, with the entries.

Each input of a table is committed together with the table's state after it, so the row names the
table's last input. The state from which a table continued is in an entry of the kind ``state``. The
audit derives the content of a row.
"""

from __future__ import annotations

import msgspec

from common.chain.schema import Entry
from common.confidential.bodies import is_sealed
from controller.journal.setup import TableStart
from controller.proof.evidence import JournalSource
from controller.proof.live import Saved
from controller.proof.segment import DECODE_ERRORS


class SavedStateCheck:
    """Receives the entries in order, and compares them with ``rows``, those of the table; None if
    they could not be read.
    """

    def __init__(self, rows: list[Saved] | None, live: JournalSource | None) -> None:
        self._rows = {row.table: row for row in rows or ()}
        self._live = live if rows is not None else None
        self._owners: dict[int, set[str]] = {}
        for row in rows or ():
            self._owners.setdefault(row.position, set()).add(row.table)
        self._wrong: dict[str, tuple[int, str]] = {}

    def on_entry(self, entry: Entry, journal: str) -> None:
        """Compare the next entry of that journal."""
        live = self._live
        if live is None or journal != live.journal or entry.position > live.last:
            return  # the rows were read before later entries were written
        for owner in self._owners.get(entry.position, set()) - {entry.table}:
            self._note(
                entry,
                owner,
                "its saved state (table saved) names this entry, which is not of that table",
            )
        row = self._rows.get(entry.table)
        if row is None:
            if entry.kind == "input":
                self._note(
                    entry,
                    entry.table,
                    "it has no saved state (table saved): its row was removed",
                )
        elif entry.position == row.position and entry.kind in ("boot", "bytes"):
            self._note(
                entry,
                row.table,
                "its saved state (table saved) names this entry, with which no state is saved",
            )
        elif entry.position > row.position and entry.kind == "input":
            self._note(
                entry,
                row.table,
                "its saved state (table saved) is older than this input: it is from entry "
                f"{row.position}",
            )
        elif entry.position >= row.position and entry.kind == "state":
            self._compare(entry, row)

    def problems_so_far(self) -> dict[str, tuple[int, str]]:
        """Return the first problem of each table so far, with its position."""
        return self._wrong

    def add(self, wrong: dict[str, tuple[int, str]]) -> None:
        """Add the problems that another process has found in later entries."""
        self._wrong = {**wrong, **self._wrong}

    def problems(self, heads: dict[str, int]) -> list[tuple[int, str]]:
        """Return the problems with their positions, once all entries were received. ``heads``: the
        last position of each journal that was read to its end.
        """
        head = heads.get(self._live.journal) if self._live is not None else None
        for row in self._rows.values():
            if head is not None and row.position > head:
                what = (
                    f"the saved state of table {row.table!r} (table saved) names entry "
                    f"{row.position}, and the last one is {head}"
                )
                self._wrong.setdefault(row.table, (head, what))
        return sorted(self._wrong.values())

    def _compare(self, entry: Entry, row: Saved) -> None:
        if row.table in self._wrong or is_sealed(entry.body):
            return
        try:
            began = bytes(msgspec.json.decode(entry.body, type=TableStart).saved)
        except DECODE_ERRORS:
            return  # its hash shows whether it was altered
        if began != row.state:
            self._note(
                entry,
                row.table,
                f"its saved state (table saved, entry {row.position}) is not the state with which "
                "the table continued here",
            )

    def _note(self, entry: Entry, table: str, what: str) -> None:
        self._wrong.setdefault(
            table, (entry.position, f"entry {entry.position}, table {table!r}: {what}")
        )
