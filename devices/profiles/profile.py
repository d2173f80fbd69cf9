"""Parses profiles and reports every error with its line."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from common import places
from common.sections import Notes, read_section
from common.toml_errors import describe_toml_error
from devices.profiles.language import Profile
from devices.profiles.mistakes import MAX_PROFILE_BYTES, ProfileMistake
from devices.profiles.mistakes import ProfileError as ProfileError
from devices.profiles.soundness import flaws
from devices.profiles.witness import unreached

PARSED_PROFILES = 32
"""Texts that are not parsed again: the tables of a pit share some, and each is read several times
while the configuration is checked and the devices are built.
"""


@lru_cache(PARSED_PROFILES)
def parse_profile(text: str) -> Profile:
    """Parse the text of a profile. Raises :class:`ProfileError` with every error."""
    if len(text) > MAX_PROFILE_BYTES:
        raise ProfileError(
            (ProfileMistake(0, "", f"a profile may have at most {MAX_PROFILE_BYTES} bytes"),)
        )
    try:
        document = places.loads(text)
    except (ValueError, RecursionError) as error:
        found = describe_toml_error(text, error)
        mistake = ProfileMistake(found.line, f"column {found.column}", found.what)
        raise ProfileError((mistake,)) from error
    notes: Notes = []
    profile = read_section(Profile, document, (), notes)
    if not notes:  # an invalid value could cause misleading further errors
        notes += flaws(profile)
    if notes:
        raise ProfileError(_with_lines(notes, text))
    return profile


def doubts(text: str) -> tuple[ProfileMistake, ...]:
    """Return the messages and readings of a profile for which no matching frame was found. Raises
    :class:`ProfileError` like :func:`parse_profile`.
    """
    return _with_lines(unreached(parse_profile(text)), text)


def _with_lines(notes: Notes, text: str) -> tuple[ProfileMistake, ...]:
    lines = places.line_numbers(text)
    mistakes = {
        ProfileMistake(places.line_of(lines, at) or 0, places.format_path(at), message)
        for at, message in notes
    }
    return tuple(sorted(mistakes, key=lambda mistake: (mistake.line, mistake.place, mistake.what)))


def shipped_profile(name: str) -> Profile:
    """Load a profile that is shipped with Novamás, by name."""
    return parse_profile(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
