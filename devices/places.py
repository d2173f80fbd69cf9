"""Where each key of a TOML file stands: the line behind ``table[0].device[1].link``."""

from __future__ import annotations

import tomllib
from typing import Any

Path = tuple[str | int, ...]
"""The way to a value: keys and indexes, ``("table", 0, "device", 1, "link")``."""


DEEPEST = 32
"""Tables and lists within each other that a file may have: far more than any of ours, and few
enough to be walked through.
"""

TOML = {
    "Invalid value": "a text stands in quotes",
    "Cannot overwrite a value": "the key stands here for the second time",
    "Illegal character '\\n'": "a quote is not closed",
}
"""What the words in which ``tomllib`` refuses a text mostly mean."""


def loads(text: str) -> dict[str, Any]:
    """What stands in a TOML text. Raises ``ValueError``, ``RecursionError`` where brackets stand
    within brackets without end.
    """
    given = tomllib.loads(text)
    if deeper(given, DEEPEST):
        raise ValueError(f"more than {DEEPEST} tables or lists within each other")
    return given


def deeper(value: Any, left: int) -> bool:
    """Whether there are more than so many tables and lists, or objects and lists of JSON, within
    each other.
    """
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) and (
        left == 0 or any(deeper(each, left - 1) for each in inside)
    )


def refused(what: str) -> str:
    """Why a text is no TOML, with what it mostly means."""
    return f"{what}: {TOML[what]}" if what in TOML else what


def spell(path: Path) -> str:
    """A path as a person writes it.

    >>> spell(("table", 0, "device", 1, "link"))
    'table[0].device[1].link'
    """
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in path
    ).removeprefix(".")


def lines(text: str) -> dict[Path, int]:
    """The line of each header and key of a valid TOML document, counted from 1. Keys inside one
    value share its line.
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}  # how many [[...]] of that path so far
    base: Path = ()
    rows = text.replace("\r\n", "\n").split("\n")  # what TOML takes for a line end, no more
    row = 0
    while row < len(rows):
        start = row
        statement, row = _statement(rows, row)
        if statement and rows[start].lstrip().startswith("["):
            base = _header(statement, counts)
            found.setdefault(base, start + 1)
        else:
            for path in _paths(statement):
                found.setdefault((*base, *path), start + 1)
    return found


def line(found: dict[Path, int], path: Path) -> int | None:
    """The line of the path, or of the nearest thing around it that has one."""
    return next((found[path[:end]] for end in range(len(path), 0, -1) if path[:end] in found), None)


def _statement(rows: list[str], row: int) -> tuple[dict[str, Any], int]:
    """One header, key or blank line, with the row after it. A value may run over several rows: it
    ends where TOML says so.
    """
    for end in range(row + 1, len(rows) + 1):
        try:
            return tomllib.loads("\n".join(rows[row:end])), end
        except tomllib.TOMLDecodeError:
            continue
    return {}, len(rows)


def _header(statement: dict[str, Any], counts: dict[Path, int]) -> Path:
    """The path of ``[a.b]`` or ``[[a.b]]``, with the index of each array of tables on the way."""
    path: Path = ()
    here: Any = statement
    while here:
        [(key, here)] = here.items()
        path = (*path, key)
        if isinstance(here, list):
            counts[path] = counts.get(path, 0) + 1
            here = here[0]
        if path in counts:
            path = (*path, counts[path] - 1)
    return path


def _paths(value: Any) -> list[Path]:
    """Every path inside a value."""
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
        for path in ((key,), *((key, *deeper) for deeper in _paths(child)))
    ]
