"""Links against real parts: ptys, sockets, an RFC 2217 server, files."""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devices.links import LinkFailedError, WriteTimedOutError, open_link, serial_port
from tests.support.devices.parts import Pty, Rfc2217Peer, TcpPeer, nobody, read_some
from tests.support.programs import running


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    port = Pty(tmp_path)
    yield port
    port.unplug()


@pytest.fixture
def peer() -> Iterator[TcpPeer]:
    server = TcpPeer()
    yield server
    server.close()


@pytest.fixture
def server() -> Iterator[Rfc2217Peer]:
    server = Rfc2217Peer()
    yield server
    server.close()


def test_a_port_carries_every_byte_both_ways(pty: Pty) -> None:
    link = open_link(f"{pty.url}?baud=115200")
    every = bytes(range(256))
    assert link.read(0) == b""
    pty.say(every)
    assert read_some(link, 256) == every
    link.write(every)
    assert pty.hear(256) == every
    assert link.describe()["port"] == os.path.realpath(pty.path)
    link.close()


def test_an_unplugged_port_fails_with_its_name(pty: Pty) -> None:
    link = open_link(pty.url)
    pty.unplug()
    with pytest.raises(LinkFailedError, match=f"{pty.path}: the port is gone"):
        read_some(link, 1)
    with pytest.raises(LinkFailedError, match="the port is gone"):
        link.write(b"anyone?")
    link.close()


def test_bytes_read_before_the_unplugging_are_not_read_again(pty: Pty) -> None:
    link = open_link(pty.url)
    pty.say(b"last words")
    assert read_some(link, 10) == b"last words"
    pty.unplug()
    with pytest.raises(LinkFailedError):
        link.read(1)
    link.close()


def test_a_port_is_opened_once(pty: Pty) -> None:
    link = open_link(pty.url)
    with pytest.raises(LinkFailedError, match="another program has the port open"):
        open_link(pty.url)
    link.close()
    open_link(pty.url).close()


@pytest.mark.usefixtures("programs")
def test_a_port_held_by_another_program_is_reported(pty: Pty) -> None:
    holder = (
        "import fcntl,sys; f=open(sys.argv[1],'rb+',0); fcntl.flock(f,fcntl.LOCK_EX); "
        "print(flush=True); sys.stdin.read()"
    )
    with running([sys.executable, "-c", holder, str(pty.path)], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        with pytest.raises(LinkFailedError, match="another program has the port open"):
            open_link(pty.url)
        other.stdin.close()
    open_link(pty.url).close()


def test_a_port_is_closed_to_programs_that_ask_for_no_lock(
    pty: Pty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serial_port, "is_pty", lambda _: False)  # the only port that we have
    link = open_link(pty.url)
    fd = (
        os.open(pty.path, os.O_RDWR | os.O_NOCTTY) if os.geteuid() == 0 else None
    )  # TIOCEXCL does not hold root back
    if fd is None:
        with pytest.raises(OSError, match="busy"):
            os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    else:
        exclusive = fcntl.ioctl(fd, 0x80045440, b"\0\0\0\0")  # TIOCGEXCL
        assert exclusive == b"\1\0\0\0"
    link.close()
    if fd is not None:
        assert fcntl.ioctl(fd, 0x80045440, b"\0\0\0\0") == b"\0\0\0\0"
        os.close(fd)


@pytest.mark.usefixtures("programs")
def test_a_pseudo_terminal_stays_open_to_us_after_we_were_killed(pty: Pty) -> None:
    opens = (
        "import sys; from devices.links import open_link; link = open_link(sys.argv[1]); "
        "print(flush=True); sys.stdin.read()"
    )
    with running([sys.executable, "-c", opens, pty.url], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        other.kill()
    fd = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    assert (
        fcntl.ioctl(fd, 0x80045440, b"\1\1\1\1") == b"\0\0\0\0"
    )  # TIOCGEXCL: root may open it in any case
    os.close(fd)
    open_link(pty.url).close()


def test_a_missing_port_lists_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serial_port, "BY_ID", tmp_path)
    with pytest.raises(LinkFailedError, match=f"no such port; {tmp_path} is empty"):
        open_link(f"serial://{tmp_path}/wheel")
    (tmp_path / "usb-FTDI_FT232R-if00").touch()
    with pytest.raises(LinkFailedError, match=r"ports found: \S*/usb-FTDI_FT232R-if00"):
        open_link(f"serial://{tmp_path}/wheel")


def test_a_file_is_no_port(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LinkFailedError, match="file"):
        open_link(f"serial://{tmp_path}/file")


def test_the_line_is_set_as_in_the_address(pty: Pty) -> None:
    link = open_link(f"{pty.url}?baud=4800&parity=N&stopbits=2&bytesize=8")
    fd = os.open(pty.path, os.O_RDWR | os.O_NOCTTY) if os.geteuid() == 0 else None
    if fd is not None:
        _, _, cflag, _, ispeed, ospeed, _ = termios.tcgetattr(fd)
        assert ispeed == ospeed == termios.B4800
        assert cflag & termios.CSTOPB
        assert cflag & termios.CSIZE == termios.CS8
        assert not cflag & termios.CRTSCTS
        os.close(fd)
    link.close()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", set()),
        ("?dtr=on", {"DTR on"}),
        ("?dtr=off&rts=off", {"DTR off", "RTS off"}),
        ("?rtscts=1", set()),
        ("?rts=on", {"RTS on"}),
    ],
)
def test_dtr_and_rts_are_left_alone_unless_set(
    pty: Pty, monkeypatch: pytest.MonkeyPatch, query: str, expected: set[str]
) -> None:
    """A pty has no such lines, so the requests to the system are watched on their way."""
    lines = {b"\x02\0\0\0": "DTR", b"\x04\0\0\0": "RTS"}
    states = {0x5416: "on", 0x5417: "off"}  # TIOCMBIS, TIOCMBIC
    asked: set[str] = set()
    real: Any = fcntl.ioctl

    def ioctl(fd: int, request: int, argument: object = 0, *more: object) -> object:
        if request in states and isinstance(argument, bytes):
            asked.add(f"{lines[argument]} {states[request]}")
            return argument
        return real(fd, request, argument, *more)

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    open_link(pty.url + query).close()
    assert asked == expected


def test_a_write_that_nothing_accepts_ends_in_time(pty: Pty) -> None:
    link = open_link(pty.url)
    with pytest.raises(WriteTimedOutError, match="flow control"):
        link.write(b"x" * 1_000_000)
    pty.say(b"still readable")
    assert read_some(link, 14) == b"still readable"
    link.close()


def test_a_socket_carries_every_byte_both_ways(peer: TcpPeer) -> None:
    link = open_link(peer.url)
    every = bytes(range(256))
    with peer.accept() as other:
        assert link.read(0) == b""
        other.sendall(every)
        assert read_some(link, 256) == every
        link.write(every)
        assert other.recv(256, socket.MSG_WAITALL) == every
        other.sendall(b"last words")
    assert read_some(link, 10) == b"last words"
    with pytest.raises(LinkFailedError, match="closed the connection"):
        link.read(5)
    link.close()
    assert link.describe() == {"peer": f"127.0.0.1:{peer.port}"}


def test_a_socket_that_accepts_nothing_fails(peer: TcpPeer) -> None:
    link = open_link(peer.url)
    with peer.accept(), pytest.raises(LinkFailedError, match="cannot write"):
        link.write(b"x" * 50_000_000)
    link.close()


def test_an_absent_peer_is_a_failure_with_the_peer_s_name() -> None:
    with (
        nobody() as port,
        pytest.raises(
            LinkFailedError, match=f"127.0.0.1:{port}: cannot connect: Connection refused"
        ),
    ):
        open_link(f"tcp://127.0.0.1:{port}")


rfc2217 = pytest.mark.filterwarnings(
    "ignore:set(Daemon|Name):DeprecationWarning"
)  # how pyserial makes its thread


@rfc2217
def test_a_remote_port_is_set_and_carries_every_byte(server: Rfc2217Peer) -> None:
    link = open_link(f"{server.url}?baud=4800&parity=E&stopbits=2&bytesize=7")
    assert (
        server.behind.baudrate,
        server.behind.parity,
        server.behind.stopbits,
        server.behind.bytesize,
    ) == (4800, "E", 2, 7)
    every = bytes(range(256))
    link.write(every)
    assert read_some(link, 256) == every
    assert link.read(0) == b""
    server.hang_up()
    with pytest.raises(LinkFailedError, match="the connection ended"):
        read_some(link, 1)
    link.close()


@rfc2217
@pytest.mark.parametrize(
    ("setting", "kept"), [("baudrate", 9600), ("parity", "N"), ("bytesize", 8)]
)
def test_a_remote_port_that_does_not_apply_its_settings_is_refused(
    server: Rfc2217Peer, setting: str, kept: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer contains it."""
    stubborn = property(lambda _: kept, lambda _, value: None)  # noqa: ARG005
    monkeypatch.setattr(type(server.behind), setting, stubborn)
    with pytest.raises(LinkFailedError, match="cannot open the port"):
        open_link(f"{server.url}?baud=4800&parity=E&bytesize=7")


@rfc2217
def test_a_flood_from_a_remote_port_is_not_gathered_up(server: Rfc2217Peer) -> None:
    link = open_link(server.url)
    data = b"0123456789abcdef" * 16_384
    server.write(data[:200_000])  # more than may wait: the rest stays with the system
    assert read_some(link, 200_000) == data[:200_000]
    server.write(data[:100_000])
    link.close()  # with unread bytes


def test_a_port_without_rfc2217_is_a_failure() -> None:
    with nobody() as port, pytest.raises(LinkFailedError, match="cannot open the port"):
        open_link(f"rfc2217://127.0.0.1:{port}")


def test_a_recording_plays_the_devices_bytes_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    path.write_text("# device: a wheel\n# framing: line\n5 < one\n5.01 > asked\n5.02 < two\n")
    for speed in ("0", "1", "1000"):
        link = open_link(f"replay://{path}?speed={speed}")
        link.write(b"into the void")
        assert read_some(link, 10) == b"one\r\ntwo\r\n"
        with pytest.raises(LinkFailedError, match="the recording has ended"):
            link.read(0.1)
        assert link.describe()["device"] == "a wheel"
        link.close()


def test_a_recording_waits_between_chunks(tmp_path: Path) -> None:
    path = tmp_path / "wheel.rec"
    path.write_text("# framing: line\n0 < one\n3600 < two\n")
    link = open_link(f"replay://{path}")
    assert read_some(link, 5) == b"one\r\n"
    assert link.read(0.01) == b""
    link.close()


def test_a_missing_recording_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(LinkFailedError, match=r"wheel\.rec: No such file"):
        open_link(f"replay://{tmp_path}/wheel.rec")
