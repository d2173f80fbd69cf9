"""Words of the wheel pages, in five languages: ``words.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the texts, by key and language."""
    page = (files("subscribers.statistics") / "words.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(page, type=dict[str, dict[str, str]])


def page_text(key: str, language: str, **fields: object) -> str:
    """Return a text with its fields filled in."""
    return words()[key][language].format_map(fields)
