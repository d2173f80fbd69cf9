"""One acceptor on a ccTalk bus: the next request to it, and the meaning of its answers.

It is first asked for its identity, its counter and its coins, and only then allowed to accept
coins. After that it is polled for its events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf

from common.readings import AnyReading, DeviceRefused, DeviceReport, SlotCoin
from devices.slot import cctalk_frames as frames
from devices.slot.cctalk_coins import (
    ACCEPTOR_FAULTS,
    COIN_REFUSALS,
    POSITIONS,
    CoinTable,
    agreed_amounts,
)
from devices.slot.cctalk_counter import (
    NO_EVENT,
    BufferChange,
    Event,
    EventBuffer,
    compare,
    read_buffer,
)

SILENT_AFTER_REQUESTS = 5
"""Number of unanswered requests after which an acceptor is reported as silent."""
UNSUPPORTED_AFTER_REQUESTS = 3
"""Number of unanswered requests of one kind after which it counts as unsupported, if the acceptor
still answers others.
"""
SLOW_AFTER_ANSWERS = 3
"""Number of consecutive late answers after which an acceptor is reported as slow."""
WRONG_AFTER_ANSWERS = 3
"""Number of answers of a wrong length to one request after which that is reported."""
RETRY_SECONDS = 2.0
"""Time between two requests to an acceptor that is silent or refuses."""
INHIBIT_CHECK_SECONDS = 30.0
"""Time between two checks of the accepted coins: an unnoticed reset inhibits them."""

REQUEST_NAMES = {
    frames.SIMPLE_POLL: "simple poll",
    frames.MANUFACTURER: "manufacturer",
    frames.CATEGORY: "category",
    frames.PRODUCT: "product",
    frames.MODIFY_INHIBITS: "modify inhibits",
    frames.REQUEST_INHIBITS: "request inhibits",
    frames.READ_CREDITS: "read credits",
    frames.MODIFY_MASTER_INHIBIT: "modify master inhibit",
    frames.COIN_ID: "coin id",
}
REQUIRED_REQUESTS = frozenset({frames.SIMPLE_POLL, frames.READ_CREDITS, frames.MODIFY_INHIBITS})
"""Requests that every acceptor must support; the others are optional."""

Request = tuple[int, bytes]
"""Header and data of a request."""
Reporter = Callable[[str, str], None]


class BoxAcceptor:
    """The acceptor of one box. ``due``: when to send the next request; ``last_buffer_at``: when its
    events were last received. ``coins``: position -> amount in the settings.
    """

    def __init__(
        self, device: str, address: int, box: int, coins: dict[int, int], currency: str, poll: float
    ) -> None:
        self.address, self.box = address, box
        self.due = -inf
        self.last_buffer_at = -inf
        self._device = device
        self._configured_coins = coins
        self._currency = currency
        self._poll = poll
        self._misses = 0  # consecutive unanswered requests
        self._tries = 0  # those since the current step began
        self._suspected: int | None = None  # a request that it may not support
        self._silent = False
        self._slow = 0  # consecutive late answers
        self._wrong_sizes: dict[
            int, int
        ] = {}  # header -> answers of a wrong length since the last correct one
        self._health = "ok"
        self._identities: dict[int, str] = {}  # header -> text of its identity
        self._named: dict[int, str] = {}  # position -> the acceptor's name of the coin
        self._coins = CoinTable()
        self._buffer: EventBuffer | None = None
        self._unconfirmed: EventBuffer | None = None  # a buffer that was received once
        self._maybe_other = False  # it was silent, so it may have been replaced by another
        self._check_at = inf
        self._refused: set[int] = set()  # requests whose refusal was reported
        self._steps: deque[Request] = deque()
        self.restart()

    def restart(self) -> None:
        """Start the set-up again. The counter is kept, because it shows how many events were
        lost.
        """
        self._named = {}
        self._tries, self._suspected = 0, None
        self._check_at = inf
        self._steps = deque(
            [
                (frames.SIMPLE_POLL, b""),
                (frames.CATEGORY, b""),
                (frames.MANUFACTURER, b""),
                (frames.PRODUCT, b""),
                (frames.READ_CREDITS, b""),
                *(
                    (frames.COIN_ID, bytes((position,)))
                    for position in self._configured_coins or range(1, POSITIONS + 1)
                ),
                (frames.READ_CREDITS, b""),
                (frames.MODIFY_INHIBITS, b""),
                (frames.MODIFY_MASTER_INHIBIT, b"\x01"),
            ]
        )

    def on_reconnected(self, now: float) -> None:
        """Handle a reopened link."""
        self._maybe_other = True
        self.restart()
        self.due = now

    def request(self, now: float) -> Request:
        """Return the next request."""
        if self._suspected is not None:
            return frames.SIMPLE_POLL, b""
        if not self._steps:
            header = frames.REQUEST_INHIBITS if now >= self._check_at else frames.READ_CREDITS
            return header, b""
        header, data = self._steps[0]
        return header, self._inhibit_mask() if header == frames.MODIFY_INHIBITS else data

    def on_no_answer(self, header: int, now: float, out: list[AnyReading]) -> None:
        """Handle a request that reached the bus, as its echo shows, but was not answered in
        time.
        """
        self._misses += 1
        self._tries += 1
        self.due = now + (RETRY_SECONDS if self._silent else self._poll)
        if self._misses == SILENT_AFTER_REQUESTS:
            self._silent = True
            self._maybe_other = True
            self._set_health("silent", self._reporter(now, None, out))
            self.restart()
        elif self._tries >= UNSUPPORTED_AFTER_REQUESTS and header not in REQUIRED_REQUESTS:
            self._suspected = header

    def on_late_answer(
        self, took: float, limit: float, now: float, frame: str, out: list[AnyReading]
    ) -> None:
        """Handle an answer after the time limit: the acceptor is not silent, but slow."""
        self._misses = 0
        self._slow += 1
        if self._slow == SLOW_AFTER_ANSWERS:
            self._silent = True
            report = self._reporter(now, frame, out)
            detail = f"after {took:.2f} s, the limit is {limit:.2f} s"
            self._set_health(
                "answers too late", lambda name, health: report(name, f"{health}: {detail}")
            )
            self.restart()

    def on_wrong_size(
        self,
        header: int,
        size: int,
        wanted: int,
        now: float,
        frame: str,
        out: list[AnyReading],
    ) -> None:
        """Handle an answer with a wrong number of data bytes; its data is ignored. A single one may
        be a damaged answer with a check that happens to be correct.
        """
        self._on_any_answer(now, frame, out)
        self.due = now + self._poll
        report = self._reporter(now, frame, out)
        self._wrong_sizes[header] = self._wrong_sizes.get(header, 0) + 1
        if self._wrong_sizes[header] == WRONG_AFTER_ANSWERS:
            report("answer_wrong", f"{REQUEST_NAMES[header]}: {size} bytes, not {wanted}")
            if header not in REQUIRED_REQUESTS:
                self._on_unsupported(header, report)

    def on_refusal(self, header: int, now: float, frame: str, out: list[AnyReading]) -> None:
        """Handle a refusal of a request."""
        self._on_any_answer(now, frame, out)
        if header not in self._refused:
            self._refused.add(header)
            out.append(
                DeviceRefused(
                    at=now,
                    device=self._device,
                    frame=frame,
                    command=f"box {self.box}: {REQUEST_NAMES[header]}",
                    reason="NAK",
                )
            )
        if header in REQUIRED_REQUESTS:
            self.due = now + RETRY_SECONDS
        else:
            self._next_step(header)

    def on_busy(self, now: float, frame: str, out: list[AnyReading]) -> None:
        """Handle an answer that the acceptor is busy."""
        self._on_any_answer(now, frame, out)
        self.due = now + self._poll

    def on_answer(
        self, request: Request, data: bytes, now: float, late: bool, frame: str
    ) -> list[AnyReading]:
        """Handle the answer to a request."""
        out: list[AnyReading] = []
        header, asked = request
        self._on_any_answer(now, frame, out)
        self._wrong_sizes.pop(header, None)
        self.due = now if self._steps else now + self._poll
        report = self._reporter(now, frame, out)
        if self._suspected is not None:
            self._on_unsupported(self._suspected, report)
        if header == frames.READ_CREDITS:
            self._on_buffer(read_buffer(data), now, late, frame, out)
        elif header == frames.COIN_ID:
            self._named[asked[0]] = _printable(data)
        elif header == frames.MODIFY_INHIBITS:
            self._report_coins(report)
            self._check_at = now + INHIBIT_CHECK_SECONDS
        elif header == frames.REQUEST_INHIBITS:
            self._check_inhibits(data, now, report)
        elif header in (frames.CATEGORY, frames.MANUFACTURER, frames.PRODUCT):
            self._on_identity(header, _printable(data), report)
        self._next_step(header, asked)
        return out

    def on_unrequested_answer(self) -> None:
        """Handle an answer without a request: no answer of the set-up can be trusted."""
        if self._steps:
            self.restart()
            self.due += RETRY_SECONDS

    def _next_step(self, header: int, data: bytes | None = None) -> None:
        """Continue with the next step, if this was the answer to the current one."""
        if self._steps and self._steps[0][0] == header:
            if header == frames.COIN_ID and data not in (None, self._steps[0][1]):
                return
            if header == frames.READ_CREDITS and self._buffer is None:
                return  # wait until the counter is known
            self._steps.popleft()
            self._tries = 0

    def _on_unsupported(self, header: int, report: Reporter) -> None:
        """Handle an optional request that the acceptor does not support."""
        self._suspected = None
        report("not_supported", REQUEST_NAMES[header])
        if header == frames.REQUEST_INHIBITS:
            self._check_at = inf
        elif header == frames.COIN_ID:  # it will not support the next one either
            self._steps = deque(step for step in self._steps if step[0] != header)
        else:
            self._next_step(header)

    def _on_any_answer(self, now: float, frame: str, out: list[AnyReading]) -> None:
        self._misses = self._tries = self._slow = 0
        if self._silent:
            self._silent = False
            self._set_health("ok", self._reporter(now, frame, out))

    def _on_identity(self, header: int, text: str, report: Reporter) -> None:
        if self._identities.get(header) != text:
            self._identities[header] = text
            report(REQUEST_NAMES[header], text)
        if header == frames.CATEGORY and "coin" not in text.lower():
            # a hopper or note reader must not be switched on
            self._set_health("no coin acceptor", report)
            self.restart()
            self.due += RETRY_SECONDS

    def _inhibit_mask(self) -> bytes:
        """Mask of the coins that it may accept, as two bytes, low byte first."""
        self._coins = agreed_amounts(self._named, self._configured_coins, self._currency)
        return sum(1 << position - 1 for position in self._coins.amounts).to_bytes(2, "little")

    def _report_coins(self, report: Reporter) -> None:
        for wrong in self._coins.wrong:
            report("coin_mismatch", wrong)
        listed = ", ".join(f"{at}: {amount}" for at, amount in self._coins.amounts.items())
        report("coins", listed or "none is accepted")

    def _check_inhibits(self, data: bytes, now: float, report: Reporter) -> None:
        self._check_at = now + INHIBIT_CHECK_SECONDS
        if data != self._inhibit_mask():
            report("inhibits", "not as set; they are set again")
            self.restart()

    def _on_buffer(
        self, buffer: EventBuffer, now: float, late: bool, frame: str, out: list[AnyReading]
    ) -> None:
        """Compare with the previous buffer. A change must be received twice, because the simple
        checksum may miss a damaged answer.
        """
        report = self._reporter(now, frame, out)
        if buffer == self._buffer:
            self._unconfirmed, self._maybe_other, self.last_buffer_at = None, False, now
            return
        if buffer != self._unconfirmed:
            self._unconfirmed, self.due = buffer, now
            return
        if self._buffer is None:
            if buffer.counter:
                report("counter", f"begins at {buffer.counter}; coins before are not known here")
            self._buffer, self._unconfirmed, self._maybe_other, self.last_buffer_at = (
                buffer,
                None,
                False,
                now,
            )
            return
        change = compare(self._buffer, buffer)
        if self._maybe_other and not (change.proved and buffer.shows_before(change)):
            # possibly another acceptor, whose events do not continue the known ones
            change = BufferChange((), None, reset=change.reset, proved=False)
        self._maybe_other = False
        self._buffer, self._unconfirmed, self.last_buffer_at = buffer, None, now
        if change.reset:
            report("reset", "the acceptor counts from 0 again")
        if change.missed is None:
            report("coins_missed", "unknown")
        elif change.missed:
            report("coins_missed", f"up to {change.missed}")
        for event in change.events:
            self._on_event(event, now, late, frame, out)
        if change.reset:
            self.restart()

    def _on_event(
        self, event: Event, now: float, late: bool, frame: str, out: list[AnyReading]
    ) -> None:
        report = self._reporter(now, frame, out)
        position, code = event
        if event == NO_EVENT:
            return
        if position == 0:
            if code in COIN_REFUSALS:
                report("coin_refused", COIN_REFUSALS[code])
            else:
                self._set_health(ACCEPTOR_FAULTS.get(code, f"error {code}"), report)
            return
        amount = self._coins.amounts.get(position)
        if amount is None:
            name = self._named.get(position)
            report("coin_unknown", f"position {position}" + (f", {name}" if name else ""))
            return
        self._set_health("ok", report)
        out.append(
            SlotCoin(
                at=now, device=self._device, frame=frame, box=self.box, amount=amount, late=late
            )
        )

    def _set_health(self, health: str, report: Reporter) -> None:
        if self._health != health:
            self._health = health
            report("health", health)

    def _reporter(self, now: float, frame: str | None, out: list[AnyReading]) -> Reporter:
        """Return a function that appends a report of this box."""

        def report(name: str, value: str) -> None:
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    frame=frame,
                    report=name,
                    value=f"box {self.box}: {value}",
                )
            )

        return report


def _printable(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in data).strip()
