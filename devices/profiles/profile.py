"""Reads profiles from text and reports every mistake with its line."""

from __future__ import annotations

import re
from pathlib import Path

from devices import places
from devices.profiles.language import Profile
from devices.profiles.mistakes import LONGEST, ProfileMistake
from devices.profiles.mistakes import ProfileError as ProfileError
from devices.profiles.soundness import flaws
from devices.profiles.witness import unreached
from devices.sections import Notes, read

_PLACE = re.compile(r"(?P<what>.*) \(at line (?P<line>\d+), (?P<place>column \d+)\)", re.DOTALL)
"""How ``tomllib`` says where a text is not valid TOML."""


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
    return parse(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
