"""Texts of the surveillance room in five languages: its own, from ``words.toml``, and those of the
contract's catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from common.contract.messages.messages import ENGLISH, catalogue


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the texts: key -> language -> text."""
    page = (files("subscribers.surveillance") / "words.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, dict[str, str]]])
    return {
        f"{group}.{name}": texts for group, names in groups.items() for name, texts in names.items()
    }


def room_text(key: str, language: str, /, **fields: object) -> str:
    """Return a text with its fields filled in; a missing field is empty. A wire word of a newer
    release is returned as it is.
    """
    texts = words().get(key)
    found = catalogue(language).get(key) if texts is None else texts.get(language, texts[ENGLISH])
    if found is None:
        return key.partition(".")[2].replace("_", " ")
    return found.format_map(_Fields(fields)).strip(" :·,")


def all_of(language: str, *groups: str) -> dict[str, str]:
    """Return every text of these groups in one language, for the page's script."""
    return {
        key: texts.get(language, texts[ENGLISH])
        for key, texts in words().items()
        if key.partition(".")[0] in groups
    }


class _Fields(dict[str, object]):
    def __missing__(self, _: str) -> str:
        return ""
