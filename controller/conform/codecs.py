"""Plays recordings to a codec, unchanged and changed, and compares the readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise

import msgspec

from common.randomness import Random
from common.readings import (
    AnyReading,
    CardDrawn,
    DiceRead,
    ShoeResult,
    SlotCoin,
    WheelCell,
    WheelNumber,
)
from devices.codec import Codec
from devices.recording import Recording
from devices.watch import Watch

DEVICE = "device"
NEVER_SECONDS = 1e9
"""A silence that no recording has."""
MAX_STREAM_BYTES = 12_000
"""Bytes of a recording that are used."""

Timed = tuple[float, bytes]
Result = CardDrawn | WheelNumber | WheelCell | DiceRead | SlotCoin | ShoeResult


class TriedCodec(msgspec.Struct, frozen=True, dict=True):
    """A codec to try on a recording. ``make`` returns a new codec."""

    make: Callable[[], Codec]
    name: str
    recording: Recording
    golden: tuple[bytes, ...] | None = None
    """The readings of the recording, as JSON lines; None: there is no such file."""
    serial: bool = True
    """Bytes may be lost, added and damaged on the line; not so in whole reports of USB and MQTT."""

    @cached_property
    def chunks(self) -> list[Timed]:
        """The bytes from the device that are used, with their times."""
        return received(self.recording)


def received(recording: Recording, limit: int = MAX_STREAM_BYTES) -> list[Timed]:
    """Return what came from the device, at most ``limit`` bytes and the chunk that exceeds it."""
    chunks: list[Timed] = []
    size = 0
    for chunk in recording:
        if not chunk.sent and size < limit:
            chunks.append((chunk.at, chunk.data))
            size += len(chunk.data)
    return chunks


def split_difference(make: Callable[[], Codec], stream: bytes, cuts: Iterable[int]) -> str | None:
    """Feed a stream whole, split at ``cuts``, and byte by byte. Return how the readings differ."""
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    ways = {
        "split": [stream[begin:end] for begin, end in pairwise(edges)],
        "byte by byte": [bytes((byte,)) for byte in stream],
    }
    whole = make()
    expected = whole.feed(stream, 1.0)
    for way, parts in ways.items():
        codec = make()
        readings = [reading for part in parts for reading in codec.feed(part, 1.0)]
        if readings != expected:
            return f"{way}: {first_difference(readings, expected)}"
        if codec.counters != whole.counters:
            return f"{way}: {codec.counters}, whole: {whole.counters}"
    return None


def first_difference(found: Sequence[object], expected: Sequence[object]) -> str:
    for number, (one, other) in enumerate(zip(found, expected, strict=False), 1):
        if one != other:
            return f"reading {number} is {one}, not {other}"
    return f"{len(found)} readings, not {len(expected)}"


def play(codec: Codec, chunks: Sequence[Timed], *, reopened: int | None = None) -> list[AnyReading]:
    """Return the readings of chunks. ``reopened``: the chunk before which the link is reopened."""
    watch = Watch(codec, DEVICE, NEVER_SECONDS)
    watch.opened(chunks[0][0])
    readings: list[AnyReading] = []
    for number, (at, data) in enumerate(chunks):
        if number == reopened:
            readings += watch.lost(at, "tried")
            readings += watch.opened(at)
        readings += watch.feed(data, at)
    return readings


def content(reading: Result) -> object:
    """The content of a result, without its time, lateness and evidence."""
    match reading:
        case CardDrawn():
            return reading.card
        case WheelNumber():
            return reading.number, reading.spin
        case WheelCell():
            return reading.cell
        case DiceRead():
            return reading.values
        case SlotCoin():
            return reading.box, reading.amount
        case ShoeResult():
            return reading.winner, reading.forced


def contents(readings: Iterable[AnyReading]) -> Counter[object]:
    """Count the results by their content. A card that could not be read does not count."""
    found = (content(reading) for reading in readings if isinstance(reading, Result))
    return Counter(each for each in found if each is not None)


def invented(readings: Iterable[AnyReading], known: Counter[object]) -> str | None:
    """Return a result that is not among the known ones, or comes more often."""
    more = contents(readings) - known
    return None if not more else f"result {next(iter(more))!r} was not sent"


def junk(random: Random) -> bytes:
    kind = random.randrange(3)
    if kind == 0:
        return random.randbytes(random.randrange(1, 60))
    if kind == 1:
        return bytes(random.choices(b"\x00\x80\xaa\xff?~", k=random.randrange(1, 60)))
    return bytes((random.randrange(256),)) * random.randrange(1, 3000)


def places(chunks: Sequence[Timed], random: Random, count: int) -> list[tuple[int, int]]:
    """Choose places: a chunk, and a byte in it."""
    every = [(number, at) for number, (_, data) in enumerate(chunks) for at in range(len(data))]
    return random.sample(every, min(count, len(every)))


def with_chunk(chunks: Sequence[Timed], number: int, *data: bytes) -> list[Timed]:
    at = chunks[number][0]
    return [*chunks[:number], *((at, each) for each in data), *chunks[number + 1 :]]
