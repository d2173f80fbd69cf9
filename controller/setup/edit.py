"""Changes single values of a TOML file, and leaves every other byte as a person wrote it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from common import places
from common.errors import NovamasError
from controller.setup.first_file import quoted


class UneditableError(NovamasError):
    """A value cannot be changed without touching what a person wrote. The message says where."""


def changed(text: str, values: Mapping[places.KeyPath, Any]) -> str:
    """Return the text with these values; None removes a key. A value that is there already is left
    as it is written, a missing section is added at the end. Raises :class:`UneditableError`.
    """
    wanted = tomllib.loads(text)
    for path, value in values.items():
        if _get(tomllib.loads(text), path) == value:
            continue
        _set(wanted, path, value)
        before, text = text, _with_value(text, path, value, wanted)
        if not _is(text, wanted):
            raise _uneditable(before, path)
    return text


def _is(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:  # a value on several lines
        return False


def _get(document: Any, path: places.KeyPath) -> Any:
    for part in path:
        try:
            document = document[part]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _set(document: dict[str, Any], path: places.KeyPath, value: Any) -> None:
    inside: Any = document
    for part in path[:-1]:
        inside = inside[part] if isinstance(part, int) else inside.setdefault(part, {})
    if value is None:
        inside.pop(path[-1], None)
    else:
        inside[path[-1]] = deepcopy(value)


def _with_value(text: str, path: places.KeyPath, value: Any, wanted: dict[str, Any]) -> str:
    """Return the text with one value: in its line, below the last key of its section, or in a new
    section at the end.
    """
    lines, rows = places.line_numbers(text), text.split("\n")
    line = f"{path[-1]} = {toml(value)}"
    if path in lines:
        row = lines[path] - 1
        rows[row : row + 1] = [] if value is None else [line + _remark(rows[row])]
        return "\n".join(rows)
    section = path[:-1]
    if section not in lines:
        header = ".".join(map(str, section))
        return f"{text.rstrip()}\n\n[{header}]\n{line}\n"
    own = [row for key, row in lines.items() if key[:-1] == section and key not in _headers(text)]
    for row in (max(own, default=lines[section]), lines[section]):  # not inside a long value
        added = "\n".join([*rows[:row], line, *rows[row:]])
        if _is(added, wanted):
            break
    return added


def _headers(text: str) -> set[places.KeyPath]:
    """Return the paths that have a header of their own."""
    rows = text.split("\n")
    numbers = places.line_numbers(text).items()
    return {path for path, line in numbers if rows[line - 1].lstrip().startswith("[")}


def _remark(row: str) -> str:
    """Return the comment at the end of a line ``key = value  # comment``, with the space before
    it.
    """
    for at, character in enumerate(row):
        if character == "#":
            try:
                if tomllib.loads(row[:at]):
                    return " " + row[at:]
            except tomllib.TOMLDecodeError:
                continue
    return ""


def toml(value: Any) -> str:
    """Return a value in TOML."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _uneditable(text: str, path: places.KeyPath) -> UneditableError:
    line = places.line_of(places.line_numbers(text), path)
    return UneditableError(
        f"line {line}: {places.format_path(path)} is written in a form that setup does not change; "
        "change it by hand, then run setup again"
    )
