"""A bundle for support: what is configured, how the machine and the daemon are, and the last lines
of the log; no secret, no card, no name of a person.
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
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import aiomqtt
import msgspec

from controller.broker.address import addresses
from controller.broker.client import BrokerClient
from controller.broker.failures import describe_error
from controller.broker.login import BrokerUnusableError
from controller.configuration.amounts import as_float
from controller.configuration.checks import deals_face_down
from controller.configuration.file import Inspection, inspect_configuration
from controller.configuration.secrets import secret_files
from controller.configuration.settings import Configuration
from controller.configuration.sources import UnreadableError, read_sources
from controller.contract.node import Health, NodeStatus
from controller.contract.topics import Topics
from controller.contract.version import VERSION
from controller.doctor.finding import Finding
from controller.doctor.redaction import (
    PASS,
    SHORTEST,
    log_lines,
    mistake,
    plain,
    redacted,
    spellings,
    told_health,
    without,
)
from controller.doctor.units import RUNS
from devices.new_file import named_in_errors

LINES = 2000
"""Of the log."""
LARGEST = 4_000_000
"""Bytes of the log's end that are read."""
ENTRIES = 500
"""Of the journal, without what they say."""
COLUMNS = ("position", "table", "boot", "kind", "seq", "time")
NEWEST = (
    "SELECT position, table_id, boot, kind, seq, time FROM entry ORDER BY position DESC LIMIT ?"
)
SECRET = 1_000_000
"""Bytes of the largest file that is looked through for secrets."""
PATIENCE = 5.0
"""Seconds for the connection to the broker, and for systemd's answer."""
LISTENS = 1.0
"""Seconds for what is retained."""
BESIDE_JOURNAL = (".key", ".secret", ".simulated-surveillance")
"""The keys beside a journal or a ledger, by their suffix."""

Look = Callable[[Configuration], Iterator[Finding]]

ABOUT = """\
What support needs to know of a daemon of Novamás. Look through it before you send it.

configuration.json  what is configured, as far as it is known to be harmless; other texts are
                    replaced by (set), and of addresses all behind the host is
mistakes.txt        what `novamas check` finds wrong, without what was written there
doctor.jsonl        what `novamas doctor` finds
health.json         the daemon's own words on how it is, from the broker
journal.json        which entries the journal has, without what they say, and the files beside it
log.jsonl           the last lines of the log; of tables with face-down cards, only what happened;
                    of an error's text, its kind, its place and the words of the system
versions.json       Novamás, its dependencies, the machine
"""


def bundle(path: Path, log: Path | None, looks: Iterable[Look]) -> dict[str, str]:
    """The files of the bundle, by name. ``log``: a file with the daemon's log, if there is one."""
    found = inspect_configuration(path)
    configuration = found.configuration if not found.mistakes else None
    made = {
        "ABOUT.txt": ABOUT,
        "configuration.json": _json(configured(path)),
        "mistakes.txt": "".join(f"{mistake(each.of(path))}\n" for each in found.mistakes),
        "versions.json": _json(versions()),
    }
    if configuration is not None:
        made["doctor.jsonl"] = "".join(
            f"{json.dumps(_plain(msgspec.to_builtins(finding)), ensure_ascii=False)}\n"
            for look in looks
            for finding in look(configuration)
        )
        made["health.json"] = _json(asyncio.run(health(configuration)))
        made["journal.json"] = _json(journal(Path(configuration.journal.path)))
    made["log.jsonl"] = _log(log, found)
    spelt = spellings([*secrets(found.configuration), *_environment()])
    people = persons(found.configuration)
    return {name: without(without(text, spelt), people) for name, text in made.items()}


def _plain(finding: dict[str, Any]) -> dict[str, Any]:
    return {key: plain(each) if isinstance(each, str) else each for key, each in finding.items()}


def pack(files: dict[str, str], target: Path, name: str) -> None:
    """Write them as a tar.gz that only its owner can read. Raises ``OSError``, also if it is there
    already.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        named_in_errors(target),
        open(os.open(target, flags, 0o600), "wb") as file,  # noqa: PTH123 - pathlib has no flags
        tarfile.open(fileobj=file, mode="w:gz") as archive,
    ):
        for each, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(f"{name}/{each}")
            entry.size, entry.mode, entry.mtime = len(data), 0o600, int(time.time())
            archive.addfile(entry, io.BytesIO(data))


def configured(path: Path) -> dict[str, Any]:
    """What all files of the configuration say, without secrets."""
    try:
        sources, _ = read_sources(path)
    except UnreadableError:
        return {"files": [path.name], "says": "it cannot be read: mistakes.txt"}
    return {
        "files": [source.path.name for source in sources.files],
        "says": redacted(as_float(sources.given)),
    }


def versions() -> dict[str, Any]:
    """Of the program and what it stands on."""
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()),
        "sqlite": sqlite3.sqlite_version,
        "novamas": VERSION,
        "packages": dict(sorted((each.name, each.version) for each in distributions())),
    }


async def health(configuration: Configuration) -> dict[str, Any]:
    """What the daemon last said of itself, or why it is not known."""
    broker, site = configuration.broker, configuration.site
    url = addresses(broker.url)[0].replace("embedded://", "mqtt://", 1)
    kinds: dict[str, type[msgspec.Struct]] = {"health": Health, "status": NodeStatus}
    topics = {
        Topics(site.id, simulated).node(site.node, kind): kind
        for simulated in (False, True)
        for kind in kinds
    }
    heard: dict[str, Any] = {}
    try:
        client = BrokerClient(
            msgspec.structs.replace(broker, url=url),
            identifier=f"novamas-support-{site.node}",
            timeout=PATIENCE,
        )
        async with client:
            await client.subscribe([(topic, 1) for topic in topics])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LISTENS):
                    async for message in client.messages:
                        if isinstance(message.payload, bytes):
                            kind = kinds[topics[str(message.topic)]]
                            heard[str(message.topic)] = _only(kind, message.payload)
    except (BrokerUnusableError, OSError) as error:
        return {"unknown": plain(str(error))}
    except aiomqtt.MqttError as error:
        return {"unknown": plain(describe_error(error, broker))}
    return heard or {"unknown": "nobody has said anything at the broker"}


def _only(kind: type[msgspec.Struct], body: bytes) -> Any:
    """What of a message is as the contract has it."""
    try:
        return told_health(msgspec.to_builtins(msgspec.json.decode(body, type=kind)))
    except (ValueError, RecursionError) as error:
        return {"unknown": f"it is not one of ours: {type(error).__name__}"}


def journal(path: Path) -> dict[str, Any]:
    """The newest entries of a journal without what they say, and the files beside it."""
    files = [
        {"name": each.name, "bytes": stat.st_size, "mode": oct(stat.st_mode & 0o7777)}
        for each in sorted(path.parent.glob(f"{path.name}*"))
        if (stat := each.stat())
    ]
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
        ) as opened:
            rows = opened.execute(NEWEST, (ENTRIES,)).fetchall()
    except sqlite3.Error as error:
        return {"files": files, "unknown": str(error)}
    return {"files": files, "columns": COLUMNS, "newest": rows}


def _log(file: Path | None, found: Inspection) -> str:
    """The last lines of the log, of the file or as systemd keeps it."""
    hidden = None  # which tables have face-down cards is not sure
    if found.configuration is not None and not found.mistakes:
        hidden = {table.id for table in found.configuration.table if deals_face_down(table)}
    lines = _tail(file) if file is not None else _systemd()
    kept, left = log_lines(lines[-LINES:], hidden)
    if left:
        kept.append(json.dumps({"left out": left, "because": "these lines are no JSON"}))
    return "".join(f"{line}\n" for line in kept)


def _tail(file: Path) -> list[str]:
    with file.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, size - LARGEST))
        lines = opened.read(LARGEST).decode("utf-8", "replace").split("\n")
    return [line for line in lines[1 if size > LARGEST else 0 :] if line.strip()]


def _systemd() -> list[str]:
    if not RUNS.is_dir():
        return []
    words = ["journalctl", "--unit=novamas", "--output=cat", f"--lines={LINES}", "--quiet"]
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed program
            words, capture_output=True, text=True, errors="replace", check=True, timeout=PATIENCE
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
        for suffix in BESIDE_JOURNAL
    ]
    passed = os.environ.get("CREDENTIALS_DIRECTORY")
    named = [*secret_files(configuration).values(), *beside, *([Path(passed)] if passed else [])]
    found = []
    for path in named:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            with contextlib.suppress(OSError):
                if file.is_file() and file.stat().st_size <= SECRET:
                    found.append(file.read_bytes())
    return found


def _environment() -> list[bytes]:
    """The values of variables that are secrets by their names."""
    return [
        value.encode("utf-8", "surrogateescape")
        for name, value in os.environ.items()
        if PASS.match(f"{name}=")
    ]


def persons(configuration: Configuration | None) -> list[str]:
    """The names and ids in the people file, as far as this user can read it. What is masked has no
    names; this is for a text that is shown.
    """
    people = None if configuration is None else configuration.people
    if people is None or people.file is None:
        return []
    found = set[str]()
    with contextlib.suppress(OSError):
        file = Path(people.file)
        for line in file.read_bytes().splitlines() if file.is_file() else []:
            with contextlib.suppress(ValueError, RecursionError):
                _names(json.loads(line), found)
    return sorted((each for each in found if len(each) >= SHORTEST), key=len, reverse=True)


def _names(value: Any, found: set[str]) -> None:
    if isinstance(value, dict):
        found |= {each for key in ("name", "id") if isinstance(each := value.get(key), str)}
        for each in value.values():
            _names(each, found)
    elif isinstance(value, list):
        for each in value:
            _names(each, found)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
