"""Analyses regular expressions of a profile: their groups, and texts that match.

Supports the expressions that :mod:`devices.profiles.patterns` accepts: characters, classes, groups,
alternatives and repeats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import msgspec

from devices.profiles.pseudo_random import PseudoRandom

_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)?(?:(,)(\d+)?)?\})[?+]?")
_GROUP_START = re.compile(r"\((?:\?:|\?P<(\w+)>|)")
_ZERO_WIDTH = re.compile(r"[\^$]|\\[AbBZ]")
"""Expressions that match between two characters."""
_EXTRA_REPEATS = 3
"""Number of repeats tried beyond the minimum."""

_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _Item(msgspec.Struct):
    """Characters, or a group of alternatives, with its number of repeats."""

    characters: str = ""
    ways: list[list[_Item]] | None = None
    name: str | None = None
    text: str = ""
    least: int = 1
    most: int = 1


class Expression:
    """A valid expression. ``groups``: name -> expression of the group."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._whole = re.compile(pattern.encode("latin-1"))
        self.groups: dict[str, str] = {}
        self._ways = self._alternatives()

    def may_be(self, group: str, text: str) -> bool:
        """Return whether a group can match this text."""
        try:
            return bool(re.fullmatch(self.groups[group].encode("latin-1"), text.encode("latin-1")))
        except UnicodeEncodeError:
            return False

    def example(self, draws: PseudoRandom, wanted: Mapping[str, str]) -> str | None:
        """Return a matching text with the given texts for groups. None: this attempt failed."""
        text = self._one_of(self._ways, draws, wanted)
        fits = text is not None and self._whole.fullmatch(text.encode("latin-1"))
        return text if fits else None

    def _one_of(
        self, ways: list[list[_Item]], draws: PseudoRandom, wanted: Mapping[str, str]
    ) -> str | None:
        parts: list[str] = []
        for item in draws.choice(ways):
            if item.name is not None and item.name in wanted:
                if not self.may_be(item.name, wanted[item.name]):
                    return None
                parts.append(wanted[item.name])
                continue
            max_repeats = min(item.most, item.least + _EXTRA_REPEATS)
            for _ in range(
                draws.choice((item.least, item.least + draws.below(max_repeats - item.least + 1)))
            ):
                part = (
                    draws.choice(item.characters)
                    if item.ways is None
                    else self._one_of(item.ways, draws, wanted)
                )
                if part is None:
                    return None
                parts.append(part)
        return "".join(parts)

    def _alternatives(self) -> list[list[_Item]]:
        ways: list[list[_Item]] = [[]]
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._pattern[self._at] == "|":
                self._at += 1
                ways.append([])
            elif empty := _ZERO_WIDTH.match(self._pattern, self._at):
                self._at = empty.end()
            else:
                item = self._item()
                self._repeat(item)
                ways[-1].append(item)
        return ways

    def _item(self) -> _Item:
        begin = self._at
        opened = _GROUP_START.match(self._pattern, begin)
        if opened is not None:
            self._at = opened.end()
            ways = self._alternatives()
            text = self._pattern[opened.end() : self._at]
            self._at += 1
            if opened[1] is not None:
                self.groups[opened[1]] = text
            return _Item(ways=ways, name=opened[1], text=text)
        found = _CLASS.match(self._pattern, begin)
        if found is not None:
            self._at = found.end()
        elif self._pattern[begin] == "\\":
            escape = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|0[0-7]{0,2}|.)", re.DOTALL)
            matched = escape.match(self._pattern, begin)
            self._at = begin + 2 if matched is None else matched.end()
        else:
            self._at += 1
        return _Item(characters=_characters(self._pattern[begin : self._at]))

    def _repeat(self, item: _Item) -> None:
        found = _QUANTIFIER.match(self._pattern, self._at)
        if found is None or (found[1] is None and found[2] is None and found[4] is None):
            return
        self._at = found.end()
        if found[1]:
            item.least, item.most = {"*": (0, 64), "+": (1, 64), "?": (0, 1)}[found[1]]
            return
        item.least = int(found[2] or 0)
        item.most = int(found[4]) if found[4] else item.least + 64 if found[3] else item.least


@cache
def _characters(atom: str) -> str:
    """Characters that an atom matches, plain ones first and most often."""
    matches = re.compile(atom.encode("latin-1"))
    found = [chr(byte) for byte in range(256) if matches.fullmatch(bytes((byte,)))]
    plain = [character for character in found if character in _ALPHANUMERIC]
    printable = [character for character in found if " " <= character <= "~"]
    return "".join(plain * 2 + printable * 2) or "".join(found)
