"""Restores a backup. Nothing that is there is removed: it is renamed.

The journal of the backup comes to stand beside the journal, with its sealed days, and a new journal
goes on for it. Until that has its name, which it gets last, no daemon starts: one that began anew
would give numbers again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from controller.backup.errors import BackupError
from controller.backup.manifest import JOURNAL, KEYS, Manifest, read_manifest
from controller.backup.named_files import BESIDE
from controller.backup.sealed_keys import unseal
from controller.backup.take import Progress, copy_file
from controller.configuration.file import inspect_configuration
from controller.configuration.settings import ConfigurationError
from controller.contract.times import moment, utc
from controller.contract.version import SOFTWARE
from controller.journal.file import lock, restoring_path, sync_directory
from controller.journal.restored import create_restored
from controller.journal.schema import Entry, JournalUnusableError
from controller.journal.setup import RestoredBackup
from controller.proof.checkpoint import checkpoint_path
from controller.proof.outcome import Outcome
from controller.proof.segment import folder as folder_of
from controller.proof.verify import verify
from devices.new_file import named_in_errors, new_file

LOGS = ("-wal", "-shm")
PERMISSIONS = 0o666
"""What a manifest may say of the permissions of a file: never that it can be run, or be run as its
owner.
"""


class Done(msgspec.Struct, frozen=True):
    """What was restored. ``journal``: it goes on for ``copy``, the journal of the backup;
    ``aside``: what was renamed; ``notes``: what a person should know.
    """

    manifest: Manifest
    journal: Path
    copy: Path
    aside: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def restore(
    config: Path,
    backup: Path,
    passphrase: bytes | None = None,
    *,
    key: str | None = None,
    set_aside: bool = False,
    progress: Progress = lambda _what, _done, _total: None,
) -> Done:
    """Restore the backup in the folder ``backup`` for the configuration at ``config``, which comes
    out of the backup if there is none. ``passphrase``: what its secret files were sealed with;
    ``key``: the public key that must have signed it; ``set_aside``: what is in its way is renamed.

    Raises :class:`BackupError`. It may be called again after it was interrupted at any point.
    """
    manifest = read_manifest(backup, key)
    secrets: dict[str, bytes] = {}
    if passphrase is not None and manifest.sealed:
        secrets = unseal(backup / KEYS, passphrase)
    now = time.time()
    if now < max(moment(manifest.time), moment(manifest.made)):
        raise BackupError(
            f"the clock says {utc(now)}, and the backup is of {manifest.made}: set the clock, or "
            "numbers could be given twice"
        )
    sessions = _verify(backup, manifest, progress)
    try:
        made = _Restore(config, backup, manifest, secrets, key, set_aside=set_aside)
        return made.run(now, sessions)
    except OSError as error:
        raise BackupError(
            f"{error.filename or backup}: {error.strerror or error}; put it right and restore again"
        ) from None
    except sqlite3.Error as error:
        raise BackupError(f"{backup}: {error}; put it right and restore again") from None
    except (JournalUnusableError, ConfigurationError) as error:
        raise BackupError(str(error)) from None


class _Numbered(msgspec.Struct):
    """An event, as far as it is looked at."""

    session: int = 0
    next_session: int = 1


def _verify(backup: Path, manifest: Manifest, progress: Progress) -> dict[str, int]:
    """Verify the backup's journal. Returns the highest number of a session of each table."""
    sessions: dict[str, int] = {}

    def hear(entry: Entry) -> None:
        if entry.kind != "event":
            return
        with suppress(ValueError, RecursionError):
            told = _event.decode(entry.body)
            last = max(told.session, told.next_session - 1)
            sessions[entry.table] = max(last, sessions.get(entry.table, 0))

    def show(done: int, total: int) -> None:
        progress("verifying the backup", done, total)

    verdict = verify(backup / JOURNAL, manifest.key, each=hear, progress=show)
    if verdict.outcome is Outcome.DOES_NOT_HOLD:
        raise BackupError(f"{backup}: its journal does not hold: {verdict.problems[0].what}")
    if verdict.head != manifest.position:
        raise BackupError(
            f"{backup}: its journal ends with entry {verdict.head}, and its manifest says "
            f"{manifest.position}; take another backup"
        )
    return sessions


class _Restore:
    """One restore."""

    def __init__(
        self,
        config: Path,
        backup: Path,
        manifest: Manifest,
        secrets: dict[str, bytes],
        key: str | None,
        *,
        set_aside: bool,
    ) -> None:
        self._config, self._backup, self._manifest = config, backup, manifest
        self._secrets, self._key, self._set_aside = secrets, key, set_aside
        self._aside: list[Path] = []
        self._notes: list[str] = []

    def run(self, now: float, sessions: dict[str, int]) -> Done:
        """All of it, in an order in which it may end anywhere and be begun again."""
        manifest = self._manifest
        self._put_files()
        journal = self._journal()
        journal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = lock(journal)
        try:
            in_the_way = self._in_the_way(journal)
            keys = self._keys(journal)
            copy = journal.with_name(f"{journal.name}.restored-{_compact(manifest.made)}")
            self._put_journal(copy)
            point = RestoredBackup(
                journal=manifest.journal,
                position=manifest.position,
                hash=manifest.hash,
                since=manifest.time,
                file=copy.name,
                at=utc(now),
                by=SOFTWARE,
                sessions=sessions,
            )
            new = restoring_path(journal)
            for end in ("", "-journal", *LOGS):
                Path(f"{new}{end}").unlink(missing_ok=True)
            with new_file(new):
                pass  # private before SQLite writes to it; its log is then too
            create_restored(new, copy, point)
            end = f"replaced-{_compact(utc(now))}"
            for path in in_the_way:
                self._rename(path, journal, end)
            for path, body in keys.items():
                if path.exists():
                    self._rename(path, journal, end)
                _write(path, body)
            with suppress(FileNotFoundError):
                copy_file(checkpoint_path(copy), checkpoint_path(journal))
            new.rename(journal)
            sync_directory(journal.parent)
        finally:
            self._own(journal)
            os.close(held)
        return Done(manifest, journal, copy, tuple(self._aside), tuple(self._notes))

    def _journal(self) -> Path:
        """Where the configuration has its journal, also while something else in it is wrong, as
        where a password was not restored.
        """
        found = inspect_configuration(self._config)
        if found.configuration is None or "journal" in found.mistaken:
            raise ConfigurationError(str(self._config), found.mistakes)
        for each in found.mistakes:
            self._notes.append(
                f"{each.file or self._config}: {each.place}: {each.what}; put it right before the "
                "start"
            )
        return Path(found.configuration.journal.path)

    def _in_the_way(self, journal: Path) -> list[Path]:
        """What belongs to the journal that is there, the file itself last."""
        ends = (*LOGS, ".checkpoint", ".segments", "")
        found = [path for end in ends if (path := Path(f"{journal}{end}")).exists()]
        if found and not self._set_aside:
            raise BackupError(
                f"{found[-1]} is there: a journal is never replaced; to have it renamed and the "
                "backup restored in its place, add --set-aside"
            )
        return found

    def _keys(self, journal: Path) -> dict[Path, bytes]:
        """The keys beside the journal that are to be written: those that are not there already."""
        keys = {
            journal.with_name(f"{journal.name}{end}"): body
            for end, body in self._secrets.items()
            if end in BESIDE
        }
        keys = {path: body for path, body in keys.items() if _read(path) != body}
        for path in keys:
            if path.exists() and not self._set_aside:
                raise BackupError(
                    f"{path} is there, and another than in the backup; to have it renamed, add "
                    "--set-aside"
                )
        if not self._secrets:
            self._notes.append(
                "no keys were restored: the backup has none, or no key file was given. A daemon "
                "without the keys that were used before makes new ones: face-down cards of an open "
                "round cannot be taken up, and who verifies must be told of the new key"
            )
        return keys

    def _put_files(self) -> None:
        """The configuration, and the files that it names, where there is nothing."""
        items = {item.name: item for item in self._manifest.items if item.place}
        for name, item in items.items():
            own = item.place == self._manifest.configuration
            path = self._config if own else self._put_at(item.place)
            if path is not None and not path.exists():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(path, (self._backup / name).read_bytes(), item.mode)
        for place, body in self._secrets.items():
            path = None if place in BESIDE else self._put_at(place)
            if path is not None and not path.exists():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(path, body)

    def _put_at(self, place: str) -> Path | None:
        """Where a file goes. Outside the folder of the configuration only what is signed with the
        key given.
        """
        path = self._config.absolute().parent / place
        inside = not Path(place).is_absolute() and ".." not in Path(place).parts
        if inside or self._key is not None:
            return path
        if not path.exists():
            self._notes.append(
                f"{path} was not put back, as it is outside the folder of the configuration: "
                "give the key that signed the backup with --key, or put it there yourself"
            )
        return None

    def _put_journal(self, copy: Path) -> None:
        """The journal of the backup, with its sealed days, under a name of its own."""
        days = folder_of(copy)
        inside = f"{folder_of(Path(JOURNAL)).name}/"
        for item in self._manifest.items:
            if item.name.startswith(inside):
                days.mkdir(mode=0o700, exist_ok=True)
                copy_file(self._backup / item.name, days / item.name.removeprefix(inside))
        if days.exists():
            sync_directory(days)
        with suppress(FileNotFoundError):
            copy_file(checkpoint_path(self._backup / JOURNAL), checkpoint_path(copy))
        copy_file(self._backup / JOURNAL, copy)
        sync_directory(copy.parent)

    def _rename(self, path: Path, journal: Path, end: str) -> None:
        """Rename what is in the way: ``journal.sqlite3-wal`` to
        ``journal.sqlite3.replaced-TIME-wal``.
        """
        rest = path.name.removeprefix(journal.name)
        aside = journal.with_name(f"{journal.name}.{end}{rest}")
        path.rename(aside)
        self._aside.append(aside)

    def _own(self, journal: Path) -> None:
        """What root has written belongs to whom the folder does, or the daemon could not use it."""
        owner = journal.parent.stat()
        if os.geteuid() != 0 or owner.st_uid == 0:
            return
        for beside in journal.parent.glob(f"{journal.name}*"):
            for path in (beside, *beside.rglob("*")):
                if path.lstat().st_uid == 0:
                    os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


_event = msgspec.json.Decoder(_Numbered)


def _compact(time: str) -> str:
    """A time as the names of files have it: ``20261119T053000.000000Z``."""
    return time.replace("-", "").replace(":", "")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, body: bytes, mode: int = 0o600) -> None:
    """A whole file under its name, or none. Raises ``OSError``."""
    part = path.with_name(f"{path.name}.part")
    with named_in_errors(part, part=True):
        with new_file(part) as file:
            file.write(body)
            os.fchmod(file.fileno(), mode & PERMISSIONS)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    sync_directory(path.parent)
