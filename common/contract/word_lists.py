"""Reads the meanings of the enumerated words on the wire; each list is a TOML table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

Lists = Mapping[str, Mapping[str, str]]
"""Name of the list -> word -> meaning."""


@cache
def word_lists() -> Lists:
    """Return the lists of words that are in types."""
    return _read("words.toml")


@cache
def irregularity_lists() -> Lists:
    """Return the irregularities of each game, and the alerts: words that are not in types."""
    return {name: words for name, words in _read("irregularities.toml").items() if name != "about"}


def introductions() -> Mapping[str, str]:
    """Return the introduction to each list of :func:`irregularity_lists`."""
    return _read("irregularities.toml")["about"]


def _read(name: str) -> Lists:
    page = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return msgspec.toml.decode(page, type=dict[str, dict[str, str]])
