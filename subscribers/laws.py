"""The printed texts of the decrees' rules, which ``novamas`` passes to its programs as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec


class PrintedRule(msgspec.Struct, frozen=True):
    """A rule in the decree's words."""

    words: str
    language: str
    """The decree's own language, such as ``eu``."""


def read_laws(path: str | None) -> Mapping[str, PrintedRule]:
    """Read the rules by their ids; none without a file. Raise ``OSError`` or ``ValueError``."""
    if path is None:
        return {}
    return msgspec.json.decode(Path(path).read_bytes(), type=dict[str, PrintedRule])
