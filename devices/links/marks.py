"""Decodes the marks of the system for bytes that were damaged on a line with parity (``PARMRK`` of
termios(3)): ``FF 00`` and the byte as received; ``FF FF`` is an intact FF.

A break, as caused by a pulled cable or a wrong speed, is received as a damaged 00.
"""

from __future__ import annotations

from common.readings import DamagedBytes

_MARK, _DAMAGED = 0xFF, 0x00


class ParityMarkDecoder:
    """Decoder of one stream. Splitting the stream differently gives the same bytes."""

    def __init__(self) -> None:
        self._partial = b""

    def decode(self, data: bytes) -> bytes:
        """Return the received bytes, as :class:`common.readings.DamagedBytes` if some were
        damaged.
        """
        data, self._partial = self._partial + data, b""
        if _MARK not in data:
            return data
        received, damaged, at = bytearray(), list[int](), 0
        while at < len(data):
            if data[at] != _MARK:
                received.append(data[at])
                at += 1
                continue
            follows = data[at + 1 : at + 3]
            if not follows or (follows[0] == _DAMAGED and len(follows) == 1):
                self._partial = data[at:]
                break
            if follows[0] == _DAMAGED:
                damaged.append(len(received))
                received.append(follows[1])
                at += 3
            else:
                received.append(_MARK)
                at += 2 if follows[0] == _MARK else 1
        return DamagedBytes(bytes(received), tuple(damaged)) if damaged else bytes(received)
