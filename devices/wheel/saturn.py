"""Driver of the TCS John Huxley Saturn, an automatic roulette wheel on RS-485 that answers
requests.

The frames, the check byte, the error flag and the error text are public. The positions of number
and state in the answer are not: a site that has the vendor's document gives them as ``fields``.
Without them the driver reports only the link and errors, and a report states this.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec

from common.device_health import Counters
from common.readings import (
    AnyReading,
    DeviceReport,
    LinkGarbage,
    LinkLate,
    Number,
    Phase,
    WheelFault,
    WheelNumber,
    WheelPhase,
    escape,
)
from devices.codec import Driver, FrameProof
from devices.pace import MAX_DOUBT_SECONDS, MIN_PERIOD_SECONDS, BacklogDetector
from devices.wheel import saturn_frames as frames

MAX_ANSWER_BYTES = 256
"""Maximum size of an answer. A longer one without an end is dropped."""
SILENCE_POLLS = 3.0
"""Silence, in polls, after which the following answers are late."""
LIVE_GAP_POLLS = 0.5
"""Minimum gap between answers, in polls. An answer that comes sooner had waited in a buffer."""
AGREEING_ANSWERS = 2
"""Number of consecutive answers that must contain the same number."""

Pocket = Annotated[int, msgspec.Meta(ge=0, le=1000)] | Literal["00", "000", "0000"]
Character = Annotated[int, msgspec.Meta(ge=-MAX_ANSWER_BYTES, le=MAX_ANSWER_BYTES)]
Place = Annotated[
    tuple[Character, Character],
    msgspec.Meta(description="first and last character, counted from 0 at SOH"),
]


class Fields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Positions in the answer to SR2, from the vendor's document. ``phases``: text of the state ->
    phase.

    ``numbers``: text -> pocket, if the text is not the number itself. ``spin``: the wheel's own
    count of spins; it reveals a spin that was missed.
    """

    state: Place
    phases: dict[str, Phase]
    number: Place
    numbers: dict[str, Pocket] = {}
    spin: Place | None = None

    def __post_init__(self) -> None:
        # an invalid field is empty here; the check of the file reports it
        for name, place in (("state", self.state), ("number", self.number), ("spin", self.spin)):
            if place and not 0 <= place[0] <= place[1] < MAX_ANSWER_BYTES:
                raise ValueError(
                    f"fields.{name}: {list(place)} is not a valid position; give first "
                    f"and last character, from 0 to {MAX_ANSWER_BYTES - 1}"
                )
        for name, texts, place in (
            ("phases", self.phases, self.state),
            ("numbers", self.numbers, self.number),
        ):
            for text in texts if isinstance(texts, dict) and place else ():
                if len(text) != place[1] - place[0] + 1:
                    raise ValueError(
                        f"fields.{name}: {text!r} can never be there: {list(place)} has "
                        f"{place[1] - place[0] + 1} characters, blanks included"
                    )
        if isinstance(self.phases, dict) and "settled" not in self.phases.values():
            raise ValueError(
                "fields.phases: add the state that means settled; without it there would "
                "never be a result"
            )


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``poll``: seconds between two requests for the status; ``error_poll``: seconds between two
    requests for the error text. ``refire``: minimum seconds between two launches. ``check``:
    whether answers have the same check byte as requests.
    """

    poll: Annotated[float, msgspec.Meta(ge=0.1, le=3600)] = 0.2
    error_poll: Annotated[float, msgspec.Meta(ge=0.5, le=3600)] = 5.0
    refire: Annotated[float, msgspec.Meta(ge=20, le=3600)] = 30.0
    check: Literal["same", "none"] = "same"
    fields: Fields | None = None


class Saturn:
    """One wheel. See :class:`devices.codec.Codec`."""

    steady = True

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self.proof = FrameProof.CHECKED if options.check == "same" else FrameProof.FORM
        self._device = device
        self._options = options
        self._pending = b""
        # whether to report that number and state cannot be read
        self._blind = options.fields is None
        self._last_answer_at: float | None = None
        self._reopened = False
        self._late_frames = 0
        self._late = False
        self._silence = 0.0
        self._doubt = BacklogDetector(
            min(LIVE_GAP_POLLS * options.poll, MIN_PERIOD_SECONDS), MAX_DOUBT_SECONDS
        )
        self._backlog = False  # a silence was seen, and the answers since then came in a burst
        self._burst = False  # the late answers are to be reported
        self._fired: float | None = None  # time of the last launch; None: never, or not sent yet
        self._firing = False
        self._now = float("-inf")
        self._error = False
        self._text: str | None = None
        self._spin = 0
        self._seen_live = False  # a phase of this spin, before it was settled
        self._live_count: str | None = None  # the wheel's own count at that phase
        self._doubted = False
        self._shown: tuple[Phase, int, bool] | None = None
        self._seen: tuple[Number | None, str | None] = (None, None)
        self._agreed = 0
        self._decided = True  # whether this standstill has given its number, or cannot give one
        self._live = False  # the ball was seen live before it came to rest
        self._unknown = False  # the last number shown was not a pocket

    @property
    def deadline(self) -> float | None:
        """None: the answers drive all timing."""
        return None

    def reconnected(self, now: float) -> None:  # noqa: ARG002 - silence counts from the last answer
        """Drop a partial answer. The next answers are late until the pace is normal again."""
        self._pending = b""
        self._reopened = True

    @property
    def opening(self) -> None:
        """See :class:`devices.codec.KeptBytesAware`: the pace of the polls shows when a backlog is
        over.
        """
        return

    def kept(self, now: float) -> None:  # noqa: ARG002 - the next answer counts
        """See :class:`devices.codec.KeptBytesAware`."""
        self._doubt.kept()

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Requests for status and error; both change nothing."""
        return (self._options.poll, frames.STATUS), (self._options.error_poll, frames.ERROR)

    def encode(self, command: str, argument: str = "") -> bytes:
        """Encode ``fire``, which launches the ball. Raises ``ValueError`` within ``refire`` seconds
        of the last launch, or before the wheel has answered.
        """
        if command != "fire":
            raise ValueError(f"saturn has no command {command!r}; there is: fire")
        if argument:
            raise ValueError(f"saturn: fire takes no argument, got {argument!r}")
        if self._last_answer_at is None:
            raise ValueError("saturn: the wheel has not answered yet; check the link")
        if self._firing or (
            self._fired is not None and self._now - self._fired < self._options.refire
        ):
            raise ValueError(
                f"saturn: the ball was fired less than {self._options.refire:g} s ago; wait"
            )
        self._firing = True
        return frames.FIRE

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        self._now = now
        if self._firing:  # the command has been sent by now, so the pause is never too short
            self._firing, self._fired = False, now
        self.counters.bytes += len(data)
        out: list[AnyReading] = []
        *answers, rest = (self._pending + data).split(frames.EOT)
        for answer in answers:
            self._on_answer(self._limit_length(answer, now, out), now, out)
        self._pending = self._limit_length(rest, now, out)
        return out

    def _limit_length(self, text: bytes, now: float, out: list[AnyReading]) -> bytes:
        """Drop the excess of an answer that is too long, up to the last SOH if there is one."""
        while len(text) >= MAX_ANSWER_BYTES:
            begin = text.rfind(frames.SOH, 1, MAX_ANSWER_BYTES)
            cut = begin if begin > 0 else MAX_ANSWER_BYTES
            self._garbage(text[:cut], now, out)
            text = text[cut:]
        return text

    def _on_answer(self, text: bytes, now: float, out: list[AnyReading]) -> None:
        """Handle one answer, without its EOT. Bytes before its SOH are dropped."""
        begin = text.rfind(frames.SOH)
        if begin != 0:
            self._garbage(text if begin < 0 else text[:begin], now, out)
        if begin < 0:
            return
        whole = text[begin:] + frames.EOT
        damaged = not whole.isascii() or (
            self._options.check == "same" and not frames.has_valid_check(whole)
        )
        if damaged:
            self._garbage(whole, now, out)
            return
        if whole in (frames.STATUS, frames.ERROR, frames.FIRE):
            return  # half duplex: an adapter may echo our requests
        self.counters.frames += 1
        line = whole.decode("ascii")
        is_status = len(line) > frames.ERROR_FLAG
        self._judge_pace(now, is_status, out)
        if is_status:
            self._on_status(line, now, out)
        else:
            self._on_error_text(line, now, out)

    def _garbage(self, data: bytes, now: float, out: list[AnyReading]) -> None:
        if data:
            self.counters.damaged += 1
            out.append(
                LinkGarbage(at=now, device=self._device, frame=escape(data[:64]), bytes=len(data))
            )

    def _judge_pace(self, now: float, is_status: bool, out: list[AnyReading]) -> None:
        """Decide whether this answer is live or late, and report a burst that is over."""
        gap = 0.0 if self._last_answer_at is None else now - self._last_answer_at
        paced = gap >= LIVE_GAP_POLLS * self._options.poll
        silent = self._last_answer_at is not None and (
            self._reopened or gap > SILENCE_POLLS * self._options.poll
        )
        if silent:
            self._backlog = self._burst = True
            self._silence = max(self._silence, gap)
        elif paced:
            self._backlog = False
        if is_status:  # errors are answered between polls
            self._doubt.on_frame(now, now, in_backlog=self._backlog)
            self._burst = self._burst or self._doubt.ahead
        was_late, self._late = self._late, self._backlog or self._doubt.active
        if was_late and not self._late:
            if self._burst:
                out.append(
                    LinkLate(
                        at=now,
                        device=self._device,
                        frames=self._late_frames,
                        silence=round(self._silence, 3),
                    )
                )
            self._late_frames, self._silence, self._burst = 0, 0.0, False
            self._doubt.exhaust(now)
        self._last_answer_at = now
        self._reopened = False
        self._late_frames += self._late
        self.counters.late += self._late

    def _on_status(self, line: str, now: float, out: list[AnyReading]) -> None:
        """Handle the answer to SR2."""
        error = line[frames.ERROR_FLAG] == frames.ERROR_SET
        if error != self._error:
            self._error = error
            detail = self._text if error else None
            out.append(
                WheelFault(
                    at=now,
                    device=self._device,
                    frame=escape(line.encode()),
                    fault="sensor",
                    active=error,
                    detail=detail,
                )
            )
        fields = self._options.fields
        if fields is not None:
            self._on_state(fields, line, now, out)
        elif self._blind:
            self._blind = False
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    report="fields",
                    value="none: link and errors alone are reported",
                )
            )

    def _on_error_text(self, line: str, now: float, out: list[AnyReading]) -> None:
        """Handle an answer that is too short for a status as the answer to SR3."""
        text = re.split(r"[\x03\x04]", line)[0][frames.ERROR_TEXT].strip()
        if not text.isprintable():
            self.counters.unknown += 1
            return
        if text and text != self._text:
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    frame=escape(line.encode()),
                    report="error",
                    value=text,
                )
            )
        self._text = text or None

    def _on_state(self, fields: Fields, line: str, now: float, out: list[AnyReading]) -> None:
        """Handle state and number, if the site has given their positions."""
        phase = fields.phases.get(_text_at(line, fields.state))
        if phase is None:
            self.counters.unknown += 1
            return
        if phase == "settled":
            self._on_settled(fields, line, now, out)
            return
        if self._decided:
            self._begin_spin(live=True)
        self._doubt_spin(phase, _text_at(line, fields.spin) if fields.spin else None)
        self._agreed, self._live = 0, not self._late and not self._doubted
        self._report_phase(phase, line, now, out)

    def _doubt_spin(self, phase: Phase, count: str | None) -> None:
        """Doubt whether this is still the spin that was seen before a silence: another may have
        ended meanwhile. The wheel's own count, or bets that are open, end the doubt.
        """
        if self._late:
            self._doubted = self._doubted or self._seen_live
            return
        if phase == "bets_open" or (count is not None and count == self._live_count):
            self._doubted = False
        if not self._doubted:
            self._seen_live, self._live_count = True, count

    def _begin_spin(self, live: bool) -> None:
        """Begin a new spin, counted here."""
        self._spin += 1
        self._decided, self._agreed, self._live = False, 0, live
        self._seen_live = self._doubted = False

    def _report_phase(self, phase: Phase, line: str, now: float, out: list[AnyReading]) -> None:
        if (phase, self._spin, self._late) != self._shown:
            self._shown = (phase, self._spin, self._late)
            frame = escape(line.encode())
            out.append(
                WheelPhase(
                    at=now,
                    device=self._device,
                    frame=frame,
                    phase=phase,
                    spin=self._spin,
                    late=self._late,
                )
            )

    def _on_settled(self, fields: Fields, line: str, now: float, out: list[AnyReading]) -> None:
        """Report the number once enough consecutive answers contain it; only then is the wheel
        settled.
        """
        text = _text_at(line, fields.number)
        number: Number | None = fields.numbers.get(text, _parse_number(text))
        count = _text_at(line, fields.spin) if fields.spin else None
        if self._decided:
            if self._seen[1] == count:
                self._report_phase("settled", line, now, out)
                return
            self._begin_spin(live=False)  # a complete spin was missed
        if (number, count) != self._seen:
            self._seen, self._agreed = (number, count), 0
        self._agreed += 1
        self._live = self._live and not self._late
        if self._agreed < AGREEING_ANSWERS:
            return
        self._decided = True
        self._report_phase("settled", line, now, out)
        evidence = escape(line.encode())
        if (number is None) != self._unknown:
            self._unknown = number is None
            detail = (text.strip() or "blank") if self._unknown else None
            out.append(
                WheelFault(
                    at=now,
                    device=self._device,
                    frame=evidence,
                    fault="number_unknown",
                    active=self._unknown,
                    spin=self._spin,
                    detail=detail,
                )
            )
        if number is not None:
            out.append(
                WheelNumber(
                    at=now,
                    device=self._device,
                    frame=evidence,
                    number=number,
                    spin=self._spin,
                    late=not self._live,
                )
            )


def _text_at(line: str, place: tuple[int, int]) -> str:
    return line[place[0] : place[1] + 1]


def _parse_number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() else None


def _make(device: str, options: msgspec.Struct) -> Saturn:
    assert isinstance(options, Options)
    return Saturn(device, options)


def _blind(options: msgspec.Struct) -> str | None:
    assert isinstance(options, Options)
    return (
        "no number can be decoded: its position in an answer is not public; give `fields` from the "
        "vendor's document (docs/technician/devices/saturn.md)"
        if options.fields is None
        else None
    )


DRIVER = Driver(
    name="saturn",
    kind="wheel",
    title="TCS John Huxley Saturn",
    evidence="observed",
    line="baud=9600",
    framings=({}, {"check": "none"}),
    options=Options,
    games=("roulette-french", "roulette-american"),
    commands=("fire",),
    make=_make,
    blind=_blind,
)
