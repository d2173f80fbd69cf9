"""Supervisor of one device of any kind: it keeps link, codec and watch running.

It never exits and never blocks the event loop. A lost link is reopened after a random pause that
doubles from half a second up to half a minute and is reset by a stable link. One line is logged
when the device goes down, one when it is back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import msgspec

from common import clock, randomness
from common.blocking import in_thread, opening_slot
from common.device_health import DeviceHealth, State
from common.errors import NovamasError
from common.log import structlog
from common.readings import AnyReading, LinkLost, LinkStale, LinkUnintelligible, LinkUp, escape
from devices.calls import (
    AnyCall,
    BytesReceived,
    LinkClosed,
    LinkOpened,
    apply_call,
    changes_watch,
    clock_time,
)
from devices.codec import MAX_LIVE_DELAY_SECONDS, STABLE_LINK_SECONDS, Codec
from devices.links import LinkFailedError, WriteTimedOutError, local_port
from devices.links.holders import Holder, in_use_reason
from devices.loop_watch import normal_delay
from devices.port_watch import port_watch
from devices.reader import LinkReader, OpenLink, open_to_read
from devices.recorder import DeviceRecorder
from devices.recording_lines import LINK_OPENED
from devices.recording_writer import RecordingWriter
from devices.watch import UNINTELLIGIBLE_ADVICE, CodecDefectError, Watch

MIN_RECONNECT_PAUSE_SECONDS = 0.5
MAX_RECONNECT_PAUSE_SECONDS = 30.0
MAX_QUEUED_WRITES = 16
"""Maximum number of writes queued for the port. If the queue is full, a command is refused, never
kept for later.
"""

_DOWN_STATES: dict[type[AnyReading], State] = {
    LinkLost: "lost",
    LinkStale: "stale",
    LinkUnintelligible: "unintelligible",
}


class CommandRefusedError(NovamasError):
    """A command was not sent. The message states why, and what to do."""


class Request(msgspec.Struct, frozen=True):
    """A queued write. ``command``: None for a poll. ``unsent`` is called with the reason if it
    could not be sent.
    """

    command: str | None
    data: bytes
    unsent: Callable[[str], None] = lambda _: None


class DeviceSupervisor:
    """Supervises one device. ``on_readings`` is called in the event loop with all readings of one
    chunk of bytes; ``clock`` returns seconds that never go back and run ``speed`` times as fast as
    real time.

    ``recorder``: where the device's bytes are recorded; closed at the end of :meth:`run`.
    ``on_call`` gets every call that can change the watch, immediately after the bytes were read and
    before ``on_readings`` gets the readings it produced. ``on_connected`` gets the facts about the
    connection each time it was opened. ``before_write`` is called before each write to the port.
    ``tap``: another system has the device, and nothing is ever written to it.
    ``confidential``: nothing the device sends appears in a log line or an error, because anyone may
    read those.
    """

    def __init__(
        self,
        *,
        id: str,  # noqa: A002 - the name used in the configuration
        url: str,
        codec: Codec,
        on_readings: Callable[[list[AnyReading]], None],
        stale_after: float = 5.0,
        clock: Callable[[], float] = clock.monotonic,
        speed: float = 1.0,
        recorder: RecordingWriter | None = None,
        commands_enabled: bool = False,
        tap: bool = False,
        confidential: bool = False,
        on_call: Callable[[AnyCall], None] = lambda _: None,
        on_connected: Callable[[Mapping[str, str]], None] = lambda _: None,
        before_write: Callable[[], None] = lambda: None,
        log: structlog.typing.FilteringBoundLogger | None = None,
    ) -> None:
        self.id = id
        self._url = url
        self._codec = codec
        self._on_readings = on_readings
        self._on_call = on_call
        self._on_connected = on_connected
        self._before_write = before_write
        self._clock = clock
        self._speed = speed
        self._normal_delay = normal_delay(speed) * speed
        self._writer = recorder
        self._recorder: DeviceRecorder | None = None
        self._recording = recorder is not None
        self._since_1970 = 0.0
        self._gap = ""  # remark for the recording: the next bytes do not continue the previous ones
        self._commands_enabled = commands_enabled
        self._tap = tap
        self._confidential = confidential
        self._log: structlog.typing.FilteringBoundLogger = (log or structlog.get_logger()).bind(
            device=id
        )
        self._watch = Watch(codec, id, stale_after)
        self._outbox: asyncio.Queue[Request] | None = None
        self._facts: dict[str, str] = {}
        self._opened = 0
        self._failures = 0  # consecutive, without a stable link
        self._open_since: float | None = None
        self._defects = 0
        self._down = False
        self._error: str | None = None

    async def run(self) -> None:
        """Run until cancelled. On return the port and the recording are closed."""
        if self._writer is not None:
            self._recorder = DeviceRecorder(self._writer, self._on_recording_state)
        try:
            while True:
                # a bug here, not in the device: log it and keep running
                try:
                    now, reason = await self._serve()
                except Exception as error:
                    self._log_defect("defect in the supervisor", error)
                    now, reason = (
                        self._clock(),
                        type(error).__name__
                        if self._confidential
                        else f"{type(error).__name__}: {error}",
                    )
                self._error = reason
                self._apply(LinkClosed(now, reason))
                opened, self._open_since = self._open_since, None
                lasted = opened is not None and clock.monotonic() - opened >= STABLE_LINK_SECONDS
                self._failures = 1 if lasted else self._failures + 1
                await clock.sleep(reconnect_pause(self._failures, randomness.fraction()))
        finally:
            if self._recorder is not None:
                await in_thread(self._recorder.close, f"recorder {self.id}: close")

    def prepare(self, command: str, argument: str = "") -> Request:
        """Encode a command that changes the device, for sending now. Raises
        :class:`CommandRefusedError` if it cannot be sent.
        """
        if not self._commands_enabled:
            raise CommandRefusedError(
                f"{self.id} accepts no commands; set `commands = true` for this device"
            )
        self._open_outbox()
        try:
            return Request(f"{command} {argument}".strip(), self._codec.encode(command, argument))
        except ValueError as error:
            raise CommandRefusedError(f"{self.id}: {error}") from error

    def send(self, request: Request, unsent: Callable[[str], None] = lambda _: None) -> None:
        """Queue a prepared command. A command is never sent late. ``unsent`` is called with the
        reason if the link ends before it is written. If it cannot even be queued, ``unsent`` is
        called and :class:`CommandRefusedError` is raised.
        """
        try:
            self._open_outbox().put_nowait(msgspec.structs.replace(request, unsent=unsent))
        except CommandRefusedError as refused:
            unsent(str(refused))
            raise

    def _open_outbox(self) -> asyncio.Queue[Request]:
        """Queue of the open port. Raises :class:`CommandRefusedError` if closed or full."""
        if self._outbox is None:
            raise CommandRefusedError(
                f"{self.id} is not connected: {self._error or 'the link has not been opened yet'}"
            )
        if self._outbox.full():
            raise CommandRefusedError(
                f"{self.id} is busy: {MAX_QUEUED_WRITES} writes are queued; try again later"
            )
        return self._outbox

    def health(self) -> DeviceHealth:
        """The current health of the device."""
        last_frame = self._watch.last_frame
        counters = msgspec.structs.replace(self._codec.counters)
        if self._confidential:
            counters.bytes = (
                0  # the codes of cards differ in length, so a byte count could reveal a card
            )
        return DeviceHealth(
            device=self.id,
            state=self._watch.state,
            age=None if last_frame is None else max(0.0, self._clock() - last_frame),
            counters=counters,
            reconnects=max(0, self._opened - 1),
            defects=self._defects,
            recording=self._recording,
            link=dict(self._facts),
            error=self._error,
        )

    async def _serve(self) -> tuple[float, str]:
        """Serve one link from opening to end. Return when and why it ended."""
        opened: list[OpenLink] = []
        reader: LinkReader | None = None
        tasks: list[asyncio.Task[None]] = []
        port = local_port(self._url)
        try:
            if port is not None:  # before its settings would be changed
                await port_watch().refuse_other_readers(port)
            async with opening_slot():
                await in_thread(
                    lambda: opened.append(open_to_read(self._url, self.id)), f"link {self.id}: open"
                )
            if port is not None:
                await port_watch().refuse_other_readers(port)
            self._facts = opened[0].describe()
            self._opened += 1
            self._open_since = clock.monotonic()
            now = self._clock()
            if self._opened == 1:
                self._since_1970 = clock.wall() - now
            else:
                self._gap = LINK_OPENED
            self._apply(LinkOpened(now, kept=True))
            self._report_facts()
            reader = LinkReader(opened[0], self._on_data, self._wait(now), self._speed)
            if (node := self._facts.get("port")) is not None:
                port_watch().begin(node, partial(_end_shared_link, reader, node))
            tasks = self._start_writing(reader)
            reason = await reader.ended
            return self._clock(), self._shown_reason(reader.failure) if reader.failure else reason
        except LinkFailedError as failure:
            return self._clock(), self._shown_reason(failure)
        finally:
            if reader is not None:
                reader.end("closed")
                port_watch().end(self._facts.get("port", ""))
            outbox, self._outbox = self._outbox, None
            for task in tasks:
                task.cancel()
            try:
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:  # also if cancelled meanwhile
                while outbox is not None and not outbox.empty():
                    reason = "the link was closed before it was sent"
                    self._log_not_sent(outbox.get_nowait(), reason)
                for link in opened:
                    await in_thread(link.close, f"link {self.id}: close")

    def _on_data(self, data: bytes, waited: float) -> float | None:
        """Handle a chunk, or silence: an empty descriptor proves silence, however long it was not
        polled, but for the ``waited`` seconds for which a thread has not looked. Return how long to
        wait for more, in seconds of the event loop.
        """
        now = self._clock()
        if not data:
            # what a thread has not looked at for longer than that counts as silence
            known = 0.0 if waited > MAX_LIVE_DELAY_SECONDS else waited * self._speed
            self._apply(BytesReceived(clock_time(now - known) if known else now, data))
            return self._wait(now)
        self._note_time(now)
        # in real time, also at a table with a faster clock
        pending = waited > MAX_LIVE_DELAY_SECONDS
        waited *= self._speed
        since = None
        if self._normal_delay < waited <= MAX_LIVE_DELAY_SECONDS:
            since = clock_time(now - waited)
        self._apply(BytesReceived(now, data, since, pending))
        self._record(data, now)
        return self._wait(now)

    def _note_time(self, now: float) -> None:
        """Note the time of day of ``now``, the present time by the device's clock."""
        # the clock of a simulated table does not follow the machine's
        if self._speed == 1.0 and self._recorder is not None:
            self._since_1970 = clock.wall() - now

    def _record(self, data: bytes, now: float, *, sent: bool = False) -> None:
        """Record bytes that were read or written at ``now``, whose time of day is noted."""
        if self._recorder is None:
            return
        gap, self._gap = self._gap, ""
        self._recorder.enqueue(self._since_1970 + now, data, sent=sent, read=now, gap=gap)

    def _wait(self, now: float) -> float | None:
        deadline = self._watch.deadline
        return None if deadline is None else (deadline - now) / self._speed

    def _on_recording_state(self, failure: str | None) -> None:
        """Log that recording failed or works again. May run in any thread."""
        self._recording = failure is None
        if failure is None:
            self._log.info("recording works again")
        else:
            self._error = failure
            self._log.error("recording failed", reason=failure)

    def _apply(self, call: AnyCall) -> None:
        """Pass a call to the watch, and deliver its readings together even if the codec raises in
        one step.
        """
        if not changes_watch(self._watch, call):
            return
        self._on_call(call)
        readings = apply_call(self._watch, call, self._on_defect)
        if (request := self._watch.take_request()) and self._outbox is not None:
            # a port that accepts nothing gets no second request either
            with suppress(asyncio.QueueFull):
                self._outbox.put_nowait(Request(None, request))
        if readings:
            self._deliver(readings)

    def _on_defect(self, defect: CodecDefectError) -> None:
        self._defects += 1
        self._error = (
            "defect in the codec" if self._confidential else f"defect in the codec: {defect}"
        )
        if self._defects == 1:
            self._log_defect(
                "defect in the codec; later ones are only counted",
                defect.__cause__ or defect,
                bytes=escape(defect.data),
            )

    def _log_defect(self, event: str, error: BaseException, **fields: object) -> None:
        """Log with traceback; for a confidential device only the type and the line of code."""
        if self._confidential:
            self._log.error(event, error=type(error).__name__, where=_raising_line(error))
        else:
            self._log.error(event, exc_info=error, **fields)

    def _deliver(self, readings: list[AnyReading]) -> None:
        for reading in readings:
            self._log_state(reading)
        try:
            self._on_readings(readings)
        except Exception as error:
            self._log_defect("readings not accepted by the table", error, readings=len(readings))

    def _shown_reason(self, failure: LinkFailedError) -> str:
        """Reason for the failure, with the device server's text unless it could contain a card."""
        if self._confidential and failure.words:
            return f"{failure.reason}; it sent something, which is not shown: cards lie face down"
        return str(failure)

    def _report_facts(self) -> None:
        try:
            self._on_connected(self._facts)
        except Exception as error:
            self._log_defect("facts about the connection not accepted by the table", error)

    def _log_state(self, reading: AnyReading) -> None:
        """Log once when the device goes down and once when it is up again."""
        match reading:
            case LinkUp():
                self._down = False
                self._log.info("device up", **self._facts)
            case LinkLost() | LinkStale() | LinkUnintelligible() if not self._down:
                self._down = True
                state = _DOWN_STATES[type(reading)]  # the watch may be past it already
                self._log.warning(
                    "device down",
                    state=state,
                    reason=_down_reason(reading, self._confidential),
                    remedy=f"novamas explain link.{state}",
                )

    def _start_writing(self, reader: LinkReader) -> list[asyncio.Task[None]]:
        if self._tap:
            return []
        outbox: asyncio.Queue[Request] = asyncio.Queue(MAX_QUEUED_WRITES)
        self._outbox = outbox
        writes = [
            self._write(reader, outbox),
            *(_poll(outbox, every, data) for every, data in self._codec.polls()),
        ]
        return [asyncio.create_task(write) for write in writes]

    async def _write(self, reader: LinkReader, outbox: asyncio.Queue[Request]) -> None:
        """Write queued requests one at a time. Report a write that timed out; end a broken link."""
        while True:
            request = await outbox.get()
            # recorded even if it fails: part of it may have been sent
            now = self._clock()
            self._note_time(now)
            self._record(request.data, now, sent=True)
            self._before_write()
            try:
                await reader.write(request.data)
            except asyncio.CancelledError:
                self._log_not_sent(
                    request, "the link was closed during the write; part of it may have been sent"
                )
                raise
            except LinkFailedError as failure:
                self._error = failure.reason
                self._log_not_sent(request, failure.reason)
                if not isinstance(failure, WriteTimedOutError):
                    reader.fail(failure)
                    return
            else:
                if request.command is not None:
                    self._log.info(
                        "command sent", command=request.command, bytes=escape(request.data)
                    )

    def _log_not_sent(self, request: Request, reason: str) -> None:
        if request.command is not None:
            self._log.error("command not sent", command=request.command, reason=reason)
            request.unsent(reason)


def reconnect_pause(failures: int, chance: float) -> float:
    """Return the seconds to wait after this many consecutive failures, from 1. ``chance``, 0 to 1,
    spreads the pause over its upper half.
    """
    timeout = min(
        MAX_RECONNECT_PAUSE_SECONDS, MIN_RECONNECT_PAUSE_SECONDS * 2.0 ** min(failures - 1, 10)
    )
    return timeout * (0.5 + chance / 2)


def _end_shared_link(reader: LinkReader, port: str, holders: tuple[Holder, ...]) -> None:
    """End a link that another program reads too."""
    reader.fail(LinkFailedError(in_use_reason(port, holders)))


async def _poll(outbox: asyncio.Queue[Request], every: float, data: bytes) -> None:
    """Queue a poll every ``every`` seconds; 0: once. Wait while the queue is full."""
    await outbox.put(Request(None, data))
    while every > 0:
        await clock.sleep(every)
        await outbox.put(Request(None, data))


def _raising_line(error: BaseException) -> str:
    """File and line of the code that raised the error."""
    where = "unknown"
    trace = error.__traceback__
    while trace is not None:
        where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _down_reason(reading: LinkLost | LinkStale | LinkUnintelligible, confidential: bool) -> str:
    match reading:
        case LinkLost():
            return reading.reason
        case LinkStale():
            return f"no valid frame for {reading.age:.1f} s"
        case LinkUnintelligible():
            count = "" if confidential else f"{reading.bytes} "
            return f"{count}{UNINTELLIGIBLE_ADVICE}"
