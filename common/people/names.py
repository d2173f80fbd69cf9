"""Detects names that look the same to a reader.

Compared are names without white space and invisible characters, in Unicode's compatibility form
(NFKC). They look the same if they differ only in case, or only in letters of the same shape:
``lookalikes.tsv`` has, by Latin letter, the letters of all scripts that look like it (as Unicode
Technical Standard 39 has them, restricted to letters and digits). Accents count: Jose and José,
Nunez and Núñez are different names.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

_INVISIBLE = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0",
    *map(chr, range(0x180B, 0x1810)),
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
}
"""Invisible characters, besides those of the category ``Cf``."""
_ORDER = {*"\u061c\u200e\u200f", *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
"""Characters that change the direction of text."""
_SIGNS = {ord(each): "'" for each in "`´ʹʻʼʽˈˊˋ‘’‛′＇ʾʿ"} | {ord(each): "-" for each in "‐‑‒–—−⁃﹘"}
"""Apostrophes and hyphens."""
_IN_ONE_CASE = str.maketrans({"I": "l", "1": "l", "|": "l", "0": "O", "m": "rn"})
"""Latin letters that look like others of the given case."""


def has_direction_marks(name: str) -> bool:
    """Return True if a name has characters that change the displayed order of its letters."""
    return bool(_ORDER & set(name))


def appearances(name: str) -> frozenset[str]:
    """Return the appearances of a name. Two names look the same if they have one in common."""
    shown = "".join(
        each
        for each in unicodedata.normalize("NFKC", name)
        if each not in _INVISIBLE and not each.isspace() and unicodedata.category(each) != "Cf"
    )
    latin = _latin(shown)
    return frozenset(
        (
            f"shape {_normal(latin.translate(_IN_ONE_CASE))}",
            f"letters {_normal(_latin(latin.casefold()))}",
            f"letters {_normal(_latin(shown.casefold()))}",
        )
    )


def _latin(text: str) -> str:
    """Replace letters of any script by the Latin letters that look like them."""
    return _normal(text).translate(_table()).translate(_SIGNS)


def _normal(text: str) -> str:
    """Decompose accents. The dot of an i is dropped."""
    return unicodedata.normalize("NFD", text).replace("i\u0307", "i").replace("j\u0307", "j")


@cache
def _table() -> dict[int, str]:
    lines = Path(__file__).with_name("lookalikes.tsv").read_text("utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {ord(letter): latin for latin, letters in rows for letter in letters}
