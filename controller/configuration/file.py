"""Reads and checks the configuration: every mistake in one pass, each with its file, line and
key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from controller.configuration.amounts import in_minor_units
from controller.configuration.checks import flaws
from controller.configuration.profiles import taken
from controller.configuration.settings import (
    ArchiveConfig,
    ArchiveSite,
    BookmarkConfig,
    BrokerConfig,
    CarrouselConfig,
    Configuration,
    ConfigurationError,
    JournalConfig,
    Mistake,
    PeopleConfig,
    RecordingsConfig,
    StandbyConfig,
    VideoConfig,
    WebConfig,
)
from controller.configuration.sources import UnreadableError, read_sources, with_defaults
from devices import places
from devices.sections import Notes, read

RENAMED: Mapping[places.Path, str] = {("carrousel", "metrics"): "is called `listen` now"}
"""Keys of earlier releases, and what to write instead."""

_LOGIN = "password_file", "broker_cert_file", "broker_key_file"
_RECALLS = "recall_key", "recall_passphrase_file"
FILES: Mapping[type, tuple[str, ...]] = {
    BrokerConfig: ("password_file", "ca_file", "cert_file", "key_file"),
    PeopleConfig: ("file",),
    WebConfig: (*_LOGIN, "theme", "cert_file", "key_file", "pin_keys", "pepper_file"),
    CarrouselConfig: (*_LOGIN, *_RECALLS, "key"),
    ArchiveConfig: (*_LOGIN, *_RECALLS, "cards_key"),
    ArchiveSite: ("password_file", "ca_file", "cert_file", "key_file"),
    BookmarkConfig: ("ca_file", "secret_file"),
    StandbyConfig: ("creds_file", "ca_file", "cert_file", "key_file"),
    VideoConfig: ("folder",),
}
"""Keys of each section that name a file of the person who configures."""
KEPT: Mapping[type, tuple[str, ...]] = dict.fromkeys(
    (JournalConfig, RecordingsConfig, WebConfig, CarrouselConfig, ArchiveConfig), ("path",)
)
"""Keys of each section that name a file of the program."""


class Inspected(NamedTuple):
    """A configuration as far as it can be read, and what is wrong with it."""

    configuration: Configuration | None
    """None: a file is no TOML. What is mistaken has its default here, or is empty."""
    mistakes: tuple[Mistake, ...]
    mistaken: frozenset[str]
    """The sections that have mistakes."""
    files: tuple[Path, ...]
    sections: frozenset[str] = frozenset()
    """The sections that are there, if only with what goes without saying."""


def load(path: str | Path) -> Configuration:
    """Read a configuration: its file, and those of the folder ``NAME.d`` beside it. Raises
    :class:`ConfigurationError` with every mistake in it.

    Relative paths of the journal, the recordings, the ledger and what the web server keeps start at
    ``$STATE_DIRECTORY`` (systemd sets it), or else at the folder of the file; those of all other
    files always start at the folder of the file in which they stand.
    """
    found = inspected(path)
    if found.mistakes or found.configuration is None:
        raise ConfigurationError(str(path), found.mistakes)
    return found.configuration


def inspected(path: str | Path) -> Inspected:
    """The same, whatever is wrong."""
    file = Path(path)
    try:
        sources, misplaced = read_sources(file)
    except UnreadableError as error:
        return Inspected(None, error.mistakes, frozenset(), ())
    notes: Notes = []
    state = Path(os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or file.resolve().parent)
    given = in_minor_units(with_defaults(sources.given), notes)
    read_as: Configuration = read(Configuration, given, (), notes)
    configuration = _absolute(_with_languages(read_as), file.resolve().parent, state)

    def folder(table: int) -> Path:
        return sources.place(("table", table))[0].path.resolve().parent

    configuration = taken(configuration, folder, notes)
    notes = [(at, RENAMED.get(at, what)) for at, what in notes]
    if "decree" in (given["site"] if isinstance(given.get("site"), dict) else {}):
        # a mistake in it is told there, once
        notes = [note for note in notes if note[1] != "the key `decree` is missing"]
    sections = frozenset(map(str, sources.given))
    notes += flaws(configuration, lambda at: str(sources.place(at)[0].path), sections)
    told = {(*sources.place(at), what): None for at, what in [*notes]} | dict.fromkeys(misplaced)
    order = {source: index for index, source in enumerate(sources.files)}
    ordered = sorted(
        told, key=lambda note: (order[note[0]], places.line(note[0].lines, note[1]) or 0)
    )
    return Inspected(
        configuration,
        tuple(source.mistake(at, what, file) for source, at, what in ordered),
        frozenset(str(at[0]) for _, at, _ in told if at),
        tuple(source.path for source in sources.files),
        sections,
    )


def _with_languages(configuration: Configuration) -> Configuration:
    """The same with the languages of the site at each table that names none."""
    of_site = configuration.site.languages
    table = tuple(
        replace(each, languages=each.languages or of_site) for each in configuration.table
    )
    return replace(configuration, table=table)


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
