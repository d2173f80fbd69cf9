"""The texts of the page: its own, from ``words.toml``, and those of the contract's catalogue that
name events, commands and results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from common.contract.messages.messages import LANGUAGES, catalogue

SHARED_GROUPS = (
    "alert",
    "colour",
    "command",
    "decision",
    "event",
    "game",
    "irregularity",
    "link",
    "mark",
    "note",
    "outcome",
    "role",
    "unresolved",
    "void_reason",
    "who",
    "work",
)
"""Groups of the contract's catalogue that the page uses."""


@cache
def words() -> Mapping[str, Mapping[str, str]]:
    """Return the page's own texts: key -> language -> text."""
    page = (files("controller.inspection") / "words.toml").read_text(encoding="utf-8")
    groups = msgspec.toml.decode(page, type=dict[str, dict[str, dict[str, str]]])
    return {
        f"{group}.{name}": texts for group, names in groups.items() for name, texts in names.items()
    }


def page_texts() -> dict[str, dict[str, str]]:
    """Return all texts of the page: language -> key -> text."""
    return {
        language: {
            **{
                key: text
                for key, text in catalogue(language).items()
                if key.partition(".")[0] in SHARED_GROUPS
            },
            **{key: texts[language] for key, texts in words().items()},
        }
        for language in LANGUAGES
    }
