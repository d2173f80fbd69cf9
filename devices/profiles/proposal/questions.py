"""The questions in a proposed profile, which a person has yet to answer."""

from __future__ import annotations

import re

QUESTION = "# ? "
"""A comment that begins with this is a question; comments that are indented continue it."""
_CONTINUED = re.compile(r"#   \S")


def open_questions(text: str) -> list[tuple[int, str]]:
    """Return the questions of a profile, each with its line."""
    found: list[tuple[int, str]] = []
    is_open = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(QUESTION):
            found.append((number, line.removeprefix(QUESTION)))
            is_open = True
        elif is_open and _CONTINUED.match(line):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.removeprefix('#   ')}")
        else:
            is_open = False
    return found
