"""A bundle for support: the configuration, the state of the machine and the daemon, and the last
lines of the log; no secrets, no cards, no names of people.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import platform
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import msgspec

from common import clock
from common.contract.node import Health, NodeStatus
from common.contract.topics import Topics
from common.contract.version import VERSION
from common.new_file import create_private
from controller.configuration.amounts import as_float
from controller.configuration.file import Inspection, inspect_configuration
from controller.configuration.secrets import secret_files
from controller.configuration.settings import Configuration
from controller.configuration.sources import UnreadableError, read_sources
from controller.configuration.table_checks import deals_face_down
from controller.doctor.finding import Finding
from controller.doctor.redaction import (
    MIN_SECRET_CHARACTERS,
    PASSWORD_PATTERN,
    redact_configuration,
    redact_health,
    redact_log,
    redact_mistake,
    redact_text,
    replace_texts,
    spellings,
)
from controller.doctor.retained import UnreachableError, retained
from controller.doctor.units import SYSTEMD_MARKER

MAX_LOG_LINES = 2000
"""Maximum number of log lines."""
MAX_LOG_BYTES = 4_000_000
"""Maximum bytes to read from the end of the log."""
MAX_ENTRIES = 500
"""Maximum number of journal entries, listed without their content."""
COLUMNS = ("position", "table", "boot", "kind", "seq", "time")
NEWEST_ENTRIES_SQL = (
    "SELECT position, table_id, boot, kind, seq, time FROM entry ORDER BY position DESC LIMIT ?"
)
MAX_SECRET_BYTES = 1_000_000
"""Maximum bytes of a file that is read as a secret."""
SYSTEMD_TIMEOUT_SECONDS = 5.0
"""Maximum seconds to wait for systemd."""
KEY_SUFFIXES = (".key", ".secret", ".simulated-surveillance")
"""Suffixes of the keys beside a journal or a ledger."""
Check = Callable[[Configuration], Iterator[Finding]]

ABOUT_TEXT = """\
What support needs about a daemon of Novamás. Review it before you send it.

configuration.json  the configuration, as far as it is known to be harmless; other texts are
                    replaced by (set), as is everything behind the host of an address
mistakes.txt        the errors that `novamas check` reports, without the values
doctor.jsonl        what `novamas doctor` finds
health.json         the daemon's own health messages, from the broker
journal.json        the entries of the journal, without their content, and the files beside it
log.jsonl           the last lines of the log; for tables with face-down cards, only event names;
                    for an error, its type, its place and the system's message
versions.json       Novamás, its dependencies, the machine
"""


def bundle(path: Path, log: Path | None, looks: Iterable[Check]) -> dict[str, str]:
    """Build the files of the bundle, by name. ``log``: a file with the daemon's log, if given."""
    inspection = inspect_configuration(path)
    configuration = inspection.configuration if not inspection.mistakes else None
    files = {
        "ABOUT.txt": ABOUT_TEXT,
        "configuration.json": _json(configured(path)),
        "mistakes.txt": "".join(
            f"{redact_mistake(error.of(path))}\n" for error in inspection.mistakes
        ),
        "versions.json": _json(versions()),
    }
    if configuration is not None:
        files["doctor.jsonl"] = "".join(
            f"{json.dumps(_plain(msgspec.to_builtins(finding)), ensure_ascii=False)}\n"
            for check in looks
            for finding in check(configuration)
        )
        files["health.json"] = _json(asyncio.run(health(configuration)))
        files["journal.json"] = _json(journal(Path(configuration.journal.path)))
    files["log.jsonl"] = _log(log, inspection)
    secret_texts = spellings([*secrets(inspection.configuration), *_environment()])
    people = persons(inspection.configuration)
    return {
        name: replace_texts(replace_texts(text, secret_texts), people)
        for name, text in files.items()
    }


def _plain(finding: dict[str, Any]) -> dict[str, Any]:
    return {
        key: redact_text(value) if isinstance(value, str) else value
        for key, value in finding.items()
    }


def pack(files: dict[str, str], target: Path, name: str) -> None:
    """Write them as a tar.gz that only its owner can read. Raises ``OSError``, also if the file
    exists.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for file_name, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{name}/{file_name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o600, int(clock.wall())
            archive.addfile(entry, io.BytesIO(data))
    create_private(target, packed.getvalue())


def configured(path: Path) -> dict[str, Any]:
    """Return the content of all configuration files, without secrets."""
    try:
        sources, _ = read_sources(path)
    except UnreadableError:
        return {"files": [path.name], "says": "it cannot be read: mistakes.txt"}
    return {
        "files": [source.path.name for source in sources.files],
        "says": redact_configuration(as_float(sources.given)),
    }


def versions() -> dict[str, Any]:
    """Return the versions of the program and its environment."""
    return {
        "made": clock.now().isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()),
        "sqlite": sqlite3.sqlite_version,
        "novamas": VERSION,
        "packages": dict(sorted((package.name, package.version) for package in distributions())),
    }


async def health(configuration: Configuration) -> dict[str, Any]:
    """Return the daemon's last health messages, or the reason why they are missing."""
    site = configuration.site
    kinds: dict[str, type[msgspec.Struct]] = {"health": Health, "status": NodeStatus}
    topics = {
        Topics(site.id, simulated).node(site.node, kind): kind
        for simulated in (False, True)
        for kind in kinds
    }
    try:
        found = await retained(configuration, topics, "support")
    except UnreachableError as error:
        return {"unknown": redact_text(str(error))}
    messages = {topic: _contract_part(kinds[topics[topic]], body) for topic, body in found.items()}
    return messages or {"unknown": "no retained messages found at the broker"}


def _contract_part(kind: type[msgspec.Struct], body: bytes) -> Any:
    """Return the parts of a message that the contract defines, redacted."""
    try:
        return redact_health(msgspec.to_builtins(msgspec.json.decode(body, type=kind)))
    except (ValueError, RecursionError) as error:
        return {"unknown": f"not a valid message: {type(error).__name__}"}


def journal(path: Path) -> dict[str, Any]:
    """Return the newest entries of a journal without their content, and the files beside it."""
    files = [
        {"name": file.name, "bytes": stat.st_size, "mode": oct(stat.st_mode & 0o7777)}
        for file in sorted(path.parent.glob(f"{path.name}*"))
        if (stat := file.stat())
    ]
    try:
        with contextlib.closing(
            sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=SYSTEMD_TIMEOUT_SECONDS
            )
        ) as opened:
            rows = opened.execute(NEWEST_ENTRIES_SQL, (MAX_ENTRIES,)).fetchall()
    except sqlite3.Error as error:
        return {"files": files, "unknown": str(error)}
    return {"files": files, "columns": COLUMNS, "newest": rows}


def _log(file: Path | None, inspection: Inspection) -> str:
    """Return the last lines of the log, from the file or from systemd."""
    hidden = None  # it is uncertain which tables have face-down cards
    if inspection.configuration is not None and not inspection.mistakes:
        hidden = {table.id for table in inspection.configuration.table if deals_face_down(table)}
    lines = _tail(file) if file is not None else _systemd()
    shown, omitted = redact_log(lines[-MAX_LOG_LINES:], hidden)
    if omitted:
        shown.append(json.dumps({"left out": omitted, "because": "these lines are not JSON"}))
    return "".join(f"{line}\n" for line in shown)


def _tail(file: Path) -> list[str]:
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - MAX_LOG_BYTES))
        lines = opened.read(MAX_LOG_BYTES).decode("utf-8", "replace").split("\n")
    return [line for line in lines[1 if size > MAX_LOG_BYTES else 0 :] if line.strip()]


def _systemd() -> list[str]:
    if not SYSTEMD_MARKER.is_dir():
        return []
    words = ["journalctl", "--unit=novamas", "--output=cat", f"--lines={MAX_LOG_LINES}", "--quiet"]
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed program
            words,
            capture_output=True,
            text=True,
            errors="replace",
            check=True,
            timeout=SYSTEMD_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return answer.stdout.splitlines()


def secrets(configuration: Configuration | None) -> list[bytes]:
    """What must not be in any text of the bundle, as far as this user can read it."""
    if configuration is None:
        return []
    beside = [
        Path(f"{base}{suffix}")
        for base in (configuration.journal.path, configuration.carrousel.path)
        for suffix in KEY_SUFFIXES
    ]
    passed = os.environ.get("CREDENTIALS_DIRECTORY")
    paths = [*secret_files(configuration).values(), *beside, *([Path(passed)] if passed else [])]
    contents = []
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            with contextlib.suppress(OSError):
                if file.is_file() and file.stat().st_size <= MAX_SECRET_BYTES:
                    contents.append(file.read_bytes())
    return contents


def _environment() -> list[bytes]:
    """Return the values of environment variables whose names suggest secrets."""
    return [
        value.encode("utf-8", "surrogateescape")
        for name, value in os.environ.items()
        if PASSWORD_PATTERN.match(f"{name}=")
    ]


def persons(configuration: Configuration | None) -> list[str]:
    """Return the names and ids in the people file, if readable, longest first. Redaction already
    drops them; this protects texts that are kept.
    """
    people = None if configuration is None else configuration.people
    if people is None or people.file is None:
        return []
    names = set[str]()
    with contextlib.suppress(OSError):
        file = Path(people.file)
        for line in file.read_bytes().splitlines() if file.is_file() else []:
            with contextlib.suppress(ValueError, RecursionError):
                _collect_names(json.loads(line), names)
    return sorted(
        (name for name in names if len(name) >= MIN_SECRET_CHARACTERS), key=len, reverse=True
    )


def _collect_names(value: Any, names: set[str]) -> None:
    if isinstance(value, dict):
        names |= {item for key in ("name", "id") if isinstance(item := value.get(key), str)}
        for item in value.values():
            _collect_names(item, names)
    elif isinstance(value, list):
        for item in value:
            _collect_names(item, names)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
