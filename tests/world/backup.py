"""Backups of a daemon's journal in a simulated world, made and restored as operations.md says: the
part ``backup``.
"""

from __future__ import annotations

import json
from contextlib import closing
from contextvars import Context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from common.chain.schema import Entry
from controller.backup.errors import BackupError
from controller.backup.restore import restore
from controller.backup.take import back_up
from controller.configuration.file import load
from controller.journal.reader import JournalReader
from tests.world.broker.packets import Publish
from tests.world.checkers import Final, require
from tests.world.daemon import Node
from tests.world.disk_faults import End, nothing
from tests.world.pair import serving
from tests.world.process import Machine, Process, context_of

if TYPE_CHECKING:
    from tests.world.world import World

RESTORE_SECONDS = 20.0
"""How long a daemon is stopped for a restore."""


def join(world: World) -> None:
    """Watch what becomes of a restored backup."""
    world.checkers.append(Restored(world))


def restore_old_backup(world: World, random: Random) -> End:
    """The operator makes a backup, or has an older one. Later the disk dies, and one of them is
    restored.
    """
    node = random.choice(world.nodes)
    if not _backups(world, node) or random.random() < 0.5:
        _as_operator(node.machine, lambda: _take(world, node))
    wait = world.lasts(random.choice((30.0, 300.0, 900.0)))
    world.lasts(wait + RESTORE_SECONDS)

    def die() -> None:
        node.program.kill(RESTORE_SECONDS)
        _as_operator(node.machine, lambda: _restore(world, node, random))

    world.loop.call_later(wait, die, context=Context())
    return nothing


def _backups(world: World, node: Node) -> list[Path]:
    return sorted((world.folder / node.program.name / "backups").glob("*"))


def _as_operator(machine: Machine, work: Any) -> None:
    """Run a program on the machine, by its clock."""
    operator = Process("operator", machine)
    context_of(operator).run(work)
    operator.alive = False


def _take(world: World, node: Node) -> None:
    file = world.folder / node.program.name / "novamas.toml"
    try:
        with node.disk.as_files():
            back_up(file, load(file), file.parent / "backups", None)
    except BackupError as error:
        world.note(f"NO BACKUP  {error}")


def _restore(world: World, node: Node, random: Random) -> None:
    """Restore a backup, or keep the journal if the clock forbids it."""
    if not (backups := _backups(world, node)):
        return
    file = world.folder / node.program.name / "novamas.toml"
    try:
        with node.disk.as_files():
            result = restore(file, random.choice(backups), set_aside=True)
    except BackupError as error:
        world.note(f"REFUSED    {error}")
        return
    with closing(JournalReader(result.copy)) as reader:
        world.restored(node.program.name, list(reader.entries()))


class Restored(Final):
    """A restore is reported, by the first event of each table and by an alert; and no session of a
    table is opened twice. Its rounds are judged by :class:`tests.world.checkers.RoundOnce`.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._sessions: set[tuple[str, int]] = set()
        """Table and number of each session that was opened."""
        self._unreported: set[tuple[str, str]] = set()
        """Daemons and their tables that must report a restore first, when they serve."""
        self._lives: dict[str, int] = {}
        """By daemon whose alert is due, how often it had been started when it was restored."""

    def on_restored(self, kept: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        self._unreported = {each for each in self._unreported if each[0] != owner}
        self._unreported |= {(owner, entry.table) for entry in kept if entry.kind == "event"}
        self._lives[owner] = self._started(owner)

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.kind == "event":
                self._judge(owner, entry.table, json.loads(entry.body))

    def _judge(self, owner: str, table: str, body: dict[str, Any]) -> None:
        if (owner, table) in self._unreported:
            is_restore = body["type"] == "journal.restored" and "source" not in body
            require(is_restore, "the restore is not the first event", body)
            self._unreported.remove((owner, table))
        if body["type"] == "journal.restored":
            session = table, body["next_session"]
            require(session not in self._sessions, "a session will be used again", body)
        if body["type"] == "session.opened":
            session = table, body["session"]
            require(session not in self._sessions, "a session is used again", body)
            self._sessions.add(session)

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/alert/journal-restored") and message.payload:
            self._lives.clear()

    def on_end(self) -> None:
        """See :class:`Checker`."""
        serve = self._world.nodes if self._world.bucket is None else [serving(self._world)]
        for name in [node.program.name for node in serve if node is not None]:
            unreported = sorted(table for owner, table in self._unreported if owner == name)
            require(not unreported, "a restore is not reported", name, unreported)
            is_due = name in self._lives and self._started(name) == self._lives[name] + 1
            require(not is_due, "no alert for a restore", name)

    def _started(self, name: str) -> int:
        [machine] = [node.machine for node in self._world.nodes if node.program.name == name]
        return len(machine.processes)
