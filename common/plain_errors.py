"""Describes an invalid value to the author of a file or a command, from msgspec's error.

msgspec names Python's types and a JSON path (``Expected `int | null`, got `str` - at
`$.minimum```); here the field comes first, and types have the names that a writer of JSON or TOML
knows. Of text that is no JSON, it states where the text ceases to be, and what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from common.suggestions import suggest

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "bytes": "bytes in base64",
    "datetime": "a date and time",
}
NESTED_TOO_DEEPLY = "objects or lists nested without end"
_PLACE = re.compile(r" - at (?:`(?P<key>key)` in )?`\$(?P<path>.*)`\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")

_Phrase = Callable[[re.Match[str]], str]
_PHRASES: Sequence[tuple[str, _Phrase]] = (
    (r"Expected `([\w| ]+)`, got `(\w+)`", lambda m: f"expected {_type(m[1])}, got {_type(m[2])}"),
    (r"Expected `(?:int|float)` >= (\S+)", lambda m: f"expected {m[1]} or more"),
    (r"Expected `(?:int|float)` <= (\S+)", lambda m: f"expected {m[1]} or less"),
    (r"Expected `(?:int|float)` > (\S+)", lambda m: f"expected more than {m[1]}"),
    (r"Expected `(?:int|float)` < (\S+)", lambda m: f"expected less than {m[1]}"),
    (r"Expected `str` of length <= (\d+)", lambda m: f"expected {m[1]} characters at most"),
    (r"Expected `str` of length >= (\d+)", lambda m: f"expected {m[1]} characters at least"),
    (r"Expected `str` matching regex .*", lambda _: "the text has another form"),
    (
        r"Expected `(?:array|object)` of (?:length <= |at most length )(\d+).*",
        lambda m: f"expected {m[1]} items at most",
    ),
    (
        r"Expected `(?:array|object)` of (?:length >= |at least length )(\d+).*",
        lambda m: f"expected {m[1]} items at least",
    ),
    (
        r"Expected `array` of length (\d+(?: to \d+)?)(?:, got (\d+))?",
        lambda m: f"expected {m[1]} items" + (f", got {m[2]}" if m[2] else ""),
    ),
    (r"Expected `([\w| ]+)`", lambda m: f"expected {_type(m[1])}"),
    (r"Invalid (?:enum )?value (.*)", lambda m: f"unknown value {m[1]}"),
    (r"Object missing required field `(.*)`", lambda m: f"the key {m[1]} is missing"),
    (r"Object contains unknown field `(.*)`", lambda m: f"unknown key {m[1]}"),
    (r"(?:Integer value|Number) out of range", lambda _: "the number is out of range"),
)
_JSON_PHRASES: Sequence[tuple[str, _Phrase]] = (
    (r"Input data was truncated", lambda _: "it ends too early: close each bracket and quote"),
    (
        r"JSON is malformed: trailing characters \(byte (\d+)\)",
        lambda m: f"it has a second value, near byte {m[1]}",
    ),
    (
        r"JSON is malformed: object keys must be strings \(byte (\d+)\)",
        lambda m: f"a name is not in double quotes, near byte {m[1]}",
    ),
    (r"JSON is malformed: (.*) \(byte (\d+)\)", lambda m: f"{m[1]}, near byte {m[2]}"),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), phrase) for pattern, phrase in _PHRASES)
_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(.*?)`", re.DOTALL)
_OTHER_FORM = re.compile(r"Expected `str` matching regex|Invalid (?:enum )?value", re.DOTALL)


def describe(error: Exception, kind: Any = None) -> str:
    """Return the error in words: which field, what was expected. With the type ``kind`` that the
    value was converted to, it also lists the allowed words, describes the form of a text and
    suggests the key that was meant. Any other error keeps its text.
    """
    message = str(error)
    if isinstance(error, RecursionError):
        return NESTED_TOO_DEEPLY
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    if not isinstance(error, msgspec.ValidationError):
        return _json_problem(message) if isinstance(error, msgspec.DecodeError) else message
    place = _PLACE.search(message)
    problem = message[: place.start()] if place else message
    path = (place["path"] or "") if place else ""
    found = _at(kind, path)
    at = f"a key of {path.lstrip('.') or 'the object'}" if place and place["key"] else _name(path)
    text = _in_words(problem)
    if _OTHER_FORM.match(problem):
        if words := choices(found):
            text += f"; there are: {', '.join(words)}"
        elif description := _description(found):
            text = f"expected {description}"
    elif (unknown := _UNKNOWN_KEY.match(problem)) and (known := _keys(found)):
        text += f"; {suggest(unknown[1], known)}"
    return f"{at}: {text}" if at else text


def choices(kind: Any) -> list[str]:
    """Return the allowed words of a type, including nested types; empty if any text is allowed."""
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)]
    return [choice for part in get_args(kind) for choice in choices(part)]


def _json_problem(message: str) -> str:
    for pattern, phrase in _JSON_PHRASES:
        if found := re.fullmatch(pattern, message):
            return f"not JSON: {phrase(found)}"
    return message


def _in_words(problem: str) -> str:
    for pattern, phrase in _COMPILED:
        if found := pattern.fullmatch(problem):
            return phrase(found)
    return problem[:1].lower() + problem[1:]


def _type(names: str) -> str:
    return " or ".join(_TYPES.get(name, name) for name in names.split(" | "))


def _name(path: str) -> str:
    """``.people[0].name`` -> ``people[0].name``, ``[...]`` of any item left out."""
    return path.replace("[...]", "").lstrip(".")


def _at(kind: Any, path: str) -> Any:
    """Return the type at a path within ``kind``; None if it is not known."""
    for field, index in _STEP.findall(path):
        kind = next(_below(kind, field, index), None)
    return kind


def _below(kind: Any, field: str, index: str) -> Iterator[Any]:
    """Yield the types of a field or item of ``kind``, in each part of a union."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for each in msgspec.structs.fields(kind):
            if field == each.encode_name:
                yield each.type
        return
    parts = get_args(kind)
    if index and get_origin(kind) in (tuple, list, frozenset, set, dict):
        numbered = get_origin(kind) is tuple and Ellipsis not in parts and index.isdigit()
        yield parts[min(int(index), len(parts) - 1)] if numbered else _item(parts)
        return
    for part in parts:
        yield from _below(part, field, index)


def _item(parts: Sequence[Any]) -> Any:
    """Return the type of the items of a list, or of the values of a map."""
    return [part for part in parts if part is not Ellipsis][-1]


def _description(kind: Any) -> str | None:
    """Return the description of a text's form, which its annotation states."""
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Annotated:
            for meta in part.__metadata__:
                if isinstance(meta, msgspec.Meta) and meta.description:
                    return meta.description
    return None


def _keys(kind: Any) -> list[str]:
    """Return the keys of an object of this type."""
    for part in (kind, *get_args(kind)):
        if isinstance(part, type) and issubclass(part, msgspec.Struct):
            return [field.encode_name for field in msgspec.structs.fields(part)]
    return []
