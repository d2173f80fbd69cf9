"""The surveillance room's own words, in five languages: ``words.toml``. All others are in the
contract's catalogue.
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
    page = (files("subscribers.surveillance") / "words.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, dict[str, str]]])
    return {f"{group}.{name}": of for group, found in groups.items() for name, of in found.items()}


def own(key: str, language: str, /, **fields: object) -> str:
    """A text, filled in; a field that is not given is empty. A word of the wire that only a newer
    release knows is shown as it is.
    """
    found = words().get(key)
    if found is None:
        return key.partition(".")[2].replace("_", " ")
    return found.get(language, found[ENGLISH]).format_map(_Fields(fields)).strip(" :·,")


def all_of(language: str, *groups: str) -> dict[str, str]:
    """Every text of these groups in a language, for the page's script."""
    return {
        key: of.get(language, of[ENGLISH])
        for key, of in words().items()
        if key.partition(".")[0] in groups
    }


class _Fields(dict[str, object]):
    def __missing__(self, _: str) -> str:
        return ""
