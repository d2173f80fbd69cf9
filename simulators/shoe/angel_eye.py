"""A simulated Angel Eye II-EX: every report three times, errors that a person clears, commands.

Assumptions where public facts are missing: an unread card is drawn again once the error is cleared,
an overdrawn card is kept for the next coup, and the number after 9 is 1.
"""

from __future__ import annotations

from devices.shoe import angel_eye_frames as frames
from simulators.shoe.shoe import Scene, SimulatedShoe

COPIES, COPY_GAP_SECONDS = 3, 0.05
"""Number of copies of each report, and the time between them."""
REPLY_SECONDS = 0.02
UNREAD, OVERDRAW, TIMEOUT = 1, 2, 7
HANDS = {"player": 0b000, "banker": 0b001, "burn": 0b010, "first": 0b100}
WINNERS = {"player": 0b001, "tie": 0b010, "banker": 0b100}
SUITS = {suit: code for code, suit in frames.SUITS.items()}


class AngelEyeShoe(SimulatedShoe):
    """One shoe. ``locked``: no card can be drawn."""

    baud = 4800
    locked = False
    _seq = 0
    _error = 0
    _pending = b""

    def receive(self, data: bytes, now: float) -> None:
        """Handle commands; answer each with ACK or NAK."""
        self.time = max(self.time, now)
        self._pending += data
        while (
            self._pending
            and (piece := frames.next_piece(self._pending, 0, strict=False)) is not None
        ):
            command, self._pending = self._pending[: piece[0]], self._pending[piece[0] :]
            if piece[1] and command[0] == frames.STX:
                refusal = self._execute(command)
                self.send(
                    bytes((frames.NAK, refusal)) if refusal else bytes((frames.ACK,)), REPLY_SECONDS
                )

    def _execute(self, command: bytes) -> int:
        """Execute a command. Return the reason for a refusal, or 0."""
        if not frames.has_valid_bcc(command):
            return 0x02
        if command[1:3] != b"OP":
            return 0x13
        match command[3:-3]:
            case b"LK01" | b"LK02" as lock:
                self.locked = lock == b"LK02"
                self._report(b"L%c" % (0x80 | self.locked))
            case b"EC00" | b"EC01" | b"EC02" as clear:
                if clear == b"EC02":
                    self.discard_held()
                self._error = 0
            case b"GP00":
                pass
            case other:
                return 0x11 if other[:2] in (b"LK", b"EC", b"GP") else 0x14
        return 0

    def report_new_shoe(self) -> None:
        """Send S, which uses no number."""
        self._send_copies(b"S")
        self._report(b"P", after=0.5)

    report_reset = report_new_shoe

    def report_card(self, card: str, to: str, index: int) -> None:
        """Send D, with the card's destination."""
        self._report(b"D" + _place_byte(to, index) + _card_byte(card))

    def report_result(self, winner: str, pairs: tuple[str, ...]) -> None:
        """Send G, with the pairs."""
        self._report(
            b"G%c" % (0x80 | WINNERS[winner] << 4 | ("player" in pairs) | ("banker" in pairs) << 1)
        )

    def report_cut(self) -> None:
        """Send C."""
        self._report(b"C")

    def unread(self, card: str, to: str, index: int, seconds: float) -> Scene:
        """Draw the card again when the error is cleared."""
        yield from self._stop(UNREAD, seconds)
        yield 1.0
        self.report_card(card, to, index)

    def overdrawn(self, card: str, seconds: float) -> Scene:
        """Keep the card as the first one of the next coup, unless the host discards it."""
        yield from super().overdrawn(card, 0.0)
        yield from self._stop(OVERDRAW, seconds)
        if self._held:
            self._report(b"R" + _place_byte("player", 1) + _card_byte(card), after=0.5)
            yield 1.0

    def alarm(self, seconds: float) -> Scene:
        """Report that the draw took too long."""
        yield from self._stop(TIMEOUT, seconds)

    def ready(self) -> Scene:
        """Wait while the shoe is locked."""
        while self.locked:
            yield 0.5

    def _stop(self, error: int, seconds: float) -> Scene:
        """Report an error until the host clears it, or the croupier after ``seconds``."""
        self._error = error
        self._report(b"E%c" % (0xC0 | error))
        until = self.time + seconds
        while self._error and self.time < until:
            yield 0.25
        self._error = 0
        self._report(b"e%c" % (0x80 | error))
        yield 0.5

    def _report(self, body: bytes, after: float = 0.0) -> None:
        self._seq = self._seq % 9 + 1
        if self.take_fault("lost_report") is None:
            self._send_copies(body, after)

    def _send_copies(self, body: bytes, after: float = 0.0) -> None:
        content = b"%d" % self._seq + body + bytes((frames.ETX,))
        right = frames.bcc(content)
        wrong = int(self.take_fault("bad_bcc") or 0)
        for copy in range(COPIES):
            check = b"%02X" % (int(right, 16) ^ 1) if copy < wrong else right
            self.send(bytes((frames.ENQ,)) + content + check, after + copy * COPY_GAP_SECONDS)


def _place_byte(to: str, index: int) -> bytes:
    return bytes((0x80 | HANDS[to] << 4 | index,))


def _card_byte(card: str) -> bytes:
    return bytes((0x80 | SUITS[card[1]] << 4 | frames.RANKS.index(card[0]) + 1,))
