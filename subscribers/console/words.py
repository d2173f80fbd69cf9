"""The console's own words, in five languages: ``words.toml``. All others are in the contract's
catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from controller.contract.messages.messages import ENGLISH


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Key -> language -> text."""
    page = (files("subscribers.console") / "words.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, dict[str, str]]])
    return {f"{group}.{name}": of for group, found in groups.items() for name, of in found.items()}


def said(key: str, language: str, **fields: object) -> str:
    """A text. A word of the wire that only a newer release knows is shown as it is."""
    found = words().get(key)
    if found is None:
        return key.partition(".")[2].replace("_", " ")
    return found.get(language, found[ENGLISH]).format_map(fields)


def all_of(language: str) -> dict[str, str]:
    """Every text in a language, for the page's script."""
    return {key: of.get(language, of[ENGLISH]) for key, of in words().items()}
