"""Checks the disks of the journal and of the recordings: free space, and how long it takes to write
durably.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from common import clock
from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.proof.journal_upkeep import MIN_FREE_BYTES

SYNC_CYCLES = 30
"""Number of write and sync cycles measured."""
PAGE = b"\0" * 4096
SLOW_SYNC_SECONDS = 0.02
"""Median seconds of a sync above which results are late."""
REMOTE_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs"}
)
"""File systems on which SQLite cannot share its write-ahead log."""
MOUNTS_FILE = Path("/proc/self/mounts")


def check(configuration: Configuration, mounts: Path = MOUNTS_FILE) -> Iterator[Finding]:
    """Check the disk of the journal, and that of the recordings if it is another one."""
    journal = _existing(Path(configuration.journal.path).parent)
    yield from _room(journal)
    yield from _kind(journal, mounts)
    yield from _sync(journal)
    recordings = _existing(Path(configuration.recordings.path))
    if configuration.recordings.enabled and recordings.stat().st_dev != journal.stat().st_dev:
        yield from _room(recordings)


def _existing(folder: Path) -> Path:
    """Return the folder, or its nearest existing parent."""
    folder = folder.absolute()
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _room(folder: Path) -> Iterator[Finding]:
    about, free = f"disk {folder}", shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        yield Finding(
            "fault",
            about,
            f"{free / 1e9:.1f} GB are free, and {MIN_FREE_BYTES / 1e9:.1f} GB must be",
            "free some space; the daemon raises an alert and stops when nothing can be stored",
            "journal.room",
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
    if kind in REMOTE_FILE_SYSTEMS:
        yield Finding(
            "fault", f"disk {folder}", f"it is a network disk ({kind})",
            "keep the journal on a disk of this machine",
        )  # fmt: skip
    elif kind == "tmpfs":
        yield Finding(
            "fault", f"disk {folder}", "it is memory (tmpfs): a power cut erases all of it",
            "keep the journal on a disk",
        )  # fmt: skip


def _sync(folder: Path) -> Iterator[Finding]:
    about = f"disk {folder}"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            seconds = [_sync_seconds(file.fileno()) for _ in range(SYNC_CYCLES)]
    except OSError as error:
        yield Finding(
            "fault", about, f"nothing can be written there: {error.strerror}",
            "run this as the daemon's user; if it fails there too, let that user write there",
        )  # fmt: skip
        return
    median, maximum = statistics.median(seconds), max(seconds)
    result = (
        f"written bytes are durable after {median * 1e3:.1f} ms, at most {maximum * 1e3:.1f} ms"
    )
    if median > SLOW_SYNC_SECONDS:
        yield Finding(
            "warning", about, result,
            "results wait for this; use a faster disk, such as an SSD with power-loss "
            "protection",
        )  # fmt: skip
    else:
        yield Finding("ok", about, result)


def _sync_seconds(file: int) -> float:
    os.write(file, PAGE)
    start = clock.monotonic()
    os.fdatasync(file)
    return clock.monotonic() - start
