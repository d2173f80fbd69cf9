"""Reads sections of a TOML file into structs. Collects all errors with their paths, unknown keys
included, instead of stopping at the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

import msgspec

from common import places
from common.plain_errors import choices, describe
from common.suggestions import closest, suggest

Notes = list[tuple[places.KeyPath, str]]
_Kind = TypeVar("_Kind", bound=msgspec.Struct)


def read_section(kind: type[_Kind], section: object, at: places.KeyPath, notes: Notes) -> _Kind:
    """Build a ``kind`` from a parsed section and add every error to ``notes``. An invalid field
    gets its default, or is empty.
    """
    known = _fields(kind)
    if not isinstance(section, dict):
        notes.append((at, f"expected a section with the keys {', '.join(known)}, got {section!r}"))
        section = dict.fromkeys(known)
        notes = []  # one error, not one per key
    notes += [((*at, key), _unknown(key, list(known))) for key in section if key not in known]
    notes += [
        (at, f"the key `{key}` is missing")
        for key, field in known.items()
        if field.required and key not in section
    ]
    values = {field.name: _value(field, section, (*at, key), notes) for key, field in known.items()}
    try:
        return kind(**values)
    except ValueError as error:  # values that do not fit together
        notes.append((at, str(error)))
        return kind(
            **{field.name: _value(field, {}, (*at, key), []) for key, field in known.items()}
        )


@cache
def _fields(kind: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
    """Fields by key. Cached, because resolving the annotations of a class takes longer than reading
    a section.
    """
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _value(
    field: msgspec.structs.FieldInfo, section: dict[str, Any], at: places.KeyPath, notes: Notes
) -> Any:
    value = section.get(field.encode_name, msgspec.UNSET)
    kind, part = field.type, next(iter(get_args(field.type)), None)
    if _is_section(kind):
        return read_section(
            kind,
            {} if value is msgspec.UNSET else value,
            at,
            notes if value is not msgspec.UNSET else [],
        )
    if value is not msgspec.UNSET:
        if _is_section(part) and get_origin(kind) is UnionType:  # an optional section
            return read_section(part, value, at, notes)
        if _is_section(part) and get_origin(kind) is tuple and isinstance(value, dict):
            notes.append((at, array_hint(at)))
            return (read_section(part, value, at, notes),)
        if _is_section(part) and get_origin(kind) is tuple and isinstance(value, list):
            return tuple(
                read_section(part, item, (*at, index), notes) for index, item in enumerate(value)
            )
        if get_origin(kind) is dict and _is_section(get_args(kind)[1]) and isinstance(value, dict):
            return {
                key: read_section(get_args(kind)[1], item, (*at, key), notes)
                for key, item in value.items()
            }
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            found = _map_mistakes(kind, value, at) if get_origin(kind) is dict else []
            notes += found or [(at, _expected(kind, value, error))]
    if field.default is not msgspec.NODEFAULT:
        return field.default
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return () if get_origin(kind) is tuple else ""


def _map_mistakes(kind: Any, value: object, at: places.KeyPath) -> Notes:
    """Errors in the keys and values of a map."""
    key_kind, item_kind = get_args(kind)
    found: Notes = []
    for key, item in value.items() if isinstance(value, dict) else ():
        try:
            msgspec.convert(key, key_kind)
        except msgspec.ValidationError as error:
            words = choices(key_kind)
            problem = _unknown(key, words) if words else _expected(key_kind, key, error)
            found.append(((*at, key), problem))
            continue
        try:
            msgspec.convert(item, item_kind)
        except msgspec.ValidationError as error:
            found.append(((*at, key), _expected(item_kind, item, error)))
    return found


def array_hint(at: places.KeyPath) -> str:
    """Describe the error of writing ``[x]`` where there may be several ``[[x]]``."""
    return (
        f"there may be several of these; begin each with double brackets: [[{'.'.join(_keys(at))}]]"
    )


def _keys(at: places.KeyPath) -> list[str]:
    return [key for key in at if isinstance(key, str)]


def _is_section(kind: Any) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _unknown(key: str, known: list[str]) -> str:
    return f"unknown key; {suggest(key, known)}"


def _closest_word(value: Any, words: list[str]) -> str:
    """Suggestion for a word that is not allowed."""
    if not isinstance(value, str):
        return "; put it in quotes" if str(value) in words else ""
    near = closest(value, words)
    return f"; did you mean `{near}`?" if near else ""


def _expected(kind: Any, value: Any, error: msgspec.ValidationError) -> str:
    annotated = next(
        (part for part in (kind, *get_args(kind)) if get_origin(part) is Annotated), None
    )
    if annotated is not None and (description := annotated.__metadata__[0].description):
        return f"expected {description}, got {value!r}"
    parts = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
    if words := [word for part in parts if get_origin(part) is Literal for word in choices(part)]:
        listed = ", ".join(["true", "false", *words] if bool in parts else words)
        return f"expected one of {listed}, got {value!r}{_closest_word(value, words)}"
    hint = "; put it in quotes" if str in parts and not isinstance(value, str) else ""
    return f"{describe(error, kind)}{hint}"
