"""The pages for people at the table quote the screens: text in italics is a text of the catalogue,
in the language of the page, and the pages of all languages quote the same ones.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from common.contract.messages.messages import LANGUAGES, catalogue
from subscribers.console.words import all_of

PAGES = Path(__file__).parents[2] / "docs" / "pit"


@cache
def patterns(language: str) -> dict[str, re.Pattern[str]]:
    """Key -> pattern of its text, of all that the screens show; fields may have any value."""
    texts = {
        **catalogue(language),
        **{f"console.{key}": text for key, text in all_of(language).items()},
    }
    return {
        key: re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(text)))
        for key, text in texts.items()
        if re.search(r"[^\W\d_]{2}", re.sub(r"\{\w+\}", "", text))  # more than fields alone
    }


@cache
def keys(quoted: str, language: str) -> frozenset[str]:
    """The keys of the texts that a quotation may be."""
    found = patterns(language).items()
    return frozenset(key for key, pattern in found if pattern.fullmatch(quoted))


def quotations(language: str) -> list[str]:
    page = " ".join((PAGES / f"{language}.md").read_text().split())
    return re.findall(r"(?<![*\w])\*([^*]+)\*(?![*\w])", page)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_quotations_are_texts_of_the_screens(language: str) -> None:
    assert quotations(language)
    assert [quoted for quoted in quotations(language) if not keys(quoted, language)] == []


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_the_pages_of_all_languages_quote_the_same_texts(language: str) -> None:
    assert len(quotations(language)) == len(quotations("en"))
    for own, english in zip(quotations(language), quotations("en"), strict=True):
        assert keys(own, language) & keys(english, "en"), f"{own!r} is not {english!r}"
