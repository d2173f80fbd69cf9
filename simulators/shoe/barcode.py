"""A simulated barcode scanner at a shoe: a code for each card, as a line, as keys or as reports. It
does not know the coups.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulators.shoe.shoe import Scene, SimulatedShoe

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "1234567890"
ENTER, SPACE, LEFT_SHIFT = 0x28, 0x2C, 0x02
KEYS_UP = bytes(8)


def card_code(card: str) -> str:
    """Return the code of a card, the letter of the suit and the rank: ``DQ`` is the queen of
    diamonds.
    """
    return card[1].upper() + card[0]


def key_reports(text: str) -> list[bytes]:
    """Return the reports of a keyboard that types letters, digits and spaces, then Enter."""
    return [
        report
        for key in (*map(_key, text), (0, ENTER))
        for report in (bytes((key[0], 0, key[1], 0, 0, 0, 0, 0)), KEYS_UP)
    ]


def _key(character: str) -> tuple[int, int]:
    """Modifiers and usage."""
    if character.lower() in LETTERS:
        return LEFT_SHIFT * character.isupper(), 0x04 + LETTERS.index(character.lower())
    return (0, SPACE) if character == " " else (0, 0x1E + DIGITS.index(character))


def pos_reports(text: str, symbology: bytes = b"]C0") -> list[bytes]:
    """Return the reports of a HID scanner, each with up to 56 bytes of the text."""
    return list(_pos_reports(text.encode("latin-1"), symbology))


def _pos_reports(text: bytes, symbology: bytes) -> Iterator[bytes]:
    for begin in range(0, len(text), 56):
        part = text[begin : begin + 56]
        yield b"\x02%c%b%b\0\0%c" % (
            len(part),
            symbology,
            part.ljust(56, b"\0"),
            len(text) > begin + 56,
        )


class BarcodeShoe(SimulatedShoe):
    """A shoe with a serial scanner."""

    baud = 9600

    def report_card(self, card: str, to: str, index: int) -> None:  # noqa: ARG002 - a scanner knows only the card
        """Send the code of the card as a line, or simulate a pending fault."""
        if self.take_fault("foreign_code") is not None:
            self._send_line("5901234123457")
        repeated = self.take_fault("read_twice")
        if self.take_fault("lost_report") is not None:
            return
        self._send_line(card_code(card), after=0.3)
        if repeated is not None:
            self._send_line(card_code(card), after=0.3 + repeated)

    def unread(self, card: str, to: str, index: int, seconds: float) -> Scene:  # noqa: ARG002
        """Report an unknown card."""
        self._send_line("NOREAD")
        yield seconds

    def overdrawn(self, card: str, seconds: float) -> Scene:
        """Report the card like any other: a scanner does not know that it was one too many."""
        self.report_card(card, "player", 1)
        yield from super().overdrawn(card, seconds)

    def _send_line(self, text: str, after: float = 0.0) -> None:
        self.send(f"{text}\r\n".encode("ascii"), after)
