"""Finds the checksum of frames of an unknown device, by trying all that profiles know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import hexdigits
from typing import Literal

from devices.profiles.checksums import NAMED_CRCS, ChecksumVerifier, checksum_width
from devices.profiles.language import ChecksumSpec

SAMPLE_FRAMES = 12
"""Number of different frames on which each checksum is tried."""
MAX_SAMPLE_FAILURES = 4
"""Number of them that may be damaged."""
FIRST_FAILURES = 3
"""Number of first frames after which a checksum that none of them has is given up."""
MIN_SHARE = 0.6
"""Minimum share of different frames that must have the checksum."""
MIN_BITS = 40
"""Bits of checksums that must be right together: with all that are tried, a coincidence is less
likely than one in ten million.
"""
STARTS = (0, 1, 2, 3)
"""Positions tried as the first byte that a checksum covers."""
GAPS = (0, 1)
"""Numbers of bytes tried between the covered ones and the checksum."""
BEHIND = (0, 1, 2)
"""Numbers of bytes tried between the checksum and the end of the frame."""
MAX_WIDTH = 4

CRCS = tuple({spec: name for name, spec in reversed(NAMED_CRCS.items())}.values())
"""One name of each CRC."""

Encoding = Literal["hex", "big", "little"]


def find_checksum(frames: Sequence[bytes]) -> ChecksumSpec | None:
    """Return the checksum that the frames have. None: there is none, or too few different frames to
    prove one.
    """
    different = list(dict.fromkeys(frames))
    step = max(1, len(different) // SAMPLE_FRAMES)
    sample = different[::step][:SAMPLE_FRAMES]
    for encoding, width, behind in _places(sample):
        for candidate in _checksums(encoding, width, behind):
            if _may_hold(candidate, sample) and _is_proved(candidate, different):
                return candidate
    return None


def _places(sample: Sequence[bytes]) -> Iterator[tuple[Encoding, int, int]]:
    """Encoding, width and bytes behind it of each place that may be a checksum: it differs between
    frames, and has hexadecimal digits if it is text.
    """
    digits = hexdigits.encode()
    for behind in BEHIND:
        for size in (1, 2, 3, 4, 6, 8):
            parts = [frame[len(frame) - behind - size : len(frame) - behind] for frame in sample]
            if len(set(parts)) < 2:
                continue
            hexadecimal = sum(len(part) == size and not part.strip(digits) for part in parts)
            if size % 2 == 0 and hexadecimal >= len(parts) * MIN_SHARE:
                yield "hex", size, behind
            if size <= MAX_WIDTH:
                yield "big", size, behind
                if size > 1:
                    yield "little", size, behind


def _checksums(encoding: Encoding, width: int, behind: int) -> Iterator[ChecksumSpec]:
    """Checksums of this encoding and width at this place."""
    bits = width * (4 if encoding == "hex" else 8)
    kinds = [kind for kind in CRCS if NAMED_CRCS[kind].width == bits]
    simple = ("xor", "sum", "lrc") if bits == 8 else ("sum",) if bits == 16 else ()
    masks = ((None, 0), (0x7F, 0), (0x3F, 0x40)) if (bits, encoding) == (8, "big") else ((None, 0),)
    for kind in (*simple, *kinds):
        for first in STARTS:
            for short in GAPS:
                for keep, fixed in masks if kind == "sum" else masks[:1]:
                    yield ChecksumSpec(
                        kind=kind,
                        at=-width - behind,
                        first=first,
                        short=short,
                        encoding=encoding,
                        width=width if kind == "sum" and bits > 8 else 0,
                        keep=keep,
                        set=fixed,
                    )


def _may_hold(checksum: ChecksumSpec, sample: Sequence[bytes]) -> bool:
    verifier = ChecksumVerifier(checksum)
    failures = 0
    for seen, frame in enumerate(sample, 1):
        if not verifier.holds(frame):
            failures += 1
            if failures == FIRST_FAILURES == seen or failures > min(
                MAX_SAMPLE_FAILURES, len(sample) // 2
            ):
                return False
    return True


def _is_proved(checksum: ChecksumSpec, different: Sequence[bytes]) -> bool:
    """Whether enough different checksums are right."""
    verifier = ChecksumVerifier(checksum)
    valid = [frame for frame in different if verifier.holds(frame)]
    width = checksum_width(checksum)
    begins = [verifier.position(frame) or 0 for frame in valid]
    received = {frame[at : at + width] for at, frame in zip(begins, valid, strict=True)}
    bits = width * (4 if checksum.encoding == "hex" else 8)
    if checksum.keep is not None:
        bits = checksum.keep.bit_count()
    return (
        len(valid) >= MIN_SHARE * len(different)
        and len(received) > 1
        and len(received) * bits >= MIN_BITS
    )
