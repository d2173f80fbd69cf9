"""Helps the author of a profile that decodes nothing in a recording.

Finds out whether the framing or the checksum is wrong, and which checksum would fit. A checksum
found this way is never used for decoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from devices.profiles.checksums import NAMED_CRCS, checksum_width
from devices.profiles.codec import ProfileCodec
from devices.profiles.language import ChecksumSpec, Profile

MAX_TRIAL_BYTES = 2000
"""Maximum number of bytes that are tried."""
TRIED_STARTS = range(5)
"""Positions tried as the start of the bytes that a checksum covers."""


def count_frames(profile: Profile, data: bytes) -> int:
    """Return the number of frames that the profile decodes."""
    codec = ProfileCodec("trial", profile)
    codec.feed(data[:MAX_TRIAL_BYTES], 0.0)
    return codec.counters.frames


def count_unchecked_frames(profile: Profile, data: bytes) -> int:
    """Return the number of frames that it would decode without its checksum."""
    return count_frames(replace(profile, checksum=None), data)


def find_checksum(profile: Profile, data: bytes) -> tuple[int, ChecksumSpec] | None:
    """Return the checksum of the same width and position that decodes most frames, and their
    number. None: no checksum decodes at least two frames and half of those found without a
    checksum.
    """
    if profile.checksum is None:
        return None
    tried = (
        (count_frames(replace(profile, checksum=candidate), data), candidate)
        for candidate in _other_checksums(profile.checksum)
    )
    found, best = max(tried, key=lambda result: result[0], default=(0, profile.checksum))
    return (found, best) if found >= max(2, count_unchecked_frames(profile, data) / 2) else None


def _other_checksums(checksum: ChecksumSpec) -> Iterator[ChecksumSpec]:
    width = checksum_width(checksum)
    orders: tuple[Literal["hex", "big", "little"], ...] = (
        ("hex",) if checksum.encoding == "hex" else ("big", "little")
    )
    for kind in ("xor", "sum", "lrc", *NAMED_CRCS):
        for encoding in orders[: 1 if width == 1 else None]:
            for first in dict.fromkeys((checksum.first, *TRIED_STARTS)):
                candidate = replace(checksum, kind=kind, encoding=encoding, first=first, crc=None)
                if checksum_width(replace(candidate, width=0)) == width:
                    yield candidate
