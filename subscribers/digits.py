"""Large digits for a terminal, three pixels wide and five high; a pixel is two characters wide, so
that it is square.
"""

from __future__ import annotations

HEIGHT = 5

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


def large(text: str) -> list[str]:
    """Five lines showing ``text``: digits and dashes; any other character becomes a dash."""
    glyphs = [_FONT.get(character, _FONT["-"]) for character in text]
    return [
        "  ".join(glyph[row].replace("1", "██").replace("0", "  ") for glyph in glyphs)
        for row in range(HEIGHT)
    ]
