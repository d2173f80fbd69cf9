"""The files that belong to a daemon besides its journal: those that its configuration names, and
the keys beside the journal. Which of them are secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from controller.configuration.file import SITE_FILES
from controller.configuration.profiles import is_described
from controller.configuration.settings import Configuration, VideoConfig

OPEN = frozenset({"ca_file", "cert_file", "broker_cert_file", "file", "theme"})
"""Keys that name a file which is no secret; all others are sealed."""
BESIDE = (".key", ".secret", ".simulated-surveillance")
"""What the names of the keys beside a journal end with."""


class Named(msgspec.Struct, frozen=True):
    """A file, and whether it is secret."""

    path: Path
    secret: bool


def named_files(configuration: Configuration) -> list[Named]:
    """The files that the configuration names, each once. Those that do not exist are there too."""
    found: dict[Path, bool] = {}
    profiles = [
        (Path(device.options["file"]), False)
        for table in configuration.table
        for device in table.device
        if is_described(device.driver)
    ]
    for path, secret in [*_walk(configuration), *profiles]:
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not each.is_dir():
                found[each] = found.get(each, False) or secret
    return [Named(path, secret) for path, secret in found.items()]


def keys_beside(journal: Path) -> list[Path]:
    """The keys that stand beside the journal."""
    paths = (journal.with_name(f"{journal.name}{end}") for end in BESIDE)
    return [path for path in paths if path.exists()]


def credentials(value: Any) -> list[str]:
    """The systemd credentials that a configuration, or a part of it, names. Only the services of
    that unit can read them.
    """
    if isinstance(value, tuple):
        return [found for each in value for found in credentials(each)]
    if not isinstance(value, msgspec.Struct):
        return []
    own = [getattr(value, name) for name in value.__struct_fields__ if name.endswith("_credential")]
    inner = [credentials(getattr(value, name)) for name in value.__struct_fields__]
    return [*filter(None, own), *(found for each in inner for found in each)]


def _walk(value: Any) -> Iterator[tuple[Path, bool]]:
    if isinstance(value, tuple):
        for each in value:
            yield from _walk(each)
    if not isinstance(value, msgspec.Struct) or isinstance(value, VideoConfig):
        return
    for name in SITE_FILES.get(type(value), ()):
        if given := getattr(value, name):
            yield Path(given), name not in OPEN
    for name in value.__struct_fields__:
        yield from _walk(getattr(value, name))
