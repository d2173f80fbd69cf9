"""Restores a backup. Existing files are renamed, never removed.

The journal of the backup is placed next to the journal's path, with its sealed days, and a new
journal continues it. The new journal gets its name last: until then no daemon can start, because
one without the restored journal would assign numbers a second time.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import msgspec

from common import clock
from common.chain.checkpoint import checkpoint_path
from common.chain.schema import Entry, JournalUnusableError
from common.contract.times import format_utc, parse_utc
from common.contract.version import SOFTWARE
from common.new_file import new_file, replacing, sync_folder
from controller.backup.errors import BackupError
from controller.backup.manifest import JOURNAL_NAME, KEYS_NAME, Manifest, read_manifest
from controller.backup.named_files import KEY_SUFFIXES
from controller.backup.sealed_keys import unseal
from controller.backup.take import ProgressReport, copy_file
from controller.configuration.file import inspect_configuration
from controller.configuration.settings import ConfigurationError
from controller.journal.file import lock, restoring_path
from controller.journal.restored import create_restored
from controller.journal.setup import RestoredBackup
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import folder as folder_of
from controller.proof.verify import verify

LOG_SUFFIXES = ("-wal", "-shm")
ALLOWED_PERMISSIONS = 0o666
"""Permissions that a manifest may set on a file: not executable, no set-user-id."""


class RestoreResult(msgspec.Struct, frozen=True):
    """Outcome of a restore. ``journal`` continues ``copy``, the journal of the backup; ``aside``:
    renamed files; ``notes``: hints for the operator.
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
    progress: ProgressReport = lambda _what, _done, _total: None,
) -> RestoreResult:
    """Restore the backup in the folder ``backup`` for the configuration at ``config``, which is
    restored too if missing. ``passphrase``: unseals its secret files; ``key``: the public key that
    must have signed it; ``set_aside``: rename files that are in the way.

    Raises :class:`BackupError`. After an interruption at any point it may be called again.
    """
    manifest = read_manifest(backup, key)
    secrets: dict[str, bytes] = {}
    if passphrase is not None and manifest.sealed:
        secrets = unseal(backup / KEYS_NAME, passphrase)
    now = clock.wall()
    if now < max(parse_utc(manifest.time), parse_utc(manifest.made)):
        raise BackupError(
            f"the clock is at {format_utc(now)}, but the backup is of {manifest.made}: set the "
            "clock; otherwise numbers could be assigned twice"
        )
    sessions = _verify(backup, manifest, progress)
    try:
        operation = _Restore(config, backup, manifest, secrets, key, set_aside=set_aside)
        return operation.run(now, sessions)
    except OSError as error:
        raise BackupError(
            f"{error.filename or backup}: {error.strerror or error}; fix this and restore again"
        ) from None
    except sqlite3.Error as error:
        raise BackupError(f"{backup}: {error}; fix this and restore again") from None
    except (JournalUnusableError, ConfigurationError) as error:
        raise BackupError(str(error)) from None


class _SessionNumbers(msgspec.Struct):
    """The session numbers of an event."""

    session: int = 0
    next_session: int = 1


def _verify(backup: Path, manifest: Manifest, progress: ProgressReport) -> dict[str, int]:
    """Verify the backup's journal. Return the highest session number of each table."""
    sessions: dict[str, int] = {}

    def on_entry(entry: Entry) -> None:
        if entry.kind != "event":
            return
        with suppress(ValueError, RecursionError):
            event = _event_decoder.decode(entry.body)
            last = max(event.session, event.next_session - 1)
            sessions[entry.table] = max(last, sessions.get(entry.table, 0))

    def show(done: int, total: int) -> None:
        progress("verifying the backup", done, total)

    verdict = verify(backup / JOURNAL_NAME, manifest.key, each=on_entry, progress=show)
    if verdict.outcome is ProofOutcome.DOES_NOT_HOLD:
        raise BackupError(f"{backup}: its journal was altered: {verdict.problems[0].what}")
    if verdict.head != manifest.position:
        raise BackupError(
            f"{backup}: its journal ends with entry {verdict.head}, but its manifest says "
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

    def run(self, now: float, sessions: dict[str, int]) -> RestoreResult:
        """Restore everything, in an order that may be interrupted and repeated at any point."""
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
                at=format_utc(now),
                by=SOFTWARE,
                sessions=sessions,
            )
            new = restoring_path(journal)
            for end in ("", "-journal", *LOG_SUFFIXES):
                Path(f"{new}{end}").unlink(missing_ok=True)
            with new_file(new):
                pass  # created private before SQLite opens it; its log inherits the permissions
            create_restored(new, copy, point)
            end = f"replaced-{_compact(format_utc(now))}"
            for path in in_the_way:
                self._rename(path, journal, end)
            for path, body in keys.items():
                if path.exists():
                    self._rename(path, journal, end)
                _write(path, body)
            with suppress(FileNotFoundError):
                copy_file(checkpoint_path(copy), checkpoint_path(journal))
            new.rename(journal)
            sync_folder(journal.parent)
        finally:
            self._own(journal)
            os.close(held)
        return RestoreResult(manifest, journal, copy, tuple(self._aside), tuple(self._notes))

    def _journal(self) -> Path:
        """Return the configured path of the journal, even if other settings are invalid, such as a
        missing password.
        """
        inspection = inspect_configuration(self._config)
        if inspection.configuration is None or "journal" in inspection.mistaken:
            raise ConfigurationError(str(self._config), inspection.mistakes)
        for mistake in inspection.mistakes:
            self._notes.append(
                f"{mistake.file or self._config}: {mistake.place}: {mistake.what}; fix this "
                "before the start"
            )
        return Path(inspection.configuration.journal.path)

    def _in_the_way(self, journal: Path) -> list[Path]:
        """Return the existing files of the journal, the file itself last."""
        suffixes = (*LOG_SUFFIXES, ".checkpoint", ".segments", "")
        existing = [path for suffix in suffixes if (path := Path(f"{journal}{suffix}")).exists()]
        if existing and not self._set_aside:
            raise BackupError(
                f"{existing[-1]} exists: a journal is never replaced; to rename it and restore the "
                "backup in its place, add --set-aside"
            )
        return existing

    def _keys(self, journal: Path) -> dict[Path, bytes]:
        """Return the keys beside the journal that must be written because they differ."""
        keys = {
            journal.with_name(f"{journal.name}{suffix}"): body
            for suffix, body in self._secrets.items()
            if suffix in KEY_SUFFIXES
        }
        keys = {path: body for path, body in keys.items() if _read(path) != body}
        for path in keys:
            if path.exists() and not self._set_aside:
                raise BackupError(
                    f"{path} exists, and differs from the backup; to rename it, add --set-aside"
                )
        if not self._secrets:
            self._notes.append(
                "no keys were restored: they are not in the backup, or no key file was given. A "
                "daemon without the previous keys creates new ones: face-down cards of an open "
                "round cannot be recovered, and everyone who verifies needs the new public key"
            )
        return keys

    def _put_files(self) -> None:
        """Restore the configuration, and the files that it names, if missing."""
        items = {item.name: item for item in self._manifest.items if item.place}
        for name, item in items.items():
            own = item.place == self._manifest.configuration
            path = self._config if own else self._put_at(item.place)
            if path is not None and not path.exists():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(path, (self._backup / name).read_bytes(), item.mode)
        for place, body in self._secrets.items():
            path = None if place in KEY_SUFFIXES else self._put_at(place)
            if path is not None and not path.exists():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(path, body)

    def _put_at(self, place: str) -> Path | None:
        """Return the target path of a file. Outside the folder of the configuration, only files
        signed with the given key are restored.
        """
        path = self._config.absolute().parent / place
        inside = not Path(place).is_absolute() and ".." not in Path(place).parts
        if inside or self._key is not None:
            return path
        if not path.exists():
            self._notes.append(
                f"{path} was not restored, because it is outside the folder of the configuration: "
                "name the key that signed the backup with --signer, or restore it by hand"
            )
        return None

    def _put_journal(self, copy: Path) -> None:
        """Copy the journal of the backup, with its sealed days, to a separate name."""
        days = folder_of(copy)
        inside = f"{folder_of(Path(JOURNAL_NAME)).name}/"
        for item in self._manifest.items:
            if item.name.startswith(inside):
                days.mkdir(mode=0o700, exist_ok=True)
                copy_file(self._backup / item.name, days / item.name.removeprefix(inside))
        if days.exists():
            sync_folder(days)
        with suppress(FileNotFoundError):
            copy_file(checkpoint_path(self._backup / JOURNAL_NAME), checkpoint_path(copy))
        copy_file(self._backup / JOURNAL_NAME, copy)
        sync_folder(copy.parent)

    def _rename(self, path: Path, journal: Path, end: str) -> None:
        """Rename a file that is in the way: ``journal.sqlite3-wal`` to
        ``journal.sqlite3.replaced-TIME-wal``.
        """
        suffix = path.name.removeprefix(journal.name)
        aside = journal.with_name(f"{journal.name}.{end}{suffix}")
        path.rename(aside)
        self._aside.append(aside)

    def _own(self, journal: Path) -> None:
        """Give files written by root to the owner of the folder, so that the daemon can use
        them.
        """
        owner = journal.parent.stat()
        if os.geteuid() != 0 or owner.st_uid == 0:
            return
        for file in journal.parent.glob(f"{journal.name}*"):
            for path in (file, *file.rglob("*")):
                if path.lstat().st_uid == 0:
                    os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


_event_decoder = msgspec.json.Decoder(_SessionNumbers)


def _compact(time: str) -> str:
    """Format a time for file names: ``20261119T053000.000000Z``."""
    return time.replace("-", "").replace(":", "")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, body: bytes, mode: int = 0o600) -> None:
    """Write a whole file, or none. Raises ``OSError``."""
    with replacing(path) as file:
        file.write(body)
        os.fchmod(file.fileno(), mode & ALLOWED_PERMISSIONS)
