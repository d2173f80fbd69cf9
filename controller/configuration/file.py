"""Reads and checks the configuration file: every mistake in one pass, each with its
line and key.
"""

from __future__ import annotations

import os
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


def load(path: str | Path) -> Configuration:
    """Read a configuration file. Raises :class:`ConfigurationError` with every mistake in it.

    Relative paths of the journal and the recordings start at ``$STATE_DIRECTORY`` (systemd sets
    it), or else at the folder of the file; relative paths of the broker's files and of profiles
    always start at the folder of the file.
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
    notes += flaws(configuration)
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
    broker, people = configuration.broker, configuration.people
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
    )
