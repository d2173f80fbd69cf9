"""Every quotation of a rulebook is in the lines of its rule."""

from __future__ import annotations

import re
from pathlib import Path

from controller.rulebooks import chapters
from controller.rulebooks.deciders import deciders
from controller.rulebooks.law import Law
from controller.rulebooks.numbered import numbered
from tests.support.games.seeds import lines_of, printed_lines, quotes


def cited() -> dict[str, tuple[str, Law]]:
    """Every law of every page, as ``decree/game table.key``, with its decree."""
    return {
        f"{decree}/{game} {table}.{key}": (decree, law)
        for decree in chapters.decrees()
        for game in sorted(chapters.games_of(decree))
        if (page := chapters.chapter(decree, game)) is not None
        for table in ("laws", "void")
        for key, law in getattr(page, table).items()
    }


def quoted(law: Law) -> list[str]:
    """The quoted words of a law; before the colon, guillemets are the heading of a section."""
    return quotes(law.article.partition(": ")[2])


def spanned(lines: str) -> set[int]:
    """The line numbers in ``L302-304, L544``."""
    return {
        line
        for first, last in re.findall(r"L(\d+)(?:-(\d+))?", lines)
        for line in range(int(first), int(last or first) + 1)
    }


def test_every_quotation_is_in_the_lines_of_its_rule(shared: Path) -> None:
    outside = {}
    for place, (decree, law) in cited().items():
        lines, printed = spanned(numbered()[law.rule].lines), printed_lines(shared, decree)
        for quotation in quoted(law):
            spans = lines_of(shared, decree, quotation)
            if not any(set(range(first, last + 1)) & printed <= lines for first, last in spans):
                outside[f"{place} {law.rule}"] = (quotation, spans)
    assert outside == {}


def test_every_decider_is_named_by_the_words_in_its_lines(shared: Path) -> None:
    outside = [
        cell
        for cell in deciders()
        if not any(
            set(range(first, last + 1)) & printed_lines(shared, cell.decree) <= spanned(cell.lines)
            for first, last in lines_of(shared, cell.decree, cell.words)
        )
    ]
    assert outside == []


def test_every_law_quotes_something() -> None:
    assert [place for place, (_, law) in cited().items() if not quoted(law)] == []
