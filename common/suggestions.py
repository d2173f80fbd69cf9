"""Suggestions for unknown or misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_COMPARED_CHARS = 64
"""Maximum number of characters of a word that are compared."""


def suggest(word: str, known: Iterable[str]) -> str:
    """Suggest the most similar known word; if no word is similar, list them all.

    >>> suggest("camegh-ss2", ["bee-tek", "cammegh-ss2"])
    'did you mean `cammegh-ss2`?'
    >>> suggest("wheel", ["bee-tek", "cammegh-ss2"])
    'there are: bee-tek, cammegh-ss2'
    """
    words = list(known)
    near = closest(word, words)
    return f"did you mean `{near}`?" if near else f"there are: {', '.join(words) or 'none'}"


def closest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the most similar known word, or None if no word reaches ``likeness`` (1: equal).

    >>> closest("camegh-ss2", ["bee-tek", "cammegh-ss2"])
    'cammegh-ss2'
    """
    return next(
        iter(get_close_matches(word[:MAX_COMPARED_CHARS], list(known), n=1, cutoff=likeness)), None
    )


def unknown_word(kind: str, word: str, known: Iterable[str]) -> str:
    """Describe an unknown word, with a suggestion.

    >>> unknown_word("driver", "camegh-ss2", ["bee-tek", "cammegh-ss2"])
    "no driver 'camegh-ss2'; did you mean `cammegh-ss2`?"
    """
    return f"no {kind} {word!r}; {suggest(word, known)}"


CERTAIN_LIKENESS = 0.9
"""Likeness from which a misspelt word is treated as the correct one when checking what follows."""
