"""A port has one reader: another one is refused by name, whether it came before us or after, and is
suspected where bytes vanish.
"""

from __future__ import annotations

import asyncio
import os
import select
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from common.readings import LinkLost
from devices import port_watch
from devices.links import LinkFailedError, holders, open_link
from devices.links.holders import Holder
from devices.links.serial_port import SerialLink
from devices.port_watch import PortWatch
from tests.devices.test_device import running
from tests.support.devices.parts import Lines, Pty
from tests.support.devices.readers import PLAIN, PYSERIAL, program
from tests.support.devices.ser2net import Ser2net
from tests.support.waiting import until_async


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    port = Pty(tmp_path)
    yield port
    port.unplug()


@contextmanager
def ser2net(pty: Pty, folder: Path) -> Iterator[str]:
    server = Ser2net(folder, str(pty.path))
    with server.running(), server.taken():
        yield "ser2net"


def readers(pty: Pty, folder: Path) -> dict[str, Callable[[], AbstractContextManager[object]]]:
    return {
        "plain": lambda: program(PLAIN, str(pty.path)),
        "pyserial": lambda: program(PYSERIAL, str(pty.path)),
        "ser2net": lambda: ser2net(pty, folder),
    }


NAMES = {"plain": "python", "pyserial": "python", "ser2net": "ser2net"}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("kind", NAMES)
def test_a_port_that_another_program_has_open_is_refused_with_its_name(
    kind: str, pty: Pty, tmp_path: Path
) -> None:
    with readers(pty, tmp_path)[kind]():
        for _ in range(2):
            with pytest.raises(
                LinkFailedError,
                match=rf"another program has the port open: {NAMES[kind]}\S* \(pid \d+\); .*end it",
            ):
                open_link(pty.url)
    open_link(pty.url).close()


@pytest.mark.usefixtures("programs")
def test_the_device_itself_is_no_reader(tmp_path: Path) -> None:
    """A simulator keeps both ends of its pseudo-terminal."""
    code = (
        "import os,sys,tty; ends = os.openpty(); tty.setraw(ends[1]); "
        "os.symlink(os.ttyname(ends[1]), sys.argv[1])"
    )
    with program(code, str(tmp_path / "port")):
        open_link(f"serial://{tmp_path}/port").close()


@pytest.mark.usefixtures("programs")
def test_nothing_is_opened_of_which_another_program_depends(pty: Pty) -> None:
    """Its settings would be changed."""
    with program(PYSERIAL.replace("9600", "4800"), str(pty.path)):
        fd = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
        with pytest.raises(LinkFailedError):
            open_link(f"{pty.url}?baud=115200")
        assert termios.tcgetattr(fd)[4] == termios.B4800
        os.close(fd)


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "lock"
    folder.mkdir()
    monkeypatch.setattr(holders, "LOCK_FOLDER", folder)
    return folder


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("alias", [True, False])
@pytest.mark.parametrize("form", ["%10d\n", "%10d minicom root\n", "%d"])
def test_a_lock_file_is_honoured(pty: Pty, locks: Path, form: str, alias: bool) -> None:
    with program("import sys", "-") as pid:
        name = pty.path.name if alias else Path(os.path.realpath(pty.path)).name
        (locks / f"LCK..{name}").write_text(form % pid)
        with pytest.raises(LinkFailedError, match=rf"open: python\S* \(pid {pid}, by {locks}/LCK"):
            open_link(pty.url)
    open_link(pty.url).close()  # its process is gone, so the file is stale


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"minicom\n",
        b"         0\n",
        b"        -1\n",
        b"%10d\n" % os.getpid(),
        b"%10d\n" % (2**22 + 1),
        b"9" * 20,
        b"\xe7\x04\x00\x00",
        b"9" * 5000,
    ],
    ids=["empty", "blank", "words", "nobody", "all", "ours", "gone", "large", "binary", "long"],
)
def test_a_lock_file_that_names_no_other_process_is_ignored(
    pty: Pty, locks: Path, content: bytes
) -> None:
    (locks / f"LCK..{pty.path.name}").write_bytes(content)
    open_link(pty.url).close()


def test_a_port_whose_bytes_vanish_has_perhaps_a_second_reader(
    pty: Pty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the question whether there is something and the reading of it."""
    link = open_link(pty.url)
    pty.say(b"S1")
    assert isinstance(link, SerialLink)
    select.select([link.fileno()], [], [])
    real, stolen = os.read, list[bytes]()

    def read(fd: int, size: int) -> bytes:
        if not stolen:
            stolen.append(real(fd, size))
        return real(fd, size)

    monkeypatch.setattr(os, "read", read)
    with pytest.raises(LinkFailedError, match="another program may read the port too") as failed:
        link.read(0)
    assert "unplugged" not in str(failed.value)
    assert stolen == [b"S1"]
    link.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port_watch, "SCAN_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(port_watch, "CONFIRM_DELAY_SECONDS", 0.05)


@pytest.mark.usefixtures("quick", "programs")
@pytest.mark.parametrize("kind", NAMES)
async def test_one_that_comes_later_ends_the_link_with_its_name(
    kind: str, pty: Pty, tmp_path: Path
) -> None:
    """And only that link; when it has gone, the port is read again."""
    (tmp_path / "other").mkdir()
    other = Pty(tmp_path / "other")
    later = readers(pty, tmp_path)[kind]()
    async with (
        running(pty.url, codec=Lines(steady=False)) as floor,
        running(other.url, codec=Lines()) as beside,
    ):
        await floor.until_open()
        await beside.until_open()
        pty.say(b"ok\n")
        await until_async(lambda: floor.device.health().state == "up")
        await asyncio.to_thread(later.__enter__)
        await until_async(lambda: floor.device.health().state == "lost")
        await asyncio.to_thread(later.__exit__, None, None, None)
        [lost] = [reading for reading in floor.readings if isinstance(reading, LinkLost)]
        assert f"another program has the port open: {NAMES[kind]}" in lost.reason
        assert floor.logged("device down") == ["device down"]
        await floor.until_open()
        pty.say(b"ok\n")
        await until_async(lambda: floor.device.health().state == "up")
        assert beside.device.health().reconnects == 0
    other.unplug()


@pytest.mark.usefixtures("quick")
async def test_one_that_is_gone_again_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that this process starts have its files for a moment."""
    looks: list[str] = []

    def others(*nodes: str) -> dict[str, tuple[Holder, ...]]:
        looks.append(threading.current_thread().name)
        return {node: (Holder(len(looks), "child"),) for node in nodes}

    monkeypatch.setattr(port_watch, "other_holders", others)
    watch, found = PortWatch(), list[object]()
    watch.begin("/dev/x", found.append)
    await until_async(lambda: len(looks) >= 6)
    assert set(looks) == {"ports: look"}  # never in the event loop
    assert not found
    watch.end("/dev/x")
    watch.end("/dev/x")
    assert watch._task is None


@pytest.mark.usefixtures("quick")
async def test_one_look_serves_all_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[tuple[str, ...]] = []

    def others(*nodes: str) -> dict[str, tuple[Holder, ...]]:
        looks.append(nodes)
        return dict.fromkeys(nodes, ())

    monkeypatch.setattr(port_watch, "other_holders", others)
    watch = PortWatch()
    for number in range(100):
        watch.begin(f"/dev/x{number}", lambda _: None)
    await until_async(lambda: len(looks) >= 2)
    assert {len(nodes) for nodes in looks} == {100}
    for number in range(100):
        watch.end(f"/dev/x{number}")


async def test_a_thousand_ports_that_are_opened_at_once_cost_two_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One for the first port, which need not wait, and one for all that come while it runs, since
    it may have missed their readers.
    """
    looks: list[tuple[str, ...]] = []
    go = threading.Event()

    def others(*nodes: str) -> dict[str, tuple[Holder, ...]]:
        looks.append(nodes)
        go.wait()
        return {node: (Holder(7, "minicom"),) * (node == "/dev/x9") for node in nodes}

    monkeypatch.setattr(port_watch, "other_holders", others)
    watch = PortWatch()
    openings = [
        asyncio.create_task(watch.refuse_other_readers(f"/dev/x{number}")) for number in range(1000)
    ]
    await until_async(lambda: len(looks) == 1)
    openings[5].cancel()
    go.set()
    refused = await asyncio.gather(*openings, return_exceptions=True)
    assert [len(nodes) for nodes in looks] == [1, 999]
    assert "minicom (pid 7)" in str(refused.pop(9))
    assert isinstance(refused.pop(5), asyncio.CancelledError)
    assert refused == [None] * 998


def test_ports_that_are_opened_at_once_share_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    real, looks = holders._scan_processes, list[int]()

    def scan() -> object:
        looks.append(1)
        return real()

    monkeypatch.setattr(holders, "_scan_processes", scan)
    monkeypatch.setattr(holders, "_PROCESS_SCANS", holders._ProcessScans())
    start = threading.Barrier(20)

    def look() -> None:
        start.wait()
        holders.other_holders("/dev/null")

    threads = [threading.Thread(target=look) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(looks) < 20


@pytest.mark.usefixtures("programs")
def test_the_name_of_a_program_cannot_write_on_a_terminal(pty: Pty) -> None:
    """A process chooses its own name."""
    code = f"{PLAIN}; open('/proc/self/comm', 'w').write('\\x1b[2Jx')"
    with program(code, str(pty.path)) as pid, pytest.raises(LinkFailedError) as failed:
        open_link(pty.url)
    assert f"?[2Jx (pid {pid})" in str(failed.value)


def test_a_process_that_ends_during_the_look_is_left_out(
    pty: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = tmp_path / "proc"
    (processes / "1" / "fd").mkdir(parents=True)
    (processes / "1" / "fd" / "0").symlink_to("/dev/gone")
    (processes / "2").mkdir()
    (processes / "cpuinfo").touch()
    monkeypatch.setattr(holders, "PROC", processes)
    assert holders.other_holders(str(pty.path)) == {str(pty.path): ()}
    monkeypatch.setattr(holders, "PROC", tmp_path / "no such folder")
    assert holders.other_holders(str(pty.path), "/dev/no-such-port")[str(pty.path)] == ()
