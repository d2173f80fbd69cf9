"""What is wrong with a profile that understands nothing of a recording: the frames, or their check;
and which check would be right.

It helps whoever writes the profile. Nothing is ever decoded by a check that was found so.
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
"""Where the bytes that a check covers may begin."""


def frames(profile: Profile, data: bytes) -> int:
    """How many frames it understands of what a device said."""
    codec = ProfileCodec("trial", profile)
    codec.feed(data[:ENOUGH], 0.0)
    return codec.counters.frames


def unchecked(profile: Profile, data: bytes) -> int:
    """How many it would understand if no check were looked at."""
    return frames(replace(profile, checksum=None), data)


def right_check(profile: Profile, data: bytes) -> tuple[int, Checksum] | None:
    """The check as wide, in the same place, with which most is understood, and how many frames.
    None: of none as many as half of those that there are without a check, or only one.
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
