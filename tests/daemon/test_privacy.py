"""The daemon's files belong to its own user alone, and it never writes through a planted link."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from common.chain.checkpoint import (
    SigningKeyError,
    checkpoint_path,
    make_key,
    sign,
    write_checkpoint,
)
from common.chain.schema import ChainHead, Entry, JournalUnusableError, entry_hash
from common.confidential.key_file import KeyFileError, write_key_file
from controller.journal.file import lock
from controller.proof.segment import FORMAT, SegmentHeader, write_segment
from controller.service.privacy import exposed
from devices.recording_writer import RecordingWriter, _compress
from tests.support.brokers.mosquitto import free_port
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

BEFORE, MOMENT = b"\0" * 32, "2026-11-19T00:00:00Z"
HASH = entry_hash(BEFORE, "r1", "boot", "event", 1, MOMENT, 0, b"{}")
ENTRY = Entry(
    position=1,
    table="r1",
    boot="boot",
    kind="event",
    seq=1,
    time=MOMENT,
    mono_ns=0,
    body=b"{}",
    previous=BEFORE,
    hash=HASH,
)
CHECKPOINT = sign(None, "j" * 32, "boot", MOMENT, ChainHead(1, HASH))
HEADER = SegmentHeader(
    FORMAT, journal="j" * 32, base=0, day="2026-11-19", after=0, last=1, previous=BEFORE.hex()
)
NOW = datetime(2026, 11, 19, tzinfo=UTC).timestamp()


def segment(folder: Path) -> Path:
    path = folder / "day.jsonl.gz"
    write_segment(path, HEADER, [ENTRY], CHECKPOINT)
    return path


def checkpoint(folder: Path) -> Path:
    write_checkpoint(CHECKPOINT, folder / "journal")
    return checkpoint_path(folder / "journal")


def compressed(folder: Path) -> Path:
    plain = folder / "wheel.rec.1"
    plain.write_bytes(b"bytes")
    plain.chmod(0o600)
    _compress(plain)
    return folder / "wheel.rec.1.gz"


def recording(folder: Path) -> Path:
    writer = RecordingWriter(folder / "wheel.rec", {})
    writer.write(NOW, b"bytes")
    writer.close()
    return folder / "wheel.rec"


def locked(folder: Path) -> Path:
    os.close(lock(folder / "journal"))
    return folder / "journal.lock"


def secret(folder: Path) -> Path:
    write_key_file(folder / "secret", b"k" * 32)
    return folder / "secret"


def signing_key(folder: Path) -> Path:
    make_key(folder / "key")
    return folder / "key"


WRITTEN: dict[str, tuple[Callable[[Path], Path], type[Exception] | None]] = {
    "day.jsonl.gz.part": (segment, None),
    "journal.checkpoint.part": (checkpoint, None),
    "wheel.rec.1.gz.part": (compressed, None),
    "wheel.rec": (recording, OSError),
    "journal.lock": (locked, JournalUnusableError),
    "secret": (secret, KeyFileError),
    "key": (signing_key, SigningKeyError),
}
"""Where a link may be planted: the file written there, and the outcome; None: it is written all the
same, and the link is gone.
"""


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_private(tmp_path: Path, name: str) -> None:
    before = os.umask(0o000)
    try:
        assert WRITTEN[name][0](tmp_path).stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("name", WRITTEN)
def test_no_link_is_followed(tmp_path: Path, name: str, there: bool) -> None:
    """To a file that there is, or to one that would be made."""
    target = tmp_path / "elsewhere" / "passwd"
    target.parent.mkdir()
    if there:
        target.write_text("root")
    (tmp_path / name).symlink_to(target)
    write, refused = WRITTEN[name]
    if refused is None:
        assert write(tmp_path).is_file()
        assert not (tmp_path / name).is_symlink()
    else:
        with pytest.raises(refused):
            write(tmp_path)
    assert (target.read_text() if there else target.exists()) == ("root" if there else False)


def test_a_half_written_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "wheel.rec.1.gz.part").write_bytes(b"x" * 100)
    assert gzip.decompress(compressed(tmp_path).read_bytes()) == b"bytes"
    (tmp_path / "journal.checkpoint.part").write_bytes(b"x" * 1000)
    assert json.loads(checkpoint(tmp_path).read_bytes())["position"] == 1


@pytest.mark.usefixtures("programs")
def test_no_core_is_written_and_all_that_is_created_is_private(tmp_path: Path) -> None:
    told = """
import ctypes, os, resource, sys
from controller.service.privacy import keep_private
keep_private()
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3), oct(os.umask(0)))
"""
    ended = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert ended.stdout.split("\n")[0] == "(0, 0) 0 0o77"


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that everybody can get to; those of pytest are shut."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_files_that_others_may_read_are_named(reachable: Path) -> None:
    journal, recordings = reachable / "journal", reachable / "recordings"
    for path in (
        journal,
        reachable / "journal-wal",
        reachable / "journal.key",
        reachable / "another",
    ):
        path.write_bytes(b"")
        path.chmod(0o600)
    recordings.mkdir(mode=0o700)
    assert exposed(journal, recordings) == []
    (reachable / "journal-wal").chmod(0o640)
    (reachable / "another").chmod(0o644)
    recordings.chmod(0o755)
    assert exposed(journal, recordings) == [reachable / "journal-wal", recordings]
    reachable.chmod(0o700)
    assert exposed(journal, recordings) == []  # unreachable
    assert exposed(reachable / "none", reachable / "none") == []


@pytest.mark.usefixtures("programs")
def test_a_daemon_that_is_started_by_hand_keeps_its_files_private(
    wheel: Wheel, ending: ExitStack, reachable: Path
) -> None:
    made = Daemon(reachable, configuration(free_port(), table("r1", wheel)))
    ending.callback(made.kill)
    before = os.umask(0o022)
    try:
        made.start()
        made.until_logged("device up")
        until("the recording", lambda: any(reachable.rglob("wheel.rec")))
    finally:
        os.umask(before)
    made.signal(signal.SIGSTOP)
    written = {
        path: path.stat().st_mode & 0o777 for path in reachable.rglob("*") if path != made.file
    }
    made.signal(signal.SIGCONT)
    assert {"journal.sqlite3", "journal.sqlite3-wal", "journal.sqlite3-shm", "wheel.rec"} <= {
        path.name for path in written
    }
    assert {str(path): oct(mode) for path, mode in written.items() if mode & 0o077} == {}
    assert not made.logged(
        "other users of this machine can read these files; run chmod go= on them"
    )
    assert made.stop() == 0
    (reachable / "journal.sqlite3").chmod(0o644)
    made.start()
    line = made.until_logged(
        "other users of this machine can read these files; run chmod go= on them"
    )
    assert line["files"] == [
        str(reachable / f"journal.sqlite3{end}") for end in ("", "-shm", "-wal")
    ]  # they have its rights
    assert made.stop() == 0


def test_the_daemon_warns_of_a_password_that_others_can_read(
    reachable: Path, wheel: Wheel, daemon: Callable[[str], Daemon]
) -> None:
    secret = reachable / "password"
    secret.write_text("of this test alone")
    secret.chmod(0o644)
    text = f'username = "pit"\npassword_file = "{secret}"'
    made = daemon(configuration(free_port(), table("r1", wheel), broker=text))
    made.start()
    warned = made.until_logged(
        "other users of this machine can read these files; run chmod go= on them"
    )
    assert str(secret) in warned["files"]
    assert made.stop() == 0
    secret.chmod(0o640)  # a group may: the daemon may be in it
    made.start()
    made.until_logged("daemon up", 2)
    assert len(made.logged(warned["event"])) == 1
