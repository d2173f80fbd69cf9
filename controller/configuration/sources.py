"""The files of a configuration: ``NAME.toml``, and those of the folder ``NAME.d`` beside it, in
order of their names, each of which adds tables and jackpots.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.configuration.settings import Configuration, Mistake
from controller.rulebooks.chapters import decrees
from devices import places
from devices.sections import several
from devices.suggestions import instead_of

ADDS = ("table", "jackpot")
"""The sections that a file of the folder may have."""


class Source(msgspec.Struct, frozen=True, eq=False):
    """One file that was read."""

    path: Path
    given: dict[str, Any]
    lines: dict[places.Path, int]

    def mistake(self, at: places.Path, what: str, main: Path) -> Mistake:
        """A mistake in this file, with its line."""
        line = places.line(self.lines, at) or 0
        spelt = places.spell(at)
        place = f"line {line}: {spelt}" if line else spelt or "file"
        return Mistake(place, what, "" if self.path == main else str(self.path))


class Sources(NamedTuple):
    """All files, as one."""

    files: tuple[Source, ...]
    """The main one first."""
    given: dict[str, Any]
    """What they say together."""
    place: Callable[[places.Path], tuple[Source, places.Path]]
    """Where a part of it stands: the file, and the path in it."""


class UnreadableError(Exception):
    """Some file is no TOML, or cannot be read. ``mistakes``: all that is wrong with its form."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__()
        self.mistakes = mistakes


def files_of(path: Path) -> list[Path]:
    """The files of a configuration, the main one first. Raises ``OSError``."""
    try:
        beside = list(path.with_suffix(".d").iterdir()) if path.suffix == ".toml" else []
    except (FileNotFoundError, NotADirectoryError):
        beside = []
    added = [each for each in beside if each.suffix == ".toml" and not each.name.startswith(".")]
    return [path, *sorted(added, key=lambda each: each.name)]


def read_sources(path: Path) -> tuple[Sources, list[tuple[Source, places.Path, str]]]:
    """All files of a configuration, and what is wrong with how they are shared out. Raises
    :class:`UnreadableError`.
    """
    try:
        found = files_of(path)
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise UnreadableError((Mistake("file", what, str(path.with_suffix(".d"))),)) from error
    read, wrong = [], list[Mistake]()
    for each in found:
        try:
            read.append(_source(each))
        except UnreadableError as error:
            wrong += [
                msgspec.structs.replace(mistake, file="" if each == path else str(each))
                for mistake in error.mistakes
            ]
    if wrong:
        raise UnreadableError(tuple(wrong))
    return _together(read)


def _source(path: Path) -> Source:
    """One file. Raises :class:`UnreadableError`, without its name."""
    try:
        text = path.read_bytes().decode("utf-8-sig")  # some editors begin every file with a mark
    except OSError as error:
        mistake = Mistake("file", f"cannot be read: {error.strerror}")
        raise UnreadableError((mistake,)) from error
    except UnicodeDecodeError as error:
        mistake = Mistake(f"byte {error.start + 1}", "is not UTF-8 text")
        raise UnreadableError((mistake,)) from error
    try:
        return Source(path, places.loads(text, decimals=True), places.lines(text))
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number with too many digits, or brackets nested without end
        raise UnreadableError(_malformed(text, error)) from error


def _malformed(text: str, error: Exception) -> tuple[Mistake, ...]:
    """Why a text is no TOML. Lines that are wrong by themselves are left out and the rest is read
    again, so that the next one is told too.
    """
    rows = text.replace("\r\n", "\n").split("\n")
    told = list[Mistake]()
    while True:
        what, _, where = str(error).rpartition(" (at ")
        place = where.rstrip(")") if what else "file"
        told.append(Mistake(place, places.refused(what or str(error))))
        number = place.removeprefix("line ").partition(",")[0]
        row = int(number) - 1 if number.isdecimal() else len(rows)
        if row >= len(rows) or _sound(rows[row]):
            return tuple(told)
        rows[row] = ""
        try:
            places.loads("\n".join(rows))
        except (ValueError, RecursionError) as next_error:
            error = next_error
        else:
            return tuple(told)


def _sound(row: str) -> bool:
    """Whether a line is no mistake by itself: then the mistake stands elsewhere."""
    try:
        tomllib.loads(row)
    except (ValueError, RecursionError):
        return False
    return True


def _together(read: list[Source]) -> tuple[Sources, list[tuple[Source, places.Path, str]]]:
    main, *added = read
    wrong: list[tuple[Source, places.Path, str]] = [
        (source, (key,), _misplaced(key, main.path, source.path))
        for source in added
        for key in source.given
        if key not in ADDS
    ]
    given, origins = dict(main.given), dict[str, list[tuple[Source, int]]]()
    for key in ADDS:
        holders = [source for source in read if key in source.given]
        if holders in ([], [main]):
            continue
        given[key], origins[key] = [], []
        for source in holders:
            there = source.given[key]
            if not isinstance(there, list):
                wrong.append((source, (key,), several((key,))))
                continue
            given[key] += there
            origins[key] += [(source, index) for index in range(len(there))]

    def place(at: places.Path) -> tuple[Source, places.Path]:
        if len(at) > 1 and at[0] in origins and isinstance(at[1], int):
            source, index = origins[str(at[0])][at[1]]
            return source, (at[0], index, *at[2:])
        return main, at

    return Sources(tuple(read), given, place), wrong


def _misplaced(key: str, main: Path, added: Path) -> str:
    if key in {field.name for field in msgspec.structs.fields(Configuration)}:
        sections = " and ".join(f"[[{each}]]" for each in ADDS)
        return f"stands in {main.name} alone; a file of {added.parent.name} has {sections}"
    return f"unknown key; {instead_of(key, ADDS)}"


def with_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """The same with the decree of the site at each table and jackpot that names none."""
    site = given.get("site")
    decree = site.get("decree") if isinstance(site, dict) else None
    if decree not in decrees():
        return given
    return given | {
        key: [{"decree": decree, **each} if isinstance(each, dict) else each for each in given[key]]
        for key in ADDS
        if isinstance(given.get(key), list)
    }
