"""What holds for every codec: how a stream is split into reads changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from common.readings import AnyReading
from controller.conform.codecs import split_difference
from devices.codec import Codec


def assert_any_split_gives_the_same(
    make: Callable[[], Codec], stream: bytes, cuts: Sequence[int]
) -> list[AnyReading]:
    """Feed a stream whole, split at ``cuts``, and byte by byte. Return the readings."""
    assert split_difference(make, stream, cuts) is None
    return make().feed(stream, 1.0)
