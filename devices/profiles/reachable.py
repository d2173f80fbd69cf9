"""Finds parts of a profile that can never match: a value that a field cannot have, a field beyond
its frame, a code that is never received. Only proven cases are noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from common.places import KeyPath
from common.sections import Notes
from devices.profiles.checksums import checksum_width
from devices.profiles.domains import (
    ANYTHING,
    NO_VALUE,
    FieldDomain,
    TextDomain,
    ValueDomain,
    field_domain,
)
from devices.profiles.expressions import Expression
from devices.profiles.fields import LATE
from devices.profiles.fields import NOTHING as ABSENT
from devices.profiles.language import Conditions, FieldSpec, MessageSpec, Profile

_PLACEHOLDER = re.compile(r"\{(\w*)\}")

Domains = dict[str, FieldDomain]
UsedKeys = dict[str, set[str]]
"""Map by name -> its keys that some field can have."""


def unreachable(profile: Profile) -> Notes:
    """Return everything that can never match. The profile must have no other flaws."""
    notes: Notes = []
    used: UsedKeys = {}
    common = _common_fields(profile, used, notes)
    _checksum(profile, notes)
    for index, message in enumerate(profile.message):
        _message(("message", index), message, common, profile, used, notes)
    for index, spec in enumerate(profile.say):
        # a common reading may use the fields of any message
        every = {
            **common,
            **{name: ANYTHING for message_spec in profile.message for name in message_spec.fields},
        }
        _conditions(("say", index), spec.when, spec.unless, every, notes)
    for name, keys in used.items():
        lost = [key for key in profile.maps[name] if key not in keys]
        notes += [_never_received(("maps", name), key) for key in lost]
    return notes


def _common_fields(profile: Profile, used: UsedKeys, notes: Notes) -> Domains:
    known: Domains = {ABSENT: NO_VALUE, LATE: FieldDomain((ValueDomain((False, True)),))}
    known |= _groups(profile.framing.find)
    body = _body_length(profile)
    separated = bool(profile.separator)
    for name, field in profile.fields.items():
        _width(("fields", name), field, body, separated, "frame", profile, notes)
    _fields((), profile.fields, known, profile.separator, profile, used, notes)
    return known


def _body_length(profile: Profile) -> int | None:
    """Size of every body, if it is constant."""
    framing = profile.framing
    if framing.form != "fixed":
        return None
    return framing.length - framing.body[0] + framing.body[1]


def _longest_body(profile: Profile) -> int:
    framing = profile.framing
    return framing.longest - framing.body[0] + framing.body[1]


def _groups(pattern: str) -> Domains:
    if not pattern:
        return {}
    expression = Expression(pattern)

    def domain(group: str) -> FieldDomain:
        return FieldDomain(
            (TextDomain(fits=lambda text: expression.may_be(group, text)),), absent=True
        )

    return {group: domain(group) for group in re.compile(pattern).groupindex}


def _fields(
    at: KeyPath,
    fields: Mapping[str, FieldSpec],
    known: Domains,
    separator: str,
    profile: Profile,
    used: UsedKeys,
    notes: Notes,
) -> None:
    for name, field in fields.items():
        field_at = (*at, "fields", name)
        source = known.get(field.of or name, ANYTHING)
        if field.at is not None:
            source = FieldDomain(
                (
                    TextDomain(
                        field.width,
                        fits=lambda text: not separator or separator not in text,
                    ),
                )
            )
        table = profile.maps[field.map] if isinstance(field.map, str) else field.map
        before = field_domain(source, _unmapped(field), None)
        if table is not None:
            keys = {key for key in table if before.key(key)}
            if isinstance(field.map, str):
                used.setdefault(field.map, set()).update(keys)
            else:
                notes += [
                    _never_received((*field_at, "map"), key) for key in table if key not in keys
                ]
        domain = field_domain(source, field, table)
        if not field_domain(source, _without_keep(field), table).kinds and not _is_bare(field):
            notes.append((field_at, _why_no_value(before)))
        _placeholders(field_at, field, {**fields, **known}, notes)
        known[name] = domain


def _unmapped(field: FieldSpec) -> FieldSpec:
    return replace(field, map=None, otherwise=None, optional=False, keep=False)


def _without_keep(field: FieldSpec) -> FieldSpec:
    return replace(field, optional=False, keep=False)


def _is_bare(field: FieldSpec) -> bool:
    """Whether a field only renames another value, which may always be absent."""
    return field.at is None and field.of in ("", ABSENT) and field.map is None


def _why_no_value(before: FieldDomain) -> str:
    if not before.kinds:
        return "can never fit: no received value fits its `is`, `min`, `max` and `bits`"
    return "can never fit: no key of its map is ever received, and there is no `otherwise`"


def _never_received(at: KeyPath, key: str) -> tuple[KeyPath, str]:
    return (
        (*at, key),
        (
            f"{key!r} is never received; a key is the value as the field has it, with its blanks "
            "and leading zeros (a number has no leading zeros)"
        ),
    )


def _placeholders(at: KeyPath, field: FieldSpec, known: Mapping[str, object], notes: Notes) -> None:
    """Note names in braces in places where they are not filled in."""
    places: list[tuple[KeyPath, Any]] = [
        ((*at, "value"), field.value),
        ((*at, "otherwise"), field.otherwise),
    ]
    if isinstance(field.map, dict):
        places += [((*at, "map", key), value) for key, value in field.map.items()]
    for place, value in places:
        found = _PLACEHOLDER.search(value) if isinstance(value, str) else None
        if found and (found[1] in known or found[1] == ""):
            notes.append(
                (place, f"{value!r} is not filled in; fields in braces work only in `with`")
            )


def _message(
    at: KeyPath,
    message: MessageSpec,
    common: Domains,
    profile: Profile,
    used: UsedKeys,
    notes: Notes,
) -> None:
    known = {**common, **_groups(message.match)}
    separator = profile.separator if message.separator is None else message.separator
    _lengths(at, message, bool(separator), profile, notes)
    _fields(at, message.fields, known, separator, profile, used, notes)
    _conditions(at, message.when, message.unless, known, notes)
    for index, spec in enumerate(message.say):
        _conditions((*at, "say", index), spec.when, spec.unless, known, notes)


def _lengths(
    at: KeyPath, message: MessageSpec, separated: bool, profile: Profile, notes: Notes
) -> None:
    """Note lengths that no frame of the profile has."""
    body, longest = _body_length(profile), _longest_body(profile)
    part = profile.fields.get(message.part) if message.part else None
    whole = part.width if part is not None and not profile.separator else None
    if not message.part:
        whole = body
        for name, field in profile.fields.items():
            if field.optional or field.keep or field.at is None:
                continue
            if profile.separator:
                if (
                    separated
                    and message.separator is None
                    and message.pieces is not None
                    and not -message.pieces <= field.at < message.pieces
                ):
                    notes.append(
                        (
                            (*at, "pieces"),
                            f"is too few: `{name}` of every frame is piece {field.at}",
                        )
                    )
            elif message.length is not None and _end(field) > message.length:
                notes.append(
                    (
                        (*at, "length"),
                        f"is too short: `{name}` of every frame ends at {_end(field)}",
                    )
                )
    if message.length is not None and whole is not None and message.length != whole:
        notes.append(((*at, "length"), f"can never match: there are always {whole} bytes"))
    elif message.length is not None and message.length > longest:
        notes.append(
            ((*at, "length"), f"can never match: a frame has room for {max(longest, 0)} bytes")
        )
    limit = next((length for length in (message.length, whole) if length is not None), longest)
    if len(message.starts) > limit:
        notes.append(((*at, "starts"), f"is longer than the message, which has {limit} bytes"))
    for name, field in message.fields.items():
        _width((*at, "fields", name), field, whole, separated, "message", profile, notes)


def _end(field: FieldSpec) -> int:
    """Minimum number of bytes needed for a field."""
    assert field.at is not None
    return -field.at if field.at < 0 else field.at + (field.width or 0)


def _width(
    at: KeyPath,
    field: FieldSpec,
    length: int | None,
    separated: bool,
    whole: str,
    profile: Profile,
    notes: Notes,
) -> None:
    if field.at is None or separated:
        return
    limit = _longest_body(profile) if length is None else length
    if _end(field) > limit:
        notes.append(
            ((*at, "at"), f"ends beyond the {whole}, which has {max(limit, 0)} bytes at most")
        )


def _checksum(profile: Profile, notes: Notes) -> None:
    """Note a checksum that lies beyond every frame."""
    checksum, framing = profile.checksum, profile.framing
    if checksum is None or checksum.at is None:
        return
    size = framing.length if framing.form == "fixed" else framing.longest
    width = checksum_width(checksum)
    begin = checksum.at if checksum.at >= 0 else size + checksum.at
    if begin < 0 or begin + width > size:
        notes.append((("checksum", "at"), f"lies beyond the frame, which has {size} bytes at most"))
    elif begin - checksum.short <= checksum.first:
        notes.append(
            (("checksum", "from"), "leaves no byte to check before the checksum; make it smaller")
        )


def _conditions(
    at: KeyPath, when: Conditions, unless: Conditions, known: Domains, notes: Notes
) -> None:
    for key, conditions in (("when", when), ("unless", unless)):
        for name, wanted in conditions.items():
            notes += [
                ((*at, key, name), _never_has(name, value, known[name]))
                for value in _as_list(wanted)
                if name in known and not known[name].may_be(value)
            ]


def _as_list(wanted: Any) -> Iterable[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _never_has(name: str, value: Any, domain: FieldDomain) -> str:
    if value == "":
        return f"{name} always has a value; remove the condition, or make the field `optional`"
    values = [possible for kind in domain.kinds for possible in getattr(kind, "values", ())]
    possible_values = (
        f"; it may be {', '.join(repr(possible) for possible in values[:8])}" if values else ""
    )
    return f"{name} is never {value!r}{possible_values}"
