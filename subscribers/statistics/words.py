"""The words of the page of wheels, in five languages: ``words.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Key -> language -> text."""
    page = (files("subscribers.statistics") / "words.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(page, type=dict[str, dict[str, str]])


def said(key: str, language: str, **fields: object) -> str:
    """A text, filled in."""
    return words()[key][language].format_map(fields)
