"""A receipt for an ESC/POS thermal printer, 42 columns on 80 mm paper.

The suits of cards are letters, which the code page has. The hash of the payment is a QR code.

Commands: ``ESC @`` initialises, ``ESC t 19`` selects the code page PC858, ``ESC E`` is bold, ``GS
!`` sets the size, ``ESC a`` the alignment, ``GS V 66 0`` feeds and cuts the paper, ``GS ( k``
stores and prints a QR code.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from common.contract.messages.messages import text
from subscribers.carrousel.receipt import (
    Receipt,
    amount_words,
    labelled_values,
    paid_amount,
    proof,
    title,
)

LINE_WIDTH = 42
_INITIALISE = b"\x1b@\x1bt\x13"
_BOLD, _PLAIN = b"\x1bE\x01", b"\x1bE\x00"
_LARGE, _NORMAL = b"\x1d!\x11", b"\x1d!\x00"
_CENTRE, _LEFT = b"\x1ba\x01", b"\x1ba\x00"
_CUT = b"\x1dVB\x00"
_QR = b"\x1d(k"


def as_escpos(receipt: Receipt, language: str, house: Sequence[str] = ()) -> bytes:
    """Return the bytes for the printer. ``house``: the lines of the letterhead."""
    words = amount_words(receipt, language)
    cards = text("book.cards", language), " ".join(receipt.of.cards)
    rows = [cards, *labelled_values(receipt, language), *proof(receipt, language)]
    return b"".join(
        (
            _INITIALISE,
            _CENTRE,
            *_wrapped(house),
            _BOLD,
            _encode_line(title(receipt, language)),
            _LARGE,
            _encode_line(paid_amount(receipt, language)),
            _NORMAL,
            _PLAIN,
            *_wrapped([words] if words else []),
            _LEFT,
            b"\n",
            *(_encode_line(line) for name, value in rows for line in _layout(name, value)),
            b"\n\n\n",
            _encode_line("_" * LINE_WIDTH),
            _encode_line(text("book.received", language)),
            b"\n",
            _CENTRE,
            _qr_code(receipt.payment.hash),
            _CUT,
        )
    )


def _wrapped(lines: Sequence[str]) -> Iterator[bytes]:
    for line in lines:
        yield from map(_encode_line, textwrap.wrap(line, LINE_WIDTH))


def _qr_code(content: str) -> bytes:
    data = content.encode("ascii")
    size = (len(data) + 3).to_bytes(2, "little")
    return b"".join(
        (
            _QR + b"\x04\x00\x31\x41\x32\x00",  # model 2
            _QR + b"\x03\x00\x31\x43\x04",  # four dots a module
            _QR + b"\x03\x00\x31\x45\x30",  # the lowest correction, for the smallest code
            _QR + size + b"\x31\x50\x30" + data,
            _QR + b"\x03\x00\x31\x51\x30",  # print
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
