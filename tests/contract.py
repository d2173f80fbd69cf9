"""What the documents of the contract say, and what the generated schemas say, in a form that can be
compared.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from controller.contract.schemas import documents

DOCS = Path(__file__).resolve().parents[1] / "docs"
FAMILIES = ("readings", "commands", "orders", "replies", "events", "retained", "node", "sealed")

SHARED = {
    "readings": ("at", "device", "frame"),
    "commands": ("at", "by", "role", "note"),
    "events": (
        *("site", "table", "game", "decree", "boot", "seq", "time", "mono_ns"),
        *("simulated", "historical", "session", "round"),
    ),
}
"""Fields that every type of a family has: they are told once."""


class Row(NamedTuple):
    """One line of a table of fields: the JSON type, and what it means when the field is left out.

    ``-``: it never is; ``nothing``: it does not apply then.
    """

    name: str
    type: str
    absent: str


files = cache(documents)
"""The generated files, generated once."""


def schema(family: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files()[f"schemas/{family}.json"])
    return found


def tag(component: dict[str, Any]) -> str | None:
    found: list[str | None] = component["properties"].get("type", {}).get("enum", [None])
    return found[0]


def rows(component: dict[str, Any], without: tuple[str, ...] = ()) -> list[Row]:
    """The fields of a type, in the order of their names."""
    required = component.get("required", [])
    return [
        Row(
            name,
            kind(field),
            "-"
            if name in required
            else json.dumps(field["default"])
            if "default" in field
            else "nothing",
        )
        for name, field in sorted(component["properties"].items())
        if name not in ("type", *without)
    ]


def kind(field: dict[str, Any]) -> str:
    """A JSON type in words; what has a list of words is a ``word``."""
    if "anyOf" in field:
        return " or ".join(kind(option) for option in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"].rsplit("/", 1)[-1])
    if "enum" in field:
        return "word"
    match field.get("type"):
        case "array" if "prefixItems" in field:
            return "pair of " + kind(field["prefixItems"][0])
        case "array":
            return f"list of {kind(field['items'])}"
        case "object" if field.get("additionalProperties"):
            return f"map to {kind(field['additionalProperties'])}"
        case None:
            return "any"
        case plain:
            return {"string": "text", "boolean": "yes/no"}.get(str(plain), str(plain))


def words(found: Any) -> set[frozenset[str]]:
    """Every list of words in a schema but the tags."""
    if isinstance(found, list):
        return {each for item in found for each in words(item)}
    if not isinstance(found, dict):
        return set()
    own = {frozenset(found["enum"])} if len(found.get("enum", ())) > 1 else set()
    return own | {each for value in found.values() for each in words(value)}


def sections(document: str) -> dict[str, str]:
    """Heading -> what stands below it, up to the next heading."""
    parts = re.split(r"^#+ +(.*)$", (DOCS / document).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table(text: str) -> list[list[str]]:
    """The cells of the rows of the table in a section, code marks taken off; its head is
    left out.
    """
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [
        [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines[2:]
    ]
