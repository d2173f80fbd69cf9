"""A receipt for a thermal printer that takes ESC/POS, 42 columns on paper of 80 mm.

The commands: ``ESC @`` initialises, ``ESC t 19`` selects the code page PC858, ``ESC E`` is bold,
``GS !`` the size, ``ESC a`` where a line stands, ``GS V 66 0`` feeds the paper and cuts it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from controller.contract.messages.messages import text
from subscribers.carrousel.receipt import Receipt, labelled_values, paid_amount, title

LINE_WIDTH = 42
_INITIALISE = b"\x1b@\x1bt\x13"
_BOLD, _PLAIN = b"\x1bE\x01", b"\x1bE\x00"
_LARGE, _NORMAL = b"\x1d!\x11", b"\x1d!\x00"
_CENTRE, _LEFT = b"\x1ba\x01", b"\x1ba\x00"
_CUT = b"\x1dVB\x00"


def as_escpos(of: Receipt, language: str) -> bytes:
    """What is sent to the printer."""
    return b"".join(
        (
            _INITIALISE,
            _CENTRE,
            _BOLD,
            _encode_line(title(of, language)),
            _LARGE,
            _encode_line(paid_amount(of, language)),
            _NORMAL,
            _PLAIN,
            _LEFT,
            b"\n",
            *(
                _encode_line(line)
                for name, value in labelled_values(of, language)
                for line in _layout(name, value)
            ),
            b"\n\n\n",
            _encode_line("_" * LINE_WIDTH),
            _encode_line(text("book.received", language)),
            _CUT,
        )
    )


def _layout(name: str, value: str) -> Iterator[str]:
    """A name and its value in one line, or the value in lines of its own below."""
    if len(name) + 2 + len(value) <= LINE_WIDTH:
        yield name + value.rjust(LINE_WIDTH - len(name))
        return
    yield name
    for line in textwrap.wrap(value, LINE_WIDTH - 2):
        yield f"  {line}"


def _encode_line(line: str) -> bytes:
    """A line in PC858; what it lacks, and what would be a command, is a question mark."""
    shown = "".join(each if each.isprintable() else "?" for each in line.replace("’", "'"))
    return shown.encode("cp858", "replace") + b"\n"
