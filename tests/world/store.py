"""A model of the journal's file: what a :class:`JournalStore` and its readers do, in Python.

A commit is *written* to the log, *flushed* to the disk, and then *visible* to readers. The end of
a program, a failing disk or a power cut can come in between (:data:`Fate`):

- nothing of it was written;
- it was written and never became visible. The same program writes over it, but the next one takes
  it for stored, because all of it is in the log;
- it was stored, and only its answer was lost.

A power cut leaves each commit whole or not at all, and none after one that is gone. What was
flushed stays. The operating system does not repeat a flush that failed: then only moving the log
into the database stores what it was for.

Not modelled: damaged content, a reader that keeps the log from being moved, and the size of the
log, which is estimated. Locks and unfinished restores are real files; a database at the path, as a
restore leaves it there, is read when the journal is opened.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec

from common import clock, randomness
from common.chain.schema import (
    SCHEMA,
    VERSION,
    ChainHead,
    Entry,
    JournalLostError,
    JournalUnusableError,
    Kind,
    Record,
    Row,
    genesis,
    has_valid_hash,
    is_published,
    recomputed_hash,
    rows,
)
from controller.journal.file import UnfinishedRestoreError, aside_path, restoring_path
from controller.journal.reader import JournalReader
from controller.journal.salvage import MAX_ENTRIES, Salvaged, all_lost, format_positions
from controller.journal.store import (
    REMOVAL_BATCH_ENTRIES,
    JournalStore,
    Replacement,
    _opening,
    _saved,
)

Fate = Literal["absent", "unflushed", "spoiled", "stored"]
"""What happens to a commit that is not reported as stored. ``absent``: nothing was written;
``unflushed``: it was written; ``spoiled``: it was written, and the flush failed; ``stored``: it was
stored.
"""
Saved = list[tuple[str, bytes, int]]
"""Rows of the table ``saved``."""

COMMIT_LOG_BYTES = 20_000
"""About what a commit adds to the log."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_position = attrgetter("position")


class Trouble:
    """What is wrong with a disk. ``write_error``: SQLite's code for every write, or None;
    ``fate``: of the next commit; ``unreadable``: every read fails.
    """

    def __init__(self) -> None:
        self.write_error: int | None = None
        self.fate: Fate | None = None
        self.unreadable = False

    def check_write(self) -> None:
        """Raise ``sqlite3.OperationalError`` if nothing can be written."""
        if self.write_error is not None:
            raise disk_error(self.write_error)

    def check_read(self) -> None:
        """Raise ``sqlite3.OperationalError`` if nothing can be read."""
        if self.unreadable:
            raise disk_error(sqlite3.SQLITE_IOERR_READ)

    def take_fate(self) -> Fate | None:
        """Return the fate of this commit."""
        fate, self.fate = self.fate, None
        return fate


def disk_error(code: int) -> sqlite3.OperationalError:
    """Return the error with one of SQLite's result codes."""
    full = code == sqlite3.SQLITE_FULL
    error = sqlite3.OperationalError("database or disk is full" if full else "disk I/O error")
    error.sqlite_errorcode = code
    return error


class Commit(NamedTuple):
    """The rows of one transaction."""

    entries: list[Row]
    saved: Saved
    moves: Mapping[str, int]


class JournalFile:
    """One file of a journal. ``foreign_commits``: how often another program wrote to it; ``lies``:
    the disk says that it has flushed what it has not.
    """

    def __init__(self, meta: dict[str, str], *, lies: bool = False) -> None:
        self.meta = meta
        self._lies = lies
        self.entries: list[Entry] = []
        self.saved: dict[str, tuple[bytes, int]] = {}
        self.cursors: dict[str, int] = {}
        self.log_bytes = 0
        self.foreign_commits = 0
        self._undo: list[list[Callable[[], object]]] = []
        """How to undo each commit that was not flushed, in order."""
        self._spoiled = False
        """A flush has failed, so that none stores anything before the log is moved."""
        self._invisible: Commit | None = None
        """A commit in the log that readers do not see."""

    def head(self) -> ChainHead:
        """Return the end of the chain."""
        if self.entries:
            return ChainHead(self.entries[-1].position, self.entries[-1].hash)
        return self.beginning()

    def beginning(self) -> ChainHead:
        """Return the point after which the file has entries."""
        if "cut" in self.meta:
            return ChainHead(int(self.meta["cut"]), bytes.fromhex(self.meta["cut_hash"]))
        return self.genesis()

    def genesis(self) -> ChainHead:
        """Return the start of the chain."""
        return ChainHead(int(self.meta["base"]), genesis(self.meta["id"]))

    def index(self, position: int) -> int:
        """Return the index of the first entry from that position on."""
        return bisect_left(self.entries, position, key=_position)

    def commit(self, commit: Commit, fate: Fate | None = None) -> None:
        """Write a commit, and flush it unless its fate is another."""
        self._invisible = None
        if fate in ("unflushed", "spoiled"):
            self._invisible = commit
            self._spoiled = self._spoiled or fate == "spoiled"
        elif fate != "absent":
            self._apply(commit)
            self._flush()

    def commit_foreign(self, moves: Mapping[str, int]) -> None:
        """Write as another program does."""
        self.foreign_commits += 1
        self.commit(Commit([], [], moves))

    def remove(self, last: int) -> None:
        """Remove the entries up to that position."""
        end = self.index(last + 1)
        removed = self.entries[:end]
        del self.entries[:end]
        cut = {"cut": str(last), "cut_hash": removed[-1].hash.hex()}
        self._undo.append(
            [_put(self.meta, cut), lambda: self.entries.__setitem__(slice(0), removed)]
        )
        self.log_bytes += COMMIT_LOG_BYTES
        self._invisible = None
        self._flush()

    def move_log(self) -> None:
        """Move the log into the database: then everything is stored."""
        self._undo.clear()
        self._spoiled = False
        self._invisible = None
        self.log_bytes = 0

    def recover(self) -> list[Entry]:
        """Make visible what a program that has died left in the log. Return the new entries."""
        before = len(self.entries)
        if self._invisible is not None:
            commit, self._invisible = self._invisible, None
            self._apply(commit)
        return self.entries[before:]

    @property
    def losable(self) -> int:
        """How many of the last commits a power cut can take."""
        return len(self._undo) + (self._invisible is not None)

    def cut(self, kept: int) -> list[Entry]:
        """Cut the power: keep so many of the commits that can be lost. Return the entries that are
        gone and were visible.
        """
        if kept <= len(self._undo):
            self._invisible = None
        lost: list[Entry] = []
        for undo in reversed(self._undo[kept:]):
            before = self.entries.copy()
            for each in undo:
                each()
            lost = before[len(self.entries) :] + lost
        del self._undo[kept:]
        self._spoiled = False
        return lost

    def _apply(self, commit: Commit) -> None:
        before = len(self.entries)
        self.entries += [Entry(*row) for row in commit.entries]
        self._undo.append(
            [
                lambda: self.entries.__delitem__(slice(before, None)),
                _put(self.saved, {table: (state, at) for table, state, at in commit.saved}),
                _put(self.cursors, commit.moves),
            ]
        )
        self.log_bytes += COMMIT_LOG_BYTES + sum(len(row[7]) for row in commit.entries)

    def _flush(self) -> None:
        if not self._spoiled and not self._lies:
            self._undo.clear()


def _put(table: dict[_Key, _Value], new: Mapping[_Key, _Value]) -> Callable[[], object]:
    """Update a table. Return what undoes it."""
    before = [(key, key in table, table.get(key)) for key in new]
    table.update(new)

    def undo() -> None:
        for key, existed, value in before:
            if existed:
                table[key] = value  # type: ignore[assignment]
            else:
                table.pop(key)

    return undo


class JournalFiles:
    """The files of journals on one disk, by path, and what is wrong with it. ``on_stored`` is
    called with the entries that have become visible. ``lies``: see :class:`JournalFile`.
    """

    def __init__(
        self,
        trouble: Trouble,
        on_stored: Callable[[list[Entry]], None] = lambda _: None,
        *,
        lies: bool = False,
    ) -> None:
        self.trouble = trouble
        self.on_stored = on_stored
        self._lies = lies
        self.files: dict[Path, JournalFile] = {}

    def open(self, path: Path) -> JournalFile | None:
        """Return the file at a path, also one that another program has put there, or None."""
        if path.exists() and path.stat().st_size:
            self.files[path] = read_file(path)
            path.unlink()
        return self.files.get(path)

    def create(self, path: Path, base: int, aside: Path | None = None) -> JournalFile:
        """Create a file whose positions begin after ``base``."""
        created = clock.now().isoformat(timespec="microseconds")
        meta = {
            "version": str(VERSION),
            "id": randomness.token_hex(16),
            "created": created,
            "base": str(base),
        }
        if aside is not None:
            meta["aside"] = aside.name
        self.files[path] = file = JournalFile(meta, lies=self._lies)
        return file


class ModelStore(JournalStore):
    """Does what a :class:`JournalStore` does, with a file of ``disk``."""

    def __init__(self, path: Path, disk: JournalFiles) -> None:
        self.path = path
        self.replacement: Replacement | None = None
        self.set_aside: Path | None = None
        self._disk = disk
        self._trouble = disk.trouble
        if restoring_path(path).exists():
            raise UnfinishedRestoreError(f"{path}: a restore was started and not finished")
        if disk.trouble.unreadable:
            raise JournalUnusableError(f"{path}: the disk does not return it")
        self._file = disk.open(path) or disk.create(path, 0)
        path.touch(mode=0o600)
        self._report(self._file.recover())
        self._is_open = self.is_flushed = self._move_found_log()
        self._is_killed = False
        self._seen_foreign: int | None = None
        self._aside: Path | None = None
        self._boot: Record | None = None
        self._states: dict[str, Record] = {}
        self._cursors = dict(self._file.cursors)
        self.head = self._file.head()
        before = self._file.meta.get("aside")
        self.unpublished = (
            Salvaged()
            if before is None
            else self._salvage(path.with_name(before), self._file.genesis().position)
        )

    def _move_found_log(self) -> bool:
        """Store what the program before may have left in the system's memory alone. Return whether
        that is done.
        """
        if self._trouble.write_error is None:
            self._file.move_log()
        return self._trouble.write_error is None

    def open_reader(self) -> JournalReader:
        """See :class:`JournalStore`."""
        return ModelReader(self.path, self._file, self._trouble)

    def write(self, records: list[Record], moves: dict[str, int]) -> tuple[list[int], list[Entry]]:
        """See :class:`JournalStore`."""
        new_rows, ends, head = rows(records, self.head)
        is_stored = False
        if not self._is_open:
            self._trouble.check_write()
            if self._aside is not None:
                self._begin(self._aside)
                new_rows, ends, head = rows(records, self.head)
            elif self._is_replaced():
                raise JournalLostError("the file was removed or replaced")
            else:
                is_stored = self._file.head() == head != self.head
                if not is_stored and self._file.head() != self.head:
                    raise JournalLostError("the file no longer holds what was stored")
                self._file.move_log()
                self.is_flushed = True
            self._is_open, self._seen_foreign = True, None
        if not is_stored:
            self._commit(Commit(new_rows, _saved(records, ends), dict(moves)))
        self.head = head
        self._cursors.update(moves)
        for record in records:
            if record.saved is not None:
                self._states[record.table] = record
            elif record.before and record.before[0][0] == "boot":
                self._boot = record
        return ends, [Entry(*row) for row in new_rows if is_published(row[3], row[7])]

    def _commit(self, commit: Commit) -> None:
        if self._is_replaced():
            raise JournalLostError("the file was removed or replaced")
        if self._seen_foreign is None:
            self._seen_foreign = self._file.foreign_commits
        self._trouble.check_write()
        fate = self._trouble.take_fate()
        count = len(self._file.entries)
        self._file.commit(commit, fate)
        self._report(self._file.entries[count:])
        if fate is not None:
            raise disk_error(sqlite3.SQLITE_IOERR_FSYNC)

    def _report(self, entries: list[Entry]) -> None:
        if entries:
            self._disk.on_stored(entries)

    def _is_replaced(self) -> bool:
        return self._disk.files.get(self.path) is not self._file

    def failed(self, error: Exception) -> bool:
        """See :class:`JournalStore`."""
        self.close()
        if self._aside is not None or not isinstance(error, JournalLostError):
            return False
        self._aside = aside_path(self.path)
        if (file := self._disk.files.pop(self.path, None)) is not None:
            self._disk.files[self._aside] = file
        return True

    def examine(self, journal: str | None = None, damage: str = "") -> None:
        """See :class:`JournalStore`."""
        if self._aside is None and journal is None:
            self._trouble.check_read()
        elif self._aside is None and journal == self._file.meta["id"]:
            raise JournalLostError(damage)

    def remove(self, through: int) -> bool:
        """See :class:`JournalStore`."""
        if not self._is_open or not self._file.entries:
            return False
        end = min(through, self.head.position - 1)
        first = self._file.entries[0].position
        last = min(end, first + REMOVAL_BATCH_ENTRIES)
        if last < first:
            return False
        if self._trouble.write_error is not None:
            self.close()
            return False
        self._file.remove(last)
        return last < end

    def has_foreign_writes(self) -> bool:
        """See :class:`JournalStore`."""
        if not self._is_open:
            return False
        before, self._seen_foreign = self._seen_foreign, self._file.foreign_commits
        return before is not None and before != self._seen_foreign

    def log_size(self) -> int:
        """See :class:`JournalStore`."""
        return self._file.log_bytes

    def move_log(self, kept_bytes: int = 0) -> bool:
        """See :class:`JournalStore`."""
        del kept_bytes
        if not self._is_open:
            return True
        if self._trouble.write_error is not None:
            self.close()
            return False
        self._file.move_log()
        return True

    def close(self) -> None:
        """See :class:`JournalStore`."""
        self._is_open = False

    def end(self) -> None:
        """See :class:`JournalStore`. The last connection moves the log."""
        self.close()
        if not self._is_killed:
            self._move_found_log()

    def kill(self) -> None:
        """End as a program that is killed: nothing is moved."""
        self.close()
        self._is_killed = True

    def _begin(self, aside: Path) -> None:
        """Create the file that replaces the one that was set aside."""
        before = self._file
        belongs = self._disk.files.get(aside) is before
        self._file = self._disk.create(self.path, self.head.position, aside if belongs else None)
        self._file.cursors.update(self._cursors)
        begins = self._file.genesis()
        opening = _opening(self._boot, self._states)
        new_rows, ends, self.head = rows(opening, begins)
        self._commit(Commit(new_rows, _saved(opening, ends), self._cursors))
        cursor = self._cursors.get("mqtt", 0)
        unpublished = (
            self._salvage(aside, begins.position)
            if belongs
            else all_lost(aside, cursor, begins.position)
        )
        self.replacement = Replacement(
            aside, unpublished, self.open_reader(), self._file.meta["id"], self.head
        )
        self._aside = None

    def _salvage(self, aside: Path, through: int) -> Salvaged:
        """Return the entries to publish from this file and the ones before it."""
        missing = set(range(self._cursors.get("mqtt", 0) + 1, through + 1))
        found: dict[int, Entry] = {}
        name: str | None = aside.name
        while missing and name is not None:
            file = self._disk.open(self.path.with_name(name))
            if file is None or self._trouble.unreadable:
                break
            held = {entry.position: entry for entry in file.entries if entry.position in missing}
            found |= held
            missing -= held.keys()
            name = file.meta.get("aside")
            if missing and min(missing) > int(file.meta["base"]):
                break
        entries = [found[at] for at in sorted(found) if found[at].is_published]
        lost = sorted([*missing, *(entry.position for entry in entries[MAX_ENTRIES:])])
        return Salvaged(
            entries[:MAX_ENTRIES], f"{format_positions(lost)} of {aside}" if lost else None
        )


class ModelReader(JournalReader):
    """Reads what is visible of a file. What it inherits is composed of what it overrides."""

    def __init__(self, path: Path, file: JournalFile, trouble: Trouble) -> None:
        self.path = path
        self._file, self._trouble = file, trouble

    @property
    def _read(self) -> JournalFile:
        self._trouble.check_read()
        return self._file

    def _after(self, position: int) -> list[Entry]:
        file = self._read
        return file.entries[file.index(position + 1) :]

    def _of_boot(self, table: str, boot: str) -> Iterator[Entry]:
        return (
            entry
            for entry in self._read.entries
            if (entry.kind, entry.table, entry.boot) == ("event", table, boot)
        )

    def close(self) -> None:
        """See :class:`JournalReader`."""

    def interrupt(self) -> None:
        """See :class:`JournalReader`."""

    def id(self) -> str:
        """See :class:`JournalReader`."""
        return self._read.meta["id"]

    def meta(self, key: str) -> str | None:
        """See :class:`JournalReader`."""
        return self._read.meta.get(key)

    def head(self) -> ChainHead:
        """See :class:`JournalReader`."""
        return self._read.head()

    def beginning(self) -> ChainHead:
        """See :class:`JournalReader`."""
        return self._read.beginning()

    def _at(self, position: int) -> Entry | None:
        found = self._after(position - 1)[:1]
        return found[0] if found and found[0].position == position else None

    def hash_at(self, position: int) -> bytes | None:
        """See :class:`JournalReader`."""
        entry = self._at(position)
        return None if entry is None else entry.hash

    def recomputed_hashes(self, positions: Sequence[int]) -> list[ChainHead]:
        """See :class:`JournalReader`."""
        entries = [entry for position in positions if (entry := self._at(position)) is not None]
        return [ChainHead(entry.position, recomputed_hash(entry)) for entry in entries]

    def latest(self, kind: Kind | None = None) -> Entry | None:
        """See :class:`JournalReader`."""
        entries = reversed(self._read.entries)
        return next((entry for entry in entries if kind is None or entry.kind == kind), None)

    def day_after(self, position: int) -> str | None:
        """See :class:`JournalReader`."""
        return next((entry.time[:10] for entry in self._after(position)[:1]), None)

    def end_before(
        self, condition: str, position: int, day: str, pause: Callable[[], None]
    ) -> int | None:
        """See :class:`JournalReader`."""
        is_later = condition == "time >= ?"
        for entry in self._after(position):
            if (entry.time >= f"{day}U") == is_later:
                return entry.position - 1
        pause()
        return None

    def last_publishable(self, through: int) -> int:
        """See :class:`JournalReader`."""
        file = self._read
        entries = reversed(file.entries[: file.index(through + 1)])
        return next((entry.position for entry in entries if entry.is_published), 0)

    def entries(self, after: int = 0, limit: int = -1) -> Iterator[Entry]:
        """See :class:`JournalReader`."""
        file = self._read
        first = file.index(after + 1)
        return iter(file.entries[first : None if limit < 0 else first + limit])

    def recent_inputs(self, text: bytes, among: int) -> list[bytes]:
        """See :class:`JournalReader`."""
        recent = self._after(self._file.head().position - among)
        return [entry.body for entry in recent if entry.kind == "input" and text in entry.body]

    def events_after(self, position: int, limit: int) -> list[Entry]:
        """See :class:`JournalReader`."""
        return list(islice((e for e in self._after(position) if e.is_published), limit))

    def events_of_boot(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """See :class:`JournalReader`."""
        events = (entry for entry in self._of_boot(table, boot) if entry.seq > after_seq)
        return sorted(events, key=attrgetter("seq"))[:limit]

    def events_since(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """See :class:`JournalReader`."""
        events = sorted(self._of_boot(table, boot), key=attrgetter("seq"))
        passed = [entry.position for entry in events if entry.seq <= after_seq]
        after = passed[-1] if passed else events[0].position - 1 if events else 0
        later = (e for e in self._after(after) if (e.kind, e.table) == ("event", table))
        return list(islice(later, limit))

    def cursors(self) -> dict[str, int]:
        """See :class:`JournalReader`."""
        return dict(self._read.cursors)

    def damage(self, stop: Callable[[], bool] | None = None, steps: int = 1000) -> str | None:
        """See :class:`JournalReader`."""
        del stop, steps
        self._trouble.check_read()
        return None

    def last_intact(self, among: int) -> ChainHead | None:
        """See :class:`JournalReader`."""
        entries = reversed(self._read.entries[-among:])
        return next((ChainHead(e.position, e.hash) for e in entries if has_valid_hash(e)), None)

    def saved_state(self, table: str) -> bytes | None:
        """See :class:`JournalReader`."""
        saved = self._read.saved.get(table)
        return None if saved is None else saved[0]

    def saved_states(self) -> dict[str, bytes]:
        """See :class:`JournalReader`."""
        return {table: state for table, (state, _) in sorted(self._read.saved.items())}

    def saved_position(self, table: str) -> int:
        """See :class:`JournalReader`."""
        saved = self._read.saved.get(table)
        return 0 if saved is None else saved[1]


def read_file(path: Path) -> JournalFile:
    """Read a journal that another program has written, with its log."""
    with closing(sqlite3.connect(path)) as connection, closing(JournalReader(path)) as reader:
        file = JournalFile(dict(connection.execute("SELECT key, value FROM meta").fetchall()))
        file.entries = list(reader.entries())
        rows_of_saved = connection.execute("SELECT table_id, state, position FROM saved")
        file.saved = {table: (state, at) for table, state, at in rows_of_saved}
        file.cursors = reader.cursors()
    return file


def write_file(file: JournalFile, path: Path) -> None:
    """Write a journal as the daemon does, for programs that read the file."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"PRAGMA synchronous = OFF; BEGIN; {SCHEMA}")
        many = connection.executemany
        many("INSERT INTO meta VALUES (?, ?)", file.meta.items())
        many(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(msgspec.structs.astuple, file.entries),
        )
        many(
            "INSERT INTO saved VALUES (?, ?, ?)", [(t, s, at) for t, (s, at) in file.saved.items()]
        )
        many("INSERT INTO cursor VALUES (?, ?)", file.cursors.items())
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o600)
