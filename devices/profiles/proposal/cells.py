"""Divides frames of an unknown device into cells, bytes or pieces between separators, and sorts the
frames by kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

SEPARATORS = ",;|:=/\t "
SEPARATED_SHARE = 0.5
"""Minimum share of the frames that a separator divides."""
MAX_EMPTY_SHARE = 0.2
"""Maximum share of pieces without content."""
MAX_COLUMNS = 48
"""Number of cells of a frame that are examined."""
MAX_WORDS = 16
"""Maximum number of values of a cell that is a word of a list (a state, a kind of message)."""
MIN_KIND_SHARE = 0.01
MIN_KIND_FRAMES = 2


class Column(msgspec.Struct, frozen=True):
    """A cell of the frames: a byte or, with a separator, a piece, by its position."""

    at: int
    width: int | None = 1
    """Number of bytes. None: a whole piece, or up to the end."""


class Condition(msgspec.Struct, frozen=True):
    """What frames of a kind have in common. ``size``: their number of bytes or pieces."""

    size: int | None = None
    column: Column | None = None
    value: bytes = b""


class FrameKind(msgspec.Struct, frozen=True):
    """Frames that are alike. ``frames``: their positions in the recording."""

    condition: Condition
    frames: tuple[int, ...]


class Grid:
    """Frames without marks and checksum, divided into cells."""

    def __init__(self, bodies: Sequence[bytes], separator: bytes) -> None:
        self.bodies = bodies
        self.separator = separator
        self._pieces = [body.split(separator) if separator else [] for body in bodies]

    def size(self, frame: int) -> int:
        """The number of pieces, or of bytes."""
        return len(self._pieces[frame]) if self.separator else len(self.bodies[frame])

    def cell(self, frame: int, column: Column) -> bytes | None:
        """The content of a cell. None: the frame has no such cell."""
        if self.separator:
            pieces = self._pieces[frame]
            return pieces[column.at] if column.at < len(pieces) else None
        body = self.bodies[frame]
        if column.width is None:
            return body[column.at :] if column.at < len(body) else None
        end = column.at + column.width
        return body[column.at : end] if end <= len(body) else None

    def columns(self, frames: Sequence[int]) -> list[Column]:
        """All cells that these frames have, one byte or piece each."""
        most = min(max((self.size(frame) for frame in frames), default=0), MAX_COLUMNS)
        return [Column(at, None if self.separator else 1) for at in range(most)]

    def words(self, frames: Sequence[int], column: Column) -> Counter[bytes]:
        """How often each value of a cell comes; empty if there are more than :data:`MAX_WORDS`."""
        found: Counter[bytes] = Counter()
        for frame in frames:
            value = self.cell(frame, column)
            if value is not None:
                found[value] += 1
                if len(found) > MAX_WORDS:
                    return Counter()
        return found


def find_separator(bodies: Sequence[bytes]) -> bytes:
    """Return the byte that divides most frames into the most pieces, or nothing if none does."""
    best, most = b"", 0.0
    for character in SEPARATORS:
        separator = character.encode()
        counts = [body.count(separator) for body in bodies]
        divided = sum(count > 0 for count in counts) / max(len(counts), 1)
        usual = Counter(count for count in counts if count).most_common(3)
        alike = sum(times for _, times in usual) / max(len(counts), 1)
        pieces = [piece for body in bodies for piece in body.split(separator)]
        if pieces.count(b"") > MAX_EMPTY_SHARE * len(pieces):
            continue  # it pads
        score = sum(counts) / max(len(counts), 1)
        if divided >= SEPARATED_SHARE and alike >= SEPARATED_SHARE and score > most:
            best, most = separator, score
    return best


def kinds(grid: Grid) -> Iterator[FrameKind]:
    """Yield sets of frames that are alike, the least specific first: all, those of one size, those
    with one value in a cell that tells kinds apart, and both.
    """
    everything = tuple(range(len(grid.bodies)))
    least = max(MIN_KIND_FRAMES, int(len(everything) * MIN_KIND_SHARE))
    yield FrameKind(Condition(), everything)
    sizes = Counter(grid.size(frame) for frame in everything)
    of_size = {
        size: tuple(frame for frame in everything if grid.size(frame) == size)
        for size, count in sizes.items()
        if count >= least and size
    }
    for size, frames in of_size.items():
        if len(frames) < len(everything):
            yield FrameKind(Condition(size), frames)
    sets: list[tuple[int | None, tuple[int, ...]]] = [(None, everything), *of_size.items()]
    for size_or_none, frames in sets:
        for column in type_columns(grid, frames):
            for value, count in grid.words(frames, column).items():
                chosen = tuple(frame for frame in frames if grid.cell(frame, column) == value)
                if count >= MIN_KIND_FRAMES and len(chosen) < len(frames):
                    yield FrameKind(Condition(size_or_none, column, value), chosen)


def type_columns(grid: Grid, frames: Sequence[int]) -> list[Column]:
    """The two cells that most likely say what kind of message a frame is: they have a few values,
    most of which come again. Letters do so rather than digits.
    """
    found: list[tuple[bool, int, Column]] = []
    for column in grid.columns(frames):
        words = grid.words(frames, column)
        common = [value for value, count in words.items() if count >= MIN_KIND_FRAMES]
        if len(common) >= 2 and len(words) <= MAX_WORDS and len(common) >= len(words) / 2:
            has_digits = any(value.strip().isdigit() or not value.strip() for value in words)
            found.append((has_digits, column.at, column))
    return [column for _, _, column in sorted(found, key=lambda each: each[:2])[:2]]
