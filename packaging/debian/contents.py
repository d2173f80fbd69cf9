"""Software bill of materials of a package, as CycloneDX 1.6: each distribution of its environment
with version, licence and hash.
"""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path


def contents(site: Path, hashes: dict[str, str], time: datetime) -> str:
    """Return the document as JSON.

    ``site``: the site-packages folder. ``hashes``: SHA-256 of the wheel of each distribution, by
    name.
    """
    found = sorted(distributions(path=[str(site)]), key=lambda each: each.name.lower())
    ours = next(each for each in found if each.name == "novamas")
    others = [each for each in found if each is not ours]
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(hashes, sort_keys=True))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": _component(ours, hashes["novamas"]) | {"type": "application"},
        },
        "components": [_component(each, hashes[each.name]) for each in others],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _component(distribution: Distribution, sha256: str) -> dict[str, object]:
    name, version = distribution.name, distribution.version
    address = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    made: dict[str, object] = {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": sha256}],
        "purl": address,
    }
    licences = _licences(distribution)
    return made | ({"licenses": licences} if licences else {})


def _licences(distribution: Distribution) -> list[dict[str, object]]:
    """Return an SPDX expression if the metadata has one, else its licence names."""
    metadata = distribution.metadata
    if "License-Expression" in metadata:
        return [{"expression": metadata["License-Expression"]}]
    marks = metadata.get_all("Classifier") or []
    named = [mark.rpartition(" :: ")[2] for mark in marks if mark.startswith("License ::")]
    written = "".join(metadata.get_all("License") or [])
    if not named and written and "\n" not in written:
        named = [written]
    return [{"license": {"name": name}} for name in named]
