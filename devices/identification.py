"""Identifies a device by what it sends: the same bytes go to the codecs of all drivers, and the one
that understands them is the answer. Pure, and no request of a codec is ever sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from devices.codec import Codec, Driver, FrameProof, feed

ENOUGH_FRAMES = 5
"""Frames after which more listening would not change the answer."""
MIN_SHARE = {FrameProof.FORM: 1 / 2, FrameProof.CHECKED: 1 / 3}
"""Minimum share of valid frames in all frames. A frame with a correct checksum proves more, so that
a bus with a disturbed line is still recognised.
"""
MAX_RIVAL_SHARE = 1 / 4
"""If a second driver understands more than this share of what the first one does, none is named."""


class Match(msgspec.Struct, frozen=True):
    """How well a driver understands what was received.

    ``options``: those of its options that differ from the defaults; ``frames``: valid ones, ``of``
    all that had a frame's beginning or end.
    """

    driver: str
    options: Mapping[str, Any]
    frames: int
    of: int
    proof: FrameProof

    @property
    def is_likely(self) -> bool:
        """True if chance does not explain the frames. A single frame must be all that was sent."""
        if self.proof is FrameProof.TEXT or not self.frames:
            return False
        return self.frames == self.of or (
            self.frames > 1 and self.frames >= MIN_SHARE[self.proof] * self.of
        )

    @property
    def is_certain(self) -> bool:
        """True if more frames would not change the answer."""
        return self.is_likely and self.frames >= ENOUGH_FRAMES


class Identification:
    """Feeds bytes received at one speed to a codec of each driver, in each of its framings."""

    def __init__(self, drivers: Iterable[Driver]) -> None:
        self.bytes = 0
        self._codecs: list[tuple[Driver, Mapping[str, Any], Codec]] = [
            (driver, options, driver.make("device", msgspec.convert(options, driver.options)))
            for driver in drivers
            for options in driver.framings
        ]

    def feed(self, data: bytes, now: float) -> None:
        """Receive bytes at ``now`` (seconds; never decreases)."""
        self.bytes += len(data)
        for _, _, codec in self._codecs:
            feed(codec, data, now)

    @property
    def matches(self) -> list[Match]:
        """The drivers that understood anything, the best first."""
        found = [
            Match(
                driver.name,
                options,
                counters.frames,
                counters.frames + counters.damaged + counters.unknown,
                codec.proof,
            )
            for driver, options, codec in self._codecs
            if (counters := codec.counters).frames
        ]
        return sorted(
            found,
            key=lambda match: (match.is_likely, match.frames, match.frames - match.of),
            reverse=True,
        )

    @property
    def match(self) -> Match | None:
        """The driver that these bytes are from; None if none is likely, or two are."""
        matches = self.matches
        if not matches or not matches[0].is_likely:
            return None
        best = matches[0]
        rivals = [
            match
            for match in matches[1:]
            if match.driver != best.driver
            and match.is_likely
            and match.frames > MAX_RIVAL_SHARE * best.frames
        ]
        return None if rivals else best
