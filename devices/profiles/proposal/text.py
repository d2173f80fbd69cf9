"""Writes a proposed profile as TOML: what is proved as settings, what is not as questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

import msgspec

from devices.profiles.language import FieldSpec
from devices.profiles.proposal.cells import Column, Condition, Grid
from devices.profiles.proposal.columns import describe_columns
from devices.profiles.proposal.framings import FramingProposal
from devices.profiles.proposal.numbers import NumberProposal
from devices.profiles.proposal.pace import Pace
from devices.profiles.proposal.questions import QUESTION
from devices.profiles.proposal.sorting import MessagePart

COLUMNS = 96


class Head(msgspec.Struct, frozen=True):
    """The head of the file. ``line``: the settings of the port, if they are known."""

    name: str
    source: str
    line: str = ""


class Draft(msgspec.Struct, frozen=True):
    """All that is written. ``body``: the part of a frame in which cells are counted; ``pace``: the
    messages that come steadily; ``problem``: why there is no number.
    """

    head: Head
    framing: FramingProposal
    body: tuple[int, int]
    grid: Grid
    parts: Sequence[MessagePart]
    pace: Pace | None
    problem: str


def write_profile(draft: Draft) -> str:
    """Return the TOML."""
    lines = [
        *_head(draft),
        "",
        *_framing(draft),
        *(line for part in draft.parts for line in ("", *_message(draft, part))),
        "",
        *_closing(draft),
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Return a text as a basic string of TOML."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    known = {"\r": "\\r", "\n": "\\n", "\t": "\\t"}.get(character)
    if known is not None:
        return known
    return character if " " <= character <= "~" else f"\\u{ord(character):04x}"


def _comment(text: str, first: str = "# ") -> list[str]:
    return wrap(
        text, COLUMNS, initial_indent=first, subsequent_indent="#   ", break_on_hyphens=False
    )


def _question(text: str) -> list[str]:
    return _comment(text, QUESTION)


def _head(draft: Draft) -> Iterator[str]:
    yield from _comment(
        "Proposed by `novamas profile new` from a recording. Lines that begin with "
        f"`{QUESTION.strip()}` are questions that the recording does not answer; "
        "`novamas profile check` lists them. Answer them from the maker's document, and remove "
        "them."
    )
    yield ""
    yield f"name = {quoted(draft.head.name)}"
    yield 'kind = "wheel"'
    yield from _question("title: what is the wheel called?")
    yield f"title = {quoted(draft.head.name)}"
    yield from _question("source: which document describes the protocol (edition, chapter)?")
    yield f"source = {quoted(draft.head.source)}"
    yield 'evidence = "observed"'
    if draft.head.line:
        yield f"line = {quoted(draft.head.line)}"
    else:
        yield from _question('line: the speed of the port, as in line = "baud=9600"')
    if draft.pace is not None:
        yield f"steady = true    # a frame every {draft.pace.period:g} s; its silence is a fault"
    if draft.grid.separator:
        yield f"separator = {quoted(draft.grid.separator.decode('latin-1'))}"


def _framing(draft: Draft) -> Iterator[str]:
    found, spec = draft.framing, draft.framing.framing
    yield f"[framing]    # {len(found.frames)} of {found.of} frames"
    yield f'form = "{spec.form}"'
    yield f"longest = {spec.longest}"
    default = type(spec)()
    for key in ("ends", "start", "end", "ignore"):
        if (value := getattr(spec, key)) != getattr(default, key):
            yield f"{key} = {quoted(value)}"
    for key in ("tail", "at", "adds", "length", "within"):
        if (value := getattr(spec, key)) != getattr(default, key):
            yield f"{key} = {value}"
    if draft.body != (0, 0):
        yield f"body = [{draft.body[0]}, {draft.body[1]}]"
    yield ""
    if found.checksum is None:
        yield from _question("checksum: the frames have none that is known here; is there one?")
    else:
        yield "[checksum]"
        yield f"kind = {quoted(found.checksum.kind)}"
        yield f"at = {found.checksum.at}"
        check = type(found.checksum)(kind="")
        if found.checksum.first:
            yield f"from = {found.checksum.first}"
        for key in ("short", "width", "keep", "set"):
            if (value := getattr(found.checksum, key)) != getattr(check, key):
                yield f"{key} = {value}"
        if found.checksum.encoding != check.encoding:
            yield f'encoding = "{found.checksum.encoding}"'
    if draft.pace is not None:
        yield ""
        yield "[pace]"
        yield f"period = {draft.pace.period}"


# Messages


def _message(draft: Draft, part: MessagePart) -> Iterator[str]:
    number = part.number
    yield "[[message]]"
    index = list(draft.parts).index(part) + 1
    yield f'name = "{"result" if number else f"kind {index}"}"    # {len(part.frames)} frames'
    if part.condition.size is not None:
        yield f"{'pieces' if draft.grid.separator else 'length'} = {part.condition.size}"
    if draft.pace is not None and part in draft.pace.parts:
        yield f"beat = true    # every {draft.pace.period:g} s"
    for use in describe_columns(draft.grid, part.frames):
        at = f"{use.first.at}" if use.first == use.last else f"{use.first.at} to {use.last.at}"
        cell = "piece" if draft.grid.separator else "byte"
        is_known = number is not None and _uses(number, use.first)
        write = _question if use.is_open and not is_known else _comment
        yield from write(f"{cell} {at}: {use.text}")
    fields = list(_fields(part))
    if fields:
        yield from ("", "[message.fields]", *fields)
    if number is not None:
        yield from ("", *_say_number(draft, number))
    elif _breaks_runs(draft):
        yield from ("", "[[message.say]]")
        yield 'forgets = "wheel.number"    # a result that comes after this is a new one'


def _uses(number: NumberProposal, column: Column) -> bool:
    own = number.field.column
    in_number = own.at <= column.at < own.at + (own.width or 1)
    state = number.state is not None and number.state.column == column
    return in_number or state or number.counter == column or number.condition.column == column


def _fields(part: MessagePart) -> Iterator[str]:
    number = part.number
    if (column := part.condition.column) is not None:
        fixed = f"is = {quoted(part.condition.value.decode('latin-1'))}"
        yield f"letter = {_inline(column, fixed)}"
    if number is None:
        return
    if number.state is not None and number.state.column is not None:
        settings = () if _is_text(number.state) else ('encoding = "big"',)
        yield f"state = {_inline(number.state.column, *settings)}"
    if number.counter is not None:
        yield f"count = {_inline(number.counter)}"
    optional = number.occasion == "entry" and len(number.valid) < len(number.frames)
    yield f"number = {_inline(number.field.column, *_settings(number.field.spec, optional))}"


def _inline(column: Column, *settings: str) -> str:
    width = () if column.width is None else (f"width = {column.width}",)
    return "{ " + ", ".join((f"at = {column.at}", *width, *settings)) + " }"


def _settings(spec: FieldSpec, optional: bool) -> Iterator[str]:
    yield f'encoding = "{spec.encoding}"'
    if spec.strip:
        yield "strip = true"
    if spec.bits is not None:
        yield f"bits = [{spec.bits[0]}, {spec.bits[1]}]"
    yield f"min = {spec.min}, max = {spec.max}"
    if spec.plus:
        yield f"plus = {spec.plus}"
    if spec.double_zero is not None:
        yield f"double_zero = {quoted(spec.double_zero)}"
    if optional:
        yield "optional = true"


def _is_text(state: Condition) -> bool:
    return state.value.decode("latin-1").isprintable()


def _say_number(draft: Draft, number: NumberProposal) -> Iterator[str]:
    spins = len(number.reported)
    twice = _comes_twice(draft.grid, number)
    yield from _comment(f"the number: {number.field.name}, {spins} of {spins} spins")
    if number.field.spec.double_zero is None:
        yield from _question("double zero: has the wheel one? It was not shown; how is it sent?")
    yield "[[message.say]]"
    yield 'reading = "wheel.number"'
    yield 'with = { number = "{number}" }'
    state = None
    if number.state is not None:
        value = number.state.value
        state = quoted(value.decode("latin-1")) if _is_text(number.state) else str(value[0])
        yield f"when = {{ state = {state} }}"
    is_entry = number.occasion == "entry"
    optional = is_entry and len(number.valid) < len(number.frames)
    if optional:
        yield 'unless = { number = "" }'
    if is_entry:
        yield 'changed = ["number"]    # once, though it is repeated'
    if number.occasion == "counter":
        yield 'changed = ["count"]     # once for each spin, though it is repeated'
    check = draft.framing.checksum
    if check is None:
        yield f"twice = {'true' if twice else 'false'}"
        if not twice:
            yield from _question(
                "no checksum and no repetition: a damaged frame may give a wrong number; is there "
                "another sign of a result?"
            )
    if not is_entry:
        return
    again = ("twice = true",) if check is None and twice else ()
    if state is not None:
        yield from ("", "[[message.say]]", 'forgets = "wheel.number"')
        yield from (f"unless = {{ state = {state} }}", *again)
    if optional:
        yield from ("", "[[message.say]]", 'forgets = "wheel.number"')
        yield from ('when = { number = "" }', *again)


def _comes_twice(grid: Grid, number: NumberProposal) -> bool:
    """Whether each result is repeated by the next frame of its kind."""
    places = {frame: at for at, frame in enumerate(number.valid)}
    for frame in number.reported:
        at = places[frame] + 1
        if at >= len(number.valid):
            return False
        following = number.valid[at]
        own = grid.cell(frame, number.field.column)
        if grid.cell(following, number.field.column) != own or following in number.reported:
            return False
    return True


def _breaks_runs(draft: Draft) -> bool:
    """Whether a result is over when another kind of frame comes."""
    number = next((part.number for part in draft.parts if part.number), None)
    return number is not None and number.occasion == "entry" and number.state is None


def _closing(draft: Draft) -> Iterator[str]:
    if draft.problem:
        yield from _question(
            f"the number: {draft.problem}. A wheel without it gives no result: add a field and "
            '[[message.say]] with reading = "wheel.number".'
        )
    yield from _question(
        'phases: which cell says "place your bets" and "no more bets"? Report them as '
        '"wheel.phase" (docs/technician/profiles.md).'
    )
    yield from _question(
        'faults: how does the wheel report them? "wheel.fault"; fault = "other_fault" for what '
        "has no word."
    )
