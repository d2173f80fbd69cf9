"""Errors in a profile. Separate from the parser, so that a configuration without profiles is
checked without loading it.
"""

from __future__ import annotations

import msgspec

from common.errors import NovamasError

MAX_PROFILE_BYTES = 1 << 16
"""Maximum size of a profile: more than any device needs, and quick to check."""


class ProfileMistake(msgspec.Struct, frozen=True):
    """An error in a profile. ``line``: from 1; 0: the whole file. ``place``:
    ``message[0].fields.spin``.
    """

    line: int
    place: str
    what: str

    def describe(self, file: str) -> str:
        """Format the error for people: ``acme.toml:12: message[0].fields.spin: the error``."""
        return f"{file}:{self.line or 1}: {self.place + ': ' if self.place else ''}{self.what}"


class ProfileError(NovamasError, ValueError):
    """A profile that cannot be used. ``mistakes``: all its errors."""

    def __init__(self, mistakes: tuple[ProfileMistake, ...]) -> None:
        super().__init__("\n".join(mistake.describe("profile") for mistake in mistakes))
        self.mistakes = mistakes
