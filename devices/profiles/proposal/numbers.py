"""Finds the field with the winning number: the one that agrees with all numbers that were shown.

Each way to read a number from a cell is tried in each state of each kind of frame. What agrees by
chance is excluded by counting what was tried: the more, the more spins are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, log2
from typing import Any, Literal

import msgspec

from devices.profiles.fields import UnfitFieldError, decode_fields
from devices.profiles.language import FieldSpec
from devices.profiles.proposal.cells import MAX_WORDS, Column, Condition, FrameKind, Grid, kinds
from devices.profiles.proposal.columns import counts

POCKETS = range(37)
MIN_SHOWN = 5
"""Minimum number of spins."""
SPARE_BITS = 10
"""A field that agrees by chance is less likely than one in two to this power."""
BITS_OF_A_SPIN = log2(len(POCKETS))

Shown = int | str
"""A number that the wheel showed: 0 to 36, or ``"00"``."""
Occasion = Literal["each", "counter", "entry"]
"""When a frame reports a result: each frame of the kind, when a counter changes, or when a state
begins.
"""


class NumberField(msgspec.Struct, frozen=True):
    """A way to read the number. ``name``: of the coding."""

    column: Column
    spec: FieldSpec
    name: str


class NumberProposal(msgspec.Struct, frozen=True):
    """Where the number is, and in which frames. ``state``: the cell and the value that it must
    have; ``counter``: the cell that counts spins. ``reported``: the positions of the frames that
    report the results.
    """

    condition: Condition
    field: NumberField
    occasion: Occasion
    state: Condition | None
    counter: Column | None
    reported: tuple[int, ...]
    frames: tuple[int, ...]
    """All frames of the kind."""
    valid: tuple[int, ...]
    """Those of them in which the number and the state fit."""
    begun: bool
    """The recording begins while the number of the spin before it is still sent."""


class NumberSearch(msgspec.Struct, frozen=True):
    """The result of the search. ``found``: what agrees, the most likely first; ``missing``: how
    many more spins would prove a field; ``problem``: why none is proved.
    """

    found: tuple[NumberProposal, ...]
    problem: str = ""
    missing: int = 0


def find_number(grid: Grid, shown: Sequence[Shown]) -> NumberSearch:
    """Find the field that agrees with all numbers shown."""
    if not shown:
        return NumberSearch((), "no shown numbers were given", MIN_SHOWN)
    search = _FieldSearch(grid, shown)
    agreeing = list(search.run())
    needed = max(MIN_SHOWN, ceil((SPARE_BITS + log2(max(search.tried, 1))) / BITS_OF_A_SPIN))
    if len(shown) < needed:
        missing = needed - len(shown)
        return NumberSearch((), f"{len(shown)} spins prove no field; record more", missing)
    if not agreeing:
        return NumberSearch(
            (),
            f"no field agrees with the {len(shown)} numbers shown; were all spins of the recording "
            "written down, in their order?",
        )
    if len(set(shown)) < MIN_SHOWN - 1:
        missing = MIN_SHOWN - 1 - len(set(shown))
        return NumberSearch((), "too few different numbers were shown", missing)
    agreeing.sort(key=lambda each: (sum(each.reported), _preference(each)))
    earliest = agreeing[0]
    rivals = [
        each
        for each in agreeing
        if each.reported == earliest.reported and _overlap(each.field, earliest.field)
    ]
    if _disagree(grid, rivals):
        names = " or ".join(dict.fromkeys(each.field.name for each in rivals))
        return NumberSearch((), f"the number may be {names}; record spins with numbers above 9", 1)
    return NumberSearch(tuple(agreeing))


def decode(field: FieldSpec, part: bytes) -> Any:
    """Decode the content of a cell. None: it does not fit."""
    spec = msgspec.structs.replace(field, at=None, of="part", width=None)
    try:
        values = decode_fields({"number": spec}, b"", b"", {"part": part.decode("latin-1")}, {}, {})
    except UnfitFieldError:
        return None
    return values["number"]


def _preference(found: NumberProposal) -> tuple[int, ...]:
    """The simplest first: without state, of the usual width, and in all frames of a kind that is
    known by its size.
    """
    return (
        ("each", "counter", "entry").index(found.occasion),
        found.field.column.at,
        0 if found.field.column.width in (None, 2) else 1,
        found.field.spec.bits is not None,
        len(found.frames) - len(found.valid) if found.occasion != "entry" else 0,
        found.condition.size is None,
        found.condition.column is not None,
    )


def _overlap(a: NumberField, b: NumberField) -> bool:
    if a.column.width is None or b.column.width is None:
        return a.column.at == b.column.at
    return a.column.at < b.column.at + b.column.width and b.column.at < a.column.at + a.column.width


def _disagree(grid: Grid, rivals: Sequence[NumberProposal]) -> bool:
    """Whether codings that agree with all shown numbers differ in numbers that were not shown."""
    codings = {(each.field.name, each.field.spec.plus) for each in rivals}
    if len(codings) < 2:
        return False
    values = [
        decode(rival.field.spec, grid.cell(frame, rival.field.column) or b"")
        for rival in rivals
        for frame in rival.reported
    ]
    return not any(isinstance(value, int) and value > 9 for value in values)


class _FieldSearch:
    def __init__(self, grid: Grid, shown: Sequence[Shown]) -> None:
        self._grid = grid
        self._shown = tuple(shown)
        self.tried = 0
        """Number of fields that were compared with the shown numbers."""

    def run(self) -> Iterator[NumberProposal]:
        """Yield everything that agrees."""
        for kind in kinds(self._grid):
            if len(kind.frames) >= len(self._shown):
                yield from self._of_kind(kind)

    def _of_kind(self, kind: FrameKind) -> Iterator[NumberProposal]:
        grid, count = self._grid, len(kind.frames)
        alone = (1 << count) - 1
        apart = self._apart(kind)
        gates: dict[int, Condition | None] = {alone: None}
        for column in grid.columns(kind.frames):
            cells = [grid.cell(frame, column) for frame in kind.frames]
            words = [word for word in dict.fromkeys(cells) if word is not None]
            for word in words if len(words) <= MAX_WORDS else ():
                gates.setdefault(
                    _mask(cell == word for cell in cells), Condition(None, column, word)
                )
        counters = list(self._counters(kind))
        for field in _fields(grid, kind):
            parts = [grid.cell(frame, field.column) for frame in kind.frames]
            values = {part: decode(field.spec, part) for part in set(parts) if part is not None}
            if len(set(values.values()) - {None}) < len(set(self._shown)):
                continue
            fits = _mask(part is not None and values[part] is not None for part in parts)
            for mask, state in gates.items():
                valid = mask & fits
                if valid.bit_count() < len(self._shown):
                    continue
                yield from self._agreeing(kind, field, state, valid, parts, apart, counters)

    def _agreeing(
        self,
        kind: FrameKind,
        field: NumberField,
        state: Condition | None,
        valid: int,
        parts: Sequence[bytes | None],
        apart: int,
        counters: Sequence[tuple[Column, int]],
    ) -> Iterator[NumberProposal]:
        starts = valid & ~(valid << 1)
        occasions: list[tuple[Occasion, Column | None, int]] = [("each", None, valid)]
        if state is not None or starts != valid:
            occasions.append(("entry", None, starts))
        if state is None:
            occasions.append(("entry", None, starts | (valid & apart)))
            occasions += [("counter", column, valid & changes) for column, changes in counters]
        for occasion, counter, reported in occasions:
            count = reported.bit_count()
            begun = bool(reported & 1) and count == len(self._shown) + 1 and occasion != "each"
            if begun:
                reported &= ~1
                count -= 1
            if count != len(self._shown):
                continue
            positions = list(_positions(reported))
            self.tried += 1
            spec = self._fit(field.spec, [parts[position] or b"" for position in positions])
            if spec is not None:
                yield NumberProposal(
                    kind.condition,
                    NumberField(field.column, spec, field.name),
                    occasion,
                    state,
                    counter,
                    tuple(kind.frames[position] for position in positions),
                    kind.frames,
                    tuple(kind.frames[position] for position in _positions(valid)),
                    begun,
                )

    def _fit(self, spec: FieldSpec, parts: Sequence[bytes]) -> FieldSpec | None:
        """The field that gives the shown numbers for these contents. None: it does not."""
        double = {part for part, number in zip(parts, self._shown, strict=True) if number == "00"}
        others = {part for part, number in zip(parts, self._shown, strict=True) if number != "00"}
        if len(double) > 1 or double & others:
            return None
        offsets = set()
        for part, number in zip(parts, self._shown, strict=True):
            if isinstance(number, int):
                value = decode(spec, part)
                if not isinstance(value, int):
                    return None
                offsets.add(number - value)
                if len(offsets) > 1:
                    return None
        plus = offsets.pop() if offsets else 0
        if plus and spec.encoding in ("decimal", "hex") and abs(plus) > 1:
            return None
        if plus and len(set(others)) < 2:
            return None
        zero = double.pop().decode("latin-1") if double else None
        if zero is not None and spec.strip:
            zero = zero.strip()
        return msgspec.structs.replace(
            spec, plus=plus, min=-plus, max=POCKETS[-1] - plus, double_zero=zero
        )

    def _apart(self, kind: FrameKind) -> int:
        """The frames of a kind before which another kind of frame came."""
        before = (-1, *kind.frames)
        return _mask(b - a > 1 for a, b in pairwise(before))

    def _counters(self, kind: FrameKind) -> Iterator[tuple[Column, int]]:
        """Cells that count the spins, and the frames in which they do."""
        for column in self._grid.columns(kind.frames):
            cells = [self._grid.cell(frame, column) for frame in kind.frames]
            changes = _mask(a != b for a, b in pairwise([None, *cells]))
            is_usual = changes.bit_count() in (len(self._shown), len(self._shown) + 1)
            if is_usual and counts([cell for cell in cells if cell is not None]):
                yield column, changes


def _fields(grid: Grid, kind: FrameKind) -> Iterator[NumberField]:
    """All ways to read a number of a frame of this kind."""
    decimal = FieldSpec(encoding="decimal", strip=True, max=99)
    hexadecimal = FieldSpec(encoding="hex", max=99)
    low = FieldSpec(encoding="big", bits=(0, 6))
    for column in grid.columns(kind.frames):
        if grid.separator:
            yield NumberField(column, decimal, "decimal digits")
            yield NumberField(column, hexadecimal, "hexadecimal digits")
            continue
        for width in (2, 3, 1, None):
            if width is None and kind.condition.size is not None:
                continue
            wide = Column(column.at, width)
            yield NumberField(wide, decimal, "decimal digits")
            if width in (2, 1):
                yield NumberField(wide, hexadecimal, "hexadecimal digits")
        yield NumberField(column, FieldSpec(encoding="big"), "a byte")
        yield NumberField(column, FieldSpec(encoding="bcd"), "a byte of two digits (BCD)")
        yield NumberField(column, low, "the low six bits of a byte")


def _mask(bits: Iterator[bool]) -> int:
    return int("".join("1" if bit else "0" for bit in bits)[::-1] or "0", 2)


def _positions(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
