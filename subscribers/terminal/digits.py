"""Large digits for a terminal, three pixels wide and five high. A pixel is two characters wide, so
that it is square.
"""

from __future__ import annotations

HEIGHT = 5
MAX_MAGNIFICATION = 4
"""Maximum magnification."""
GAP = 2
"""Characters between two digits."""

_FONT = {
    "0": ("111", "101", "101", "101", "111"),
    "1": ("010", "110", "010", "010", "111"),
    "2": ("111", "001", "111", "100", "111"),
    "3": ("111", "001", "111", "001", "111"),
    "4": ("101", "101", "111", "001", "001"),
    "5": ("111", "100", "111", "001", "111"),
    "6": ("111", "100", "111", "101", "111"),
    "7": ("111", "001", "001", "001", "001"),
    "8": ("111", "101", "111", "101", "111"),
    "9": ("111", "101", "111", "001", "111"),
    "-": ("000", "000", "111", "000", "000"),
}


def large(text: str, times: int = 1) -> list[str]:
    """Return the lines that show ``text``, magnified ``times``. A character that is neither a digit
    nor a dash becomes a dash.
    """
    glyphs = [_FONT.get(character, _FONT["-"]) for character in text]
    full, empty = "██" * times, "  " * times
    lines = [
        (" " * GAP * times).join(
            glyph[row].replace("1", full).replace("0", empty) for glyph in glyphs
        )
        for row in range(HEIGHT)
    ]
    return [line for line in lines for _ in range(times)]


def times(width: int, height: int, digits: int = 2) -> int:
    """Return the largest magnification that fits."""
    own = digits * 6 + (digits - 1) * GAP
    return max(1, min(MAX_MAGNIFICATION, width // own, height // HEIGHT))
