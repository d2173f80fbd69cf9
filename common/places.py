"""Line numbers of the keys in a TOML file: the line of ``table[0].device[1].link``."""

from __future__ import annotations

import tomllib
from typing import Any

KeyPath = tuple[str | int, ...]
"""Path to a value, as keys and indexes: ``("table", 0, "device", 1, "link")``."""


MAX_DEPTH = 32
"""Maximum nesting of tables and lists: far more than any of our files needs, and safe for
recursion.
"""


class WrittenDecimal(str):
    """A number with a decimal point, exactly as written: ``5.00``."""

    __slots__ = ()


def loads(text: str, *, decimals: bool = False) -> dict[str, Any]:
    """Parse TOML text. ``decimals``: keep numbers with a decimal point as written
    (:class:`WrittenDecimal`). Raises ``ValueError``, or ``RecursionError`` if brackets are nested
    too deeply.
    """
    document = tomllib.loads(text, parse_float=WrittenDecimal if decimals else float)
    if is_nested_deeper(document, MAX_DEPTH):
        raise ValueError(f"tables or lists are nested deeper than {MAX_DEPTH} levels")
    return document


def is_nested_deeper(value: Any, depth: int) -> bool:
    """Return whether tables and lists (or JSON objects and arrays) are nested more than ``depth``
    levels deep.
    """
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) and (
        depth == 0 or any(is_nested_deeper(child, depth - 1) for child in inside)
    )


def format_path(path: KeyPath) -> str:
    """Format a path as people write it.

    >>> format_path(("table", 0, "device", 1, "link"))
    'table[0].device[1].link'
    """
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in path
    ).removeprefix(".")


def line_numbers(text: str) -> dict[KeyPath, int]:
    """Return the line of each header and key of a valid TOML document, counted from 1. Keys inside
    a value that spans several lines share its first line.
    """
    found: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}  # the number of [[...]] with that path so far
    base: KeyPath = ()
    rows = text.replace("\r\n", "\n").split("\n")  # only TOML's own line ends
    row = 0
    while row < len(rows):
        start = row
        statement, row = _read_statement(rows, row)
        if statement and rows[start].lstrip().startswith("["):
            base = _header_path(statement, counts)
            found.setdefault(base, start + 1)
        else:
            for path in _inner_paths(statement):
                found.setdefault((*base, *path), start + 1)
    return found


def line_of(found: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a path, else of the first item of a list of that name, else of the nearest
    parent that has a line.
    """
    if path not in found and (*path, 0) in found:
        return found[*path, 0]
    return next((found[path[:end]] for end in range(len(path), 0, -1) if path[:end] in found), None)


def _read_statement(rows: list[str], row: int) -> tuple[dict[str, Any], int]:
    """Parse one header, key or blank line; return it and the next row. A value may span several
    rows.
    """
    for end in range(row + 1, len(rows) + 1):
        try:
            return tomllib.loads("\n".join(rows[row:end])), end
        except tomllib.TOMLDecodeError:
            continue
    return {}, len(rows)


def _header_path(statement: dict[str, Any], counts: dict[KeyPath, int]) -> KeyPath:
    """Path of ``[a.b]`` or ``[[a.b]]``, with the current index of each array of tables."""
    path: KeyPath = ()
    value: Any = statement
    while value:
        [(key, value)] = value.items()
        path = (*path, key)
        if isinstance(value, list):
            counts[path] = counts.get(path, 0) + 1
            value = value[0]
        if path in counts:
            path = (*path, counts[path] - 1)
    return path


def _inner_paths(value: Any) -> list[KeyPath]:
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path
        for key, child in inside
        for path in ((key,), *((key, *deeper) for deeper in _inner_paths(child)))
    ]
