"""Every command that writes a file, on a full disk: nothing half written remains, and the error
names the file and the disk's fault.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from common.new_file import create_private, named_in_errors, replace_file
from controller.cli import main
from tests.support.disk import mount
from tests.support.for_each import for_each
from tests.support.waiting import TIMEOUT_SECONDS

CAPTURE = b"0123456789\r\n" * 2000
COMMANDS = {
    "init": ("init", "{disk}/first.toml", "--simulated", "--decree", "ARA02"),
    "import": ("import", "raw", "{given}/capture", "{disk}/x.rec", "--driver", "cammegh-ss2"),
    "rules": ("rules", "--pages", "{disk}"),
    "schemas": ("schemas", "{disk}"),
    "explain": ("explain", "--pages", "{disk}"),
    "keygen": ("keygen", "{disk}/surveillance.key"),
    "people": ("people", "key", "{disk}/me.key", "--passphrase-file", "{given}/passphrase"),
    "support": ("support", "{given}/novamas.toml", "--output", "{disk}/support.tar.gz"),
    "demo": ("demo", "--rounds", "1", "--state-dir", "{disk}"),
}


class FullDisk:
    """A folder where nothing can be written. ``words`` precede a program that must find no room;
    ``error`` is the error that it gets.
    """

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.folder = folder
        folder.mkdir()
        self.words: Sequence[str] = ()
        self.error = errno.ENOSPC
        if mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)):
            ending.callback(lambda: subprocess.run(["umount", "-l", folder], check=True))
            with suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
                while True:
                    filler.write(b"x" * 4096)
        else:  # no byte may be written except to a pipe
            self.words, self.error = ("prlimit", "--fsize=0"), errno.EFBIG

    def left(self) -> set[Path]:
        """The files that were not there before."""
        found = {path for path in self.folder.rglob("*") if not path.is_dir()}
        return found - {self.folder / "filler"}


@pytest.fixture
def full(programs: None, tmp_path: Path, ending: ExitStack) -> FullDisk:
    return FullDisk(tmp_path / "full", ending)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """Return a folder of input files for commands."""
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "capture").write_bytes(CAPTURE)
    (folder / "passphrase").touch(0o600)
    (folder / "passphrase").write_text("correct horse battery staple")
    assert main(["init", str(folder / "novamas.toml"), "--simulated", "--decree", "ARA02"]) == 0
    return folder


def novamas(full: FullDisk, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*full.words, sys.executable, "-m", "controller.cli", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=3 * TIMEOUT_SECONDS,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_half_written_remains_and_the_disk_is_named(
    full: FullDisk, given: Path, name: str
) -> None:
    words = [each.format(disk=full.folder, given=given) for each in COMMANDS[name]]
    ran = novamas(full, words)
    assert ran.returncode == 1, ran.stderr
    assert str(full.folder) in ran.stderr
    found = os.strerror(full.error), "No usable temporary directory"
    assert any(each in ran.stderr for each in found), ran.stderr
    assert "Traceback" not in ran.stderr
    assert "standard output" not in ran.stderr
    assert full.left() == set()


def test_a_recording_without_a_byte_does_not_remain(full: FullDisk) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as device:

        def send() -> None:
            with closing(device.accept()[0]) as line:
                line.sendall(CAPTURE)

        sending = threading.Thread(target=send, daemon=True)
        sending.start()
        url = f"tcp://127.0.0.1:{device.getsockname()[1]}"
        ran = novamas(full, ["record", url, str(full.folder / "x.rec"), "--seconds", "30"])
        sending.join(TIMEOUT_SECONDS)
    assert ran.returncode == 1
    assert f"{full.folder / 'x.rec'}: {os.strerror(full.error)}" in ran.stderr
    assert full.left() == set()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    return path


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", fsync)


def test_a_file_is_replaced_whole(old: Path) -> None:
    replace_file(old, b"new")
    assert (old.read_bytes(), old.stat().st_mode & 0o777) == (b"new", 0o640)
    link = old.with_name("link")
    link.symlink_to(old)
    replace_file(link, b"newer")
    assert (old.read_bytes(), link.is_symlink()) == (b"newer", True)
    replace_file(old.with_name("first"), b"x")
    assert {path.name for path in old.parent.iterdir()} == {"file", "link", "first"}
    replace_file(Path("/dev/null"), b"x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.usefixtures("failing")
def test_a_file_that_cannot_be_replaced_stays(old: Path) -> None:
    for path in (old, old.with_name("new")):
        with pytest.raises(OSError, match="No space") as caught:
            replace_file(path, b"new")
        assert caught.value.filename == str(path)
    with pytest.raises(OSError, match="No space") as caught:
        create_private(old.with_name("key"), b"secret")
    assert caught.value.filename == str(old.with_name("key"))
    assert [*old.parent.iterdir()] == [old]
    assert old.read_bytes() == b"old"


@for_each("error", [KeyboardInterrupt, OSError, ValueError])
def test_an_existing_file_is_not_removed(tmp_path: Path, error: type[BaseException]) -> None:
    there, new = tmp_path / f"there-{error.__name__}", tmp_path / f"new-{error.__name__}"
    there.write_bytes(b"old")

    def write(path: Path) -> None:
        with named_in_errors(path):
            path.touch()
            raise error

    for path in (there, new):
        with pytest.raises(error):
            write(path)
    assert (there.exists(), new.exists()) == (True, False)
    with pytest.raises(FileExistsError):
        create_private(there, b"new")
    assert there.read_bytes() == b"old"


def test_a_partial_file_of_an_earlier_write_is_removed(tmp_path: Path) -> None:
    part = tmp_path / "file.part"
    part.write_bytes(b"left")
    with pytest.raises(ValueError), named_in_errors(part, part=True):  # noqa: PT011 - our own
        raise ValueError
    assert not part.exists()
