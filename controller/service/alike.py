"""What must be the same on both machines of a pair, as each states it to the other one."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from controller.configuration.settings import Configuration
from controller.contract.version import SOFTWARE
from controller.people.people_file import InForce
from controller.service.readiness import client_id

OWN = ("instance", "listen", "log", "metrics", "recordings")
"""Keys that each machine may have to itself, as well as all that name a file."""
FILES = ("path", "file", "folder")
DIGITS = 12


def facts(configuration: Configuration, people: InForce | None) -> dict[str, str]:
    """By what it is. Of each section of the configuration only a digest: secrets stay here."""
    sections = {
        f"[{name}]": hashlib.sha256(msgspec.json.encode(section, order="sorted")).hexdigest()[
            :DIGITS
        ]
        for name, section in _shared(msgspec.to_builtins(configuration)).items()
        if section not in (None, [], {})
    }
    return {
        "release": SOFTWARE,
        "client id": client_id(configuration),
        "people file": "none"
        if people is None
        else f"number {people.people.head.number}, {people.sha256[:DIGITS]}",
        **sections,
    }


def _shared(given: Any) -> Any:
    """A section without what is each machine's own."""
    if isinstance(given, dict):
        return {
            name: _shared(each)
            for name, each in given.items()
            if name not in OWN and not name.endswith(FILES)
        }
    if isinstance(given, list | tuple):
        return [_shared(each) for each in given]
    return given
