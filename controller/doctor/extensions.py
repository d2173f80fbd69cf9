"""Compares the installed extensions with those that the daemon of the journal has loaded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from common.chain.schema import JournalUnusableError
from common.extensions import ExtensionError, ExtensionRecord, installed_record
from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot


def check(configuration: Configuration) -> Iterator[Finding]:
    """Check each driver of `[extensions]`."""
    loaded = _loaded(Path(configuration.journal.path)) if configuration.extensions.drivers else {}
    for name in configuration.extensions.drivers:
        about = f"extension {name}"
        try:
            here = installed_record("drivers", name)
        except ExtensionError as error:
            yield Finding("fault", about, str(error), "docs/engineer/extensions.md#enable-one")
            continue
        yield assess(about, here, loaded.get(name))


def assess(about: str, here: ExtensionRecord, loaded: ExtensionRecord | None) -> Finding:
    """Assess an installed extension. ``loaded``: what the daemon has loaded, as far as known."""
    if loaded is None:
        return Finding("note", about, f"installed: {here}; no daemon has used it with this journal")
    if loaded == here:
        return Finding("ok", about, f"as the daemon has loaded it: {here}")
    return Finding(
        "warning", about,
        f"its files changed: the daemon has loaded {loaded.package} {loaded.version}, sha256 "
        f"{loaded.digest}; installed is {here.version}, sha256 {here.digest}",
        "if you upgraded it, restart the daemon while its tables are closed; if not, find out who "
        "changed it",
    )  # fmt: skip


def _loaded(journal: Path) -> dict[str, ExtensionRecord]:
    """Return what the journal's last run has loaded; empty if that is unknown."""
    try:
        with closing(JournalReader(journal)) as reader:
            entry = reader.latest("boot")
        return (
            {}
            if entry is None
            else {each.name: each for each in msgspec.json.decode(entry.body, type=Boot).extensions}
        )
    except (sqlite3.Error, OSError, ValueError, JournalUnusableError):
        return {}  # reported by the check of the disk
