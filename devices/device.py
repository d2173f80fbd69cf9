"""The supervisor of one device, the same for all: link + codec + watch, kept alive.

It never exits and never blocks the event loop. When the link is gone it is opened again after a
pause that grows from half a second to half a minute, with chance in it, and is short again once a
frame was heard. One log line tells when the device goes down, one when it is back.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from devices.calls import AnyCall, Heard, Lost, Opened, matters, steps
from devices.codec import Codec
from devices.errors import NovamasError
from devices.health import DeviceHealth
from devices.links import Link, LinkFailedError, RecordedLink, WriteTimedOutError, open_link
from devices.reader import Arrived, Ended, Reader
from devices.readings import AnyReading, LinkLost, LinkStale, LinkUnintelligible, LinkUp, escape
from devices.recording import RecordingWriter
from devices.watch import CodecDefectError, Watch

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
MOST_WAITING = 16
"""Writes that may wait for the port. A command that finds no room is refused, never kept
for later.
"""


class CommandRefusedError(NovamasError):
    """A command was not sent. The message says why, and what would help."""


class Request(msgspec.Struct, frozen=True):
    """What waits for the port. ``command``: None for what the device is asked by itself; ``unsent``
    is called with the reason if it is not sent after all.
    """

    command: str | None
    data: bytes
    unsent: Callable[[str], None] = lambda _: None


class Device:
    """One device. ``take`` is called in the event loop with what it says; ``clock`` gives seconds
    that never go back.

    ``recorder``: where its bytes are kept; the device closes it at the end of :meth:`run`. ``note``
    is given every call to the watch that matters, before ``take`` is given what came of it.
    ``confidential``: nothing that it sends is told in a log or an error, where everybody may read
    it.
    """

    def __init__(
        self,
        *,
        id: str,  # noqa: A002  the word of the configuration
        url: str,
        codec: Codec,
        take: Callable[[list[AnyReading]], None],
        stale_after: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        recorder: RecordingWriter | None = None,
        commands_enabled: bool = False,
        confidential: bool = False,
        note: Callable[[AnyCall], None] = lambda _: None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        self.id = id
        self._url = url
        self._codec = codec
        self._take = take
        self._note = note
        self._clock = clock
        self._recorder = recorder
        self._recording = recorder is not None
        self._commands_enabled = commands_enabled
        self._confidential = confidential
        self._log: FilteringBoundLogger = (log or structlog.get_logger()).bind(device=id)
        self._watch = Watch(codec, id, stale_after)
        self._outbox: asyncio.Queue[Request] | None = None
        self._facts: dict[str, str] = {}
        self._opened = 0
        self._failures = 0  # in a row, without a frame
        self._defects = 0
        self._down = False
        self._error: str | None = None

    async def run(self) -> None:
        """Keep the device. Ends only when it is cancelled: then the port is closed and the reader's
        thread is done.
        """
        try:
            while True:
                try:
                    now, reason = await self._serve()
                except (
                    Exception
                ) as error:  # a defect of ours, not of the device: told each time, and gone on with
                    self._log_defect("defect of the supervisor", error)
                    now, reason = (
                        self._clock(),
                        type(error).__name__
                        if self._confidential
                        else f"{type(error).__name__}: {error}",
                    )
                self._error = reason
                self._tell(Lost(now, reason))
                self._failures += 1
                await asyncio.sleep(pause(self._failures, random.random()))  # noqa: S311  no secret
        finally:
            if self._recorder is not None:
                self._recorder.close()

    def prepare(self, command: str, argument: str = "") -> Request:
        """A command that changes the device, to be sent now. Raises :class:`CommandRefusedError`
        where it cannot be.
        """
        if not self._commands_enabled:
            raise CommandRefusedError(
                f"{self.id} takes no commands: its setting commands is not true"
            )
        self._room()
        try:
            return Request(f"{command} {argument}".strip(), self._codec.encode(command, argument))
        except ValueError as error:
            raise CommandRefusedError(f"{self.id}: {error}") from error

    def send(self, request: Request, unsent: Callable[[str], None] = lambda _: None) -> None:
        """Send what was prepared; a command is never sent later than now. ``unsent`` is called with
        the reason where it cannot be sent, now or by a link that ends before: now raises
        :class:`CommandRefusedError` besides.
        """
        try:
            self._room().put_nowait(msgspec.structs.replace(request, unsent=unsent))
        except CommandRefusedError as refused:
            unsent(str(refused))
            raise

    def _room(self) -> asyncio.Queue[Request]:
        """Where a write may wait. Raises :class:`CommandRefusedError` where none may."""
        if self._outbox is None:
            raise CommandRefusedError(
                f"{self.id} is not connected: {self._error or 'not yet opened'}"
            )
        if self._outbox.full():
            raise CommandRefusedError(f"{self.id} is busy: {MOST_WAITING} writes wait for the port")
        return self._outbox

    def health(self) -> DeviceHealth:
        """How the device is now."""
        heard = self._watch.last_frame
        counters = msgspec.structs.replace(self._codec.counters)
        if self._confidential:
            counters.bytes = 0  # the code of one card may be longer than that of another
        return DeviceHealth(
            device=self.id,
            state=self._watch.state,
            age=None if heard is None else max(0.0, self._clock() - heard),
            counters=counters,
            reconnects=max(0, self._opened - 1),
            defects=self._defects,
            recording=self._recording,
            link=dict(self._facts),
            error=self._error,
        )

    async def _serve(self) -> tuple[float, str]:
        """One link from its opening to its end. Gives when and why it ended."""
        reader = Reader(self._open, self._clock, self.id)
        tasks: list[asyncio.Task[None]] = []
        try:
            while not isinstance(event := await reader.next(), Ended):
                if isinstance(event, Arrived):
                    self._tell(Heard(event.at, event.data))
                    await asyncio.sleep(0)  # a flood has to leave room for everybody else
                else:
                    self._facts = event.facts
                    self._opened += 1
                    self._tell(Opened(event.at))
                    tasks = self._start_writing(reader)
            return event.at, event.reason
        finally:
            outbox, self._outbox = self._outbox, None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            while outbox is not None and not outbox.empty():
                self._note_not_sent(outbox.get_nowait(), "the link was closed before")
            await reader.close()

    def _open(self) -> Link:
        """In the reader's thread."""
        link = open_link(self._url)
        if self._recorder is None:
            return link
        return RecordedLink(link, self._recorder, self._note_recording, self._clock)

    def _note_recording(self, failure: str | None) -> None:
        """In the recorder's thread."""
        self._recording = failure is None
        if failure is None:
            self._log.info("recording again")
        else:
            self._error = failure
            self._log.error("recording fails", reason=failure)

    def _tell(self, call: AnyCall) -> None:
        """Tell the watch, and take what it says step by step, whatever the codec does in one of
        them.
        """
        if not matters(self._watch, call):
            return
        self._note(call)
        for step in steps(self._watch, call):
            try:
                readings = step()
            except CodecDefectError as defect:
                readings = defect.readings
                self._note_defect(defect)
            self._give(readings)

    def _note_defect(self, defect: CodecDefectError) -> None:
        self._defects += 1
        self._error = (
            "defect of the codec" if self._confidential else f"defect of the codec: {defect}"
        )
        if self._defects == 1:
            self._log_defect(
                "defect of the codec, told once",
                defect.__cause__ or defect,
                bytes=escape(defect.data),
            )

    def _log_defect(self, what: str, error: BaseException, **more: object) -> None:
        """With all there is to find it; of a confidential device only where it is."""
        if self._confidential:
            self._log.error(what, error=type(error).__name__, where=_where(error))
        else:
            self._log.error(what, exc_info=error, **more)

    def _give(self, readings: list[AnyReading]) -> None:
        for reading in readings:
            self._note_state(reading)
        if readings:
            try:
                self._take(readings)
            except Exception as error:
                self._log_defect("readings were not taken", error, readings=len(readings))

    def _note_state(self, reading: AnyReading) -> None:
        """The log lines: one for each time the device goes down, one for each time it is up."""
        match reading:
            case LinkUp():
                self._failures = 0
                self._down = False
                self._log.info("device up", **self._facts)
            case LinkLost() | LinkStale() | LinkUnintelligible() if not self._down:
                self._down = True
                self._log.warning(
                    "device down", state=self._watch.state, reason=_why(reading, self._confidential)
                )

    def _start_writing(self, reader: Reader) -> list[asyncio.Task[None]]:
        outbox: asyncio.Queue[Request] = asyncio.Queue(MOST_WAITING)
        self._outbox = outbox
        writes = [
            self._write(reader, outbox),
            *(_poll(outbox, every, data) for every, data in self._codec.polls()),
        ]
        return [asyncio.create_task(write) for write in writes]

    async def _write(self, reader: Reader, outbox: asyncio.Queue[Request]) -> None:
        """Write what waits, one at a time. A write that comes too late is told; a broken link is
        ended.
        """
        while True:
            request = await outbox.get()
            try:
                await reader.write(request.data)
            except asyncio.CancelledError:
                self._note_not_sent(
                    request, "the link was closed meanwhile; part of it may have gone out"
                )
                raise
            except LinkFailedError as failure:
                self._error = failure.reason
                self._note_not_sent(request, failure.reason)
                if not isinstance(failure, WriteTimedOutError):
                    reader.give_up(failure.reason)
                    return
            else:
                if request.command is not None:
                    self._log.info(
                        "command sent", command=request.command, bytes=escape(request.data)
                    )

    def _note_not_sent(self, request: Request, reason: str) -> None:
        if request.command is not None:
            self._log.error("command not sent", command=request.command, reason=reason)
            request.unsent(reason)


def pause(failures: int, chance: float) -> float:
    """Seconds to wait after so many failures in a row (1: the first); ``chance`` from 0 to 1
    spreads them over the upper half.
    """
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 10))
    return longest * (0.5 + chance / 2)


async def _poll(outbox: asyncio.Queue[Request], every: float, data: bytes) -> None:
    """Ask every so many seconds; 0: once. While the port is behind, asking waits."""
    await outbox.put(Request(None, data))
    while every > 0:
        await asyncio.sleep(every)
        await outbox.put(Request(None, data))


def _where(error: BaseException) -> str:
    """The line of code that raised it."""
    where = "unknown"
    trace = error.__traceback__
    while trace is not None:
        where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _why(reading: LinkLost | LinkStale | LinkUnintelligible, confidential: bool) -> str:
    match reading:
        case LinkLost():
            return reading.reason
        case LinkStale():
            return f"no valid frame for {reading.age:.1f} s"
        case LinkUnintelligible():
            count = "" if confidential else f"{reading.bytes} "
            return (
                f"{count}bytes and no frame among them: is it the right baud rate, the right "
                "driver?"
            )
