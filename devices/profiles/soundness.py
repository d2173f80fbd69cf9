"""Whether a profile makes sense: what no single value shows. Every flaw is noted with the way to
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from devices.places import Path
from devices.profiles import samples
from devices.profiles.checksums import width_of
from devices.profiles.commands import ARGUMENT, CHECKSUM
from devices.profiles.fields import LATE, NOTHING
from devices.profiles.language import Checksum, Conditions, Field, Framing, Message, Profile, Say
from devices.profiles.patterns import compiled
from devices.profiles.samples import TEXT, Sample, Samples
from devices.profiles.saying import KINDS, fields_in, fields_of, hides
from devices.sections import Notes

_COMMON = {"form", "longest", "body", "gap", "shown"}
_FORMS: Mapping[str, tuple[set[str], set[str]]] = {
    "line": (set(), {"ends", "find", "before", "behind", "resync"}),
    "marks": ({"start", "end"}, {"ignore", "within", "tail", "escape", "escape_xor"}),
    "length": ({"start"}, {"at", "ignore", "within", "width", "order", "adds"}),
    "fixed": ({"length"}, {"ignore", "within", "start"}),
}
"""Form -> the keys that it needs, and those that it may have too."""

_OURS = {"at", "device", "frame", LATE}
"""What the codec itself puts into a reading."""

_RESULTS = ("wheel.number", "wheel.cell", "dice.read")
"""Readings that may become a result, so that a damaged frame must not say one."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def flaws(profile: Profile) -> Notes:
    """Everything that does not fit."""
    notes: Notes = []
    _framing(profile.framing, notes)
    if profile.checksum is not None:
        _checksum(profile.checksum, notes)
    if profile.framing.form == "fixed" and not profile.framing.start and profile.checksum is None:
        notes.append(
            (("framing", "form"), "nothing tells where a frame begins: add `start`, or [checksum]")
        )
    if profile.framing.shown and hides(profile):
        notes.append(
            (
                ("framing", "shown"),
                "what is dropped may be a card that lies face down: it is never shown",
            )
        )
    common: Samples = {NOTHING: Sample((None,))}
    common |= dict.fromkeys(_groups(profile.framing.find, profile.framing.longest), TEXT)
    _fields((), profile.fields, common, bool(profile.separator), profile, notes)
    _says((), profile.say, common, profile, notes)
    if not profile.message:
        notes.append(((), "has no message: add [[message]]"))
    every = dict(common)
    names: set[str] = set()
    for index, message in enumerate(profile.message):
        at = ("message", index)
        if message.name in names:
            notes.append(((*at, "name"), f"another message has the name {message.name} too"))
        names.add(message.name)
        every |= _message(at, message, dict(common), profile, notes)
    _sequence(profile, every, notes)
    _pace(profile, notes)
    _commands(profile, notes)
    return notes


def _framing(framing: Framing, notes: Notes) -> None:
    needed, allowed = _FORMS[framing.form]
    default = Framing()
    for key in Framing.__struct_fields__:
        given = getattr(framing, key) != getattr(default, key)
        if given and key not in _COMMON | needed | allowed:
            notes.append((("framing", key), f"has no meaning where form is {framing.form}"))
        if not given and key in needed:
            notes.append((("framing",), f"needs the key `{key}`, as form is {framing.form}"))
    wrong = {
        "ends": (framing.form == "line" and not framing.ends, "a line has to end somewhere"),
        "resync": (bool(framing.find and framing.resync), "has no meaning with `find`"),
        "before": (
            bool(framing.before) and not (framing.find and framing.gap),
            "has a meaning with `find` and `gap` only",
        ),
        "behind": (
            bool(framing.behind) and not (framing.find and framing.gap),
            "has a meaning with `find` and `gap` only",
        ),
        "escape": (len(framing.escape) > 1, "is one byte"),
        "tail": (
            bool(framing.escape and framing.tail),
            "nothing stands behind the end where bytes are escaped",
        ),
        "length": (
            framing.length > framing.longest,
            f"is more than `longest`, which is {framing.longest}",
        ),
        "body": (
            framing.body[0] < 0 or framing.body[1] > 0,
            "expected [bytes to leave out at the beginning, minus those at the end]",
        ),
    }
    notes += [(("framing", key), what) for key, (is_wrong, what) in wrong.items() if is_wrong]
    if len(framing.resync) > 1:
        notes.append((("framing", "resync"), "is one byte"))
    for key in ("find", "before", "behind"):
        _pattern(
            ("framing", key), getattr(framing, key), framing.longest, notes, searched=key == "find"
        )


def _pattern(at: Path, pattern: str, longest: int, notes: Notes, *, searched: bool = False) -> None:
    try:
        compiled(pattern, longest, searched=searched)
    except ValueError as error:
        notes.append((at, str(error)))


def _groups(pattern: str, longest: int) -> Iterable[str]:
    """The groups of an expression; none, if it is wrong."""
    try:
        return compiled(pattern, longest).groupindex
    except ValueError:
        return ()


def _checksum(checksum: Checksum, notes: Notes) -> None:
    try:
        width = width_of(checksum)
    except ValueError as error:
        notes.append((("checksum", "kind"), str(error)))
        return
    if checksum.crc is not None and checksum.kind != "crc":
        notes.append(
            (("checksum", "crc"), f'has no meaning with {checksum.kind}, only with kind = "crc"')
        )
    if (checksum.at is None) == (checksum.field is None):
        notes.append((("checksum",), "needs `at` or `field`, one of them: where the check stands"))
    if (checksum.field is None) != (not checksum.separator):
        notes.append((("checksum",), "`field` and `separator` go together"))
    most = (1 << (4 if checksum.encoding == "hex" else 8) * width) - 1
    for key in ("keep", "set"):
        if (getattr(checksum, key) or 0) > most:
            notes.append((("checksum", key), f"has more bits than a check of {width} bytes"))
    if (crc := checksum.crc) is not None:
        for key in ("polynomial", "initial", "final_xor"):
            if getattr(crc, key) >> crc.width:
                notes.append(
                    (("checksum", "crc", key), f"has more than the {crc.width} bits of the CRC")
                )
    if checksum.at is not None and -width < checksum.at < 0:
        notes.append(
            (("checksum", "at"), f"the check has {width} bytes, so it begins at {-width} or before")
        )


def _fields(
    at: Path,
    fields: Mapping[str, Field],
    known: Samples,
    separated: bool,
    profile: Profile,
    notes: Notes,
) -> None:
    """Look at fields in their order, and add what they may be to what is ``known``."""
    for name, field in fields.items():
        here = (*at, "fields", name)
        source = known.get(field.of or name, TEXT) if field.at is None else TEXT
        table = _table(here, field, profile, notes)
        _field(here, name, field, known, separated, notes)
        if table is not None and (lacking := samples.missing(field, source, table)):
            shown = ", ".join(map(str, lacking[:5])) + (" ..." if len(lacking) > 5 else "")
            notes.append(
                (
                    (*here, "map"),
                    f"has nothing for {shown}: add it, or `otherwise`, or `optional = true`",
                )
            )
        known[name] = samples.sampled(field, source, table)


def _field(
    at: Path, name: str, field: Field, known: Samples, separated: bool, notes: Notes
) -> None:
    if not _NAME.fullmatch(name) or name in (LATE, NOTHING):
        notes.append(
            (
                at,
                (
                    f"is no name for a field: a-z, 0-9 and _, a letter first, and not {LATE} or "
                    f"{NOTHING}"
                ),
            )
        )
    if sum((field.at is not None, bool(field.of), field.value is not None)) > 1:
        notes.append((at, "has more than one of `at`, `of` and `value`"))
    if field.at is None and field.value is None and (field.of or name) not in known:
        there = ", ".join(known)
        notes.append(
            (
                at,
                (
                    f"is taken from {field.of or name}, which is no field before it; there are: "
                    f"{there}"
                ),
            )
        )
    if field.at is not None and not separated:
        if field.width is None and field.encoding in ("big", "little"):
            notes.append(
                (at, f"needs `width`: how many bytes the number has, {field.encoding} end first")
            )
        if field.width is not None and field.at < 0 < field.at + field.width:
            notes.append(
                ((*at, "at"), f"has {field.width} bytes, so it begins at {-field.width} or before")
            )
    if field.width is not None and field.width > 8 and field.encoding in ("big", "little"):
        notes.append(((*at, "width"), "a number has 8 bytes at most"))
    if field.width is not None and len(field.fixed) not in (0, field.width):
        notes.append(
            ((*at, "is"), f"has {len(field.fixed)} characters, and the field {field.width}")
        )
    if field.min is not None and field.max is not None and field.min > field.max:
        notes.append(((*at, "min"), "is more than `max`"))


def _table(at: Path, field: Field, profile: Profile, notes: Notes) -> Mapping[str, Any] | None:
    """The map of a field; None: it has none, or there is none of that name."""
    if isinstance(field.map, str) and field.map not in profile.maps:
        notes.append(
            ((*at, "map"), f"no map {field.map!r}; there are: {', '.join(profile.maps) or 'none'}")
        )
        return None
    if field.map is None and field.otherwise is not None:
        notes.append(((*at, "otherwise"), "has a meaning with `map` only"))
    return profile.maps[field.map] if isinstance(field.map, str) else field.map


def _message(at: Path, message: Message, known: Samples, profile: Profile, notes: Notes) -> Samples:
    if message.part and message.part not in known:
        notes.append(((*at, "in"), f"no field {message.part!r}; there are: {', '.join(known)}"))
    _pattern((*at, "match"), message.match, profile.framing.longest, notes)
    known |= dict.fromkeys(_groups(message.match, profile.framing.longest), TEXT)
    separator = profile.separator if message.separator is None else message.separator
    if message.pieces is not None and not separator:
        notes.append(((*at, "pieces"), "has a meaning with `separator` only"))
    if message.whole and profile.framing.form != "line":
        notes.append(((*at, "whole"), "has a meaning with lines only"))
    if message.beat and not profile.pace.period:
        notes.append(((*at, "beat"), "needs pace.period"))
    _fields(at, message.fields, known, bool(separator), profile, notes)
    _widths(at, message, bool(separator), profile, notes)
    _conditions(at, message.when, message.unless, known, notes)
    _says(at, message.say, samples.narrowed(known, message.when, message.unless), profile, notes)
    return known


def _widths(at: Path, message: Message, separated: bool, profile: Profile, notes: Notes) -> None:
    """Whether fields by place lie within the message and not upon each other."""
    framing = profile.framing
    length = message.length
    if length is None and framing.form == "fixed" and not message.part:
        length = framing.length - framing.body[0] + framing.body[1]
    for name, field in message.fields.items():
        if field.at is None:
            continue
        if separated:
            if message.pieces is not None and not -message.pieces <= field.at < message.pieces:
                notes.append(
                    (
                        (*at, "fields", name, "at"),
                        f"the message has {message.pieces} pieces, the first is 0",
                    )
                )
            continue
        begin = field.at if field.at >= 0 else (length or 0) + field.at
        if length is not None and not 0 <= begin <= begin + (field.width or 0) <= length:
            notes.append(
                ((*at, "fields", name, "at"), f"ends behind the message, which has {length} bytes")
            )


def _conditions(
    at: Path, when: Conditions, unless: Conditions, known: Samples, notes: Notes
) -> None:
    for key, conditions in (("when", when), ("unless", unless)):
        for name in conditions:
            if name not in known:
                notes.append(
                    ((*at, key, name), f"no field {name!r}; there are: {', '.join(known)}")
                )


def _says(at: Path, says: Iterable[Say], known: Samples, profile: Profile, notes: Notes) -> None:
    for index, say in enumerate(says):
        here = (*at, "say", index)
        _conditions(here, say.when, say.unless, known, notes)
        for name in say.changed:
            if name not in (*known, LATE):
                notes.append(
                    (
                        (*here, "changed"),
                        f"no field {name!r}; there are: {', '.join((LATE, *known))}",
                    )
                )
        if (say.live or LATE in say.changed) and not profile.pace.period:
            notes.append((here, "asks whether it is late, which needs pace.period"))
        if not (say.reading or say.ends or say.forgets):
            notes.append((here, "says nothing: add `reading`, `ends` or `forgets`"))
        if say.forgets and say.forgets not in KINDS:
            notes.append(
                ((*here, "forgets"), f"no reading {say.forgets!r}; there are: {', '.join(KINDS)}")
            )
        _named((*here, "ends"), say.ends, known, notes)
        if not say.reading:
            if say.fill or say.stands:
                notes.append((here, "has `with` or `stands` without a `reading`"))
        elif say.reading not in KINDS:
            notes.append(
                ((*here, "reading"), f"no reading {say.reading!r}; there are: {', '.join(KINDS)}")
            )
        else:
            _reading(here, say, samples.narrowed(known, say.when, say.unless), notes)
        if say.reading in _RESULTS and say.twice is None and profile.checksum is None:
            what = (
                "`twice = true` where the device repeats it, or `twice = false`: then a "
                "damaged frame may be told as a result"
            )
            notes.append((here, f"says a result of frames without [checksum]: add {what}"))
        if say.twice and not say.reading:
            notes.append(((*here, "twice"), "has a meaning with `reading` only"))


def _reading(at: Path, say: Say, known: Samples, notes: Notes) -> None:
    kind = KINDS[say.reading]
    fields = fields_of(kind)
    for key in say.fill:
        if key in _OURS or key not in fields:
            there = ", ".join(name for name in fields if name not in _OURS)
            what = (
                "is put in by Novamás itself"
                if key in _OURS
                else f"{say.reading} has no such field"
            )
            notes.append(((*at, "with", key), f"{what}; there are: {there or 'none'}"))
        elif _named((*at, "with", key), say.fill[key], known, notes) and (
            flaw := samples.flaw(kind, key, say.fill[key], known)
        ):
            notes.append(((*at, "with", key), flaw))
    for name, field in fields.items():
        if field.required and name not in _OURS and name not in say.fill:
            notes.append(((*at, "reading"), f"{say.reading} needs `{name}` in `with`"))
    if say.stands and "active" not in fields:
        notes.append(((*at, "stands"), "only a reading with `active`, a fault, can stand and end"))


def _named(at: Path, template: Any, known: Samples, notes: Notes) -> bool:
    """Whether the fields that a template names are there."""
    try:
        lacking = [name for name in fields_in(template) if name not in known]
    except ValueError as error:
        notes.append((at, str(error)))
        return False
    notes += [(at, f"no field {name!r}; there are: {', '.join(known)}") for name in lacking]
    return not lacking


def _sequence(profile: Profile, known: Samples, notes: Notes) -> None:
    sequence = profile.sequence
    if sequence is None:
        return
    if sequence.field not in known:
        notes.append(
            (("sequence", "field"), f"no field {sequence.field!r}; there are: {', '.join(known)}")
        )
    elif not all(isinstance(value, int) for value in known[sequence.field].values):
        notes.append(
            (("sequence", "field"), f"{sequence.field} is no whole number: give it `encoding`")
        )
    if sequence.last <= sequence.first:
        notes.append((("sequence", "last"), "is not more than `first`"))


def _pace(profile: Profile, notes: Notes) -> None:
    if profile.pace.draw and profile.pace.period:
        notes.append(
            (("pace",), "has `draw` and `period`: a device is paced by a hand, or by itself")
        )
    if profile.pace.period and not any(message.beat for message in profile.message):
        notes.append((("pace", "period"), "needs a message with `beat = true`"))
    for name in profile.pace.draws:
        if name not in KINDS:
            notes.append((("pace", "draws"), f"no reading {name!r}; there are: {', '.join(KINDS)}"))
        elif LATE not in fields_of(KINDS[name]):
            notes.append((("pace", "draws"), f"{name} is never late"))


def _commands(profile: Profile, notes: Notes) -> None:
    for name, command in profile.command.items():
        at = ("command", name)
        if not _NAME.fullmatch(name):
            notes.append((at, "is no name for a command: a-z, 0-9 and _, a letter first"))
        if not command.send:
            notes.append(((*at, "send"), "sends nothing"))
        if ARGUMENT not in command.send and (command.min, command.max, command.digits) != (
            None,
            None,
            1,
        ):
            notes.append((at, f"has bounds for an argument, and no {ARGUMENT} in `send`"))
        if command.min is not None and command.max is not None and command.min > command.max:
            notes.append(((*at, "min"), "is more than `max`"))
        if CHECKSUM in command.send and profile.checksum is None:
            notes.append(((*at, "send"), f"needs the section [checksum] for {CHECKSUM}"))
    for index, poll in enumerate(profile.poll):
        if not poll.send:
            notes.append((("poll", index, "send"), "sends nothing"))
