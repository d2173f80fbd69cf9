"""Finds how the bytes of an unknown device are divided into frames, and how frames are checked.

Candidates come from what the bytes show: line ends, the first and last bytes of bursts, lengths
that repeat, and a byte that states the length. A checksum that most frames have decides between
them; without one, the candidate that covers most bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from devices.profiles.checksums import ChecksumVerifier
from devices.profiles.framing import BlockFraming, DroppedBytes, FrameCandidate, LineFraming
from devices.profiles.language import ChecksumSpec, FramingSpec
from devices.profiles.proposal.checks import find_checksum

TimedBytes = tuple[float, bytes]
"""When bytes were received, in seconds, and the bytes."""

TRIAL_BYTES = 6000
"""Number of bytes on which framings are compared."""
BURST_PAUSE_SECONDS = 0.05
"""A pause after which a new frame begins: longer than the pauses of adapters, shorter than those of
devices.
"""
MIN_COVERAGE = 0.7
"""Minimum share of the bytes that must be in frames."""
MIN_FRAMES = 6
"""Minimum number of frames from which anything is concluded."""
MAX_FIXED_LENGTH = 64
FORMS = ("line", "marks", "length", "fixed")
"""The forms of framing, the simplest first."""
PRINTABLE = bytes((*range(0x20, 0x7F), *b"\t\r\n"))
PRINTABLE_SHARE = 0.95
"""Minimum share of printable bytes in lines of text."""
START_MARKS = b"\x02\x01\x05$"
END_MARKS = b"\x03\x04\x17*>]})#;"
"""Bytes that usually begin and end a frame."""


class FramingProposal(msgspec.Struct, frozen=True):
    """How bytes are divided. ``frames``: those that are valid; ``of``: all that began and ended;
    ``coverage``: the share of the bytes in frames.
    """

    framing: FramingSpec
    checksum: ChecksumSpec | None
    frames: tuple[TimedBytes, ...]
    of: int
    coverage: float


def propose_framing(chunks: Sequence[TimedBytes]) -> FramingProposal | None:
    """Return the most likely framing of what was received. None: nothing divides it into frames
    that are alike.
    """
    trial = list(_first_bytes(chunks, TRIAL_BYTES))
    best: FramingProposal | None = None
    for framing in _candidates(trial):
        found = _split(trial, framing, None)
        if len(found.frames) < MIN_FRAMES or found.coverage < MIN_COVERAGE:
            continue
        checksum = find_checksum([frame for _, frame in found.frames])
        if checksum is None and framing.form == "fixed" and not framing.start:
            continue  # nothing marks where a frame begins
        if checksum is not None:
            found = _split(trial, framing, checksum)
            if found.coverage < MIN_COVERAGE / 2:
                continue
        if best is None or _rank(found) > _rank(best):
            best = found
    return None if best is None else _split(chunks, best.framing, best.checksum)


def bursts(chunks: Sequence[TimedBytes]) -> list[bytes]:
    """Join bytes that came without a pause."""
    found: list[bytes] = []
    before: float | None = None
    for at, data in chunks:
        if before is None or at - before > BURST_PAUSE_SECONDS:
            found.append(data)
        else:
            found[-1] += data
        before = at
    return found


def _rank(found: FramingProposal) -> tuple[bool, int, bool, int, int, int]:
    """Prefer a checksum; then more bytes in frames, lines of text, fewer lengths, more frames (a
    chain of frames may have a right checksum too), and a simpler form.
    """
    lengths = len({len(frame) for _, frame in found.frames})
    return (
        found.checksum is not None,
        round(found.coverage * 50),
        found.framing.form == "line",
        -lengths,
        len(found.frames),
        -FORMS.index(found.framing.form),
    )


def _first_bytes(chunks: Sequence[TimedBytes], limit: int) -> Iterator[TimedBytes]:
    total = 0
    for at, data in chunks:
        if total >= limit:
            return
        total += len(data)
        yield at, data


def _split(
    chunks: Sequence[TimedBytes], framing: FramingSpec, checksum: ChecksumSpec | None
) -> FramingProposal:
    check = None if checksum is None else ChecksumVerifier(checksum)
    stream = (
        LineFraming(framing)
        if framing.form == "line"
        else BlockFraming(framing, check.holds if check else lambda _: True)
    )
    frames: list[TimedBytes] = []
    dropped = covered = 0
    for at, data in chunks:
        for piece in stream.feed(data, at):
            valid = isinstance(piece, FrameCandidate)
            if valid and (check is None or check.holds(piece.data)):
                frames.append((at, piece.data))
                covered += len(piece.data)
            elif isinstance(piece, DroppedBytes) or piece.data:
                dropped += 1
    ignored = framing.ends if framing.form == "line" else framing.ignore
    total = sum(len(data.translate(None, ignored.encode("latin-1"))) for _, data in chunks)
    return FramingProposal(
        framing, checksum, tuple(frames), len(frames) + dropped, min(covered / max(total, 1), 1.0)
    )


# Candidates


def _candidates(chunks: Sequence[TimedBytes]) -> Iterator[FramingSpec]:
    """Framings that the bytes suggest, the simplest first."""
    data = b"".join(data for _, data in chunks)
    parts = bursts(chunks)
    yield from _lines(data)
    yield from _marks(data, parts)
    yield from _lengths(parts)
    yield from _fixed(data, parts)


def _lines(data: bytes) -> Iterator[FramingSpec]:
    if len(data.translate(None, PRINTABLE)) > (1 - PRINTABLE_SHARE) * len(data):
        return
    for ends in ("\r\n", "\r", "\n"):
        if data.count(ends.encode("latin-1")) >= MIN_FRAMES:
            lines = data.replace(b"\r", b"\n").split(b"\n")
            longest = max(len(line) for line in lines)
            yield FramingSpec(ends=ends, longest=_room(longest))
            return


def _marks(data: bytes, parts: Sequence[bytes]) -> Iterator[FramingSpec]:
    trimmed = [part.strip(b"\r\n") for part in parts]
    trimmed = [part for part in trimmed if len(part) > 2]
    starts = _marks_at(trimmed, 0, START_MARKS)
    ends = _marks_at(trimmed, -1, END_MARKS)
    for start in starts:
        for end in ends:
            if start == end:
                continue
            found = _tail(data, start, end)
            if found is not None:
                tail, longest = found
                yield FramingSpec(
                    form="marks",
                    start=start.decode("latin-1"),
                    end=end.decode("latin-1"),
                    tail=tail,
                    ignore="\r\n" if data.count(b"\n") + data.count(b"\r") >= MIN_FRAMES else "",
                    longest=_room(longest),
                    within=1.0,
                )


def _marks_at(parts: Sequence[bytes], at: int, usual: bytes) -> list[bytes]:
    """The usual marks that come often enough, and the byte that most bursts have at a position."""
    common = Counter(part[at] for part in parts).most_common(1)
    own = [mark for mark, count in common if count >= len(parts) / 2]
    data = b"".join(parts)
    return [
        bytes((mark,)) for mark in dict.fromkeys((*own, *usual)) if data.count(mark) >= MIN_FRAMES
    ]


def _tail(data: bytes, start: bytes, end: bytes) -> tuple[int, int] | None:
    """Number of bytes between an end and the next start, and the length of the longest frame."""
    tails: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    at = data.find(start)
    while at >= 0:
        close = data.find(end, at + 1)
        following = data.find(start, close + 1) if close >= 0 else -1
        if following < 0:
            break
        tails[len(data[close + 1 : following].strip(b"\r\n"))] += 1
        sizes[close + 1 - at] += 1
        at = following
    if not tails:
        return None
    tail, count = tails.most_common(1)[0]
    if tail > 8 or count < sum(tails.values()) / 2:
        return None
    usual = [size for size, times in sizes.items() if times > sum(sizes.values()) // 100]
    return tail, max(usual) + tail


def _lengths(parts: Sequence[bytes]) -> Iterator[FramingSpec]:
    """A byte near the beginning of a burst that states its length."""
    lengths = Counter(len(part) for part in parts)
    if len(lengths) < 2:
        return
    start = Counter(part[:1] for part in parts).most_common(1)[0][0]
    for at in (1, 2, 3):
        adds = Counter(
            len(part) - part[at] for part in parts if part[:1] == start and len(part) > at
        )
        if adds:
            offset, count = adds.most_common(1)[0]
            if -8 <= offset <= 16 and count >= len(parts) / 2:
                yield FramingSpec(
                    form="length",
                    start=start.decode("latin-1"),
                    at=at,
                    adds=offset,
                    longest=_room(max(lengths)),
                    within=1.0,
                )


def _fixed(data: bytes, parts: Sequence[bytes]) -> Iterator[FramingSpec]:
    """Lengths at which bytes repeat, with a byte that is always the first."""
    sizes = Counter(len(part) for part in parts)
    repeats = sorted(
        range(3, min(MAX_FIXED_LENGTH, len(data) // MIN_FRAMES) + 1),
        key=lambda size: -_repetition(data, size),
    )
    lengths = dict.fromkeys([size for size, _ in sizes.most_common(2)] + repeats[:3])
    for length in lengths:
        if not 3 <= length <= MAX_FIXED_LENGTH:
            continue
        firsts = Counter(part[:1] for part in parts if len(part) >= length)
        for mark, count in firsts.most_common(2):
            if count >= len(parts) / 3:
                yield FramingSpec(
                    form="fixed",
                    start=mark.decode("latin-1"),
                    length=length,
                    longest=_room(length),
                    within=1.0,
                )
        yield FramingSpec(form="fixed", length=length, longest=_room(length), within=1.0)


def _repetition(data: bytes, length: int) -> float:
    """Share of the bytes that are equal to the byte ``length`` before."""
    same = sum(a == b for a, b in zip(data, data[length:], strict=False))
    return same / max(len(data) - length, 1)


def _room(longest: int) -> int:
    """A maximum length with room for what was not seen: a power of two."""
    room = 16
    while room < 2 * longest and room < 4096:
        room *= 2
    return room
