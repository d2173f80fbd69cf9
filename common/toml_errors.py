"""Describes to the author of a TOML file where it is not TOML, and what to write."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from common.places import loads

_UNCLOSED_QUOTE = "a quote is not closed: write the same quote at the end of the text"
_TWICE = "this key is already defined: remove one of them"
_WORDS: Sequence[tuple[str, str]] = (
    ("Invalid statement", "the line is no key, section or comment: write key = value"),
    (
        "Invalid value",
        "the value is no text in quotes, number, true, false or list: put a string in quotes",
    ),
    ("Invalid date or datetime", "this date does not exist: write 2026-03-20T02:10:13Z"),
    ("Cannot overwrite a value", _TWICE),
    ("Duplicate inline table key .*", _TWICE),
    (
        "Cannot declare .* twice",
        "this section is already defined: put its keys together, or write [[ ]] for one more",
    ),
    (
        "Cannot (?:mutate immutable|redefine) namespace .*",
        "the value of this key is complete elsewhere: write all of it in one place",
    ),
    (r"Illegal character '\\n'", _UNCLOSED_QUOTE),
    ("Unterminated string", _UNCLOSED_QUOTE),
    ("Expected [\"']{3,5}", _UNCLOSED_QUOTE),
    ("(?:Illegal|Found invalid) character .*", "a control character is in the text: remove it"),
    ("Unclosed array", "a list is not closed: write ] at its end, and commas between its values"),
    ("Unclosed inline table", "a table is not closed: write } at its end, on the same line"),
    ("Expected ']]' .*", "the name of the section is not closed: write ]] behind it"),
    ("Expected ']' .*", "the name of the section is not closed: write ] behind it"),
    ("Expected '=' .*", "the key has no value: write = between them"),
    (
        "Invalid initial character for a key part",
        "no key is here: write letters, digits, - and _, or put it in quotes",
    ),
    (
        "Expected newline or end of document .*",
        "something follows the value: begin a new line, or put a string in quotes",
    ),
    (r"Unescaped '\\' in a string", r"a single backslash: write \\, or put it in single quotes"),
    (
        "Invalid hex value|Escaped character is not .*",
        r"no character has this code: write four digits 0-9, a-f behind \u",
    ),
    ("Exceeds the limit .*", "a number has too many digits: remove some"),
    (
        "maximum recursion depth .*|tables or lists are nested .*",
        "brackets are nested too deep: remove some",
    ),
)
"""Expressions for the messages of ``tomllib`` and what they mean to an author."""
_COMPILED = tuple((re.compile(message, re.DOTALL), words) for message, words in _WORDS)
OTHER = "this is not TOML: compare it with the examples in docs/technician/configuration.md"
_POSITION = re.compile(
    r"(?P<what>.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL
)


class TomlMistake(msgspec.Struct, frozen=True):
    """A place in a text, counted from 1, and what is wrong there."""

    line: int
    column: int
    what: str

    @property
    def place(self) -> str:
        """Line and column in words."""
        return f"line {self.line}, column {self.column}"


def describe_toml_error(text: str, error: Exception) -> TomlMistake:
    """Describe why ``places.loads`` rejects a text. ``error``: what it raised."""
    message = str(error)
    found = _POSITION.fullmatch(message)
    if found is None:
        line, column = _first_line(text), 1
    elif found[2]:
        line, column = int(found[2]), int(found[3])
    else:
        rows = text.replace("\r\n", "\n").rstrip("\n").split("\n")
        line, column = len(rows), len(rows[-1]) + 1
    what = message if found is None else found["what"]
    words = next((words for pattern, words in _COMPILED if pattern.fullmatch(what)), OTHER)
    return TomlMistake(line, column, words)


def _first_line(text: str) -> int:
    """Return the first line with which a text is rejected for a reason without a position: too many
    digits, or too many brackets.
    """
    rows = text.replace("\r\n", "\n").split("\n")

    def is_rejected(count: int) -> bool:
        try:
            loads("\n".join(rows[:count]))
        except (ValueError, RecursionError) as error:
            return _POSITION.fullmatch(str(error)) is None
        return False

    return bisect_left(range(1, len(rows) + 1), True, key=is_rejected) + 1
