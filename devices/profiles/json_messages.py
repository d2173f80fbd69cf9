"""Messages in JSON, of a device that publishes at a broker or posts to a web address: each line of
its link has the topic, 1 if the broker had stored the message or 0, and the text.

A value is found by its path: ``$.arg.res``, in a list ``$.arg.res.0``; ``$.arg.res.length`` is the
number of items of a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

import msgspec

from common.errors import NovamasError
from common.readings import escape, unescape
from common.sections import Notes
from devices.profiles.fields import Values
from devices.profiles.language import FieldSpec, Profile

TOPIC = "topic"
"""Built-in field of a message: its topic below that of the link."""
JSON_SCHEMES = ("mqtt", "http")
"""Schemes of devices whose messages are JSON."""
ROOT = "$"
"""First part of every path."""
LENGTH = "length"
"""Last part of the path of the number of items of a list."""
MAX_DEPTH = 16
"""Deepest nesting that is read."""
_LINE = re.compile(rb"(?P<topic>[^ ]{1,256}) (?P<stored>[01]) (?P<text>.*)", re.DOTALL)


class _UnreadableMessageError(NovamasError):
    """The text is not JSON, or two of its values have the same path."""


class JsonMessage(msgspec.Struct, frozen=True):
    """A message: its values by path, and whether the broker had stored it before."""

    values: Values
    is_stored: bool


def read_message(line: bytes) -> JsonMessage | None:
    """Read a line of a link. None: it is no message in JSON."""
    match = _LINE.fullmatch(line)
    if match is None or not line.isascii():
        return None
    try:
        document = json.loads(
            unescape(match["text"].decode("ascii")),
            object_pairs_hook=_distinct,
            parse_float=str,  # a number is whole, or it is none
            parse_constant=_refuse,
        )
        values = dict[str, Any]()
        _add_values(document, ROOT, values, MAX_DEPTH)
    except (ValueError, RecursionError, _UnreadableMessageError):
        return None
    return JsonMessage({TOPIC: match["topic"].decode("ascii"), **values}, match["stored"] == b"1")


def message_line(texts: Mapping[str, str]) -> bytes | None:
    """Return a line with these values by path, as a test of a profile. None: there is none."""
    tree: dict[str, Any] = {}
    for path, text in texts.items():
        *parts, last = path.split(".")
        node = tree
        for part in parts:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                return None
        if node.setdefault(last, text) != text:
            return None
    topic = tree.pop(TOPIC, "topic")
    if not re.fullmatch(r"[!-~]{1,256}", topic):
        return None
    try:
        document = _nested(tree.get(ROOT, {}))
    except ValueError:
        return None
    return f"{topic} 0 {escape(json.dumps(document).encode())}\n".encode("ascii")


def json_flaws(profile: Profile) -> Notes:
    """Return what does not apply to messages in JSON, and what applies only to them."""
    notes: Notes = []
    is_json = profile.framing.form == "json"
    if is_json != (profile.scheme in JSON_SCHEMES):
        wanted = " or ".join(f'`scheme = "{scheme}"`' for scheme in JSON_SCHEMES)
        notes.append((("scheme",), f"write {wanted} and the form json, or neither"))
    if profile.scheme == "http":
        notes += [
            ((key,), "a device that posts cannot receive anything; remove it")
            for key in ("command", "poll")
            if getattr(profile, key)
        ]
    if not is_json:
        return notes
    if profile.checksum is not None:
        notes.append((("checksum",), "does not apply to form json; remove it"))
    for at, fields in (
        (("fields",), profile.fields),
        *((("message", n, "fields"), each.fields) for n, each in enumerate(profile.message)),
    ):
        notes += [
            ((*at, name, "at"), 'does not apply to form json; write `of = "$.path"`')
            for name, field in fields.items()
            if field.at is not None
        ]
    return notes


def is_path(profile: Profile, field: FieldSpec) -> bool:
    """Whether a field takes a value of a message in JSON, or its topic."""
    return profile.framing.form == "json" and (
        field.of == TOPIC or field.of.partition(".")[0] == ROOT
    )


def required_paths(
    profile: Profile, sections: Iterable[Mapping[str, FieldSpec]]
) -> tuple[str, ...]:
    """Return the paths without which a message does not fit: a value that is null is absent."""
    return tuple(
        field.of
        for fields in sections
        for field in fields.values()
        if is_path(profile, field) and not (field.optional or field.keep or field.blank is not None)
    )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _UnreadableMessageError
    return found


def _refuse(_word: str) -> NoReturn:
    raise _UnreadableMessageError


def _add_values(value: Any, path: str, values: Values, depth: int) -> None:
    if depth == 0 or path in values:
        raise _UnreadableMessageError
    for name, item in _items(value):
        _add_values(item, f"{path}.{name}", values, depth - 1)
    if isinstance(value, bool):
        values[path] = "true" if value else "false"
    elif isinstance(value, str):
        values[path] = _printable(value)
    elif value is None or isinstance(value, int):
        values[path] = value


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield LENGTH, len(value)
        for index, item in enumerate(value):
            yield str(index), item


def _printable(text: str) -> str:
    """The text, with escapes if a reading could not show it."""
    if text.isprintable() and all(character <= "\xff" for character in text):
        return text
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _nested(node: Any) -> Any:
    """The document of a tree by the parts of paths: numbers are the places in a list."""
    if not isinstance(node, dict):
        return node
    places = {part for part in node if part.isdecimal()}
    if not node or node.keys() - places - {LENGTH}:
        return {part: _nested(below) for part, below in node.items()}
    size = int(node.get(LENGTH, 1 + max(map(int, places), default=-1)))
    if not 0 <= size <= 64 or any(int(place) >= size for place in places):
        raise ValueError("too few items")
    return [_nested(node.get(str(index), "0")) for index in range(size)]
