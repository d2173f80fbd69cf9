"""Reads profiles from text and reports every mistake with its line."""

from __future__ import annotations

import re
from importlib.resources import files

import msgspec

from devices import places
from devices.errors import NovamasError
from devices.profiles.language import Profile
from devices.profiles.soundness import flaws
from devices.profiles.witness import unreached
from devices.sections import Notes, read

LONGEST = 1 << 16
"""Maximum size of a profile in bytes: more than any device needs, and quick to check."""

_PLACE = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), (?P<place>column \d+)\)", re.DOTALL)
"""How ``tomllib`` says where a text is not valid TOML."""


class ProfileMistake(msgspec.Struct, frozen=True):
    """One mistake. ``line``: counted from 1; 0: the whole file. ``place``:
    ``message[0].fields.spin``.
    """

    line: int
    place: str
    what: str

    def of(self, file: str) -> str:
        """The mistake as text for people: ``acme.toml:12: message[0].fields.spin: what is
        wrong``.
        """
        return f"{file}:{self.line or 1}: {self.place + ': ' if self.place else ''}{self.what}"


class ProfileError(NovamasError, ValueError):
    """A profile that cannot be used; ``mistakes`` lists everything that is wrong with it."""

    def __init__(self, mistakes: tuple[ProfileMistake, ...]) -> None:
        super().__init__("\n".join(mistake.of("profile") for mistake in mistakes))
        self.mistakes = mistakes


def parse(text: str) -> Profile:
    """Parse the text of a profile. Raises :class:`ProfileError` listing every mistake."""
    if len(text) > LONGEST:
        raise ProfileError((ProfileMistake(0, "", f"a profile may have at most {LONGEST} bytes"),))
    try:
        given = places.loads(text)
    except (ValueError, RecursionError) as error:
        found = _PLACE.fullmatch(str(error))
        line, place, what = (
            (int(found["line"]), found["place"], places.refused(found["what"]))
            if found
            else (0, "", str(error))
        )
        raise ProfileError((ProfileMistake(line, place, what),)) from error
    notes: Notes = []
    profile = read(Profile, given, (), notes)
    if not notes:  # a value that was not read could cause misleading errors
        notes += flaws(profile)
    if notes:
        raise ProfileError(_placed(notes, text))
    return profile


def doubts(text: str) -> tuple[ProfileMistake, ...]:
    """The messages and readings of a sound profile for which no frame was found that gives them.
    Raises :class:`ProfileError` as :func:`parse` does.
    """
    return _placed(unreached(parse(text)), text)


def _placed(notes: Notes, text: str) -> tuple[ProfileMistake, ...]:
    lines = places.lines(text)
    made = {
        ProfileMistake(places.line(lines, at) or 0, places.spell(at), what) for at, what in notes
    }
    return tuple(sorted(made, key=lambda mistake: (mistake.line, mistake.place, mistake.what)))


def shipped(name: str) -> Profile:
    """A profile that comes with Novamás, by name."""
    return parse(files("devices.profiles").joinpath(f"{name}.toml").read_text())
