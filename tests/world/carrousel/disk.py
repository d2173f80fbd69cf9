"""The disk of the controller's machine: what a commit of the ledger meets there."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from contextvars import Context
from functools import cache
from pathlib import Path
from typing import Any, Literal

from common.chain.checkpoint import last_checkpoint
from subscribers.carrousel.self_check import check_program
from subscribers.carrousel.store import LedgerStore
from tests.world.loop import WorldLoop
from tests.world.process import PROCESS

Trouble = Literal["full", "dead", "torn", "killed before", "killed after"]
"""What happens to the next commit. ``full``: it fails, and so do all others; ``dead``: nothing can
be read or written; ``torn``: it is stored, and fails all the same; the program is killed before
or after it.
"""

SYNCED, UNSYNCED = "PRAGMA synchronous = FULL", "PRAGMA synchronous = OFF"
"""The world does not wait for the disk of the machine that it runs on."""


class LedgerDisk:
    """``path``: the ledger; ``trouble``: what its next commit meets; ``kill`` kills the
    controller.
    """

    def __init__(self, loop: WorldLoop, path: Path, kill: Callable[[], object]) -> None:
        self.path = path
        self.trouble: Trouble | None = None
        self.is_met = False
        """Whether a program has met the trouble that lasts."""
        self.is_old = False
        """Whether an older copy is in the place of the ledger."""
        self._loop, self._kill = loop, kill

    def open(self, path: Path) -> LedgerStore:
        """Open the ledger for the running program, whose files are closed when it is killed."""
        process = PROCESS.get()
        assert process is not None
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                return disk.execute(sql, lambda sql: super(Connection, self).execute(sql, *values))

        store = LedgerStore(path, Connection)
        process.on_kill(store.close)
        return store

    def execute(self, sql: str, run: Callable[[str], sqlite3.Cursor]) -> sqlite3.Cursor:
        """Run a statement, as far as the disk lets it."""
        trouble, commits = self.trouble, sql == "COMMIT"
        if sql == SYNCED:
            return run(UNSYNCED)
        if trouble == "dead":
            self.is_met = True
            raise sqlite3.OperationalError("disk I/O error")
        if not commits or trouble is None:
            return run(sql)
        if trouble == "full":
            self.is_met = True
            raise sqlite3.OperationalError("database or disk is full")
        self.trouble = None
        if trouble == "killed before":
            self._kill_at_once()
            raise sqlite3.OperationalError("killed")
        done = run(sql)
        if trouble == "killed after":
            self._kill_at_once()
            return done
        raise sqlite3.OperationalError("disk I/O error after the commit")

    def copy(self) -> None:
        """Copy the ledger as it is now."""
        if self.path.exists() and not self.is_old:
            with (
                closing(sqlite3.connect(self.path)) as file,
                closing(sqlite3.connect(self._place("copy"))) as to,
            ):
                file.backup(to)

    def swap_old(self) -> bool:
        """Put the copy in the place of the ledger. Return False if there is none that a checkpoint
        contradicts.
        """
        copy, last = self._place("copy"), last_checkpoint(self.path)
        if self.is_old or last is None or not copy.exists():
            return False
        with closing(sqlite3.connect(copy)) as file:
            (position,) = file.execute("SELECT max(position) FROM entry").fetchone()
        if position >= last.position:
            return False
        self.is_old = True
        self._move(self.path, self._place("last"))
        shutil.copy(copy, self.path)
        return True

    def swap_back(self) -> None:
        """Put the last file back."""
        self.is_old = False
        self._move(self._place("last"), self.path)

    def _place(self, name: str) -> Path:
        return self.path.with_suffix(f".{name}")

    def _move(self, file: Path, to: Path) -> None:
        """Move a ledger with what SQLite has beside it."""
        for beside in ("", "-wal", "-shm"):
            source, target = Path(f"{file}{beside}"), Path(f"{to}{beside}")
            target.unlink(missing_ok=True)
            if source.exists():
                source.rename(target)

    def _kill_at_once(self) -> None:
        """Kill the program before its thread can report how the commit ended."""
        self._loop.call_soon(self._kill, context=Context())


@cache
def program_digest() -> str:
    """Return the digest of the program, which does not change while worlds run."""
    return check_program()
