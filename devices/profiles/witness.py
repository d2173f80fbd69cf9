"""Finds frames that produce each message and reading of a profile, as a proof that they can occur.

Frames are built from the profile and tried on its codec. A message or reading that none of many
frames produces is reported, with the message that matched instead, so that an impossible profile is
found before a device is connected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from common.places import KeyPath
from common.readings import AnyReading
from common.sections import Notes
from devices.profiles.building import FrameBuilder
from devices.profiles.codec import ProfileCodec
from devices.profiles.language import Profile, ReadingSpec
from devices.profiles.messages import FittingMessage
from devices.profiles.pseudo_random import PseudoRandom

MAX_TRIES = 200
"""Number of frames tried for each message, and again for each of its readings."""
LEADING_BEATS = 6
"""Number of beats before a frame that must not be late."""
REPEATED_FRAMES = 4
"""Number of consecutive frames with the same content."""

FrameCourse = tuple[tuple[float, bytes], ...]
"""Input for a new codec: seconds and bytes."""


def witnesses(profile: Profile) -> dict[KeyPath, FrameCourse]:
    """Return the frames found for each message and each ``say``, by its path. The profile must have
    no flaws.
    """
    return _WitnessSearch(profile).found


def unreached(profile: Profile) -> Notes:
    """Return the messages and readings for which no frame was found, and why. The profile must have
    no flaws.
    """
    search = _WitnessSearch(profile)
    notes: Notes = []
    for index, message in enumerate(profile.message):
        at: KeyPath = ("message", index)
        if at not in search.found:
            notes.append((at, f"no frame was found that matches this message{search.why(index)}"))
            continue
        notes += [
            ((*at, "say", place), "no frame was found that gives this reading")
            for place in range(len(message.say))
            if (*at, "say", place) not in search.found
        ]
    notes += [
        (("say", place), "no frame was found that gives this reading")
        for place in range(len(profile.say))
        if ("say", place) not in search.found
    ]
    return notes


class _ProbeCodec(ProfileCodec):
    """Codec that records which messages fitted and which readings were reported."""

    def __init__(self, profile: Profile) -> None:
        super().__init__("witness", profile)
        self.fitted: list[str] = []
        self.reported: list[ReadingSpec] = []

    def _report(
        self, fitting: FittingMessage, frame: bytes, now: float, out: list[AnyReading]
    ) -> None:
        self.fitted.append(fitting.message.name)
        self.reported += [spec for spec, reading in fitting.readings if reading is None]
        super()._report(fitting, frame, now, out)

    def _emit(
        self,
        spec: ReadingSpec,
        reading: AnyReading,
        late: bool,
        frame: bytes | None,
        now: float,
        out: list[AnyReading],
    ) -> None:
        self.reported.append(spec)
        super()._emit(spec, reading, late, frame, now, out)


class _WitnessSearch:
    """Tries frames until every message and reading is found, or :data:`MAX_TRIES` is reached."""

    def __init__(self, profile: Profile) -> None:
        self.found: dict[KeyPath, FrameCourse] = {}
        self._profile = profile
        self._draws = PseudoRandom()
        self._places: dict[int, KeyPath] = {
            id(spec): ("say", place) for place, spec in enumerate(profile.say)
        }
        for index, message in enumerate(profile.message):
            self._places |= {
                id(spec): ("message", index, "say", place) for place, spec in enumerate(message.say)
            }
        self._names = {message.name: index for index, message in enumerate(profile.message)}
        self._matched_instead: dict[int, Counter[str]] = {}
        self._beats: tuple[bytes, ...] = ()
        # a frame that must not be late needs beats before it
        order = sorted(range(len(profile.message)), key=lambda at: not profile.message[at].beat)
        for index in order:
            self._try(index, None, ("message", index))
            for spec in (*profile.message[index].say, *profile.say):
                self._try(index, spec, self._places[id(spec)])

    def why(self, index: int) -> str:
        """The message that matched the frames instead, as text."""
        others = self._matched_instead[index].most_common(1)
        return f"; {others[0][0]!r} matches the frames that were tried" if others else ""

    def _try(self, index: int, spec: ReadingSpec | None, wanted: KeyPath) -> None:
        message = self._profile.message[index]
        others = self._matched_instead.setdefault(index, Counter())
        building = FrameBuilder(self._profile, message, spec, self._draws)
        for _ in range(MAX_TRIES):
            if wanted in self.found:
                return
            frames = building.frames(REPEATED_FRAMES)
            for course in self._courses(frames):
                fitted = self._feed(course)
                if message.name not in fitted:
                    others.update(fitted[-1:])
                    break
                if message.beat and not self._beats:
                    self._beats = building.frames(LEADING_BEATS)

    def _courses(self, frames: tuple[bytes, ...]) -> Iterator[FrameCourse]:
        """The frames alone, and after beats, so that they are not late."""
        if not frames:
            return
        framing, period = self._profile.framing, self._profile.pace.period
        line_end = framing.ends[:1].encode("latin-1") if framing.form == "line" else b""
        for course in (frames[:2], (*self._beats, *frames)) if period else (frames[:2],):
            yield (
                (0.0, line_end),
                *(((n + 1) * (period or 1.0), frame) for n, frame in enumerate(course)),
            )

    def _feed(self, course: FrameCourse) -> list[str]:
        """Feed a course to a new codec; return the messages that fitted and record the readings."""
        probe = _ProbeCodec(self._profile)
        for at, data in course:
            probe.feed(data, at)
        for name in probe.fitted:
            self.found.setdefault(("message", self._names[name]), course)
        for spec in probe.reported:
            self.found.setdefault(self._places[id(spec)], course)
        return probe.fitted
