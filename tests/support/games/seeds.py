"""The original text of each decree, and whether it contains a phrase."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

NUMBERS = {"BAL05": "000", "BAL09": "001", "ARA02": "002", "EUS96": "003", "GAL07": "004"}
_NO_PRINT = re.compile(r"<\|[\w-]*\|>")
"""Marks in a copy that no gazette has."""

OCR = ("BAL05", "BAL09")
"""Copies read by a machine: words are glued or cut, accented letters are read as others, and l, i,
I and | as one another or not at all. There a phrase is compared by its remaining letters. The other
copies are compared word by word.
"""


def stands_in(shared: Path, decree: str, phrase: str, *, case: bool = True) -> bool:
    """True if the decree has these words; ``case=False`` for names that it prints in headings."""
    if decree in OCR:
        return re.search(_loose(phrase), _letters(_text(shared, decree))) is not None
    text, words = _text(shared, decree), " ".join(phrase.split())
    return words in text if case else _plain(words) in _plain(text)


def quotes(article: str) -> list[str]:
    """The text between guillemets, the outermost ones."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(article):
        if letter == "«":
            depth += 1
            start = at + 1 if depth == 1 else start
        elif letter == "»":
            depth -= 1
            if depth == 0:
                found.append(article[start:at])
    return found


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
    """A pattern of the phrase's letters; an accented one matches any misreading of it."""
    return "".join(letter if letter.isascii() else r"\w{0,2}" for letter in _letters(phrase))


def lines_of(shared: Path, decree: str, phrase: str) -> list[tuple[int, int]]:
    """The first and last line of every place where the decree has these words, compared by their
    letters: divided words and broken lines make no difference.
    """
    letters, lines = _numbered_letters(shared, decree)
    return [
        (lines[found.start()], lines[found.start() + len(found[1]) - 1])
        for found in re.finditer(f"(?=({_loose(phrase)}))", letters)
    ]


@cache
def printed_lines(shared: Path, decree: str) -> frozenset[int]:
    """The lines that have letters, counted from 1."""
    return frozenset(_numbered_letters(shared, decree)[1])


@cache
def _numbered_letters(shared: Path, decree: str) -> tuple[str, list[int]]:
    """The letters of the copy, and the line of each."""
    [seed] = (shared / "seeds").glob(f"{NUMBERS[decree]}_*.txt")
    found, lines = [], []
    for number, line in enumerate(seed.read_text(encoding="utf-8").split("\n"), start=1):
        letters = _letters(_NO_PRINT.sub(" ", line).replace("€", "e"))
        found.append(letters)
        lines += [number] * len(letters)
    return "".join(found), lines
