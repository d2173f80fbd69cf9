"""One acceptor on a ccTalk bus: what to ask it next, and what its answers mean.

It is first asked what it is, where its counter stands and what coins it knows, and only then
allowed to accept them. After that it is asked for its events again and again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf

from devices.readings import AnyReading, DeviceRefused, DeviceReport, SlotCoin
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
"""Requests without an answer after which an acceptor is told as silent."""
UNSUPPORTED_AFTER_REQUESTS = 3
"""Requests without an answer after which an acceptor that still answers others is taken not to know
this one.
"""
SLOW_AFTER_ANSWERS = 3
"""Answers in a row that came too late after which an acceptor is told as slow."""
WRONG_AFTER_ANSWERS = 3
"""Answers of a wrong length to one request, after which that is told."""
RETRY_SECONDS = 2.0
"""Seconds between two requests to an acceptor that is silent or refuses."""
INHIBIT_CHECK_SECONDS = 30.0
"""Seconds between two checks of which coins it accepts: a reset that nobody saw inhibits them."""

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
"""Requests that every acceptor must know; it may lack the others."""

Request = tuple[int, bytes]
"""A header and its data."""
Report = Callable[[str, str], None]


class BoxAcceptor:
    """The acceptor of one box. ``due``: when to ask it next; ``heard``: when it last showed its
    events. ``coins``: position -> amount in the settings.
    """

    def __init__(
        self, device: str, address: int, box: int, coins: dict[int, int], currency: str, poll: float
    ) -> None:
        self.address, self.box = address, box
        self.due = -inf
        self.heard = -inf
        self._device = device
        self._known = coins
        self._currency = currency
        self._poll = poll
        self._misses = 0  # requests in a row without an answer
        self._tries = 0  # of them, those since the present step began
        self._suspected: int | None = None  # a request that it may not know
        self._silent = False
        self._slow = 0  # answers in a row that came too late
        self._wrong: dict[int, int] = {}  # header -> answers of a wrong length since a right one
        self._health = "ok"
        self._claims: dict[int, str] = {}  # header -> what it said of itself
        self._named: dict[int, str] = {}  # position -> the acceptor's name of the coin
        self._coins = CoinTable()
        self._look: EventBuffer | None = None
        self._doubted: EventBuffer | None = None  # a look that was shown once
        self._strange = False  # it was silent since, so another may be in its place
        self._check_at = inf
        self._refused: set[int] = set()  # requests whose refusal was told
        self._steps: deque[Request] = deque()
        self.restart()

    def restart(self) -> None:
        """Begin again with the question who it is. The counter is kept: it tells what was lost."""
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
                    for position in self._known or range(1, POSITIONS + 1)
                ),
                (frames.READ_CREDITS, b""),
                (frames.MODIFY_INHIBITS, b""),
                (frames.MODIFY_MASTER_INHIBIT, b"\x01"),
            ]
        )

    def reconnect(self, now: float) -> None:
        """The link was opened again."""
        self._strange = True
        self.restart()
        self.due = now

    def request(self, now: float) -> Request:
        """What to ask it now."""
        if self._suspected is not None:
            return frames.SIMPLE_POLL, b""
        if not self._steps:
            header = frames.REQUEST_INHIBITS if now >= self._check_at else frames.READ_CREDITS
            return header, b""
        header, data = self._steps[0]
        return header, self._mask() if header == frames.MODIFY_INHIBITS else data

    def unanswered(self, header: int, now: float, out: list[AnyReading]) -> None:
        """It was asked, as our echo shows, and did not answer in time."""
        self._misses += 1
        self._tries += 1
        self.due = now + (RETRY_SECONDS if self._silent else self._poll)
        if self._misses == SILENT_AFTER_REQUESTS:
            self._silent = True
            self._strange = True
            self._set_health("silent", self._sayer(now, None, out))
            self.restart()
        elif self._tries >= UNSUPPORTED_AFTER_REQUESTS and header not in REQUIRED_REQUESTS:
            self._suspected = header

    def answered_late(
        self, took: float, limit: float, now: float, frame: str, out: list[AnyReading]
    ) -> None:
        """It answered, but after the time in which an answer must come: it is not silent."""
        self._misses = 0
        self._slow += 1
        if self._slow == SLOW_AFTER_ANSWERS:
            self._silent = True
            say = self._sayer(now, frame, out)
            much = f"after {took:.2f} s, the limit is {limit:.2f} s"
            self._set_health("answers too late", lambda name, what: say(name, f"{what}: {much}"))
            self.restart()

    def misfit(
        self,
        header: int,
        size: int,
        wanted: int,
        now: float,
        frame: str,
        out: list[AnyReading],
    ) -> None:
        """It answered with another number of data bytes than this request has: nothing is taken of
        it. An answer that is damaged so that its check is right does this once.
        """
        self._answers(now, frame, out)
        self.due = now + self._poll
        say = self._sayer(now, frame, out)
        self._wrong[header] = self._wrong.get(header, 0) + 1
        if self._wrong[header] == WRONG_AFTER_ANSWERS:
            say("answer_wrong", f"{REQUEST_NAMES[header]}: {size} bytes, not {wanted}")
            if header not in REQUIRED_REQUESTS:
                self._lacks(header, say)

    def refused(self, header: int, now: float, frame: str, out: list[AnyReading]) -> None:
        """It answered that it does not do this."""
        self._answers(now, frame, out)
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
            self._done(header)

    def busy(self, now: float, frame: str, out: list[AnyReading]) -> None:
        """It answered that it cannot answer now."""
        self._answers(now, frame, out)
        self.due = now + self._poll

    def answered(
        self, request: Request, data: bytes, now: float, late: bool, frame: str
    ) -> list[AnyReading]:
        """Take its answer to a request."""
        out: list[AnyReading] = []
        header, asked = request
        self._answers(now, frame, out)
        self._wrong.pop(header, None)
        self.due = now if self._steps else now + self._poll
        say = self._sayer(now, frame, out)
        if self._suspected is not None:
            self._lacks(self._suspected, say)
        if header == frames.READ_CREDITS:
            self._take_look(read_buffer(data), now, late, frame, out)
        elif header == frames.COIN_ID:
            self._named[asked[0]] = _text(data)
        elif header == frames.MODIFY_INHIBITS:
            self._tell_coins(say)
            self._check_at = now + INHIBIT_CHECK_SECONDS
        elif header == frames.REQUEST_INHIBITS:
            self._check(data, now, say)
        elif header in (frames.CATEGORY, frames.MANUFACTURER, frames.PRODUCT):
            self._claim(header, _text(data), say)
        self._done(header, asked)
        return out

    def confused(self) -> None:
        """It answered when it was not asked: no answer of the set-up can be trusted."""
        if self._steps:
            self.restart()
            self.due += RETRY_SECONDS

    def _done(self, header: int, data: bytes | None = None) -> None:
        """Go on to the next step, if it was the answer to the present one."""
        if self._steps and self._steps[0][0] == header:
            if header == frames.COIN_ID and data not in (None, self._steps[0][1]):
                return
            if header == frames.READ_CREDITS and self._look is None:
                return  # not before it is known where the counter stands
            self._steps.popleft()
            self._tries = 0

    def _lacks(self, header: int, say: Report) -> None:
        """It does not know a request that it need not know."""
        self._suspected = None
        say("not_supported", REQUEST_NAMES[header])
        if header == frames.REQUEST_INHIBITS:
            self._check_at = inf
        elif header == frames.COIN_ID:  # nor will it know the next
            self._steps = deque(step for step in self._steps if step[0] != header)
        else:
            self._done(header)

    def _answers(self, now: float, frame: str, out: list[AnyReading]) -> None:
        self._misses = self._tries = self._slow = 0
        if self._silent:
            self._silent = False
            self._set_health("ok", self._sayer(now, frame, out))

    def _claim(self, header: int, text: str, say: Report) -> None:
        if self._claims.get(header) != text:
            self._claims[header] = text
            say(REQUEST_NAMES[header], text)
        if header == frames.CATEGORY and "coin" not in text.lower():
            # a hopper or a note reader must not be switched on
            self._set_health("no coin acceptor", say)
            self.restart()
            self.due += RETRY_SECONDS

    def _mask(self) -> bytes:
        """The coins that it may accept, one bit each, as two bytes, the low one first."""
        self._coins = agreed_amounts(self._named, self._known, self._currency)
        return sum(1 << position - 1 for position in self._coins.amounts).to_bytes(2, "little")

    def _tell_coins(self, say: Report) -> None:
        for wrong in self._coins.wrong:
            say("coin_mismatch", wrong)
        listed = ", ".join(f"{at}: {amount}" for at, amount in self._coins.amounts.items())
        say("coins", listed or "none is accepted")

    def _check(self, data: bytes, now: float, say: Report) -> None:
        self._check_at = now + INHIBIT_CHECK_SECONDS
        if data != self._mask():
            say("inhibits", "not as set; they are set again")
            self.restart()

    def _take_look(
        self, look: EventBuffer, now: float, late: bool, frame: str, out: list[AnyReading]
    ) -> None:
        """Compare with the look before. News must be shown twice: the simple checksum may miss a
        damaged answer.
        """
        say = self._sayer(now, frame, out)
        if look == self._look:
            self._doubted, self._strange, self.heard = None, False, now
            return
        if look != self._doubted:
            self._doubted, self.due = look, now
            return
        if self._look is None:
            if look.counter:
                say("counter", f"begins at {look.counter}; coins before are not known here")
            self._look, self._doubted, self._strange, self.heard = look, None, False, now
            return
        news = compare(self._look, look)
        if self._strange and not (news.proved and look.shows_before(news)):
            # perhaps another acceptor: its events are not ours
            news = BufferChange((), None, reset=news.reset, proved=False)
        self._strange = False
        self._look, self._doubted, self.heard = look, None, now
        if news.reset:
            say("reset", "the acceptor counts from 0 again")
        if news.missed is None:
            say("coins_missed", "unknown")
        elif news.missed:
            say("coins_missed", f"up to {news.missed}")
        for event in news.events:
            self._take_event(event, now, late, frame, out)
        if news.reset:
            self.restart()

    def _take_event(
        self, event: Event, now: float, late: bool, frame: str, out: list[AnyReading]
    ) -> None:
        say = self._sayer(now, frame, out)
        position, code = event
        if event == NO_EVENT:
            return
        if position == 0:
            if code in COIN_REFUSALS:
                say("coin_refused", COIN_REFUSALS[code])
            else:
                self._set_health(ACCEPTOR_FAULTS.get(code, f"error {code}"), say)
            return
        amount = self._coins.amounts.get(position)
        if amount is None:
            name = self._named.get(position)
            say("coin_unknown", f"position {position}" + (f", {name}" if name else ""))
            return
        self._set_health("ok", say)
        out.append(
            SlotCoin(
                at=now, device=self._device, frame=frame, box=self.box, amount=amount, late=late
            )
        )

    def _set_health(self, health: str, say: Report) -> None:
        if self._health != health:
            self._health = health
            say("health", health)

    def _sayer(self, now: float, frame: str | None, out: list[AnyReading]) -> Report:
        """Report something of this box."""

        def say(report: str, value: str) -> None:
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    frame=frame,
                    report=report,
                    value=f"box {self.box}: {value}",
                )
            )

        return say


def _text(data: bytes) -> str:
    """What an acceptor says, as printable ASCII."""
    return "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in data).strip()
