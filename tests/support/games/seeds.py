"""The original text of each decree, and whether a phrase stands in it."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

NUMBERS = {"BAL05": "000", "BAL09": "001", "ARA02": "002", "EUS96": "003", "GAL07": "004"}
OCR = ("BAL05", "BAL09")
"""Copies read by a machine: words are glued or cut, accented letters are read as others, and l, i,
I and | as one another or not at all. There a phrase is compared by its remaining letters. The other
copies are compared word by word.
"""


def stands_in(shared: Path, decree: str, phrase: str, *, case: bool = True) -> bool:
    """Whether the decree has these words; ``case=False`` for names that it prints in headings."""
    if decree in OCR:
        return re.search(_loose(phrase), _letters(_text(shared, decree))) is not None
    text, words = _text(shared, decree), " ".join(phrase.split())
    return words in text if case else _plain(words) in _plain(text)


@cache
def _text(shared: Path, decree: str) -> str:
    [seed] = (shared / "seeds").glob(f"{NUMBERS[decree]}_*.txt")
    return " ".join(seed.read_text(encoding="utf-8").split())


@cache
def _plain(text: str) -> str:
    """Capitals are printed without accents and quotation marks come and go: letters, digits and
    single spaces are left.
    """
    bare = "".join(
        c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c)
    )
    return " ".join(re.findall(r"\w+", bare))


@cache
def _letters(text: str) -> str:
    return re.sub(r"[\W_li]", "", text.casefold())


def _loose(phrase: str) -> str:
    """A pattern of the phrase's letters; an accented one stands for what the machine may have made
    of it.
    """
    return "".join(letter if letter.isascii() else r"\w{0,2}" for letter in _letters(phrase))
