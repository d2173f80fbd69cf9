"""The disks of the journal and of the recordings: their room, and how long it takes until written
bytes are on them.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.proof.journal_upkeep import ROOM

TIMES = 30
"""How often it is written and synced."""
PAGE = b"\0" * 4096
SLOW = 0.02
"""Seconds of a sync, in the median, from which results are late for it."""
REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs"})
"""File systems on which SQLite cannot share its write-ahead log."""
MOUNTS = Path("/proc/self/mounts")


def look(configuration: Configuration, mounts: Path = MOUNTS) -> Iterator[Finding]:
    """Where the journal is, and the recordings if they are elsewhere."""
    journal = _there(Path(configuration.journal.path).parent)
    yield from _room(journal)
    yield from _kind(journal, mounts)
    yield from _sync(journal)
    recordings = _there(Path(configuration.recordings.path))
    if configuration.recordings.enabled and recordings.stat().st_dev != journal.stat().st_dev:
        yield from _room(recordings)


def _there(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    folder = folder.absolute()
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _room(folder: Path) -> Iterator[Finding]:
    about, free = f"disk {folder}", shutil.disk_usage(folder).free
    if free < ROOM:
        yield Finding(
            "fault", about, f"{free / 1e9:.1f} GB are free, and {ROOM / 1e9:.1f} GB must be",
            "make room; the daemon raises an alert and stops when nothing can be stored",
        )  # fmt: skip
    else:
        yield Finding("ok", about, f"{free / 1e9:.1f} GB are free")


def _kind(folder: Path, mounts: Path) -> Iterator[Finding]:
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return
    above = [words for words in lines if len(words) > 2 and folder.is_relative_to(words[1])]
    kind = max(above, key=lambda words: len(words[1]), default=["", "", "?"])[2]
    if kind in REMOTE:
        yield Finding(
            "fault", f"disk {folder}", f"it is a disk over the network ({kind})",
            "keep the journal on a disk of this machine",
        )  # fmt: skip
    elif kind == "tmpfs":
        yield Finding(
            "fault", f"disk {folder}", "it is memory (tmpfs): a power cut takes all of it",
            "keep the journal on a disk",
        )  # fmt: skip


def _sync(folder: Path) -> Iterator[Finding]:
    about = f"disk {folder}"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            took = [_once(file.fileno()) for _ in range(TIMES)]
    except OSError as error:
        yield Finding(
            "fault", about, f"nothing can be written there: {error.strerror}",
            "run this as the daemon's user; if it fails there too, let that user write there",
        )  # fmt: skip
        return
    middle, most = statistics.median(took), max(took)
    what = f"written bytes are on it after {middle * 1e3:.1f} ms, at most {most * 1e3:.1f} ms"
    if middle > SLOW:
        yield Finding(
            "warning", about, what,
            "results wait for that; use a disk that keeps its promises faster, such as an SSD "
            "with power-loss protection",
        )  # fmt: skip
    else:
        yield Finding("ok", about, what)


def _once(file: int) -> float:
    os.write(file, PAGE)
    begun = time.monotonic()
    os.fdatasync(file)
    return time.monotonic() - begun
