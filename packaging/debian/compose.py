"""The compose file for tests: its services as an engine reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parents[1] / "compose" / "compose.yaml"
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def whole(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the file with its variables set, or their defaults."""
    given = environment or {}
    text = _VARIABLE.sub(lambda found: given.get(found[1]) or found[2], FILE.read_text())
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def services(environment: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the services by name."""
    found: dict[str, dict[str, Any]] = whole(environment)["services"]
    return found


def volumes(service: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """Return the volumes of a service: place to name, and whether it may be written."""
    names = {name: volume["name"] for name, volume in whole()["volumes"].items()}
    parts = (volume.split(":") for volume in service["volumes"])
    return {place: (names[name], "ro" not in how) for name, place, *how in parts}
