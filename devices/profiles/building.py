"""Builds frames of a profile from its fields, expressions and marks, as candidates for one of its
messages and readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from devices.profiles.checksums import ChecksumVerifier, checksum_width
from devices.profiles.expressions import Expression
from devices.profiles.fields import UnfitFieldError, Values, decode_fields
from devices.profiles.json_messages import is_path, message_line
from devices.profiles.language import FieldSpec, MessageSpec, Profile, ReadingSpec
from devices.profiles.pseudo_random import PseudoRandom
from devices.profiles.templates import conditions_hold

Part = str
"""Bytes, as one character each."""

RAW_SOURCE = "raw bytes"
"""Source name of a field that is read by position."""
MAX_TEXTS = 40
"""Maximum number of texts used per field."""
SMALL_NUMBERS = range(40)
"""Numbers tried in every field."""
PLAIN_TEXTS = ("1", "A", "7", "x", "0", " ", "?", "12", "Game", "\x01")


class FramePart(msgspec.Struct):
    """A position in a frame, or a group of an expression, with the fields decoded from it, in
    order. ``texts``: possible contents.
    """

    name: str
    at: int | None
    width: int | None
    fields: dict[str, FieldSpec]
    texts: list[Part] = []


class FrameBuilder:
    """Builds frames of a message that produce the reading ``spec``."""

    def __init__(
        self, profile: Profile, message: MessageSpec, spec: ReadingSpec | None, draws: PseudoRandom
    ) -> None:
        self._profile, self._message, self._draws = profile, message, draws
        self._when = [message.when, *([] if spec is None else [spec.when])]
        self._unless = [message.unless, *([] if spec is None else [spec.unless])]
        self._find = Expression(profile.framing.find) if profile.framing.find else None
        self._match = Expression(message.match) if message.match else None
        self._constants: Values = {}
        self._part_by_field: dict[str, FramePart] = {}
        self._outer = self._parts(self._find, profile.fields)
        self._inner = self._parts(self._match, message.fields)
        for frame_part in (*self._outer, *self._inner):
            frame_part.texts = self._accepted_texts(frame_part)
        self._check = ChecksumVerifier(profile.checksum) if profile.checksum else None
        self._separator = profile.separator if message.separator is None else message.separator

    def frames(self, count: int) -> tuple[bytes, ...]:
        """Build ``count`` frames with the same content, with different numbers if frames are
        numbered. Empty: this attempt failed.
        """
        chosen = {
            frame_part.name: self._draws.choice(frame_part.texts)
            for frame_part in (*self._outer, *self._inner)
            if frame_part.texts
        }
        sequence = self._profile.sequence
        number = self._part_by_field.get(sequence.field) if sequence else None
        state = self._draws.state
        frames: list[bytes] = []
        for n in range(count):
            self._draws.state = state
            if number is not None and number.texts:
                chosen[number.name] = number.texts[n % len(number.texts)]
            frame = self._frame(chosen)
            if frame is None:
                return ()
            frames.append(frame)
        return tuple(frames)

    # Fields

    def _parts(
        self, expression: Expression | None, fields: Mapping[str, FieldSpec]
    ) -> list[FramePart]:
        """The parts from which these fields are decoded."""
        parts = [
            FramePart(name, None, None, {}) for name in (expression.groups if expression else ())
        ]
        self._part_by_field |= {frame_part.name: frame_part for frame_part in parts}
        for name, field in fields.items():
            source = self._part_by_field.get(field.of or name)
            if source is None and is_path(self._profile, field):
                source = self._part_by_field[field.of] = FramePart(field.of, None, None, {})
                parts.append(source)
            if field.value is not None:
                self._part_by_field.pop(name, None)
                self._constants[name] = field.value
            elif field.at is not None:
                raw_field = replace(field, at=None, of=RAW_SOURCE)
                self._part_by_field[name] = FramePart(
                    f"{name} at {field.at}", field.at, field.width, {name: raw_field}
                )
                parts.append(self._part_by_field[name])
            elif source is not None:
                source.fields[name] = field
                self._part_by_field[name] = source
        return parts

    def _accepts(self, frame_part: FramePart, text: Part) -> bool:
        """Whether all fields of a part accept this text, and no condition on them fails."""
        source = RAW_SOURCE if frame_part.at is not None else frame_part.name
        try:
            values = decode_fields(
                frame_part.fields,
                b"",
                b"",
                {**self._constants, source: text},
                {},
                self._profile.maps,
            )
        except (UnfitFieldError, KeyError):
            return False
        own_fields = {name for name, part in self._part_by_field.items() if part is frame_part}
        return all(
            conditions_hold(
                {name: wanted for name, wanted in when.items() if name in own_fields},
                {name: wanted for name, wanted in unless.items() if name in own_fields},
                values,
            )
            for when, unless in zip(self._when, self._unless, strict=True)
        )

    def _accepted_texts(self, frame_part: FramePart) -> list[Part]:
        tried = dict.fromkeys(self._to_width(frame_part.width, self._candidates(frame_part)))
        found = [text for text in tried if self._accepts(frame_part, text)]
        return self._draws.some(found, MAX_TEXTS)

    def _candidates(self, frame_part: FramePart) -> Iterator[Part]:
        """Candidates for the text of a part."""
        words: list[Any] = []
        numbers: list[int] = list(SMALL_NUMBERS)
        masks: list[tuple[int, int]] = []
        for field in frame_part.fields.values():
            table = self._profile.maps[field.map] if isinstance(field.map, str) else field.map
            words += [field.fixed, *(table or ())]
            words += [word for word in (field.blank, field.double_zero) if word is not None]
            numbers += [bound for bound in (field.min, field.max) if bound is not None]
            masks += [field.bits] if field.bits is not None else []
        for conditions in (*self._when, *self._unless):
            for name, wanted in conditions.items():
                if self._part_by_field.get(name) is frame_part:
                    values = wanted if isinstance(wanted, list) else [wanted]
                    words += values
                    numbers += _unscaled(values, frame_part.fields.get(name))
        numbers += [int(word) for word in words if isinstance(word, str) and word.isdecimal()]
        numbers += [
            sum(self._draws.choice((0, 1, number)) << low for low, _ in masks)
            for number in SMALL_NUMBERS
            for _ in range(len(masks))
        ]
        numbers += [
            number << low for low, _ in masks for number in numbers[: len(SMALL_NUMBERS) * 2]
        ]
        yield from (word for word in words if isinstance(word, str))
        for encoding in dict.fromkeys(field.encoding for field in frame_part.fields.values()):
            yield from _format_numbers(numbers, encoding, frame_part.width)
        yield from PLAIN_TEXTS
        yield ""

    def _to_width(self, width: int | None, texts: Iterable[Part]) -> Iterator[Part]:
        """Bring texts to a width, with blanks or by repetition."""
        for text in texts:
            if width is None or len(text) == width:
                yield text
            elif len(text) < width:
                yield text.ljust(width)
                yield text.rjust(width)
                yield (text or "0").rjust(width, (text or "0")[0])

    # Frames

    def _frame(self, chosen: Mapping[str, Part]) -> bytes | None:
        message, profile = self._message, self._profile
        if profile.framing.form == "json":
            return message_line(chosen)
        frame_parts, separator = [*self._outer, *self._inner], self._separator
        shape = message
        if message.part:
            text = self._lay_out(self._inner, chosen, separator, message, "", "")
            frame_part = self._part_by_field.get(message.part)
            if text is None or frame_part is None or not self._accepts(frame_part, text):
                return None
            chosen = {**chosen, frame_part.name: text}
            frame_parts, separator = self._outer, profile.separator
            shape = replace(message, match="", starts="", length=None, pieces=None)
        if self._find is not None and all(frame_part.at is None for frame_part in frame_parts):
            frame = self._match_example(self._find, frame_parts, chosen)
        else:
            body = self._lay_out(frame_parts, chosen, separator, shape, *self._marks())
            frame = None if body is None else self._wrap_body(body)
        return None if frame is None else self._finish(frame)

    def _match_example(
        self, expression: Expression, frame_parts: Iterable[FramePart], chosen: Mapping[str, Part]
    ) -> Part | None:
        wanted = {
            frame_part.name: chosen[frame_part.name]
            for frame_part in frame_parts
            if frame_part.at is None
            and frame_part.name in chosen
            and frame_part.name in expression.groups
        }
        return expression.example(self._draws, wanted)

    def _lay_out(
        self,
        frame_parts: Iterable[FramePart],
        chosen: Mapping[str, Part],
        separator: str,
        shape: MessageSpec,
        lead: Part,
        trail: Part,
    ) -> Part | None:
        """Lay out the parts at their positions."""
        if shape.match and self._match is not None:
            return self._match_example(self._match, frame_parts, chosen)
        placed = [
            (frame_part.at, frame_part.width, chosen[frame_part.name])
            for frame_part in frame_parts
            if frame_part.at is not None and frame_part.name in chosen
        ]
        lead = lead or shape.starts
        if separator:
            room = "0" * self._room()
            return _join_parts(placed, separator, shape.pieces, lead, trail or room, self._filler())
        return self._cells(placed, shape.length, lead, trail)

    def _filler(self) -> Part:
        return self._draws.choice(PLAIN_TEXTS[:5])

    def _cells(
        self,
        placed: list[tuple[int, int | None, Part]],
        length: int | None,
        lead: Part,
        trail: Part,
    ) -> Part | None:
        framing = self._profile.framing
        if framing.form == "fixed" and not self._message.part:
            length = framing.length - framing.body[0] + framing.body[1]
        if length is None:
            ends = [at + len(text) if at >= 0 else -at for at, _, text in placed]
            length = max((*ends, len(lead) + len(trail)))
            is_open = any(width is None and at >= 0 for at, width, _ in placed)
            room = self._room()
            length += 0 if is_open else self._draws.choice((room, room, 0, 1, 2, 4, 8))
        cells = list(self._filler() * length)
        set_cells: dict[int, str] = {}
        parts = [(0, lead), (length - len(trail), trail)]
        for at, width, text in placed:
            begin = at if at >= 0 else length + at
            # up to the end
            parts.append((begin, text if width is not None else text.ljust(length - begin, "0")))
        for begin, text in parts:
            for place, character in enumerate(text, begin):
                if not 0 <= place < length or set_cells.setdefault(place, character) != character:
                    return None
                cells[place] = character
        return "".join(cells)

    def _room(self) -> int:
        """Number of bytes at the end of the body for the checksum and the bytes after it."""
        checksum, skipped = self._profile.checksum, -self._profile.framing.body[1]
        if self._message.part or checksum is None or checksum.at is None or checksum.at >= 0:
            return 0
        return max(0, -checksum.at - skipped)

    def _marks(self) -> tuple[Part, Part]:
        """The parts of the marks that lie within the body: at its beginning and at its end."""
        framing = self._profile.framing
        behind = framing.end + "0" * framing.tail
        skipped = -framing.body[1]
        return framing.start[framing.body[0] :], behind[: max(0, len(behind) - skipped)]

    def _wrap_body(self, body: Part) -> Part | None:
        """Complete a body to a frame, without length and checksum."""
        framing = self._profile.framing
        first, last = framing.body[0], -framing.body[1]
        if self._find is not None:
            around = self._find.example(self._draws, {})
            if around is None or len(around) < first + last:
                return None
            return around[:first] + body + around[len(around) - last :]
        head = (framing.start or framing.resync)[:first].ljust(first, self._filler())
        tail = (framing.end + "0" * framing.tail)[-last:] if last else ""
        return head + body + tail.rjust(last, self._filler())

    def _finish(self, frame: Part) -> bytes | None:
        """Add length, checksum, escapes and line end."""
        framing, data = self._profile.framing, bytearray(frame.encode("latin-1"))
        if framing.form == "length":
            try:
                size = (len(data) - framing.adds).to_bytes(framing.width, framing.order)
            except OverflowError:
                return None
            data[framing.at : framing.at + framing.width] = size
        if self._check is not None and (checked := self._insert_checksum(bytes(data))) is not None:
            data = bytearray(checked)
        if framing.form == "line":
            return bytes(data) + framing.ends[:1].encode("latin-1")
        return _escape(bytes(data), framing.start, framing.end, framing.escape, framing.escape_xor)

    def _insert_checksum(self, frame: bytes) -> bytes | None:
        """Insert the correct checksum. None: there is no place for it."""
        checksum = self._profile.checksum
        assert self._check is not None
        assert checksum is not None
        width = checksum_width(checksum)
        if checksum.field is not None and self._check.position(frame) is None:
            separator = checksum.separator.encode("latin-1")
            pieces = frame.split(separator)
            if not 0 <= checksum.field < len(pieces):
                return None
            pieces[checksum.field] = b"0" * width
            frame = separator.join(pieces)
        begin = self._check.position(frame)
        if begin is None or begin < 0:
            return None
        return frame[:begin] + self._check.expected(frame, begin) + frame[begin + width :]


def _unscaled(values: Iterable[Any], field: FieldSpec | None) -> list[int]:
    """The raw numbers of scaled values, for simple cases."""
    if field is None:
        return []
    found = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not field.times:
            continue
        raw = (value * 10**field.decimals - field.plus) / field.times
        found.append(round(raw))
    return found


def _format_numbers(numbers: Iterable[int], encoding: str, width: int | None) -> Iterator[Part]:
    """Format numbers as they are sent."""
    for number in numbers:
        if encoding == "bcd" and number >= 0:
            size = 2 * (width or 1)
            if len(digits := f"{number:0{size}d}") == size:
                yield bytes.fromhex(digits).decode("latin-1")
        elif encoding in ("big", "little"):
            try:
                size = width or 1
                order: Literal["big", "little"] = "big" if encoding == "big" else "little"
                yield number.to_bytes(size, order, signed=number < 0).decode("latin-1")
            except OverflowError:
                continue
        elif number >= 0 or encoding == "decimal":
            yield f"{number:0{width or 1}{'X' if encoding == 'hex' else 'd'}}"


def _join_parts(
    placed: list[tuple[int, int | None, Part]],
    separator: str,
    count: int | None,
    lead: Part,
    trail: Part,
    filler: Part,
) -> Part | None:
    """Join parts with separators; the first and last part contain the marks."""
    first, last = lead.split(separator), trail.split(separator)
    min_length = max((at + 1 if at >= 0 else -at for at, _, _ in placed), default=1)
    size = count or max(min_length, len(first) + len(last) - 1)
    if trail and not count and any(at in (size - 1, -1) for at, _, _ in placed):
        size += 1
    slots: list[Part | None] = [None] * size
    wanted = [
        *((at, text) for at, text in enumerate(first[:-1])),
        *((size - len(last) + at, text) for at, text in enumerate(last) if at),
        *((at if at >= 0 else size + at, text) for at, _, text in placed),
    ]
    for at, text in wanted:
        if not 0 <= at < size or separator in text or slots[at] not in (None, text):
            return None
        slots[at] = text
    begin, end = len(first) - 1, size - len(last)
    for at, mark in ((begin, first[-1]), (end, last[0])):
        if 0 <= at < size and slots[at] is None and mark:
            slots[at] = mark
    return separator.join(filler if slot is None else slot for slot in slots)


def _escape(frame: bytes, start: str, end: str, escape: str, mask: int) -> bytes:
    """Escape the bytes between the marks of a frame."""
    if not escape:
        return frame
    marks = {ord(mark) for mark in (*start, *end, *escape)}
    inside = frame[len(start) : len(frame) - len(end)]
    escaped = bytearray()
    for byte in inside:
        escaped += bytes((ord(escape), byte ^ mask)) if byte in marks else bytes((byte,))
    return frame[: len(start)] + bytes(escaped) + frame[len(frame) - len(end) :]
