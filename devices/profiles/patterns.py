r"""Regular expressions that cannot run away: a line that a device sends must never cost more than a
moment.

Python's expressions try one way after another. Here the ways are counted beforehand, as if every
character fitted everywhere, and an expression with too many is refused; so are those whose ways
nobody can count (``\1``, ``(?=``).
"""

from __future__ import annotations

import re

MOST_WAYS = 1_000_000
"""What is searched for in a Bee-Tek's line has half as many by this count; what is really tried is
far less.
"""

_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)?(?:(,)(\d+)?)?\})[?+]?")
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


def compiled(pattern: str, longest: int, *, searched: bool = False) -> re.Pattern[bytes]:
    """The expression for texts of at most ``longest`` bytes. Raises ``ValueError`` that says what
    is wrong with it.

    ``searched``: it may begin anywhere, so its ways are tried at each byte; but where it ends,
    nothing is tried again.
    """
    try:
        made = re.compile(pattern.encode("latin-1"))
    except UnicodeEncodeError:
        raise ValueError("is no expression for bytes: a character is above \\u00ff") from None
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    counting = _Ways(pattern, longest)
    ways = counting.all()
    if searched:
        ways = longest * counting.but_last
    if ways > MOST_WAYS:
        raise ValueError(
            "can be tried in too many ways: bound its repeats, as in [0-9]{1,3}, or make them fewer"
        )
    return made


class _Ways:
    """Counts the ways of an expression that is known to be one."""

    def __init__(self, pattern: str, longest: int) -> None:
        self._pattern = pattern
        self._longest = longest
        self._at = 0
        self.but_last = 1
        """Without those of a repeat that the expression ends with: nothing follows for which it
        would be tried again.
        """

    def all(self) -> int:
        """As many, or a number above :data:`MOST_WAYS`. Raises ``ValueError`` for what cannot be
        counted.
        """
        ways = before = 1
        found = 0
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._pattern[self._at] == "|":
                self._at += 1
                found, ways, before = found + ways, 1, 1
                continue
            is_group = self._pattern[self._at] == "("
            among = self._repeated(self._one())
            before, ways = ways, min(ways * among, MOST_WAYS + 1)
            if is_group:
                before = ways
        self.but_last = min(found + before, MOST_WAYS + 1)
        return min(found + ways, MOST_WAYS + 1)

    def _one(self) -> int:
        """The ways of one character, class or group."""
        rest = self._pattern[self._at :]
        if rest.startswith("("):
            opened = _GROUP.match(rest)
            if opened is None:
                raise ValueError(
                    f"holds {rest[:3]!r}: only (...), (?:...) and (?P<name>...) are taken"
                )
            self._at += opened.end()
            ways = self.all()
            self._at += 1
            return ways
        if found := _CLASS.match(rest):
            self._at += found.end()
        elif rest.startswith("\\"):
            if rest[1].isdigit() and rest[1] != "0":
                raise ValueError(
                    f"holds {rest[:2]!r}: an expression that repeats what was found is not taken"
                )
            self._at += 2
        else:
            self._at += 1
        return 1

    def _repeated(self, ways: int) -> int:
        """The ways of what was just read, with the repeat behind it."""
        found = _QUANTIFIER.match(self._pattern, self._at)
        if found is None or (found[1] is None and found[2] is None and found[4] is None):
            return ways
        self._at = found.end()
        if found[1]:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
        else:
            least = int(found[2] or 0)
            most = int(found[4]) if found[4] else None if found[3] else least
        most = min(self._longest if most is None else most, self._longest)
        total = 0
        for times in range(least, most + 1):
            total += ways**times if ways > 1 else 1
            if total > MOST_WAYS:
                break
        return total
