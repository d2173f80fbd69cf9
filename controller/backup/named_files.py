"""The files of a daemon besides its journal: those that its configuration names, and the keys
beside the journal; and which of them are secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from controller.configuration.file import SITE_FILES
from controller.configuration.profiles import is_described
from controller.configuration.settings import Configuration, VideoConfig

PUBLIC_FILE_KEYS = frozenset(
    {"ca_file", "cert_file", "broker_cert_file", "file", "theme", "logo", "media"}
)
"""Keys that name files which are not secret; all other files are sealed."""
KEY_SUFFIXES = (".key", ".secret", ".simulated-surveillance")
"""Suffixes of the keys beside a journal."""


class NamedFile(msgspec.Struct, frozen=True):
    """A file, and whether it is secret."""

    path: Path
    secret: bool


def named_files(configuration: Configuration) -> list[NamedFile]:
    """Return the files that the configuration names, each once, including missing ones."""
    secrecy: dict[Path, bool] = {}
    profiles = [
        (Path(device.options["file"]), False)
        for table in configuration.table
        for device in table.device
        if is_described(device.driver)
    ]
    for path, secret in [*_walk(configuration), *profiles]:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_dir():
                secrecy[file] = secrecy.get(file, False) or secret
    return [NamedFile(path, secret) for path, secret in secrecy.items()]


def keys_beside(journal: Path) -> list[Path]:
    """Return the existing keys beside the journal."""
    paths = (journal.with_name(f"{journal.name}{suffix}") for suffix in KEY_SUFFIXES)
    return [path for path in paths if path.exists()]


def credentials(value: Any) -> list[str]:
    """Return the systemd credentials that a configuration, or a part of it, names. Only services of
    their unit can read them.
    """
    if isinstance(value, tuple):
        return [name for part in value for name in credentials(part)]
    if not isinstance(value, msgspec.Struct):
        return []
    own = [getattr(value, name) for name in value.__struct_fields__ if name.endswith("_credential")]
    inner = [credentials(getattr(value, name)) for name in value.__struct_fields__]
    return [*filter(None, own), *(name for part in inner for name in part)]


def _walk(value: Any) -> Iterator[tuple[Path, bool]]:
    if isinstance(value, tuple):
        for part in value:
            yield from _walk(part)
    if not isinstance(value, msgspec.Struct) or isinstance(value, VideoConfig):
        return
    for name in SITE_FILES.get(type(value), ()):
        if file_name := getattr(value, name):
            yield Path(file_name), name not in PUBLIC_FILE_KEYS
    for name in value.__struct_fields__:
        yield from _walk(getattr(value, name))
