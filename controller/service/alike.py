"""Facts that must be equal on both machines of a pair, as each states them to the other."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from common.contract.version import SOFTWARE
from common.people.people_file import DIGEST_DIGITS, PeopleInForce
from controller.configuration.settings import Configuration
from controller.service.readiness import client_id

OWN_KEYS = ("instance", "listen", "log", "metrics", "recordings")
"""Keys that may differ between the machines, as may all keys that name a file."""
FILE_SUFFIXES = ("path", "file", "folder")


def facts(configuration: Configuration, people: PeopleInForce | None) -> dict[str, str]:
    """Return the facts by name. A section of the configuration is a digest: it may have secrets."""
    sections = {
        f"[{name}]": hashlib.sha256(msgspec.json.encode(section, order="sorted")).hexdigest()[
            :DIGEST_DIGITS
        ]
        for name, section in _shared(msgspec.to_builtins(configuration)).items()
        if section not in (None, [], {})
    }
    return {
        "release": SOFTWARE,
        "client id": client_id(configuration),
        "people file": "none" if people is None else people.digest,
        **sections,
    }


def _shared(value: Any) -> Any:
    """Remove the keys that may differ from a section."""
    if isinstance(value, dict):
        return {
            name: _shared(part)
            for name, part in value.items()
            if name not in OWN_KEYS and not name.endswith(FILE_SUFFIXES)
        }
    if isinstance(value, list | tuple):
        return [_shared(part) for part in value]
    return value
