"""Makes a backup while the daemon runs.

SQLite copies the journal from one snapshot, without blocking the daemon's commits. Then follow the
sealed days, the configuration and the files that it names, and last the manifest. Everything is
written to a folder whose name ends with ``.part``, read back and verified, and only then renamed.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from common import clock
from common.chain.checkpoint import (
    SigningKeyError,
    key_path,
    last_checkpoint,
    load_key,
    public,
    sign,
    write_checkpoint,
)
from common.chain.schema import READ_ERRORS, Entry, connect_reading
from common.contract.times import format_utc
from common.contract.version import SOFTWARE
from common.new_file import create_private, replacing, sync_folder
from controller.backup.errors import BackupError
from controller.backup.manifest import (
    JOURNAL_NAME,
    KEYS_NAME,
    MANIFEST_NAME,
    BackupItem,
    Manifest,
    digest,
    sign_manifest,
)
from controller.backup.named_files import credentials, keys_beside, named_files
from controller.backup.sealed_keys import seal
from controller.configuration.settings import Configuration
from controller.configuration.sources import files_of
from controller.journal.reader import JournalReader
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import folder as folder_of
from controller.proof.segment import segments, span
from controller.proof.verdict import Verdict
from controller.proof.verify import verify

PAGES_PER_STEP = 1000
"""Pages of the journal copied between two reports of progress."""

ProgressReport = Callable[[str, int, int], None]
"""Called with the current step, the amount done, and the total."""


def back_up(
    config: Path,
    configuration: Configuration,
    into: Path,
    passphrase: bytes | None,
    progress: ProgressReport = lambda _what, _done, _total: None,
) -> tuple[Path, Manifest, Verdict]:
    """Make a backup in a new folder below ``into``. ``passphrase``: seals the secret files, which
    are otherwise left out. Return the folder, its manifest and the verdict on the copy. Raises
    :class:`BackupError`, after removing the incomplete backup.
    """
    source = Path(configuration.journal.path)
    if not source.exists():
        raise BackupError(
            f"{source}: there is no journal. A daemon that runs as a service has it in "
            "another folder: set STATE_DIRECTORY=/var/lib/novamas in the environment"
        )
    start = clock.wall()
    stamp = format_utc(start)[:19].replace("-", "").replace(":", "")
    folder = into / f"novamas-{configuration.site.id}-{configuration.site.node}-{stamp}Z"
    part = folder.with_name(f"{folder.name}.part")
    created = False
    try:
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BackupError(f"{into}: {error.strerror}; name a folder") from None
    try:
        if folder.exists():
            raise BackupError(f"{folder} exists already; a backup never replaces another")
        part.mkdir(mode=0o700)
        created = True
        manifest, verdict = _Backup(config, configuration, part, passphrase, progress).make(start)
        part.rename(folder)
        sync_folder(into)
    except BaseException as error:
        if created:
            with suppress(OSError):
                shutil.rmtree(part)
        if isinstance(error, FileExistsError) and not created:
            raise BackupError(
                f"{part} exists: another backup is being made, or was interrupted; remove it then"
            ) from None
        if isinstance(error, OSError):
            raise BackupError(
                f"{error.filename or part}: {error.strerror or error}; no backup was made"
            ) from None
        if isinstance(error, sqlite3.Error):
            raise BackupError(
                f"{configuration.journal.path}: cannot be copied to {part}: {error}; no backup was "
                "made"
            ) from None
        raise
    return folder, manifest, verdict


class _Backup:
    """A backup in progress."""

    def __init__(
        self,
        config: Path,
        configuration: Configuration,
        part: Path,
        passphrase: bytes | None,
        progress: ProgressReport,
    ) -> None:
        self._config, self._configuration = config, configuration
        self._source = Path(configuration.journal.path)
        self._part, self._journal = part, part / JOURNAL_NAME
        self._passphrase, self._progress = passphrase, progress
        self._places: dict[str, tuple[str, int]] = {}
        """By file of the backup: its original path and permissions."""
        self._left_out: list[str] = []

    def make(self, start: float) -> tuple[Manifest, Verdict]:
        """Make everything but the final name. Raises ``OSError``, ``sqlite3.Error`` and
        :class:`BackupError`.
        """
        checkpoint = last_checkpoint(
            self._source
        )  # read before the snapshot, so that it is not newer
        key = self._key()
        self._copy_journal()
        with closing(JournalReader(self._journal)) as reader:
            id_, head, last = reader.id(), reader.head(), reader.latest()
        if last is None:
            raise BackupError(f"{self._source}: no daemon has stored anything in it yet")
        if key is not None:
            checkpoint = sign(key, id_, last.boot, format_utc(start), head)
        if checkpoint is not None and (
            checkpoint.journal,
            checkpoint.position <= head.position,
        ) == (id_, True):
            write_checkpoint(checkpoint, self._journal)
        self._copy_days(id_, last)
        self._copy_files()
        secrets = self._seal_keys()
        verdict = self._verify(key)
        manifest = sign_manifest(
            Manifest(
                format="novamas backup 1",
                made=format_utc(start),
                software=SOFTWARE,
                site=self._configuration.site.id,
                node=self._configuration.site.node,
                configuration=self._config.name,
                journal=id_,
                position=head.position,
                hash=head.hash.hex(),
                time=last.time,
                boot=last.boot,
                outcome=verdict.outcome,
                items=tuple(self._items()),
                sealed=secrets,
                left_out=tuple(self._left_out),
            ),
            key,
        )
        create_private(self._part / MANIFEST_NAME, _pretty(manifest))
        for folder in {self._part, *(file.parent for file in self._part.rglob("*"))}:
            sync_folder(folder)
        return manifest, verdict

    def _key(self) -> SigningKey | None:
        """Return the key that signs checkpoints, if it is beside the journal."""
        if self._configuration.journal.key_credential is not None:
            return None
        try:
            return load_key(key_path(self._source))
        except SigningKeyError:
            return None

    def _copy_journal(self) -> None:
        os.close(os.open(self._journal, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            source = connect_reading(self._source)
        except READ_ERRORS as error:
            raise BackupError(str(error)) from None
        with closing(source), closing(sqlite3.connect(self._journal)) as target:
            source.execute("BEGIN")  # one snapshot for the whole copy
            source.execute("SELECT count(*) FROM meta").fetchone()
            source.backup(target, pages=PAGES_PER_STEP, progress=self._copied)
            target.execute("PRAGMA journal_mode = DELETE")  # a single file, without a log
        _flush(self._journal)

    def _copied(self, _status: int, remaining: int, total: int) -> None:
        self._progress("copying the journal", total - remaining, total)

    def _copy_days(self, journal: str, last: Entry) -> None:
        """Copy the sealed days, except days with entries after the snapshot."""
        days = [
            path
            for path in segments(self._source)
            if span(path)[1] != journal[:8] or span(path)[3] <= last.position
        ]
        folder = folder_of(self._journal)
        if days:
            folder.mkdir(mode=0o700)
        for number, path in enumerate(days, 1):
            copy_file(path, folder / path.name)
            self._progress("copying sealed days", number, len(days))

    def _copy_files(self) -> None:
        """Copy the configuration, and the files that it names, except secrets."""
        public_files = [file.path for file in named_files(self._configuration) if not file.secret]
        for number, path in enumerate([*files_of(self._config), *public_files]):
            name = f"files/{number:03}-{path.name}"
            (self._part / "files").mkdir(mode=0o700, exist_ok=True)
            try:
                copy_file(path, self._part / name)
            except FileNotFoundError:
                self._left_out.append(f"{path}: no such file")
                continue
            self._places[name] = self._place(path), path.stat().st_mode & 0o777

    def _seal_keys(self) -> int:
        """Write the secret files to one sealed file; return their number."""
        self._left_out += [
            f"{name}: a systemd credential; back it up at its source"
            for name in dict.fromkeys(credentials(self._configuration))
        ]
        beside = keys_beside(self._source)
        named = [file.path for file in named_files(self._configuration) if file.secret]
        if self._passphrase is None:
            self._left_out += [
                f"{path}: secret, and no key file was given" for path in [*beside, *named]
            ]
            return 0
        secrets: dict[str, bytes] = {}
        for path in beside:
            secrets[path.name.removeprefix(self._source.name)] = path.read_bytes()
        for path in named:
            try:
                secrets[self._place(path)] = path.read_bytes()
            except FileNotFoundError:
                self._left_out.append(f"{path}: no such file")
        create_private(self._part / KEYS_NAME, seal(secrets, self._passphrase))
        return len(secrets)

    def _place(self, path: Path) -> str:
        """Return the path of a file, relative to the folder of the configuration if below it."""
        folder = self._config.resolve().parent
        absolute = path.absolute()
        return str(absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute)

    def _verify(self, key: SigningKey | None) -> Verdict:
        def show(done: int, total: int) -> None:
            self._progress("verifying the copy", done, total)

        verdict = verify(self._journal, None if key is None else public(key), progress=show)
        if verdict.outcome is ProofOutcome.DOES_NOT_HOLD:
            raise BackupError(
                f"{self._source}: the copy failed verification: {verdict.problems[0].what}. No "
                "backup was made; run `novamas verify` on the journal, and keep a copy of it"
            )
        return verdict

    def _items(self) -> Iterable[BackupItem]:
        for path in sorted(self._part.rglob("*")):
            if path.is_file():
                name = str(path.relative_to(self._part))
                place, mode = self._places.get(name, ("", 0o600))
                yield BackupItem(
                    name=name,
                    size=path.stat().st_size,
                    sha256=digest(path),
                    place=place,
                    mode=mode,
                )


def copy_file(source: Path, target: Path) -> None:
    """Copy one file: completely, privately and durably, or not at all. Raises ``OSError``."""
    with source.open("rb") as original, replacing(target) as file:
        shutil.copyfileobj(original, file, 1 << 20)


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _pretty(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
