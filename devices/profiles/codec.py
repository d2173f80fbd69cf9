"""The codec of a profile: decodes the bytes of a device as its profile describes."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from math import inf
from typing import Any

import msgspec

from common.device_health import Counters
from common.readings import (
    AnyReading,
    CardDrawn,
    DiceFault,
    LinkGap,
    LinkGarbage,
    MaybeLate,
    ShoeFault,
    WheelFault,
    escape,
)
from devices.codec import GREETING_SECONDS, OPENING_SECONDS, FrameProof
from devices.pace import HandPace, SteadyPace
from devices.profiles.commands import command_bytes
from devices.profiles.fields import LATE, Values
from devices.profiles.framing import DroppedBytes, FrameCandidate
from devices.profiles.json_messages import read_message
from devices.profiles.language import MessageSpec, Profile, ReadingSpec
from devices.profiles.losses import LossTracker
from devices.profiles.messages import FittingMessage, MessageFinder, named_groups
from devices.profiles.patterns import compiled
from devices.profiles.templates import fill_template, may_hide_cards

GAP = "link.gap"
SERVER_TEXTS = (b"The line is in use, please try again later.", b"Welcome")
"""Text that no device at a table sends: a message that accepts it as a frame proves nothing."""


FaultReading = WheelFault | ShoeFault | DiceFault
"""Readings with a beginning and an end, which ``stands`` may name."""


class ProfileCodec:
    """One device. See :class:`devices.codec.Codec`."""

    def __init__(self, device: str, profile: Profile) -> None:
        framing = profile.framing
        self.counters = Counters()
        self.steady = profile.steady
        self._device = device
        self._profile = profile
        self._messages = MessageFinder(profile)
        self._check = self._messages.check
        self._harmless = [
            compiled(pattern, framing.longest) if pattern else None
            for pattern in (framing.before, framing.behind)
        ]
        self._resync = framing.resync.encode("latin-1")
        self._hides_cards = may_hide_cards(profile)
        self._shown = not self._hides_cards if framing.shown is None else framing.shown
        self._stream = self._messages.new_framing()
        self._pace = HandPace(device, profile.pace.draw)
        self._beat = SteadyPace(device, profile.pace.period)
        self._kept_at: float | None = None  # when bytes last arrived that may have been kept
        self._is_stored = False  # the present message was stored at the broker
        # the last values, for readings that are reported only on change
        self._reported: dict[tuple[str, ...], tuple[Any, ...]] = {}
        # by message: what its last frame gave and must be received twice
        self._previous: dict[str, list[tuple[ReadingSpec, AnyReading | None]]] = {}
        self._active: dict[str, dict[tuple[str, Any], FaultReading]] = {}
        self._number: int | None = None
        self._recent: deque[bytes] = deque(
            maxlen=profile.sequence.copies if profile.sequence else 0
        )
        # messages that accept any text as a frame
        self._any_text = (
            frozenset[str]() if self._check else frozenset(self._messages.accepting(SERVER_TEXTS))
        )
        self._losses = LossTracker(device, profile, self._any_text)
        self._greeting_until = -inf  # until then, such text may come from a device server

    @property
    def deadline(self) -> float | None:
        """When a burst is over, or an incomplete frame is abandoned."""
        return min(
            (at for at in (self._pace.deadline, self._stream.deadline) if at is not None),
            default=None,
        )

    @property
    def proof(self) -> FrameProof:
        """See :class:`devices.codec.Codec`: a checksum, or messages that do not accept any text."""
        return (
            FrameProof.CHECKED
            if self._check
            else FrameProof.TEXT
            if self._any_text
            else FrameProof.FORM
        )

    def opened(self, now: float) -> None:
        """See :class:`devices.codec.GreetingAware`."""
        self._greeting_until = now + GREETING_SECONDS if self._any_text else -inf

    def reconnected(self, now: float) -> None:  # noqa: ARG002 - silence counts from the last frame
        """Drop a partial frame; keep the state of the device."""
        self._stream.on_reopened()
        self._beat.on_reopened()

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """The polls of the profile."""
        return tuple((poll.every, poll.send.encode("latin-1")) for poll in self._profile.poll)

    def encode(self, command: str, argument: str = "") -> bytes:
        """Encode a command of the profile. Raises ``ValueError``."""
        known = self._profile.command
        if command not in known:
            raise ValueError(
                f"{self._profile.name} has no command {command!r}; there are: "
                f"{', '.join(known) or 'none'}"
            )
        try:
            return command_bytes(known[command], argument, self._check)
        except ValueError as error:
            raise ValueError(f"{self._profile.name}: {command} {error}") from None

    def delayed(self, since: float, now: float) -> None:
        """See :class:`devices.codec.DelayAware`."""
        self._pace.delayed(since, now)
        self._beat.delayed(since, now)

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        """See :class:`devices.codec.DamageAware`: any byte may be part of a frame."""
        self.counters.bytes += len(byte)
        self._stream.on_damaged(byte, now)
        return self.feed(b"", now)

    @property
    def opening(self) -> float | None:
        """See :class:`devices.codec.KeptBytesAware`: with a beat, its pace shows when a backlog is
        over.
        """
        if self._profile.pace.period:
            return None
        return self._pace.opening if self._profile.pace.draw else OPENING_SECONDS

    def kept(self, now: float) -> None:
        """See :class:`devices.codec.KeptBytesAware`."""
        self._kept_at = now
        self._pace.kept(now)
        self._beat.kept()

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        self.counters.bytes += len(data)
        find = self._messages.searched
        out: list[AnyReading] = [*self._pace.burst(now)]
        for piece in self._stream.feed(data, now):
            if isinstance(piece, DroppedBytes):
                self._drop(piece.data, now, out)
            elif find is not None:
                self._search_line(piece, find, now, out)
            else:
                self._on_line(piece, now, out)
        return out

    def _search_line(
        self, line: FrameCandidate, find: re.Pattern[bytes], now: float, out: list[AnyReading]
    ) -> None:
        """Handle the frames in a line: usually one, or several if line ends were lost. Drop the
        bytes before and between them.
        """
        before, behind = self._harmless
        begin = 0
        for match in find.finditer(line.data):
            self._drop(line.data[begin : match.start()], now, out, before)
            begin = match.end()
            if not self._on_frame(match[0], named_groups(match), line.cut, now, out):
                self._drop(match[0], now, out)
        self._drop(line.data[begin:], now, out, behind)

    def _on_line(self, line: FrameCandidate, now: float, out: list[AnyReading]) -> None:
        """Handle a block or a line; if a line does not fit, retry from the last byte that may begin
        a frame. A message in JSON that the broker had stored is late, however it arrives.
        """
        data, cut = line.data, line.cut
        if self._profile.framing.form == "json":
            message = read_message(data)
            self._is_stored = message is not None and message.is_stored
            if message is None or not self._on_frame(data, message.values, cut, now, out):
                self._drop(data, now, out)
            return
        if self._on_frame(data, {}, cut, now, out, unknown=False):
            return
        begin = data.rfind(self._resync, 1) if self._resync else -1
        if begin > 0:
            self._drop(data[:begin], now, out)
            data, cut = data[begin:], True
        if not self._on_frame(data, {}, cut, now, out):
            self._drop(data, now, out)

    def _drop(
        self,
        data: bytes,
        now: float,
        out: list[AnyReading],
        harmless: re.Pattern[bytes] | None = None,
    ) -> None:
        if self._messages.searched is not None and not data.strip():
            return
        self.counters.damaged += 1
        shown = escape(data[:64]) if self._shown else None
        out.append(LinkGarbage(at=now, device=self._device, frame=shown, bytes=len(data)))
        if not (harmless and harmless.fullmatch(data)):
            out += self._losses.on_unreadable(now, is_numbered=self._number is not None)

    def _on_frame(
        self,
        frame: bytes,
        groups: Values,
        cut: bool,
        now: float,
        out: list[AnyReading],
        *,
        unknown: bool = True,
    ) -> bool:
        """Report the readings of a frame. False: it is not a frame."""
        if self._check is not None and not self._check.holds(frame):
            return False
        fitting = self._messages.find(frame, groups, cut, unknown)
        if fitting is None and (self._check is None or not unknown):
            return False
        free = fitting is not None and fitting.message.name in self._any_text
        if free and now < self._greeting_until:
            return False  # text of a device server
        proven = self._check is not None or self._messages.searched is not None
        is_known = fitting is not None and not fitting.message.unknown
        is_loss = self._losses.may_be(fitting)
        self.counters.unknown += not is_known
        if proven or is_known:
            self.counters.frames += 1
            self._greeting_until = -inf
            if not is_loss:
                out += self._losses.on_report(now)
        if fitting is None:
            out += self._losses.on_unknown(frame, now, self._shown)
            out += self._losses.on_unreadable(now, is_numbered=self._number is not None)
        elif not self._is_copy(fitting, frame, now, out):
            self._report(fitting, frame, now, out)
            if is_loss:
                out += self._losses.on_unknown(frame, now, self._shown)
                out += self._losses.on_loss(now)
        return True

    def _is_copy(
        self, fitting: FittingMessage, frame: bytes, now: float, out: list[AnyReading]
    ) -> bool:
        """Follow the sequence numbers: a missing number is a gap; a copy of a recent frame is
        dropped if the device sends copies.
        """
        sequence = self._profile.sequence
        number = fitting.values.get(sequence.field) if sequence else None
        if sequence is None or not isinstance(number, int):
            return False
        restarts = fitting.message.restarts
        if frame in (list(self._recent)[-1:] if restarts else self._recent):
            # after a restart, any frame may come again
            return True
        if restarts:
            self._recent.clear()
        self._recent.append(frame)
        before, self._number = self._number, number
        if before is None:
            return False
        ring = sequence.last - sequence.first + 1
        lost = (number - before - 1) % ring
        if restarts or lost > ring // 2:
            lost = 1  # at least one is missing; the exact number is unknown
        if lost:
            out.append(LinkGap(at=now, device=self._device, lost=lost))
        return False

    def _report(
        self, fitting: FittingMessage, frame: bytes, now: float, out: list[AnyReading]
    ) -> None:
        values = fitting.values
        if fitting.message.beat:
            out += self._beat.on_frame(now)
            values[LATE] = self._beat.late
        elif self._profile.pace.period:
            values[LATE] = self._beat.is_other_late(now)
        elif self._kept_at == now:
            values[LATE] = True
        values[LATE] = values[LATE] or self._is_stored
        self.counters.late += values[LATE]
        self._messages.kept_values |= {
            name: values[name]
            for name in self._kept_fields(fitting.message)
            if values[name] is not None
        }
        name = fitting.message.name
        before = self._previous.get(name, [])
        self._previous[name] = [each for each in fitting.readings if each[0].twice]
        out += self._losses.check_confirmed(name, self._previous[name], before, now)
        alone = sum(isinstance(reading, CardDrawn) for _, reading in fitting.readings) == 1
        for spec, reading in fitting.readings:
            if spec.live and values[LATE]:
                if isinstance(reading, CardDrawn):
                    out += self._losses.on_loss(now)
                continue
            if spec.twice and (spec, reading) not in before:
                continue
            if spec.changed and not self._has_changed(spec, values):
                continue
            if spec.forgets:
                self._reported = {
                    key: last for key, last in self._reported.items() if key[0] != spec.forgets
                }
            if spec.ends:
                self._end_group(str(fill_template(spec.ends, values)), now, out)
            if reading is not None:
                self._emit(
                    spec,
                    reading,
                    values[LATE],
                    frame if self._may_show_frame(spec, alone) else None,
                    now,
                    out,
                )

    def _kept_fields(self, message: MessageSpec) -> Iterable[str]:
        return (
            name
            for fields in (self._profile.fields, message.fields)
            for name, field in fields.items()
            if field.keep
        )

    def _has_changed(self, spec: ReadingSpec, values: Values) -> bool:
        key = (spec.reading or f"{spec.ends}/{spec.forgets}", *spec.changed)
        now = tuple(values.get(name) for name in spec.changed)
        before, self._reported[key] = self._reported.get(key), now
        return now != before

    def _end_group(self, group: str, now: float, out: list[AnyReading]) -> None:
        over = self._active.pop(group, {}).values()
        out += [
            msgspec.structs.replace(reading, at=now, device=self._device, active=False)
            for reading in over
        ]

    def _may_show_frame(self, spec: ReadingSpec, alone: bool) -> bool:
        """Whether a reading may show its frame. If the frame contains several cards, none may: some
        of them may be face down.
        """
        if spec.frame is not None:
            return spec.frame
        return not self._hides_cards or (spec.reading == "card.drawn" and alone)

    def _emit(
        self,
        spec: ReadingSpec,
        reading: AnyReading,
        late: bool,
        frame: bytes | None,
        now: float,
        out: list[AnyReading],
    ) -> None:
        if spec.reading == GAP:
            out += self._losses.on_stated_gap(now)
            return
        if spec.stands:
            assert isinstance(reading, FaultReading)
            group = self._active.setdefault(spec.stands, {})
            key = (spec.reading, getattr(reading, "fault", None))
            if group.get(key) == reading:
                return
            group[key] = reading
        shown = None if frame is None else escape(frame)
        reading = msgspec.structs.replace(reading, at=now, device=self._device, frame=shown)
        if isinstance(reading, MaybeLate):
            late = late or self._is_drawn_late(spec, now)
            reading = msgspec.structs.replace(reading, late=late)
        out.append(reading)

    def _is_drawn_late(self, spec: ReadingSpec, now: float) -> bool:
        """Whether a card came sooner after the previous one than a hand can draw."""
        late = self._pace.is_late(now, card=spec.reading in self._profile.pace.draws)
        self.counters.late += late
        return late
