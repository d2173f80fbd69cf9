"""What the console is told when the server starts. No secret is in it, only where they are."""

from __future__ import annotations

import msgspec

from devices.money import EURO


class PitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section of the console."""

    people_file: str
    people_key: str
    """The public part of the key that signs the people file, base64url."""
    keys: str
    """The folder of the sealed keys."""
    pepper: str
    """The file of the console's pepper."""
    currency: str = EURO
    """Of amounts at a table whose session names none."""
    laws: str | None = None
    """A file with the words of the decrees: JSON, rule id to words."""
    idle: float = 300.0
    """Seconds without a touch after which a session ends."""
    longest: float = 1800.0
    """Seconds after which it ends however much is touched."""
    late: float = 5.0
    """Seconds after which a touch is not acted on any more."""
    occupied: str | None = None
    """A file that is there while anybody is signed in; None: none is written. The demo's staff
    leaves decisions to whoever is there.
    """
