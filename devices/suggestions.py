"""What to write instead of an unknown word."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 64
"""Characters of a word that are compared."""


def instead_of(word: str, known: Iterable[str]) -> str:
    """The most similar known word; if none is similar, all of them.

    >>> instead_of("camegh-ss2", ["bee-tek", "cammegh-ss2"])
    'did you mean `cammegh-ss2`?'
    >>> instead_of("wheel", ["bee-tek", "cammegh-ss2"])
    'there are: bee-tek, cammegh-ss2'
    """
    words = list(known)
    near = get_close_matches(word[:LONGEST], words, n=1)
    return f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(words) or 'none'}"


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """What is wrong with an unknown word, and what to write instead.

    >>> unknown("driver", "camegh-ss2", ["bee-tek", "cammegh-ss2"])
    "no driver 'camegh-ss2'; did you mean `cammegh-ss2`?"
    """
    return f"no {kind} {word!r}; {instead_of(word, known)}"
