"""The journal that goes on for one that was restored from a backup.

The backup stays a file of its own, with its own id and its whole chain. The new file has another
id and begins at the next position, so that no position of a journal names two entries: what the
backup's daemon wrote after it stands under the old id. It begins with the backup's last ``boot``
entry, which says what was restored, and with the state of each table.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec

from controller.contract.times import utc
from controller.journal.file import open_checked
from controller.journal.mono import now_ns
from controller.journal.reader import JournalReader
from controller.journal.schema import JournalUnusableError, Record, rows
from controller.journal.setup import RestoredBackup, restored_boot, table_start


def create_restored(path: Path, copy: Path, restored: RestoredBackup) -> None:
    """Write the new file at ``path``, whole and in one piece, from the backup's journal ``copy``,
    which will stand beside the journal under the name that ``restored`` has. Raises ``OSError``,
    ``sqlite3.Error`` and :class:`JournalUnusableError`.
    """
    with closing(JournalReader(copy)) as reader:
        boot, head, cursors = reader.latest("boot"), reader.head(), reader.cursors()
        states = reader.saved_states()
    if boot is None:
        raise JournalUnusableError(
            f"{copy}: no daemon has ever started with it; nothing to restore"
        )
    now, mono_ns = utc(time.time()), now_ns()

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
            made, ends, last = rows(records, reader.genesis())
        told = msgspec.structs.replace(restored, through=last.position)
        execute, many = connection.execute, connection.executemany
        execute("BEGIN IMMEDIATE")
        many("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", made)
        many(
            "INSERT INTO saved VALUES (?, ?, ?)",
            [
                (each.table, each.saved, end)
                for each, end in zip(records, ends, strict=True)
                if each.saved is not None
            ],
        )
        execute("INSERT INTO meta VALUES ('restored', ?)", (msgspec.json.encode(told).decode(),))
        execute("COMMIT")
        if execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
            raise sqlite3.OperationalError("the log cannot be moved into the database")
    finally:
        connection.close()


def read_restored(reader: JournalReader) -> RestoredBackup | None:
    """What the journal was restored from; None: it was not, or not since it was begun. Raises
    :class:`JournalUnusableError` if what it says of it cannot be read.
    """
    told = reader.meta("restored")
    if told is None:
        return None
    try:
        return msgspec.json.decode(told, type=RestoredBackup)
    except ValueError:
        raise JournalUnusableError(
            f"{reader.path}: what it says of the backup that it goes on from cannot be read; "
            "restore the backup again"
        ) from None
