"""Texts of the console in five languages, from ``words.toml``. All other texts are in the
contract's catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from common.contract.messages.messages import ENGLISH


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the texts: key -> language -> text."""
    page = (files("subscribers.console") / "words.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, dict[str, str]]])
    return {
        f"{group}.{name}": texts for group, names in groups.items() for name, texts in names.items()
    }


def console_text(key: str, language: str, **fields: object) -> str:
    """Return a text with its fields filled in. A wire word of a newer release is
    returned as it is.
    """
    texts = words().get(key)
    if texts is None:
        return key.partition(".")[2].replace("_", " ")
    return texts.get(language, texts[ENGLISH]).format_map(fields)


def all_of(language: str) -> dict[str, str]:
    """Return every text in one language, for the page's script."""
    return {key: texts.get(language, texts[ENGLISH]) for key, texts in words().items()}
