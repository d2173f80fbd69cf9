"""Checksums by name: XOR, sum, LRC, and the CRCs of the library ``anycrc``.

``anycrc`` knows the complete catalogue of CRC algorithms by name, and computes any other from the
parameters in a vendor's document. It is compiled code: with pure noise a check is computed at every
byte that may begin a frame, and Python would be slower than the line.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache, reduce
from operator import xor

import anycrc

from devices.profiles.language import ChecksumSpec, CrcSpec

_SIMPLE_CHECKSUMS: dict[str, Callable[[bytes], int]] = {
    "xor": lambda data: reduce(xor, data, 0),
    "sum": sum,
    "lrc": lambda data: -sum(data) & 0xFF,
}
NAMED_CRCS: dict[str, CrcSpec] = {
    name.lower(): CrcSpec(
        width=model.width,
        polynomial=model.poly,
        initial=model.init,
        final_xor=model.xorout,
        reflected_in=model.refin,
        reflected_out=model.refout,
    )
    for name, known in {**{name: name for name in anycrc.models}, **anycrc.aliases}.items()
    if (model := anycrc.models[known]).width % 8 == 0 and name.lower().startswith("crc")
}
"""CRCs with a name and a width of whole bytes: ``crc16-modbus``."""


def crc_of(checksum: ChecksumSpec) -> CrcSpec | None:
    """Return the CRC of a checksum. None: it is not a CRC. Raises ``ValueError`` for an unknown
    kind.
    """
    if checksum.kind in _SIMPLE_CHECKSUMS:
        return None
    if checksum.kind == "crc":
        if checksum.crc is None:
            raise ValueError("add the section [checksum.crc]")
        return checksum.crc
    if checksum.kind not in NAMED_CRCS:
        near = get_close_matches(checksum.kind, NAMED_CRCS, n=3)
        known = f"did you mean {' or '.join(near)}?" if near else "for example crc16-modbus"
        raise ValueError(
            f"no checksum {checksum.kind!r}; there are xor, sum, lrc, crc, and CRCs by "
            f"name: {known}"
        )
    return NAMED_CRCS[checksum.kind]


def checksum_function(checksum: ChecksumSpec) -> Callable[[bytes], int]:
    """Return a function that computes the checksum. Raises ``ValueError`` like :func:`crc_of`."""
    wanted = crc_of(checksum)
    return _SIMPLE_CHECKSUMS[checksum.kind] if wanted is None else _crc_function(wanted)


@cache
def _crc_function(wanted: CrcSpec) -> Callable[[bytes], int]:
    """A function that computes a CRC. Its tables are costly to build."""
    calculator = anycrc.CRC(
        wanted.width,
        wanted.polynomial,
        wanted.initial,
        wanted.reflected_in,
        wanted.reflected_out,
        wanted.final_xor,
    )
    return lambda data: int(calculator.calc(data))


def checksum_width(checksum: ChecksumSpec) -> int:
    """Return the size of the checksum in a frame, in bytes. Raises ``ValueError`` like
    :func:`crc_of`.
    """
    crc = crc_of(checksum)
    natural = 1 if crc is None else crc.width // 8
    return checksum.width or (2 * natural if checksum.encoding == "hex" else natural)


class ChecksumVerifier:
    """Verifies the checksums of one profile's frames."""

    def __init__(self, checksum: ChecksumSpec) -> None:
        self._compute = checksum_function(checksum)
        self._spec = checksum
        self._width = checksum_width(checksum)
        digits = 4 * self._width if checksum.encoding == "hex" else 8 * self._width
        self._mask = (1 << digits) - 1 if checksum.keep is None else checksum.keep

    def holds(self, frame: bytes) -> bool:
        """Return whether a frame has a correct checksum."""
        begin = self.position(frame)
        if begin is None or begin - self._spec.short <= self._spec.first:
            # a checksum over no bytes proves nothing
            return False
        received = frame[begin : begin + self._width]
        if self._spec.encoding != "hex":
            return received == self.expected(frame, begin)
        return received.upper() == self.expected(frame, begin)

    def position(self, frame: bytes) -> int | None:
        """Return the position of the checksum in a frame. None: the frame is too short."""
        if self._spec.field is not None:
            pieces = frame.split(self._spec.separator.encode("latin-1"))
            if (
                not 0 <= self._spec.field < len(pieces)
                or len(pieces[self._spec.field]) != self._width
            ):
                return None
            return sum(
                len(piece) + len(self._spec.separator) for piece in pieces[: self._spec.field]
            )
        at = self._spec.at or 0
        begin = at if at >= 0 else len(frame) + at
        return begin if begin + self._width <= len(frame) else None

    def expected(self, frame: bytes, begin: int) -> bytes:
        """Return the correct checksum of a frame, for a checksum at ``begin``."""
        word = (
            self._compute(frame[self._spec.first : begin - self._spec.short]) & self._mask
            | self._spec.set
        )
        if self._spec.encoding == "hex":
            return b"%0*X" % (self._width, word)
        return word.to_bytes(self._width, self._spec.encoding)
