"""The controller's self-check before it starts: the SHA-256 of its program files and configuration,
and the verification of its ledger.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from common.chain.checkpoint import public
from subscribers.carrousel.mark import NoMarkError, read_mark
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.since_mark import contradicts_mark, find_changed_cursor, find_departure
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.verification import verify

PROGRAM_PACKAGES = ("common", "controller", "devices", "subscribers")
"""The packages of the program."""
DISTRIBUTION = "novamas"
MACHINE_SETTINGS = (
    "broker", "ledger", "key", "people_file", "recall_key", "recall_passphrase", "listen", "log",
)  # fmt: skip
"""Settings that may differ between the machines of a pair."""
PROGRAM_FILE_SUFFIXES = (".py", ".toml", ".json", ".tsv")


class NotVerifiedError(Exception):
    """A file is not as it was installed or written. The message is the evidence."""


def program_files(folder: Path | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield all files of the program, by their path below the installation directory."""
    base = folder or Path(__file__).parents[2]
    for root in PROGRAM_PACKAGES:
        for path in sorted((base / root).rglob("*")):
            if path.suffix in PROGRAM_FILE_SUFFIXES and "__pycache__" not in path.parts:
                yield path.relative_to(base).as_posix(), path.read_bytes()


def program_digest(files: Iterable[tuple[str, bytes]]) -> str:
    """Return the SHA-256 over the files: one line for each, with its own digest and its path."""
    digest = hashlib.sha256()
    for name, body in files:
        digest.update(f"{hashlib.sha256(body).hexdigest()} {name}\n".encode())
    return digest.hexdigest()


def installed_digests() -> dict[str, str]:
    """Return the SHA-256 (base64url) of each file as recorded by the installer, by path. Empty if
    the program runs from its sources.
    """
    digests = {}
    for file in metadata.distribution(DISTRIBUTION).files or ():
        if (
            file.hash is not None
            and file.hash.mode == "sha256"
            and file.parts[0] in PROGRAM_PACKAGES
        ):
            digests[file.as_posix()] = file.hash.value
    return digests


def changed_files(files: Iterable[tuple[str, bytes]], installed: dict[str, str]) -> list[str]:
    """Return the files that differ from the installed ones."""
    if not installed:
        return []
    actual = {name: _base64_digest(body) for name, body in files}
    return sorted(
        name
        for name in actual.keys() | installed.keys()
        if Path(name).suffix in PROGRAM_FILE_SUFFIXES and actual.get(name) != installed.get(name)
    )


def configuration_digest(settings: CarrouselSettings) -> str:
    """Return the SHA-256 of the settings, of a pair only of those that both machines share."""
    alike = msgspec.to_builtins(settings)
    if alike.pop("standby") is not None:
        alike = {key: value for key, value in alike.items() if key not in MACHINE_SETTINGS}
    body = msgspec.json.encode(alike, order="deterministic")
    return hashlib.sha256(body).hexdigest()


def check_program() -> str:
    """Return the digest of the program. Raises :class:`NotVerifiedError`."""
    try:
        files = list(program_files())
    except OSError as error:
        raise NotVerifiedError(f"{error.filename}: {error.strerror}") from None
    if changed := changed_files(files, installed_digests()):
        names = ", ".join(changed[:5]) + (
            f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        )
        raise NotVerifiedError(
            f"not as installed: {names}; install the release again, and find out who changed it"
        )
    return program_digest(files)


def check_ledger(
    store: LedgerStore,
    key: SigningKey,
    reached: Callable[[int, int], None],
    whole: Callable[[str], None],
) -> None:
    """Verify a ledger: from its mark on if the mark is valid, otherwise completely. ``whole`` is
    called with the reason for a complete verification; ``reached`` with the progress, and an
    exception it raises aborts. Raises :class:`LedgerError` with what is wrong.
    """
    path = store.path
    if not store.committed.position:
        return
    try:
        mark = read_mark(key, path)
    except NoMarkError as error:
        reason = str(error)
    else:
        with closing(LedgerReader(path)) as file:
            if (contradiction := contradicts_mark(file, mark)) is not None:
                raise LedgerError(f"{path}: {contradiction}; {_REPAIR_ADVICE}")
            departure = find_departure(file, mark, store.sums, reached)
            if departure is None:
                if (table := find_changed_cursor(file, mark)) is not None:
                    raise LedgerError(
                        f"{path}: the cursor of {table} was changed while the controller was "
                        "stopped, so events may be missing; restore the last good file"
                    )
                return
        reason = str(departure)
    whole(reason)
    verdict = verify(path, key=public(key), reached=reached)
    if verdict.unread is not None:
        raise LedgerError(verdict.unread)
    if verdict.findings:
        first, others = verdict.findings[0], len(verdict.findings) - 1 + verdict.more
        summary = f"{first} (and {others} more)" if others else str(first)
        raise LedgerError(f"{path}: {summary}; {_REPAIR_ADVICE}")


_REPAIR_ADVICE = "run `novamas carrousel verify` for all findings, and restore the last good file"


def _base64_digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
