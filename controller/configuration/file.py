"""Reads and checks the configuration. All errors are found in one pass, each with its file, line
and key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from common import places
from common.sections import Notes, read_section
from controller.configuration.amounts import in_minor_units
from controller.configuration.checks import flaws
from controller.configuration.extensions import enable_drivers
from controller.configuration.profiles import load_profiles
from controller.configuration.settings import (
    ApiConfig,
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
    WebhookConfig,
    WebhooksConfig,
)
from controller.configuration.sources import UnreadableError, read_sources, with_defaults

RENAMED_KEYS: Mapping[places.KeyPath, str] = {("carrousel", "metrics"): "is called `listen` now"}
"""Keys of earlier releases, and what to write instead."""

_LOGIN_FILES = "password_file", "broker_cert_file", "broker_key_file"
_RECALL_FILES = "recall_key", "recall_passphrase_file"
SITE_FILES: Mapping[type, tuple[str, ...]] = {
    BrokerConfig: ("password_file", "ca_file", "cert_file", "key_file"),
    PeopleConfig: ("file",),
    WebConfig: (
        *(*_LOGIN_FILES, "theme", "logo", "media"),
        *("cert_file", "key_file", "pin_keys", "pepper_file"),
    ),
    ApiConfig: (*_RECALL_FILES, "tokens"),
    CarrouselConfig: (*_LOGIN_FILES, *_RECALL_FILES, "key"),
    ArchiveConfig: (*_LOGIN_FILES, *_RECALL_FILES, "cards_key"),
    ArchiveSite: ("password_file", "ca_file", "cert_file", "key_file"),
    BookmarkConfig: ("ca_file", "secret_file"),
    WebhooksConfig: (*_LOGIN_FILES, *_RECALL_FILES),
    WebhookConfig: ("address_file", "secret_file", "ca_file"),
    StandbyConfig: ("creds_file", "ca_file", "cert_file", "key_file"),
    VideoConfig: ("folder",),
}
"""Keys of each section that name a file provided by the administrator."""
STATE_FILES: Mapping[type, tuple[str, ...]] = dict.fromkeys(
    (JournalConfig, RecordingsConfig, WebConfig, CarrouselConfig, ArchiveConfig, WebhooksConfig),
    ("path",),
)
"""Keys of each section that name a file written by the program."""


class Inspection(NamedTuple):
    """A configuration as far as it can be read, and its errors."""

    configuration: Configuration | None
    """None if a file is not TOML. Invalid values are replaced by their default, or are empty."""
    mistakes: tuple[Mistake, ...]
    mistaken: frozenset[str]
    """Names of the sections with errors."""
    files: tuple[Path, ...]
    sections: frozenset[str] = frozenset()
    """Names of the sections present in the files, even if empty."""


def load(path: str | Path) -> Configuration:
    """Read a configuration: its file, and the files in the folder ``NAME.d`` beside it. Raises
    :class:`ConfigurationError` with all its errors.

    Relative paths of the journal, the recordings, the ledger and the web server's data are relative
    to ``$STATE_DIRECTORY`` (set by systemd), or else to the folder of the file. All other relative
    paths are relative to the folder of the file that contains them.
    """
    result = inspect_configuration(path)
    if result.mistakes or result.configuration is None:
        raise ConfigurationError(str(path), result.mistakes)
    return result.configuration


def inspect_configuration(path: str | Path) -> Inspection:
    """Read and check a configuration; report its errors instead of raising them."""
    main = Path(path)
    try:
        sources, misplaced = read_sources(main)
    except UnreadableError as error:
        return Inspection(None, error.mistakes, frozenset(), ())
    notes: Notes = []
    enable_drivers(sources.given, notes)
    state = Path(os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or main.resolve().parent)
    content = in_minor_units(with_defaults(sources.given), notes)
    parsed: Configuration = read_section(Configuration, content, (), notes)
    configuration = _absolute(_with_languages(parsed), main.resolve().parent, state)

    def folder(table: int) -> Path:
        return sources.place(("table", table))[0].path.resolve().parent

    configuration = load_profiles(configuration, folder, notes)
    notes = [(at, RENAMED_KEYS.get(at, problem)) for at, problem in notes]
    if "decree" in (content["site"] if isinstance(content.get("site"), dict) else {}):
        # an error in it is reported there, once
        notes = [note for note in notes if note[1] != "the key `decree` is missing"]
    sections = frozenset(map(str, sources.given))
    notes += flaws(configuration, lambda at: str(sources.place(at)[0].path), sections)
    errors = {(*sources.place(at), problem): None for at, problem in [*notes]} | dict.fromkeys(
        misplaced
    )
    order = {source: index for index, source in enumerate(sources.files)}
    ordered = sorted(
        errors, key=lambda note: (order[note[0]], places.line_of(note[0].lines, note[1]) or 0)
    )
    return Inspection(
        configuration,
        tuple(source.mistake(at, problem, main) for source, at, problem in ordered),
        frozenset(str(at[0]) for _, at, _ in errors if at),
        tuple(source.path for source in sources.files),
        sections,
    )


def _with_languages(configuration: Configuration) -> Configuration:
    """Give the languages of the site to each table that names none."""
    languages = configuration.site.languages
    tables = tuple(
        replace(table_config, languages=table_config.languages or languages)
        for table_config in configuration.table
    )
    return replace(configuration, table=tables)


def _absolute(value: Any, folder: Path, state: Path) -> Any:
    """Make the paths of files absolute in a configuration, or in part of it."""
    if isinstance(value, tuple):
        return tuple(_absolute(part, folder, state) for part in value)
    if not isinstance(value, msgspec.Struct):
        return value
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    changed = {name: _absolute(part, folder, state) for name, part in fields.items()}
    changed |= {name: str(state / fields[name]) for name in STATE_FILES.get(type(value), ())}
    changed |= {
        name: str(folder / fields[name]) for name in SITE_FILES.get(type(value), ()) if fields[name]
    }
    return type(value)(**changed)
