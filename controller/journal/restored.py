"""The journal that continues one that was restored from a backup.

The backup remains a separate file, with its own id and its whole chain. The new file has another id
and begins at the next position. So no position of a journal names two entries: those that the
daemon wrote after the backup have the old id. The new file begins with the backup's last ``boot``
entry, which names what was restored, and with the state of each table.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from common import clock
from common.chain.schema import JournalUnusableError, Record, rows
from common.contract.times import format_utc
from controller.journal.file import open_checked
from controller.journal.reader import JournalReader, genesis_of
from controller.journal.setup import RestoredBackup, restored_boot, table_start


def create_restored(path: Path, copy: Path, restored: RestoredBackup) -> None:
    """Write the new file at ``path``, without a separate log, from the backup's journal ``copy``.

    The copy will be placed beside the journal under the name ``restored.file``. Raises ``OSError``,
    ``sqlite3.Error`` and :class:`JournalUnusableError`.
    """
    with closing(JournalReader(copy)) as reader:
        boot, head, cursors = reader.latest("boot"), reader.head(), reader.cursors()
        states = reader.saved_states()
    if boot is None:
        raise JournalUnusableError(
            f"{copy}: no daemon has ever used this journal; there is nothing to restore"
        )
    now, mono_ns = format_utc(clock.wall()), clock.mono_ns()

    def record(table: str, kind: str, body: bytes, saved: bytes | None = None) -> Record:
        return Record(
            table=table,
            boot=boot.boot,
            seq=0,
            time=now,
            mono_ns=mono_ns,
            before=((kind, body),),  # type: ignore[arg-type]
            saved=saved,
        )

    records = [
        record("", "boot", restored_boot(boot.body, restored)),
        *(
            record(table, "state", table_start("restored", state), state)
            for table, state in states.items()
        ),
    ]
    connection = open_checked(path, head.position, path.with_name(restored.file), cursors)
    try:
        with closing(JournalReader(path)) as reader:
            inserted, ends, last = rows(records, genesis_of(reader))
        stored = msgspec.structs.replace(restored, through=last.position)
        execute, many = connection.execute, connection.executemany
        execute("BEGIN IMMEDIATE")
        many("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", inserted)
        many(
            "INSERT INTO saved VALUES (?, ?, ?)",
            [
                (entry_record.table, entry_record.saved, end)
                for entry_record, end in zip(records, ends, strict=True)
                if entry_record.saved is not None
            ],
        )
        execute("INSERT INTO meta VALUES ('restored', ?)", (msgspec.json.encode(stored).decode(),))
        execute("COMMIT")
        if execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
            raise sqlite3.OperationalError("the log cannot be moved into the database")
    finally:
        connection.close()


def read_restored(reader: JournalReader) -> RestoredBackup | None:
    """Return the backup that this file continues, or None.

    Raises :class:`JournalUnusableError` if the entry about it cannot be read.
    """
    text = reader.meta("restored")
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=RestoredBackup)
    except ValueError:
        raise JournalUnusableError(
            f"{reader.path}: the record of the restored backup cannot be read; restore the backup "
            "again"
        ) from None
