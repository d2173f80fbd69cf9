"""The texts that people read on a display, by key and language.

A key is a group and a name, ``void_reason.ball_out``; a group is a table of the language's TOML
file. Texts have named fields: ``round {round}``. What is called at the table and what is quoted
from a decree is never here: it stays in the decree's own words.
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
    """Key -> text, in the order of the file. Raises ``KeyError`` for a language that there is no
    file of.
    """
    if language not in LANGUAGES:
        raise KeyError(f"no messages in {language!r}; there are: {', '.join(LANGUAGES)}")
    page = Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, str]])
    return {
        f"{group}.{name}": text for group, texts in groups.items() for name, text in texts.items()
    }


def text(key: str, language: str, **fields: object) -> str:
    """A text of our own, filled in. Raises ``KeyError`` for an unknown key and for a field that is
    not given.
    """
    return catalogue(language)[key].format_map(fields)


def word(group: str, name: str, language: str) -> str:
    """The text of a word on the wire. A word that only a newer daemon knows is shown as it is,
    which is English.
    """
    return catalogue(language).get(f"{group}.{name}", name.replace("_", " "))


def first_of(languages: Iterable[str]) -> str:
    """The first of these languages that there are messages in; English if there is none."""
    return next((language for language in languages if language in LANGUAGES), ENGLISH)
