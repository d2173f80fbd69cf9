"""A line that a person types at a terminal."""

from __future__ import annotations

import sys


def typed_line(prompt: str) -> str:
    """Print the prompt and return the line that is typed, without its end. Raise ``EOFError`` if
    the input has ended.

    ``input`` does the same, but loses a Ctrl-C that comes while it writes its prompt: it looks for
    signals only after its read was interrupted, and that read begins later.
    """
    print(prompt, end="", flush=True)  # noqa: T201
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.removesuffix("\n")
