"""The line between a simulated device and its host: bytes at the baud rate, and faults on the way.

Pure like the device: it gets the time and returns pieces of bytes with their times of arrival.
"""

from __future__ import annotations

from collections import Counter, deque
from math import inf

from common.randomness import Random
from simulators.device import SimulatedDevice, Timed

BITS_PER_BYTE = 10
"""Bits per byte with 8 data bits, no parity and one stop bit."""


def read_at_double_baud(data: bytes) -> bytes:
    """Return the bytes that a host reads at twice the baud rate: it samples every bit twice and
    reads each half of a byte as a whole one.
    """
    read = bytearray()
    for byte in data:
        bits = [0, *(byte >> place & 1 for place in range(8)), 1]
        samples = [bit for bit in bits for _ in range(2)]
        for begin in (1, 11):
            read.append(sum(bit << place for place, bit in enumerate(samples[begin : begin + 8])))
    return bytes(read)


class SimulatedLine:
    """A device at the end of its line. ``piece_bytes``: so many bytes are one piece, which arrives
    with its first byte.
    """

    def __init__(self, device: SimulatedDevice, seed: int = 0, piece_bytes: int = 1) -> None:
        self.device = device
        self._random = Random(seed)
        self._byte = BITS_PER_BYTE / device.baud
        self._piece_bytes = piece_bytes
        self._free_at = 0.0
        self._silent_until = -inf
        self._garbled_until = -inf
        self._burst_at: float | None = None
        self._held = b""
        self._cut = b""
        self._armed: Counter[str] = Counter()
        self._pieces: deque[Timed] = deque()

    @property
    def deadline(self) -> float:
        """When the next byte is due or the device acts."""
        due = self.device.deadline
        if self._pieces and self._pieces[0][0] < due:
            due = self._pieces[0][0]
        if self._burst_at is not None and self._burst_at < due:
            due = self._burst_at
        return due

    def advance(self, now: float) -> list[Timed]:
        """Advance the time to ``now``; return the pieces that arrived."""
        for at, data in self.device.advance(now):
            self._release(at)
            self._transmit(at, data)
        self._release(now)
        pieces = self._pieces
        due: list[Timed] = []
        while pieces and pieces[0][0] <= now:
            due.append(pieces.popleft())
        return due

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault of the line."""
        if name == "silence":
            self._silent_until = now + value
        elif name == "burst":
            self._burst_at = now + value
        elif name == "wrong_baud":
            self._garbled_until = now + value
        else:
            self._armed[name] += 1

    def _release(self, now: float) -> None:
        """Deliver the backlog of a burst at once, as from a buffer."""
        if self._burst_at is not None and self._burst_at <= now:
            if self._held:
                self._free_at = max(self._burst_at, self._free_at)
                self._pieces.append((self._free_at, self._held))
            self._burst_at, self._held = None, b""

    def _transmit(self, at: float, data: bytes) -> None:
        if at < self._silent_until:
            return
        if self._armed or self._cut:
            data = self._apply_faults(data)
        if at < self._garbled_until:
            data = read_at_double_baud(data)
        if self._burst_at is not None:
            self._held += data
            return
        dribbles = bool(self._armed) and self._take_fault("split")
        at, byte, append = max(at, self._free_at), self._byte, self._pieces.append
        size = 1 if dribbles else self._piece_bytes
        for index in range(0, len(data), size):
            at += byte
            if dribbles:
                at += self._random.uniform(0.005, 0.02)
            piece = data[index : index + size]
            append((at, piece))
            at += byte * (len(piece) - 1)
        self._free_at = at

    def _apply_faults(self, data: bytes) -> bytes:
        if self._take_fault("duplicate"):
            data += data
        if self._take_fault("damaged"):
            data = self._damage(data)
        if self._cut:
            data, self._cut = self._cut + data, b""
        if self._take_fault("spliced"):
            size = max(1, (len(data) - 2) // 2)
            data, self._cut = b"", data[:size]
        return data

    def _damage(self, data: bytes) -> bytes:
        """Remove one character or replace it with noise; the line is never valid afterwards."""
        place = self._random.randrange(max(1, len(data) - 2))
        noise = self._random.choice((b"", b"\x00", b"\xff"))
        return data[:place] + noise + data[place + 1 :]

    def _take_fault(self, fault: str) -> bool:
        if fault not in self._armed:
            return False
        self._armed[fault] -= 1
        if not self._armed[fault]:
            del self._armed[fault]
        return True
