"""Flaws of a configuration: what is wrong, by the path of its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from common.places import KeyPath

Flaws = Iterator[tuple[KeyPath, str]]


def duplicates(
    values: list[tuple[KeyPath, str]], problem: str, file: Callable[[KeyPath], str] = lambda _: ""
) -> Flaws:
    """Report each repetition of a value."""
    seen = dict[str, KeyPath]()
    for at, value in values:
        if value and value in seen:
            first = file(seen[value])
            yield at, f"{problem} {value} too{f', in {first}' if first != file(at) else ''}"
        seen.setdefault(value, at)


def text_of(error: Exception) -> str:
    return str(error.args[0] if error.args else error)
