"""Small files (people, keys, tokens, marks) at a kill or a power cut at any step of writing them.

:class:`PowerCut` follows what a disk must still have: the bytes of a file as of its last flush, and
the names of a folder as of its last flush. It is stricter than a real file system, which may keep
more.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common import new_file
from common.new_file import create_file, create_private, replace_file, replacing

Write = Callable[[Path, bytes], None]


def write_replacing(path: Path, data: bytes) -> None:
    with replacing(path) as file:
        file.write(data)


class KilledError(BaseException):
    """The program is killed."""


class PowerCut:
    """Follows the flushes of ``folder``, and kills the program before its step ``kill_at``."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, kill_at: int | None = None) -> None:
        self.folder, self.kill_at, self.steps = folder, kill_at, 0
        self._bytes: dict[int, bytes] = {}
        self._names: dict[str, int] = {}
        for file in folder.iterdir():
            self._bytes[file.stat().st_ino] = file.read_bytes()
        self._flush_names()
        self._fsync = os.fsync
        patch.setattr(os, "fsync", self.fsync)
        for owner, name in (
            *((Path, "replace"), (Path, "unlink"), (Path, "hardlink_to")),
            (os, "open"),
        ):
            self._count(patch, owner, name)

    def left(self, name: str) -> bytes | None:
        """Return what a power cut leaves of a file; None: it is not there."""
        inode = self._names.get(name)
        return None if inode is None else self._bytes.get(inode, b"")

    def fsync(self, descriptor: int) -> None:
        """Flush a file, or the names of the folder."""
        self._step()
        self._fsync(descriptor)
        status = os.fstat(descriptor)
        if os.path.samestat(status, self.folder.stat()):
            self._flush_names()
        else:
            self._bytes[status.st_ino] = Path(f"/proc/self/fd/{descriptor}").read_bytes()

    def _flush_names(self) -> None:
        self._names = {file.name: file.stat().st_ino for file in self.folder.iterdir()}

    def _count(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        usual = getattr(owner, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            self._step()
            return usual(*arguments, **options)

        patch.setattr(owner, name, counted)

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self.kill_at:
            raise KilledError


@pytest.mark.parametrize("write", [replace_file, write_replacing])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(old=st.binary(max_size=9000), new=st.binary(max_size=9000), kill_at=st.integers(1, 12))
def test_a_file_is_the_old_or_the_new_one_at_every_step(
    write: Write, old: bytes, new: bytes, kill_at: int, tmp_path: Path
) -> None:
    """After a kill and after a power cut; and the new one once it counts as written."""
    path = tmp_path / "people"
    path.write_bytes(old)
    with pytest.MonkeyPatch.context() as patch:
        disk = PowerCut(patch, tmp_path, kill_at)
        try:
            write(path, new)
        except KilledError:
            allowed = {old, new}
        else:
            allowed = {new}
    assert path.read_bytes() in allowed
    assert disk.left("people") in allowed


@pytest.mark.parametrize("write", [replace_file, write_replacing, create_private])
def test_a_new_file_outlives_a_power_cut_once_it_is_written(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = PowerCut(monkeypatch, tmp_path)
    write(tmp_path / "site.key", b"secret")
    assert disk.left("site.key") == b"secret"


@pytest.mark.parametrize("kill_at", range(1, 12))
def test_a_created_file_is_absent_or_whole_at_every_step(kill_at: int, tmp_path: Path) -> None:
    """After a kill and after a power cut, and the next start creates it or finds it whole."""
    path = tmp_path / "site.key"
    with pytest.MonkeyPatch.context() as patch:
        disk = PowerCut(patch, tmp_path, kill_at)
        try:
            create_private(path, b"secret")
        except KilledError:
            allowed = {None, b"secret"}
        else:
            allowed = {b"secret"}
    assert (path.read_bytes() if path.exists() else None) in allowed
    assert disk.left("site.key") in allowed
    with suppress(FileExistsError):
        create_private(path, b"secret")
    assert path.read_bytes() == b"secret"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [path]


def test_of_two_that_create_a_file_the_later_one_fails_and_changes_nothing(tmp_path: Path) -> None:
    path, dangling = tmp_path / "site.key", tmp_path / "link"
    dangling.symlink_to(tmp_path / "elsewhere")
    create_file(path, b"first")
    for name in (path, dangling):
        with pytest.raises(FileExistsError) as caught:
            create_file(name, b"second")
        assert (caught.value.filename, caught.value.filename2) == (str(name), None)
    assert path.read_bytes() == b"first"
    assert {file.name for file in tmp_path.iterdir()} == {"site.key", "link"}


def test_a_file_is_created_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(Path, "hardlink_to", fail)
    path = tmp_path / "manifest"
    create_private(path, b"first")
    with pytest.raises(FileExistsError):
        create_private(path, b"second")
    assert path.read_bytes() == b"first"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("kill_at", range(1, 5))
def test_what_a_kill_leaves_of_one_attempt_does_not_end_the_next(
    kill_at: int, tmp_path: Path
) -> None:
    path = tmp_path / "people"
    path.write_bytes(b"old")
    with pytest.MonkeyPatch.context() as patch:
        PowerCut(patch, tmp_path, kill_at)
        with pytest.raises(KilledError):
            write_replacing(path, b"new")
    write_replacing(path, b"newer")
    assert path.read_bytes() == b"newer"


WRITES: tuple[Write, ...] = (write_replacing, replace_file, create_private)


@pytest.mark.parametrize("write", WRITES)
def test_what_a_killed_process_left_is_gone_after_the_next_write(
    write: Write, tmp_path: Path
) -> None:
    path, part, elsewhere = tmp_path / "key", tmp_path / "key.part", tmp_path / "elsewhere"
    for leave in (
        lambda: part.write_bytes(b"x" * 10_000),
        lambda: part.symlink_to(elsewhere),
        lambda: os.mkfifo(part),
    ):
        path.unlink(missing_ok=True)
        leave()
        write(path, b"new")
        assert path.read_bytes() == b"new"
        assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("write", WRITES)
def test_two_that_write_a_file_do_not_mix_their_bytes(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second waits, up to a bound, and then says why; the first one's file is whole."""
    monkeypatch.setattr(new_file, "WAIT_SECONDS", 0.0)
    path = tmp_path / "key"
    with replacing(path) as file:
        file.write(b"first")
        with pytest.raises(BlockingIOError, match="another process is writing it"):
            write(path, b"second")
    assert path.read_bytes() == b"first"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("write", [write_replacing, replace_file])
def test_the_second_writes_once_the_first_has_ended(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "key"
    with ThreadPoolExecutor(1) as second:
        with replacing(path) as file:
            file.write(b"first")
            waiting = second.submit(write, path, b"second")
        waiting.result()
    assert path.read_bytes() == b"second"
    assert [*tmp_path.iterdir()] == [path]
