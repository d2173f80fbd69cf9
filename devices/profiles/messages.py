"""Finds the message of a profile that a frame is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from common.readings import AnyReading
from devices.profiles.checksums import ChecksumVerifier
from devices.profiles.fields import UnfitFieldError, Values, decode_fields
from devices.profiles.framing import BlockFraming, FrameCandidate, LineFraming
from devices.profiles.json_messages import read_message, required_paths
from devices.profiles.language import MessageSpec, Profile, ReadingSpec
from devices.profiles.patterns import compiled
from devices.profiles.templates import conditions_hold, make_reading


class FittingMessage(msgspec.Struct, frozen=True):
    """A message that fits a frame, with the values of all fields and the readings it produces."""

    message: MessageSpec
    values: Values
    readings: list[tuple[ReadingSpec, AnyReading | None]]


class MessageFinder:
    """The messages of a profile. ``kept_values``: those of fields of earlier frames."""

    def __init__(self, profile: Profile) -> None:
        framing = profile.framing
        self.check = ChecksumVerifier(profile.checksum) if profile.checksum else None
        self.searched = (
            compiled(framing.find, framing.longest, searched=True) if framing.find else None
        )
        self.kept_values: Values = {}
        self._profile = profile
        self._expressions = {
            message.name: compiled(message.match, framing.longest)
            for message in profile.message
            if message.match
        }
        self._needed_paths = {
            message.name: required_paths(profile, (profile.fields, message.fields))
            for message in profile.message
        }

    def new_framing(self) -> LineFraming | BlockFraming:
        """Return what cuts a stream of bytes into frames."""
        framing = self._profile.framing
        return (
            LineFraming(framing)
            if framing.form in ("line", "json")
            else BlockFraming(framing, self._is_frame)
        )

    def accepting(self, texts: Iterable[bytes]) -> Iterator[str]:
        """Names of the messages that accept these lines of text."""
        end = self._profile.framing.ends[:1].encode("latin-1")
        for text in texts:
            for piece in self.new_framing().feed(text + end, 0.0):
                if isinstance(piece, FrameCandidate):
                    for frame, groups in self.candidates(piece.data):
                        fitting = self.find(frame, groups, cut=False, unknown=True)
                        if fitting is not None:
                            yield fitting.message.name

    def candidates(self, data: bytes) -> Iterator[tuple[bytes, Values]]:
        """Possible frames in a line: the whole line, or the matches of ``find``; with the values of
        a message in JSON.
        """
        if self._profile.framing.form == "json":
            if (message := read_message(data)) is not None:
                yield data, message.values
            return
        if self.searched is None:
            yield data, {}
            return
        for match in self.searched.finditer(data):
            yield match[0], named_groups(match)

    def _is_frame(self, frame: bytes) -> bool:
        """Whether a block is a frame: its checksum is correct or, without checksums, a message
        fits.
        """
        return (
            self.check.holds(frame)
            if self.check
            else self.find(frame, {}, cut=False, unknown=True) is not None
        )

    def find(self, frame: bytes, groups: Values, cut: bool, unknown: bool) -> FittingMessage | None:
        """Find the first message that fits. One marked unknown is tried only if no other fits."""
        profile = self._profile
        body = frame[profile.framing.body[0] : len(frame) + profile.framing.body[1]]
        try:
            common = decode_fields(
                profile.fields,
                body,
                profile.separator.encode("latin-1"),
                groups,
                self.kept_values,
                profile.maps,
            )
        except UnfitFieldError:
            return None
        for last in (False, True) if unknown else (False,):
            for message in profile.message:
                if message.unknown == last and not (message.whole and cut):
                    try:
                        return self._decode_message(message, body, common)
                    except UnfitFieldError:
                        continue
        return None

    def _decode_message(self, message: MessageSpec, body: bytes, common: Values) -> FittingMessage:
        """Decode a frame as this message. Raises :class:`UnfitFieldError`."""
        if any(common.get(path) is None for path in self._needed_paths[message.name]):
            raise UnfitFieldError
        part = body
        if message.part:
            if not isinstance(common[message.part], str):
                raise UnfitFieldError
            part = common[message.part].encode("latin-1", "replace")
        separator = (
            self._profile.separator if message.separator is None else message.separator
        ).encode("latin-1")
        if message.length not in (None, len(part)) or not part.startswith(
            message.starts.encode("latin-1")
        ):
            raise UnfitFieldError
        if message.pieces is not None and part.count(separator) + 1 != message.pieces:
            raise UnfitFieldError
        values = dict(common)
        if message.match:
            match = self._expressions[message.name].fullmatch(part)
            if match is None:
                raise UnfitFieldError
            values |= named_groups(match)
        values = decode_fields(
            message.fields, part, separator, values, self.kept_values, self._profile.maps
        )
        if not conditions_hold(message.when, message.unless, values):
            raise UnfitFieldError
        readings = [
            (spec, make_reading(spec, values) if spec.reading else None)
            for spec in (*self._profile.say, *message.say)
            if conditions_hold(spec.when, spec.unless, values)
        ]
        return FittingMessage(message, values, readings)


def named_groups(match: re.Match[bytes]) -> Values:
    """Return the named groups of a match as text; None for a group that did not take part."""
    return {
        name: None if part is None else part.decode("latin-1")
        for name, part in match.groupdict().items()
    }
