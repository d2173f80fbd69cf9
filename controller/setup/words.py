"""The texts of setup, by key and language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Return all texts: ``ask.site`` -> language -> text."""
    page = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    return {
        f"{group}.{name}": texts
        for group, entries in page.items()
        for name, texts in entries.items()
    }


def say(key: str, language: str, **fields: object) -> str:
    """Return a text with its fields filled in. Raises ``KeyError`` for an unknown key."""
    return words()[key][language].format_map(fields)
