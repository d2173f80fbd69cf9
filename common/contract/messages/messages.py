"""The texts that people read on a display, by key and language.

A key is a group and a name, ``void_reason.ball_out``; a group is a table of the language's TOML
file. Texts have named fields: ``round {round}``. Announcements at the table and quotations from a
decree are not here: they are in the words of the decree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec

LANGUAGES = ("en", "es", "ca", "eu", "gl")
"""English, Spanish, Catalan, Basque, Galician."""
ENGLISH = "en"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Return the texts by key, in the order of the file. Raises ``KeyError`` for a language
    without a file.
    """
    if language not in LANGUAGES:
        raise KeyError(f"no messages in {language!r}; there are: {', '.join(LANGUAGES)}")
    page = Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, str]])
    return {
        f"{group}.{name}": text for group, texts in groups.items() for name, text in texts.items()
    }


def text(key: str, language: str, **fields: object) -> str:
    """Return a text with its fields filled in. Raises ``KeyError`` for an unknown key and for a
    missing field.
    """
    return catalogue(language)[key].format_map(fields)


def word(group: str, name: str, language: str) -> str:
    """Return the text of a word on the wire, or the word itself, which is English, if only a newer
    release knows it.
    """
    return catalogue(language).get(f"{group}.{name}", name.replace("_", " "))


def first_of(languages: Iterable[str]) -> str:
    """Return the first of these languages that has messages; English if none has."""
    return next((language for language in languages if language in LANGUAGES), ENGLISH)
