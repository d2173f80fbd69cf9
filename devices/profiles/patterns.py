r"""Regular expressions with bounded cost, so that no line from a device can delay the program.

Python's regular expressions backtrack. The possible ways of matching are counted in advance, as if
every character fitted everywhere. An expression with too many ways is refused, as is one whose ways
cannot be counted (``\1``, ``(?=``).
"""

from __future__ import annotations

import re

MAX_WAYS = 1_000_000
"""Maximum number of ways. The expression of a Bee-Tek line has half as many by this count; in
practice far fewer are tried.
"""

_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)?(?:(,)(\d+)?)?\})[?+]?")
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


def compiled(pattern: str, longest: int, *, searched: bool = False) -> re.Pattern[bytes]:
    """Compile an expression for texts of at most ``longest`` bytes. Raises ``ValueError``
    describing the error.

    ``searched``: the match may begin anywhere, so it is tried at each byte, but after a match
    nothing is retried.
    """
    try:
        expression = re.compile(pattern.encode("latin-1"))
    except UnicodeEncodeError:
        raise ValueError(
            "is not an expression for bytes: it contains a character above \\u00ff"
        ) from None
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a valid regular expression: {error}") from None
    counting = _WayCounter(pattern, longest)
    ways = counting.all()
    if searched:
        ways = longest * counting.but_last
    if ways > MAX_WAYS:
        raise ValueError(
            "can match in too many ways; limit its repeats, as in [0-9]{1,3}, or use fewer"
        )
    return expression


class _WayCounter:
    """Counts the ways in which a valid expression can match."""

    def __init__(self, pattern: str, longest: int) -> None:
        self._pattern = pattern
        self._longest = longest
        self._at = 0
        self.but_last = 1
        """Like ``all``, without a repeat at the end, after which nothing can cause backtracking."""

    def all(self) -> int:
        """Return the number of ways, or a number above :data:`MAX_WAYS`. Raises ``ValueError`` if
        they cannot be counted.
        """
        ways = before = 1
        found = 0
        while self._at < len(self._pattern) and self._pattern[self._at] != ")":
            if self._pattern[self._at] == "|":
                self._at += 1
                found, ways, before = found + ways, 1, 1
                continue
            is_group = self._pattern[self._at] == "("
            among = self._repeated(self._element())
            before, ways = ways, min(ways * among, MAX_WAYS + 1)
            if is_group:
                before = ways
        self.but_last = min(found + before, MAX_WAYS + 1)
        return min(found + ways, MAX_WAYS + 1)

    def _element(self) -> int:
        """The ways of one character, class or group."""
        rest = self._pattern[self._at :]
        if rest.startswith("("):
            opened = _GROUP.match(rest)
            if opened is None:
                raise ValueError(
                    f"contains {rest[:3]!r}; only (...), (?:...) and (?P<name>...) are allowed"
                )
            self._at += opened.end()
            ways = self.all()
            self._at += 1
            return ways
        if found := _CLASS.match(rest):
            self._at += found.end()
        elif rest.startswith("\\"):
            if rest[1].isdigit() and rest[1] != "0":
                raise ValueError(f"contains {rest[:2]!r}; a back-reference is not allowed")
            self._at += 2
        else:
            self._at += 1
        return 1

    def _repeated(self, ways: int) -> int:
        """The ways of the last item, including its repeat."""
        found = _QUANTIFIER.match(self._pattern, self._at)
        if found is None or (found[1] is None and found[2] is None and found[4] is None):
            return ways
        self._at = found.end()
        if found[1]:
            minimum, maximum = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
        else:
            minimum = int(found[2] or 0)
            maximum = int(found[4]) if found[4] else None if found[3] else minimum
        maximum = min(self._longest if maximum is None else maximum, self._longest)
        total = 0
        for times in range(minimum, maximum + 1):
            total += ways**times if ways > 1 else 1
            if total > MAX_WAYS:
                break
        return total
