"""Checks the consistency of a profile. Every flaw is noted with its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from common.places import KeyPath
from common.sections import Notes
from common.suggestions import suggest
from devices.profiles import samples
from devices.profiles.checksums import checksum_width
from devices.profiles.fields import BYTE_ENCODINGS, LATE, NOTHING, SIGNED_ENCODINGS
from devices.profiles.json_messages import is_path, json_flaws
from devices.profiles.language import (
    ChecksumSpec,
    Conditions,
    FieldSpec,
    FramingSpec,
    MessageSpec,
    Profile,
    ReadingSpec,
)
from devices.profiles.losses import reports_gaps
from devices.profiles.patterns import compiled
from devices.profiles.reachable import unreachable
from devices.profiles.samples import TEXT_SAMPLE, Sample, Samples
from devices.profiles.sending import NAME, sending_flaws
from devices.profiles.templates import (
    READING_TYPES,
    may_hide_cards,
    reading_fields,
    template_fields,
)

_COMMON_KEYS = {"form", "longest", "body", "gap", "shown"}
_FORM_KEYS: Mapping[str, tuple[set[str], set[str]]] = {
    "line": (set(), {"ends", "find", "before", "behind", "resync"}),
    "marks": ({"start", "end"}, {"ignore", "within", "tail", "escape", "escape_xor"}),
    "length": ({"start"}, {"at", "ignore", "within", "width", "order", "adds"}),
    "fixed": ({"length"}, {"ignore", "within", "start"}),
    "json": (set(), set()),
}
"""Form -> its required keys, and its optional keys."""

_FILLED_BY_CODEC = {"at", "device", "frame", LATE}
"""Fields of readings that the codec fills in."""

_RESULTS = ("wheel.number", "wheel.cell", "dice.read")
"""Readings that may become a result; a damaged frame must not produce them."""


def flaws(profile: Profile) -> Notes:
    """Return all inconsistencies of a profile."""
    notes = json_flaws(profile)
    _framing(profile, notes)
    if profile.checksum is not None:
        _checksum(profile.checksum, notes)
    if profile.framing.form == "fixed" and not profile.framing.start and profile.checksum is None:
        notes.append(
            (("framing", "form"), "nothing marks where a frame begins; add `start` or [checksum]")
        )
    if profile.framing.shown and may_hide_cards(profile):
        notes.append(
            (
                ("framing", "shown"),
                "must be false: dropped bytes may be a card that is face down",
            )
        )
    common: Samples = {NOTHING: Sample((None,))}
    common |= dict.fromkeys(_groups(profile.framing.find, profile.framing.longest), TEXT_SAMPLE)
    _fields((), profile.fields, common, bool(profile.separator), profile, notes)
    _readings((), profile.say, common, profile, notes)
    if not profile.message:
        notes.append(((), "no message; add [[message]]"))
    every = dict(common)
    names: set[str] = set()
    for index, message in enumerate(profile.message):
        at = ("message", index)
        if message.name in names:
            notes.append(
                ((*at, "name"), f"another message is also named {message.name}; rename one")
            )
        names.add(message.name)
        every |= _message(at, message, dict(common), profile, notes)
    _sequence(profile, every, notes)
    _pace(profile, notes)
    notes += sending_flaws(profile)
    if not notes:  # other flaws could cause misleading further errors
        notes += unreachable(profile)
    return notes


def _framing(profile: Profile, notes: Notes) -> None:
    framing, gaps = profile.framing, reports_gaps(profile)
    needed, allowed = _FORM_KEYS[framing.form]
    default = FramingSpec()
    for key in FramingSpec.__struct_fields__:
        is_set = getattr(framing, key) != getattr(default, key)
        if is_set and key not in _COMMON_KEYS | needed | allowed:
            notes.append((("framing", key), f"does not apply to form {framing.form}; remove it"))
        if not is_set and key in needed:
            notes.append((("framing",), f"missing key `{key}`, required by form {framing.form}"))
    wrong = {
        "ends": (
            framing.form == "line" and not framing.ends,
            "is empty; give the characters that end a line",
        ),
        "resync": (
            bool(framing.find and framing.resync),
            "does not apply together with `find`; remove it",
        ),
        "before": (
            bool(framing.before) and not (framing.find and gaps),
            "applies only with `find` and `gap`; remove it",
        ),
        "behind": (
            bool(framing.behind) and not (framing.find and gaps),
            "applies only with `find` and `gap`; remove it",
        ),
        "escape": (len(framing.escape) > 1, "must be one byte"),
        "tail": (
            bool(framing.escape and framing.tail),
            "does not apply with `escape`: nothing may follow the end mark; remove it",
        ),
        "length": (
            framing.length > framing.longest,
            f"is more than `longest`, which is {framing.longest}",
        ),
        "body": (
            framing.body[0] < 0 or framing.body[1] > 0,
            ("expected [bytes to skip at the beginning, minus the bytes to skip at the end]"),
        ),
    }
    notes += [(("framing", key), problem) for key, (is_wrong, problem) in wrong.items() if is_wrong]
    if len(framing.resync) > 1:
        notes.append((("framing", "resync"), "must be one byte"))
    for key in ("find", "before", "behind"):
        _pattern(
            ("framing", key), getattr(framing, key), framing.longest, notes, searched=key == "find"
        )


def _pattern(
    at: KeyPath, pattern: str, longest: int, notes: Notes, *, searched: bool = False
) -> None:
    try:
        compiled(pattern, longest, searched=searched)
    except ValueError as error:
        notes.append((at, str(error)))


def _groups(pattern: str, longest: int) -> Iterable[str]:
    """Groups of an expression; empty if it is invalid."""
    try:
        return compiled(pattern, longest).groupindex
    except ValueError:
        return ()


def _checksum(checksum: ChecksumSpec, notes: Notes) -> None:
    try:
        width = checksum_width(checksum)
    except ValueError as error:
        notes.append((("checksum", "kind"), str(error)))
        return
    if checksum.crc is not None and checksum.kind != "crc":
        notes.append(
            (
                ("checksum", "crc"),
                f'does not apply to {checksum.kind}; use it with kind = "crc" or remove it',
            )
        )
    if (checksum.at is None) == (checksum.field is None):
        notes.append(
            (("checksum",), "add `at` or `field` (not both): the position of the checksum")
        )
    if (checksum.field is None) != (not checksum.separator):
        notes.append((("checksum",), "`field` and `separator` must be given together"))
    maximum = (1 << (4 if checksum.encoding == "hex" else 8) * width) - 1
    for key in ("keep", "set"):
        if (getattr(checksum, key) or 0) > maximum:
            notes.append((("checksum", key), f"has more bits than a checksum of {width} bytes"))
    if (crc := checksum.crc) is not None:
        for key in ("polynomial", "initial", "final_xor"):
            if getattr(crc, key) >> crc.width:
                notes.append(
                    (("checksum", "crc", key), f"has more bits than the CRC, which has {crc.width}")
                )
    if checksum.at is not None and -width < checksum.at < 0:
        notes.append(
            (
                ("checksum", "at"),
                f"the checksum has {width} bytes, so it must begin at {-width} or before",
            )
        )


def _fields(
    at: KeyPath,
    fields: Mapping[str, FieldSpec],
    known: Samples,
    separated: bool,
    profile: Profile,
    notes: Notes,
) -> None:
    """Check fields in order; add their possible values to ``known``."""
    for name, field in fields.items():
        field_at = (*at, "fields", name)
        source = known.get(field.of or name, TEXT_SAMPLE) if field.at is None else TEXT_SAMPLE
        table = _table(field_at, field, profile, notes)
        sources = {*known, *([field.of] if is_path(profile, field) else [])}
        _field(field_at, name, field, sources, separated, notes)
        if table is not None and (lacking := samples.missing_keys(field, source, table)):
            shown = ", ".join(map(str, lacking[:5])) + (" ..." if len(lacking) > 5 else "")
            notes.append(
                (
                    (*field_at, "map"),
                    (f"has no entry for {shown}; add entries, `otherwise`, or `optional = true`"),
                )
            )
        known[name] = samples.sample_field(field, source, table)


def _field(
    at: KeyPath, name: str, field: FieldSpec, known: Iterable[str], separated: bool, notes: Notes
) -> None:
    if not NAME.fullmatch(name) or name in (LATE, NOTHING):
        notes.append(
            (
                at,
                (
                    "is not a field name; use a-z, 0-9 and _, starting with a letter, "
                    f"but not {LATE} or {NOTHING}"
                ),
            )
        )
    if sum((field.at is not None, bool(field.of), field.value is not None)) > 1:
        notes.append((at, "use only one of `at`, `of` and `value`"))
    if field.at is None and field.value is None and (field.of or name) not in known:
        names = ", ".join(known)
        notes.append(
            (
                at,
                (
                    f"refers to {field.of or name}, which is not a field defined before "
                    f"it; there are: {names}"
                ),
            )
        )
    if field.at is not None and not separated:
        if field.width is None and field.encoding in BYTE_ENCODINGS:
            form = "in BCD" if field.encoding == "bcd" else f"in {field.encoding}-endian order"
            notes.append((at, f"add `width`, the number of bytes, for a number {form}"))
        if field.width is not None and field.at < 0 < field.at + field.width:
            notes.append(
                (
                    (*at, "at"),
                    f"has {field.width} bytes, so it must begin at {-field.width} or before",
                )
            )
    if field.width is not None and field.width > 8 and field.encoding in BYTE_ENCODINGS:
        notes.append(((*at, "width"), "a number has at most 8 bytes"))
    if field.signed and field.encoding not in SIGNED_ENCODINGS:
        wanted = ", ".join(SIGNED_ENCODINGS)
        notes.append(((*at, "signed"), f"applies only to these encodings: {wanted}; remove it"))
    if field.double_zero is not None and (field.encoding == "text" or field.map is not None):
        notes.append(
            ((*at, "double_zero"), "applies only to a number without `map`; add `encoding`")
        )
    if field.width is not None and len(field.fixed) not in (0, field.width):
        notes.append(
            ((*at, "is"), f"has {len(field.fixed)} characters, but the field has {field.width}")
        )
    if field.min is not None and field.max is not None and field.min > field.max:
        notes.append(((*at, "min"), "is more than `max`"))


def _table(
    at: KeyPath, field: FieldSpec, profile: Profile, notes: Notes
) -> Mapping[str, Any] | None:
    """Map of a field; None: no map, or an unknown name."""
    if isinstance(field.map, str) and field.map not in profile.maps:
        notes.append(((*at, "map"), f"no map {field.map!r}; {suggest(field.map, profile.maps)}"))
        return None
    if field.map is None and field.otherwise is not None:
        notes.append(((*at, "otherwise"), "applies only with `map`; remove it"))
    return profile.maps[field.map] if isinstance(field.map, str) else field.map


def _message(
    at: KeyPath, message: MessageSpec, known: Samples, profile: Profile, notes: Notes
) -> Samples:
    if message.part and message.part not in known:
        notes.append(((*at, "in"), f"no field {message.part!r}; {suggest(message.part, known)}"))
    _pattern((*at, "match"), message.match, profile.framing.longest, notes)
    known |= dict.fromkeys(_groups(message.match, profile.framing.longest), TEXT_SAMPLE)
    separator = profile.separator if message.separator is None else message.separator
    if message.pieces is not None and not separator:
        notes.append(((*at, "pieces"), "applies only with `separator`; remove it"))
    if message.whole and profile.framing.form != "line":
        notes.append(((*at, "whole"), "applies only to form line; remove it"))
    if message.beat and not profile.pace.period:
        notes.append(((*at, "beat"), "add pace.period, which this needs"))
    _fields(at, message.fields, known, bool(separator), profile, notes)
    _widths(at, message, bool(separator), profile, notes)
    _conditions(at, message.when, message.unless, known, notes)
    _readings(at, message.say, samples.narrow(known, message.when, message.unless), profile, notes)
    return known


def _widths(
    at: KeyPath, message: MessageSpec, separated: bool, profile: Profile, notes: Notes
) -> None:
    """Check that fields by position lie within the message and do not overlap."""
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
                        f"is beyond the last piece, which is {message.pieces - 1}",
                    )
                )
            continue
        begin = field.at if field.at >= 0 else (length or 0) + field.at
        if length is not None and not 0 <= begin <= begin + (field.width or 0) <= length:
            notes.append(
                ((*at, "fields", name, "at"), f"ends beyond the message, which has {length} bytes")
            )


def _conditions(
    at: KeyPath, when: Conditions, unless: Conditions, known: Samples, notes: Notes
) -> None:
    for key, conditions in (("when", when), ("unless", unless)):
        for name in conditions:
            if name not in known:
                notes.append(((*at, key, name), f"no field {name!r}; {suggest(name, known)}"))


def _readings(
    at: KeyPath, specs: Iterable[ReadingSpec], known: Samples, profile: Profile, notes: Notes
) -> None:
    for index, spec in enumerate(specs):
        spec_at = (*at, "say", index)
        _conditions(spec_at, spec.when, spec.unless, known, notes)
        for name in spec.changed:
            if name not in (*known, LATE):
                notes.append(
                    (
                        (*spec_at, "changed"),
                        f"no field {name!r}; {suggest(name, (LATE, *known))}",
                    )
                )
        if (spec.live or LATE in spec.changed) and not profile.pace.period:
            notes.append((spec_at, "depends on lateness; add pace.period"))
        if not (spec.reading or spec.ends or spec.forgets):
            notes.append((spec_at, "does nothing; add `reading`, `ends` or `forgets`"))
        if spec.forgets and spec.forgets not in READING_TYPES:
            notes.append(
                (
                    (*spec_at, "forgets"),
                    f"no reading {spec.forgets!r}; {suggest(spec.forgets, READING_TYPES)}",
                )
            )
        _template((*spec_at, "ends"), spec.ends, known, notes)
        if not spec.reading:
            if spec.fill or spec.stands:
                notes.append((spec_at, "`with` and `stands` need a `reading`"))
        elif spec.reading not in READING_TYPES:
            notes.append(
                (
                    (*spec_at, "reading"),
                    f"no reading {spec.reading!r}; {suggest(spec.reading, READING_TYPES)}",
                )
            )
        else:
            _reading(spec_at, spec, samples.narrow(known, spec.when, spec.unless), notes)
        if spec.reading in _RESULTS and spec.twice is None and profile.checksum is None:
            remedy = (
                "`twice = true` if the device repeats it, or `twice = false` to accept "
                "that a damaged frame may give a result"
            )
            notes.append((spec_at, f"reports a result without [checksum]; add {remedy}"))
        if spec.twice and not (spec.reading or spec.forgets):
            notes.append(
                ((*spec_at, "twice"), "applies only with `reading` or `forgets`; remove it")
            )


def _reading(at: KeyPath, spec: ReadingSpec, known: Samples, notes: Notes) -> None:
    kind = READING_TYPES[spec.reading]
    fields = reading_fields(kind)
    for key in spec.fill:
        if key in _FILLED_BY_CODEC or key not in fields:
            available = ", ".join(name for name in fields if name not in _FILLED_BY_CODEC)
            problem = (
                "is filled in by Novamás; remove it"
                if key in _FILLED_BY_CODEC
                else f"{spec.reading} has no such field"
            )
            notes.append(((*at, "with", key), f"{problem}; there are: {available or 'none'}"))
        elif _template((*at, "with", key), spec.fill[key], known, notes) and (
            flaw := samples.field_flaw(kind, key, spec.fill[key], known)
        ):
            notes.append(((*at, "with", key), flaw))
    for name, field in fields.items():
        if field.required and name not in _FILLED_BY_CODEC and name not in spec.fill:
            notes.append(((*at, "reading"), f"{spec.reading} needs `{name}` in `with`"))
    if spec.stands and "active" not in fields:
        notes.append(((*at, "stands"), "applies only to a reading with `active`, a fault"))


def _template(at: KeyPath, template: Any, known: Samples, notes: Notes) -> bool:
    """Check that the fields named in a template exist."""
    try:
        lacking = [name for name in template_fields(template) if name not in known]
    except ValueError as error:
        notes.append((at, str(error)))
        return False
    notes += [(at, f"no field {name!r}; {suggest(name, known)}") for name in lacking]
    return not lacking


def _sequence(profile: Profile, known: Samples, notes: Notes) -> None:
    sequence = profile.sequence
    if sequence is None:
        return
    if sequence.field not in known:
        notes.append(
            (
                ("sequence", "field"),
                f"no field {sequence.field!r}; {suggest(sequence.field, known)}",
            )
        )
    elif not all(isinstance(value, int) for value in known[sequence.field].values):
        notes.append(
            (("sequence", "field"), f"{sequence.field} is not a whole number; give it `encoding`")
        )
    if sequence.last <= sequence.first:
        notes.append((("sequence", "last"), "must be more than `first`"))


def _pace(profile: Profile, notes: Notes) -> None:
    if profile.pace.draw and profile.pace.period:
        notes.append(
            (
                ("pace",),
                (
                    "use `draw` for a device paced by a person, or `period` for one that paces "
                    "itself, not both"
                ),
            )
        )
    if profile.pace.period and not any(message.beat for message in profile.message):
        notes.append((("pace", "period"), "needs a message with `beat = true`"))
    for name in profile.pace.draws:
        if name not in READING_TYPES:
            notes.append(
                (("pace", "draws"), f"no reading {name!r}; {suggest(name, READING_TYPES)}")
            )
        elif LATE not in reading_fields(READING_TYPES[name]):
            notes.append((("pace", "draws"), f"{name} cannot be late; remove it"))
