"""The texts of setup, by key and language."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from common.contract.messages.messages import ENGLISH, LANGUAGES


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


def own_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the user's locale, or English."""
    locale = next(filter(None, map(environment.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "") or ""
    return locale[:2] if locale[:2] in LANGUAGES else ENGLISH
