"""The base of every exception that Novamás raises itself."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class NovamasError(Exception):
    """Something is wrong that Novamás knows of. The message says what, and then what to do."""


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """What to say to an unknown word: the known words nearest to it, else all of them."""
    there = list(known)
    near = difflib.get_close_matches(word, there, n=2, cutoff=0.65)
    if near:
        return f"no {kind} {word!r}; did you mean {' or '.join(near)}?"
    return f"no {kind} {word!r}; there are: {', '.join(there)}"
