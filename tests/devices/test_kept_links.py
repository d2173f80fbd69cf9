"""What waited on a link before it was read is late, on every kind of link, with real parts: what a
device server had when a client connected, and what the kernel had when the machine was resumed.
"""

from __future__ import annotations

import socket
import ssl
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Protocol

import pytest

import devices.loop_watch
import devices.reader
from common.readings import AnyReading, LinkLost, unescape
from devices.drivers import driver
from devices.links import SCHEME_MODULES
from devices.links import usb as usb_link
from devices.profiles.profile import parse_profile
from devices.recording import Recording, read_recording
from simulators.usb import POS_SCANNER, VENDOR_READER, UsbDevice, VirtualBus
from tests.devices.links.test_mqtt import Broker
from tests.devices.test_device import running
from tests.devices.test_kept import chunks, live
from tests.devices.test_recordings import FOLDER, RECORDINGS
from tests.devices.test_splits import make
from tests.support.brokers.mosquitto import free_port
from tests.support.daemon.certificates import Authority
from tests.support.devices.parts import Pty, Rfc2217Peer, TcpPeer
from tests.support.waiting import TIMEOUT_SECONDS, until_async

pytestmark = pytest.mark.filterwarnings(  # how pyserial makes its thread
    "ignore:set(Daemon|Name):DeprecationWarning"
)

MOST = 3000
"""Bytes that waited: fewer than a pseudo-terminal takes."""
AT_PACE = 40
"""Chunks that come at the pace of the device before the machine is suspended."""


class Peer(Protocol):
    """The other end of a link. ``say``: deliver what a device sent; the link is open."""

    url: str

    def say(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class Serial(Pty):
    """A port; bytes sent before it is opened are discarded."""

    def __init__(self, folder: Path, _: Recording) -> None:
        super().__init__(folder)

    close = Pty.unplug


class Tcp:
    """The raw socket of a device server."""

    def __init__(self, _: Path, __: Recording) -> None:
        self._peer = TcpPeer()
        self._client: socket.socket | None = None
        self.url = self._peer.url

    def say(self, data: bytes) -> None:
        self._client = self._client or self._peer.accept()
        self._client.sendall(data)

    def close(self) -> None:
        self._peer.close()
        if self._client is not None:
            self._client.close()


class Rfc2217(Rfc2217Peer):
    """A device server that has its line set."""

    def __init__(self, _: Path, __: Recording) -> None:
        super().__init__()

    def say(self, data: bytes) -> None:
        self.behind.write(data)


class Mqtt:
    """The broker of a device. It delivers what the device publishes, and has lost the mark of what
    it had retained.
    """

    def __init__(self, _: Path, __: Recording) -> None:
        self._broker = Broker()
        self.url = self._broker.url

    def say(self, data: bytes) -> None:
        for line in data.splitlines():
            topic, _, payload = line.partition(b" 0 ")
            self._broker.publish(b"dice/" + topic, unescape(payload.decode()))

    def close(self) -> None:
        self._broker.close()


class Post:
    """A device that posts one message after the other, as its line of the recording holds it. It
    has lost the mark of a message that it repeats.
    """

    def __init__(self, folder: Path, _: Recording, *, scheme: str) -> None:
        token, port = "d3b07384d113edec49eaa6238ad5ff00", free_port()
        secret = folder / "token"
        secret.write_text(f"{token}\n")
        self.url = f"{scheme}://127.0.0.1:{port}/camera?secret_file={secret}"
        self._headers = {"Authorization": f"Bearer {token}"}
        host = partial(HTTPConnection, "127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        self._connect: Callable[[], HTTPConnection] = host
        if scheme == "https":
            authority = Authority(folder, "authority")
            certificate, key = authority.sign("listener")
            self.url += f"&cert_file={certificate}&key_file={key}"
            trusted = ssl.create_default_context(cafile=authority.file)
            self._connect = partial(
                HTTPSConnection, "127.0.0.1", port, timeout=TIMEOUT_SECONDS, context=trusted
            )
        self._sender = ThreadPoolExecutor(1)

    def say(self, data: bytes) -> None:
        for line in data.splitlines():
            self._sender.submit(self._post, unescape(line.split(b" ", 2)[2].decode()))

    def _post(self, body: bytes) -> None:
        with closing(self._connect()) as connection, suppress(OSError, HTTPException):
            connection.request("POST", "/camera", body, self._headers)
            connection.getresponse().read()

    def close(self) -> None:
        self._sender.shutdown(cancel_futures=True)


class Usb:
    """A USB device. It sends reports of a fixed size, or a stream of bytes."""

    def __init__(self, bus: VirtualBus, device: UsbDevice, size: int, url: str) -> None:
        self._plugged = bus.plug(device)
        self._size = size
        self._interface = 0 if size else 1
        self.url = url

    def say(self, data: bytes) -> None:
        size = self._size or 64
        reports = (data[at : at + size] for at in range(0, len(data), size))
        self._plugged.report(*reports, interface=self._interface)

    def close(self) -> None:
        pass


Open = Callable[[Path, Recording], Peer]


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> VirtualBus:
    virtual = VirtualBus()
    monkeypatch.setattr(usb_link, "usb_backend", lambda: virtual)
    monkeypatch.setattr(usb_link, "SYSFS", tmp_path / "none")
    return virtual


def hid(bus: VirtualBus, _: Path, recording: Recording) -> Peer:
    pos = "pos" in recording.header.get("options", "")
    device, size = (POS_SCANNER, 64) if pos else (UsbDevice(), 8)
    return Usb(bus, device, size, f"usb://0c2e:0b61?timeout=0.2&report={size}")


def bulk(bus: VirtualBus, _: Path, __: Recording) -> Peer:
    return Usb(bus, VENDOR_READER, 0, "usb://0c2e:0b61?timeout=0.2&read=82&write=02")


def links(bus: VirtualBus) -> Mapping[str, Mapping[str, Open]]:
    """For each scheme of drivers, the kinds of link that such a device is reached by."""
    return {
        "serial": {"serial": Serial, "tcp": Tcp, "rfc2217": Rfc2217, "usb": partial(bulk, bus)},
        "usb": {"usb": partial(hid, bus)},
        "mqtt": {"mqtt": Mqtt},
        "http": {scheme: partial(Post, scheme=scheme) for scheme in ("http", "https")},
    }


KINDS = {
    "serial": ("tcp", "serial", "rfc2217", "usb"),
    "usb": ("usb",),
    "mqtt": ("mqtt",),
    "http": ("http", "https"),
}


def scheme_of(recording: Recording) -> str:
    """The scheme of such a device; a profile of a site states its own."""
    found = driver(recording.header["driver"])
    if found.described is None:
        return found.scheme
    file = tomllib.loads(recording.header["options"])["file"]
    return parse_profile((FOLDER / file).read_text()).scheme


EACH = [
    pytest.param(path, kind, id=f"{path.stem}-{kind}")
    for path in RECORDINGS
    for kind in KINDS[scheme_of(read_recording(path))]
]


def test_every_kind_of_link_is_here() -> None:
    kinds = {scheme: tuple(found) for scheme, found in links(VirtualBus()).items()}
    assert {scheme: {*found} for scheme, found in kinds.items()} == {
        scheme: {*found} for scheme, found in KINDS.items()
    }
    assert {kind for found in KINDS.values() for kind in found} | {"replay"} == {*SCHEME_MODULES}


@pytest.fixture
def connect(bus: VirtualBus, tmp_path: Path) -> Iterator[Callable[[Recording, str], Peer]]:
    opened: list[Peer] = []

    def peer(recording: Recording, kind: str) -> Peer:
        opened.append(links(bus)[scheme_of(recording)][kind](tmp_path, recording))
        return opened[-1]

    yield peer
    for each in opened:
        each.close()


Connect = Callable[[Recording, str], Peer]


def sent(recording: Recording, *, after: int = 0) -> bytes:
    """The device's bytes, in whole chunks."""
    data = b""
    for chunk in chunks(recording)[after:]:
        if len(data) + len(chunk.data) > MOST:
            break
        data += chunk.data
    return data


@pytest.mark.parametrize(("path", "kind"), EACH)
async def test_what_a_link_delivers_at_opening_is_late(
    path: Path, kind: str, connect: Connect
) -> None:
    recording = read_recording(path)
    peer, data, codec = connect(recording, kind), sent(recording), make(recording)
    # the clock is stopped, so that nothing arrives too late to count as kept
    async with running(peer.url, codec=codec, clock=lambda: 100.0) as floor:
        await until_async(lambda: floor.device.health().link)
        peer.say(data)
        await until_async(lambda: codec.counters.bytes >= len(data))
        assert live(floor.readings) == []


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
async def test_a_recording_that_is_played_in_a_moment_is_late(path: Path) -> None:
    recording = read_recording(path)
    codec, size = make(recording), sum(len(chunk.data) for chunk in chunks(recording))
    async with running(f"replay://{path}?speed=0", codec=codec, clock=lambda: 100.0) as floor:
        await until_async(lambda: codec.counters.bytes >= size)
        assert live(floor.readings) == []


@pytest.mark.parametrize(("path", "kind"), EACH)
async def test_what_the_kernel_kept_of_a_suspended_machine_is_late(
    path: Path, kind: str, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock by which everything is timed stopped meanwhile."""
    recording = read_recording(path)
    peer, codec = connect(recording, kind), make(recording)
    clock, slept = [0.0], [0.0]
    monkeypatch.setattr(devices.loop_watch, "suspended_seconds", lambda: slept[0])
    async with running(peer.url, codec=codec, clock=lambda: clock[0]) as floor:
        await until_async(lambda: floor.device.health().link)
        live_chunks = chunks(recording)[:AT_PACE]
        size = 0
        for chunk in live_chunks:
            clock[0] = 10.0 + chunk.at - live_chunks[0].at
            size += len(chunk.data)
            peer.say(chunk.data)
            await until_async(lambda: codec.counters.bytes >= size)  # noqa: B023
        before = len(floor.readings)
        peer.say(sent(recording, after=len(live_chunks)))
        slept[0] += 3600.0

        def after() -> list[AnyReading]:
            return floor.readings[before:]

        await until_async(lambda: any(isinstance(each, LinkLost) for each in after()))
        assert live(after()) == []
        (lost,) = (each for each in after() if isinstance(each, LinkLost))
        assert lost.reason == "this machine was suspended for 3600 s; the link is opened again"
