"""Helps the author of a profile that decodes nothing of a recording.

Tells whether the framing or the checksum is wrong, and which checksum would fit. Nothing is ever
decoded with a checksum found in this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from devices.profiles.checksums import CATALOGUE, width_of
from devices.profiles.codec import ProfileCodec
from devices.profiles.language import Checksum, Profile

ENOUGH = 2000
"""Bytes of a device that are tried."""
BEGINS = range(5)
"""Where the bytes covered by a checksum may begin."""


def frames(profile: Profile, data: bytes) -> int:
    """How many frames the profile decodes."""
    codec = ProfileCodec("trial", profile)
    codec.feed(data[:ENOUGH], 0.0)
    return codec.counters.frames


def unchecked(profile: Profile, data: bytes) -> int:
    """How many frames it would decode if checksums were ignored."""
    return frames(replace(profile, checksum=None), data)


def right_check(profile: Profile, data: bytes) -> tuple[int, Checksum] | None:
    """The checksum of the same width and position with which most frames are decoded, and their
    number. None: no checksum decodes at least two frames and half of those found without a
    checksum.
    """
    if profile.checksum is None:
        return None
    tried = (
        (frames(replace(profile, checksum=other), data), other)
        for other in _others(profile.checksum)
    )
    found, best = max(tried, key=lambda each: each[0], default=(0, profile.checksum))
    return (found, best) if found >= max(2, unchecked(profile, data) / 2) else None


def _others(checksum: Checksum) -> Iterator[Checksum]:
    width = width_of(checksum)
    orders: tuple[Literal["hex", "big", "little"], ...] = (
        ("hex",) if checksum.encoding == "hex" else ("big", "little")
    )
    for kind in ("xor", "sum", "lrc", *CATALOGUE):
        for encoding in orders[: 1 if width == 1 else None]:
            for first in dict.fromkeys((checksum.first, *BEGINS)):
                other = replace(checksum, kind=kind, encoding=encoding, first=first, crc=None)
                if width_of(replace(other, width=0)) == width:
                    yield other
