"""A receipt for an ESC/POS thermal printer, 42 columns on 80 mm paper.

Commands: ``ESC @`` initialises, ``ESC t 19`` selects the code page PC858, ``ESC E`` is bold, ``GS
!`` sets the size, ``ESC a`` the alignment, ``GS V 66 0`` feeds and cuts the paper.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from common.contract.messages.messages import text
from subscribers.carrousel.receipt import Receipt, labelled_values, paid_amount, title

LINE_WIDTH = 42
_INITIALISE = b"\x1b@\x1bt\x13"
_BOLD, _PLAIN = b"\x1bE\x01", b"\x1bE\x00"
_LARGE, _NORMAL = b"\x1d!\x11", b"\x1d!\x00"
_CENTRE, _LEFT = b"\x1ba\x01", b"\x1ba\x00"
_CUT = b"\x1dVB\x00"


def as_escpos(receipt: Receipt, language: str) -> bytes:
    """Return the bytes for the printer."""
    return b"".join(
        (
            _INITIALISE,
            _CENTRE,
            _BOLD,
            _encode_line(title(receipt, language)),
            _LARGE,
            _encode_line(paid_amount(receipt, language)),
            _NORMAL,
            _PLAIN,
            _LEFT,
            b"\n",
            *(
                _encode_line(line)
                for name, value in labelled_values(receipt, language)
                for line in _layout(name, value)
            ),
            b"\n\n\n",
            _encode_line("_" * LINE_WIDTH),
            _encode_line(text("book.received", language)),
            _CUT,
        )
    )


def _layout(name: str, value: str) -> Iterator[str]:
    """Put a label and its value in one line, or the value in separate lines below."""
    if len(name) + 2 + len(value) <= LINE_WIDTH:
        yield name + value.rjust(LINE_WIDTH - len(name))
        return
    yield name
    for line in textwrap.wrap(value, LINE_WIDTH - 2):
        yield f"  {line}"


def _encode_line(line: str) -> bytes:
    """Encode a line in PC858. Characters it lacks, and control characters, become
    question marks.
    """
    printable = "".join(
        character if character.isprintable() else "?" for character in line.replace("’", "'")
    )
    return printable.encode("cp858", "replace") + b"\n"
