"""The documents of the contract, in a form that can be compared with the types."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from common.contract.schemas import documents

DOCS = Path(__file__).resolve().parents[2] / "docs"
INTEGRATOR = DOCS / "integrator"
FAMILIES = (
    *("readings", "commands", "orders", "replies", "events", "retained", "jackpot"),
    *("node", "sealed"),
)

files = cache(documents)
"""The generated files, generated once."""


def schema(family: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files()[f"schemas/{family}.json"])
    return found


def words(found: Any) -> set[frozenset[str]]:
    """Every list of words in a schema except the tags."""
    if isinstance(found, list):
        return {word for item in found for word in words(item)}
    if not isinstance(found, dict):
        return set()
    own = {frozenset(found["enum"])} if len(found.get("enum", ())) > 1 else set()
    return own | {word for value in found.values() for word in words(value)}


def sections(document: str) -> dict[str, str]:
    """Heading -> text below it, up to the next heading."""
    parts = re.split(r"^#+ +(.*)$", (DOCS / document).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table(text: str) -> list[list[str]]:
    """The cells of the rows of the table in a section, without code marks and head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [
        [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines[2:]
    ]
