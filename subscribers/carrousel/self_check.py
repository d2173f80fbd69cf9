"""The controller's check of itself, before it takes part: its program files and its configuration
by their SHA-256, and its ledger.
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

from controller.proof.checkpoint import public
from subscribers.carrousel.mark import NoMarkError, read_mark
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.since_mark import contradicts_mark, find_changed_cursor, find_departure
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.verification import verify

PROGRAM_PACKAGES = ("controller", "devices", "subscribers")
"""The packages that it runs of."""
DISTRIBUTION = "novamas"
PROGRAM_FILE_SUFFIXES = (".py", ".toml", ".json", ".tsv")


class NotVerifiedError(Exception):
    """Something is not as it was installed or written. The message is the evidence."""


def program_files(folder: Path | None = None) -> Iterator[tuple[str, bytes]]:
    """All files of the program, by their path below the folder in which it is installed."""
    base = folder or Path(__file__).parents[2]
    for root in PROGRAM_PACKAGES:
        for path in sorted((base / root).rglob("*")):
            if path.suffix in PROGRAM_FILE_SUFFIXES and "__pycache__" not in path.parts:
                yield path.relative_to(base).as_posix(), path.read_bytes()


def program_digest(files: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 over the files: of each a line with its own digest and its path."""
    whole = hashlib.sha256()
    for name, body in files:
        whole.update(f"{hashlib.sha256(body).hexdigest()} {name}\n".encode())
    return whole.hexdigest()


def installed_digests() -> dict[str, str]:
    """What the installer wrote down of each file: path to SHA-256, base64url. Empty where the
    program runs from its sources.
    """
    found = {}
    for file in metadata.distribution(DISTRIBUTION).files or ():
        if (
            file.hash is not None
            and file.hash.mode == "sha256"
            and file.parts[0] in PROGRAM_PACKAGES
        ):
            found[file.as_posix()] = file.hash.value
    return found


def changed_files(files: Iterable[tuple[str, bytes]], known: dict[str, str]) -> list[str]:
    """The files that are not as they were installed."""
    if not known:
        return []
    here = {name: _base64_digest(body) for name, body in files}
    return sorted(
        name
        for name in here.keys() | known.keys()
        if Path(name).suffix in PROGRAM_FILE_SUFFIXES and here.get(name) != known.get(name)
    )


def configuration_digest(settings: CarrouselSettings) -> str:
    """SHA-256 of all that it was told when it started."""
    body = msgspec.json.encode(settings, order="deterministic")
    return hashlib.sha256(body).hexdigest()


def check_program() -> str:
    """The digest of the program. Raises :class:`NotVerifiedError`."""
    try:
        files = list(program_files())
    except OSError as error:
        raise NotVerifiedError(f"{error.filename}: {error.strerror}") from None
    if wrong := changed_files(files, installed_digests()):
        told = ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        raise NotVerifiedError(
            f"not as installed: {told}; install the release again, and find out who changed it"
        )
    return program_digest(files)


def check_ledger(
    store: LedgerStore,
    key: SigningKey,
    reached: Callable[[int, int], None],
    whole: Callable[[str], None],
) -> None:
    """Verify a ledger: from its mark on where that agrees, else all of it. ``whole``: is told why
    it is all of it; ``reached``: how far it is; what it raises ends it. Raises
    :class:`LedgerError` with what does not hold.
    """
    path = store.path
    if not store.committed.position:
        return
    try:
        mark = read_mark(key, path)
    except NoMarkError as error:
        why = str(error)
    else:
        with closing(LedgerReader(path)) as file:
            if (found := contradicts_mark(file, mark)) is not None:
                raise LedgerError(f"{path}: {found}; {_REPAIR_ADVICE}")
            departed = find_departure(file, mark, store.sums, reached)
            if departed is None:
                if (table := find_changed_cursor(file, mark)) is not None:
                    raise LedgerError(
                        f"{path}: how far {table} was heard was changed while the controller was "
                        "stopped, so that events may be missing; put the last good file back"
                    )
                return
        why = str(departed)
    whole(why)
    verdict = verify(path, key=public(key), reached=reached)
    if verdict.unread is not None:
        raise LedgerError(verdict.unread)
    if verdict.findings:
        first, more = verdict.findings[0], len(verdict.findings) - 1 + verdict.more
        told = f"{first} (and {more} more)" if more else str(first)
        raise LedgerError(f"{path}: {told}; {_REPAIR_ADVICE}")


_REPAIR_ADVICE = (
    "let `novamas carrousel verify` say all that is wrong, and put the last good file back"
)


def _base64_digest(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
