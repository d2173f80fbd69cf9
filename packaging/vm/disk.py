"""A disk with a write-back cache, over NBD: unflushed writes are in its cache only, and a power cut
loses any of them.

The disk acknowledges a write as soon as the data is in the cache, as a real disk with an enabled
write cache does, and reports this cache. A flush writes the cache to the medium; a write with FUA
goes to the medium directly. A cut leaves the medium with any subset of the cached sectors, and
therefore also with a part of one write, or with a later write but not an earlier one.

Protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md, its fixed newstyle.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

SECTOR = 512
"""Bytes that a disk writes completely or not at all."""

MAGIC, OPTION, REPLY = b"NBDMAGIC", b"IHAVEOPT", 0x3E889045565A9
REQUEST, SIMPLE_REPLY = 0x25609513, 0x67446698
FIXED_NEWSTYLE, NO_ZEROES = 1, 2
EXPORT_NAME, ABORT, GO = 1, 2, 7
ACK, INFO, UNSUPPORTED = 1, 3, (1 << 31) | 1
INFO_EXPORT = 0
HAS_FLAGS, SEND_FLUSH, SEND_FUA = 1, 4, 8
READ, WRITE, DISCONNECT, FLUSH = range(4)
FUA = 1
INVALID = 22


class Cached(NamedTuple):
    """A write that is only in the cache."""

    offset: int
    data: bytes


class PowerCut(NamedTuple):
    """The content of a disk after a power cut. ``cached``: sectors that were only in the cache;
    ``kept``: those of them that reached the medium. ``at``: the request during which it was cut.
    """

    medium: bytes
    cached: int
    kept: int
    at: str


class Disk:
    """One disk, served to one client at a time at a Unix socket.

    ``asked`` is called before each request is executed, with its description, and may call
    :meth:`cut`.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        self.path = path
        self.writes = self.flushes = 0
        self.asked: Callable[[str], None] = lambda _: None
        self._medium = bytearray(content)
        self._cache: list[Cached] = []
        path.unlink(missing_ok=True)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._client: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def cut(self, random: Random, at: str) -> PowerCut:
        """Return a possible content of the disk if the power fails now. Call it in ``asked``, when
        no write is in progress.
        """
        medium, cached, kept = bytearray(self._medium), 0, 0
        share = random.choice((0.0, 1.0, random.random(), random.random()))
        for write in self._cache:
            for begin in range(0, len(write.data), SECTOR):
                cached += 1
                if random.random() < share:
                    kept += 1
                    data = write.data[begin : begin + SECTOR]
                    medium[write.offset + begin : write.offset + begin + len(data)] = data
        return PowerCut(bytes(medium), cached, kept, at)

    @property
    def cached(self) -> bool:
        """True if some data is only in the cache."""
        return bool(self._cache)

    def put(self, medium: bytes) -> None:
        """Replace the content, with an empty cache. The disk must not be in use."""
        self.asked = lambda _: None
        self._medium, self._cache = bytearray(medium), []

    def close(self) -> None:
        """Refuse further writes."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        if self._client is not None:
            self._client.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                self._client, _ = self._listening.accept()
                with self._client:
                    if self._negotiate(self._client):
                        self._answer(self._client)
            except OSError:
                if self._listening.fileno() < 0:
                    return

    def _negotiate(self, client: socket.socket) -> bool:
        """Negotiate with a client; return True if it uses the disk."""
        flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA
        client.sendall(MAGIC + OPTION + struct.pack(">H", FIXED_NEWSTYLE | NO_ZEROES))
        (wanted,) = struct.unpack(">I", _exactly(client, 4))
        while True:
            _, option, length = struct.unpack(">8sII", _exactly(client, 16))
            _exactly(client, length)
            if option == EXPORT_NAME:
                zeroes = b"" if wanted & NO_ZEROES else bytes(124)
                client.sendall(struct.pack(">QH", len(self._medium), flags) + zeroes)
                return True
            if option == GO:
                told = struct.pack(">HQH", INFO_EXPORT, len(self._medium), flags)
                client.sendall(struct.pack(">QIII", REPLY, option, INFO, len(told)) + told)
                client.sendall(struct.pack(">QIII", REPLY, option, ACK, 0))
                return True
            if option == ABORT:
                return False
            client.sendall(struct.pack(">QIII", REPLY, option, UNSUPPORTED, 0))

    def _answer(self, client: socket.socket) -> None:
        while True:
            _, flags, kind, cookie, offset, length = struct.unpack(">IHHQQI", _exactly(client, 28))
            if kind == DISCONNECT:
                return
            data = _exactly(client, length) if kind == WRITE else b""
            self.asked(("read", "write", "", "flush")[kind] if kind <= FLUSH else "other")
            error, answer = 0, b""
            if kind == READ:
                answer = self._read(offset, length)
            elif kind == WRITE:
                self.writes += 1
                self._cache.append(Cached(offset, data))
                if flags & FUA:
                    self._write_back(offset, offset + length)
            elif kind == FLUSH:
                self.flushes += 1
                self._write_back(0, len(self._medium))
            else:
                error = INVALID
            client.sendall(struct.pack(">IIQ", SIMPLE_REPLY, error, cookie) + answer)

    def _read(self, offset: int, length: int) -> bytes:
        """Read the last written data, from the medium or the cache."""
        found = bytearray(self._medium[offset : offset + length])
        for write in self._cache:
            begin = max(offset, write.offset)
            end = min(offset + length, write.offset + len(write.data))
            if begin < end:
                found[begin - offset : end - offset] = write.data[
                    begin - write.offset : end - write.offset
                ]
        return bytes(found)

    def _write_back(self, begin: int, end: int) -> None:
        """Write cached data of this range to the medium, in order."""
        left = []
        for write in self._cache:
            if write.offset < end and begin < write.offset + len(write.data):
                self._medium[write.offset : write.offset + len(write.data)] = write.data
            else:
                left.append(write)
        self._cache = left


def _exactly(client: socket.socket, length: int) -> bytes:
    """Receive exactly ``length`` bytes. Raises ``OSError`` if the client disconnects before."""
    received = bytearray()
    while len(received) < length:
        piece = client.recv(min(length - len(received), 1 << 20))
        if not piece:
            raise ConnectionResetError
        received += piece
    return bytes(received)
