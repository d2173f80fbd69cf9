"""Reads and checks the configuration file: every mistake in one pass, each with its
line and key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from controller.configuration.checks import flaws
from controller.configuration.profiles import taken
from controller.configuration.settings import (
    Configuration,
    ConfigurationError,
    Mistake,
)
from devices import places
from devices.sections import Notes, read

RENAMED: Mapping[places.Path, str] = {("carrousel", "metrics"): "is called `listen` now"}
"""Keys of earlier releases, and what to write instead."""


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
    configuration = taken(_absolute(read(Configuration, given, (), notes), folder), folder, notes)
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


def _within(folder: Path, name: str | None) -> str | None:
    return str(folder / name) if name else name


def _absolute(configuration: Configuration, folder: Path) -> Configuration:
    state = Path(os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or folder)
    broker, people, web = configuration.broker, configuration.people, configuration.web
    carrousel, archive = configuration.carrousel, configuration.archive
    return msgspec.structs.replace(
        configuration,
        journal=msgspec.structs.replace(
            configuration.journal, path=str(state / configuration.journal.path)
        ),
        recordings=msgspec.structs.replace(
            configuration.recordings, path=str(state / configuration.recordings.path)
        ),
        broker=msgspec.structs.replace(
            broker,
            password_file=_within(folder, broker.password_file),
            ca_file=_within(folder, broker.ca_file),
            cert_file=_within(folder, broker.cert_file),
            key_file=_within(folder, broker.key_file),
        ),
        people=people and msgspec.structs.replace(people, file=_within(folder, people.file)),
        web=msgspec.structs.replace(
            web,
            path=str(state / web.path),
            theme=_within(folder, web.theme),
            cert_file=_within(folder, web.cert_file),
            key_file=_within(folder, web.key_file),
            password_file=_within(folder, web.password_file),
            broker_cert_file=_within(folder, web.broker_cert_file),
            broker_key_file=_within(folder, web.broker_key_file),
            pin_keys=_within(folder, web.pin_keys),
            pepper_file=_within(folder, web.pepper_file),
        ),
        carrousel=msgspec.structs.replace(
            carrousel,
            path=str(state / carrousel.path),
            password_file=_within(folder, carrousel.password_file),
            broker_cert_file=_within(folder, carrousel.broker_cert_file),
            broker_key_file=_within(folder, carrousel.broker_key_file),
            key=_within(folder, carrousel.key),
            recall_key=_within(folder, carrousel.recall_key),
            recall_passphrase_file=_within(folder, carrousel.recall_passphrase_file),
        ),
        bookmark=tuple(
            msgspec.structs.replace(
                each,
                ca_file=_within(folder, each.ca_file),
                secret_file=_within(folder, each.secret_file),
            )
            for each in configuration.bookmark
        ),
        video=msgspec.structs.replace(
            configuration.video, folder=_within(folder, configuration.video.folder)
        ),
        archive=msgspec.structs.replace(
            archive,
            path=str(state / archive.path),
            password_file=_within(folder, archive.password_file),
            broker_cert_file=_within(folder, archive.broker_cert_file),
            broker_key_file=_within(folder, archive.broker_key_file),
            recall_key=_within(folder, archive.recall_key),
            recall_passphrase_file=_within(folder, archive.recall_passphrase_file),
            cards_key=_within(folder, archive.cards_key),
            site=tuple(
                msgspec.structs.replace(
                    each,
                    password_file=_within(folder, each.password_file),
                    ca_file=_within(folder, each.ca_file),
                    cert_file=_within(folder, each.cert_file),
                    key_file=_within(folder, each.key_file),
                )
                for each in archive.site
            ),
        ),
    )
