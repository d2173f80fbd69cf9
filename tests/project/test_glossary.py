"""The glossary's plain words are in the decrees; each term has a word in every language."""

from __future__ import annotations

from pathlib import Path

from tests.support import contract
from tests.support.for_each import for_each
from tests.support.games.seeds import stands_in

DECREES = {"es": ("ARA02",), "ca": ("BAL05", "BAL09"), "eu": ("EUS96",), "gl": ("GAL07",)}
TABLES = ("People", "The round", "Wheels and dice", "Cards", "Poker", "Hands of poker")


def rows() -> list[list[str]]:
    sections = contract.sections("engineer/glossary.md")
    return [row for heading in TABLES for row in contract.table(sections[heading])]


def words() -> list[tuple[str, str]]:
    """Language and word, of every word that is not in italics."""
    return [
        (language, word)
        for row in rows()
        for language, cell in zip(DECREES, row[2:], strict=True)
        for word in cell.split(", ")
        if not word.startswith("*")
    ]


@for_each("row", rows(), ids=lambda row: row[0])
def test_a_term_has_a_word_in_each_language(row: list[str]) -> None:
    assert len(row) == 6
    assert all(row)


@for_each(("language", "word"), words())
def test_a_plain_word_is_in_its_decree(shared: Path, language: str, word: str) -> None:
    assert any(stands_in(shared, decree, word, case=False) for decree in DECREES[language])
