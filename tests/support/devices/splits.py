"""What holds for every codec: how a stream is split into reads changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from common.readings import AnyReading
from devices.codec import Codec


def assert_any_split_gives_the_same(
    make: Callable[[], Codec], stream: bytes, cuts: Sequence[int]
) -> list[AnyReading]:
    """Feed a stream whole, split at ``cuts``, and byte by byte. Return the readings."""
    whole, split, single = make(), make(), make()
    readings = whole.feed(stream, 1.0)
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    assert [
        r for begin, end in pairwise(edges) for r in split.feed(stream[begin:end], 1.0)
    ] == readings
    assert [r for byte in stream for r in single.feed(bytes([byte]), 1.0)] == readings
    assert whole.counters == split.counters == single.counters
    return readings
