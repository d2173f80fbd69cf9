"""The mutants as data: the rules that each breaks, and the change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[2]
BOOKS = ROOT / "controller" / "rulebooks"


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One change under which the rules are broken: another value in a rulebook, or other words in a
    module.
    """

    rules: tuple[str, ...]
    what: str
    """One line: the guard that is off, or the value that is changed."""
    rulebook: str | None = None
    """The file, ``EUS96/blackjack.toml``."""
    key: str | None = None
    """Path of the value, ``dealer.stand`` or ``pays.0``."""
    value: Any = None
    module: str | None = None
    find: str | None = None
    """Text that occurs once in the module's source."""
    replace: str | None = None

    def __post_init__(self) -> None:
        book = None not in (self.rulebook, self.key, self.value)
        code = None not in (self.module, self.find, self.replace)
        parts = (self.rulebook, self.key, self.value, self.module, self.find, self.replace)
        if book == code or sum(part is not None for part in parts) != 3:
            raise ValueError(
                "a mutant has either `rulebook`, `key` and `value` or `module`, `find` and "
                "`replace`"
            )
        if not self.rules or "\n" in self.what or "\t" in self.what:
            raise ValueError("a mutant names its rules, and says in one line what it changes")

    def changed_source(self) -> str:
        """The module's source with the change, wherever its lines break. Raises ``ValueError``
        unless ``find`` occurs in it exactly once.
        """
        assert self.find is not None
        assert self.replace is not None
        source = self.path().read_text(encoding="utf-8")
        words = re.findall(r"\w+|\S", self.find)
        found = list(re.finditer(r"\s*".join(map(re.escape, words)), source))
        if len(found) != 1:
            raise ValueError(f"{self.module}: {len(found)} times {self.find!r}")
        if self.find == self.replace:
            raise ValueError(f"{self.module}: nothing changes")
        start, end = found[0].span()
        return source[:start] + self.replace.strip() + source[end:]

    def change_page(self, page: dict[str, Any]) -> None:
        """Put the value into a rulebook's page. Raises ``ValueError`` where the key is not there or
        the value is the same.
        """
        assert self.key is not None
        *way, last = (int(part) if part.isdecimal() else part for part in self.key.split("."))
        place: Any = page
        try:
            for part in way:
                place = place[_at(place, part)]
            before = place[_at(place, last)]
        except (LookupError, TypeError) as error:
            raise ValueError(f"{self.rulebook}: there is no {self.key}") from error
        if (type(before), before) == (type(self.value), self.value):
            raise ValueError(f"{self.rulebook}: {self.key} is {before!r} already")
        place[_at(place, last)] = self.value

    def path(self) -> Path:
        """The file in which the mutant is made."""
        if self.rulebook is not None:
            return BOOKS / self.rulebook
        assert self.module is not None
        stem = ROOT.joinpath(*self.module.split("."))
        return stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")


def _at(place: Any, part: int | str) -> int | str:
    """A number is an index in a list, and a key in a table."""
    return str(part) if isinstance(place, dict) else part


def families() -> dict[str, tuple[Mutant, ...]]:
    """All mutants by family. Raises ``ValueError`` that names the file."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        try:
            page = msgspec.toml.decode(path.read_bytes(), type=dict[str, tuple[Mutant, ...]])
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from error
        if set(page) - {"mutant"}:
            raise ValueError(f"{path.name}: there is nothing in it but [[mutant]]")
        found[path.stem] = page.get("mutant", ())
    return found


def enforced() -> tuple[str, ...]:
    """The enforced rules, in order. Read as text: the process that runs the mutants must not load
    the code that they change.
    """
    lines = (BOOKS / "dispositions.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return tuple(
        cells[0] for cells in (line.split("\t") for line in lines) if cells[2] == "enforced"
    )
