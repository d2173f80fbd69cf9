"""Reads and checks the configuration file: every mistake in one pass, each with its
line and key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from controller.configuration.checks import flaws
from controller.configuration.profiles import taken
from controller.configuration.settings import (
    Archive,
    ArchiveSite,
    Bookmark,
    Broker,
    Carrousel,
    Configuration,
    ConfigurationError,
    Journal,
    Mistake,
    People,
    Recordings,
    Video,
    Web,
)
from devices import places
from devices.sections import Notes, read

RENAMED: Mapping[places.Path, str] = {("carrousel", "metrics"): "is called `listen` now"}
"""Keys of earlier releases, and what to write instead."""

_LOGIN = "password_file", "broker_cert_file", "broker_key_file"
_RECALLS = "recall_key", "recall_passphrase_file"
FILES: Mapping[type, tuple[str, ...]] = {
    Broker: ("password_file", "ca_file", "cert_file", "key_file"),
    People: ("file",),
    Web: (*_LOGIN, "theme", "cert_file", "key_file", "pin_keys", "pepper_file"),
    Carrousel: (*_LOGIN, *_RECALLS, "key"),
    Archive: (*_LOGIN, *_RECALLS, "cards_key"),
    ArchiveSite: ("password_file", "ca_file", "cert_file", "key_file"),
    Bookmark: ("ca_file", "secret_file"),
    Video: ("folder",),
}
"""Keys of each section that name a file of the person who configures."""
KEPT: Mapping[type, tuple[str, ...]] = dict.fromkeys(
    (Journal, Recordings, Web, Carrousel, Archive), ("path",)
)
"""Keys of each section that name a file of the program."""


def load(path: str | Path) -> Configuration:
    """Read a configuration file. Raises :class:`ConfigurationError` with every mistake in it.

    Relative paths of the journal, the recordings, the ledger and what the web server keeps start at
    ``$STATE_DIRECTORY`` (systemd sets it), or else at the folder of the file; those of all other
    files always start at the folder of the file.
    """
    file = Path(path)
    try:
        text = file.read_bytes().decode(
            "utf-8-sig"
        )  # some editors begin every file with a byte order mark
        given = places.loads(text)
    except OSError as error:
        raise ConfigurationError(
            str(path), (Mistake("file", f"cannot be read: {error.strerror}"),)
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            str(path), (Mistake(f"byte {error.start + 1}", "is not UTF-8 text"),)
        ) from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number with too many digits, or brackets nested without end
        what, _, where = str(error).rpartition(" (at ")
        mistake = Mistake(where.rstrip(")") if what else "file", places.refused(what or str(error)))
        raise ConfigurationError(str(path), (mistake,)) from error
    notes: Notes = []
    folder = file.resolve().parent
    state = Path(os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or folder)
    configuration: Configuration = _absolute(read(Configuration, given, (), notes), folder, state)
    configuration = taken(configuration, folder, notes)
    notes = [(at, RENAMED.get(at, what)) for at, what in notes] + flaws(configuration)
    if notes:
        found = places.lines(text)
        ordered = sorted(
            {note: places.line(found, note[0]) or 0 for note in notes}.items(),
            key=lambda item: item[1],
        )
        raise ConfigurationError(
            str(path), tuple(Mistake(_place(line, at), what) for (at, what), line in ordered)
        )
    return configuration


def _place(line: int, at: places.Path) -> str:
    return f"line {line}: {places.spell(at)}" if line else places.spell(at) or "file"


def _absolute(value: Any, folder: Path, state: Path) -> Any:
    """The same configuration, or part of it, with the paths of its files made absolute."""
    if isinstance(value, tuple):
        return tuple(_absolute(each, folder, state) for each in value)
    if not isinstance(value, msgspec.Struct):
        return value
    given = {name: getattr(value, name) for name in value.__struct_fields__}
    made = {name: _absolute(each, folder, state) for name, each in given.items()}
    made |= {name: str(state / given[name]) for name in KEPT.get(type(value), ())}
    made |= {name: str(folder / given[name]) for name in FILES.get(type(value), ()) if given[name]}
    return type(value)(**made)
