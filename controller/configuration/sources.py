"""The files of a configuration: ``NAME.toml``, and the files in the folder ``NAME.d`` beside it, in
order of name, each of which adds tables and jackpots.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from common import places
from common.sections import array_hint
from common.suggestions import suggest
from common.toml_errors import describe_toml_error
from controller.configuration.settings import Configuration, Mistake
from controller.rulebooks.chapters import decrees

ADDABLE_SECTIONS = ("table", "jackpot")
"""Sections allowed in an additional file."""


class ConfigFile(msgspec.Struct, frozen=True, eq=False):
    """One file, parsed."""

    path: Path
    given: dict[str, Any]
    lines: dict[places.KeyPath, int]

    def mistake(self, at: places.KeyPath, problem: str, main: Path) -> Mistake:
        """Describe an error in this file, with its line."""
        line = places.line_of(self.lines, at) or 0
        spelt = places.format_path(at)
        place = f"line {line}: {spelt}" if line else spelt or "file"
        return Mistake(place, problem, "" if self.path == main else str(self.path))


class ConfigFiles(NamedTuple):
    """All files, merged."""

    files: tuple[ConfigFile, ...]
    """The main file first."""
    given: dict[str, Any]
    """The merged content."""
    place: Callable[[places.KeyPath], tuple[ConfigFile, places.KeyPath]]
    """Maps a path in the merged content to the file, and the path there."""


class UnreadableError(Exception):
    """A file cannot be read, or is not TOML. ``mistakes``: all its errors of form."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__()
        self.mistakes = mistakes


def files_of(path: Path) -> list[Path]:
    """Return the files of a configuration, the main one first. Raises ``OSError``."""
    try:
        entries = list(path.with_suffix(".d").iterdir()) if path.suffix == ".toml" else []
    except (FileNotFoundError, NotADirectoryError):
        entries = []
    additional = [
        file for file in entries if file.suffix == ".toml" and not file.name.startswith(".")
    ]
    return [path, *sorted(additional, key=lambda file: file.name)]


def read_sources(path: Path) -> tuple[ConfigFiles, list[tuple[ConfigFile, places.KeyPath, str]]]:
    """Read all files of a configuration, and report sections that are in the wrong file. Raises
    :class:`UnreadableError`.
    """
    try:
        files = files_of(path)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise UnreadableError((Mistake("file", problem, str(path.with_suffix(".d"))),)) from error
    read, mistakes = [], list[Mistake]()
    for file in files:
        try:
            read.append(_read_source(file))
        except UnreadableError as error:
            mistakes += [
                msgspec.structs.replace(mistake, file="" if file == path else str(file))
                for mistake in error.mistakes
            ]
    if mistakes:
        raise UnreadableError(tuple(mistakes))
    return _merge(read)


def _read_source(path: Path) -> ConfigFile:
    """Read one file. Raises :class:`UnreadableError`, without its name."""
    try:
        text = path.read_bytes().decode("utf-8-sig")  # some editors write a byte order mark
    except OSError as error:
        hint = "; `novamas init` writes a first one" if isinstance(error, FileNotFoundError) else ""
        mistake = Mistake("file", f"cannot be read: {error.strerror}{hint}")
        raise UnreadableError((mistake,)) from error
    except UnicodeDecodeError as error:
        mistake = Mistake(f"byte {error.start + 1}", "is not UTF-8 text")
        raise UnreadableError((mistake,)) from error
    try:
        return ConfigFile(path, places.loads(text, decimals=True), places.line_numbers(text))
    except (ValueError, RecursionError) as error:  # too many digits or nested brackets, too
        raise UnreadableError(_malformed(text, error)) from error


def _malformed(text: str, error: Exception) -> tuple[Mistake, ...]:
    """Describe why a text is not TOML. Each faulty line is removed and the rest parsed again, so
    that all errors are reported at once.
    """
    rows = text.replace("\r\n", "\n").split("\n")
    mistakes = list[Mistake]()
    while True:
        found = describe_toml_error("\n".join(rows), error)
        mistakes.append(Mistake(found.place, found.what))
        row = found.line - 1
        if _parses_alone(rows[row]):
            return tuple(mistakes)
        rows[row] = ""
        try:
            places.loads("\n".join(rows))
        except (ValueError, RecursionError) as next_error:
            error = next_error
        else:
            return tuple(mistakes)


def _parses_alone(row: str) -> bool:
    """True if this line parses on its own; the error is then on another line."""
    try:
        tomllib.loads(row)
    except (ValueError, RecursionError):
        return False
    return True


def _merge(
    read: list[ConfigFile],
) -> tuple[ConfigFiles, list[tuple[ConfigFile, places.KeyPath, str]]]:
    main, *added = read
    misplaced: list[tuple[ConfigFile, places.KeyPath, str]] = [
        (source, (key,), _misplaced(key, main.path, source.path))
        for source in added
        for key in source.given
        if key not in ADDABLE_SECTIONS
    ]
    merged, origins = dict(main.given), dict[str, list[tuple[ConfigFile, int]]]()
    for key in ADDABLE_SECTIONS:
        holders = [source for source in read if key in source.given]
        if holders in ([], [main]):
            continue
        merged[key], origins[key] = [], []
        for source in holders:
            section = source.given[key]
            if not isinstance(section, list):
                misplaced.append((source, (key,), array_hint((key,))))
                continue
            merged[key] += section
            origins[key] += [(source, index) for index in range(len(section))]

    def place(at: places.KeyPath) -> tuple[ConfigFile, places.KeyPath]:
        if len(at) > 1 and at[0] in origins and isinstance(at[1], int):
            source, index = origins[str(at[0])][at[1]]
            return source, (at[0], index, *at[2:])
        return main, at

    return ConfigFiles(tuple(read), merged, place), misplaced


def _misplaced(key: str, main: Path, added: Path) -> str:
    if key in {field.name for field in msgspec.structs.fields(Configuration)}:
        sections = " and ".join(f"[[{section}]]" for section in ADDABLE_SECTIONS)
        return f"is allowed only in {main.name}; a file of {added.parent.name} has {sections}"
    return f"unknown key; {suggest(key, ADDABLE_SECTIONS)}"


def with_defaults(content: dict[str, Any]) -> dict[str, Any]:
    """Give the decree of the site to each table and jackpot that names none."""
    site = content.get("site")
    decree = site.get("decree") if isinstance(site, dict) else None
    if decree not in decrees():
        return content
    return content | {
        key: [
            {"decree": decree, **section} if isinstance(section, dict) else section
            for section in content[key]
        ]
        for key in ADDABLE_SECTIONS
        if isinstance(content.get(key), list)
    }
