"""Settings of the console. They contain no secret, only paths to secrets."""

from __future__ import annotations

import msgspec

from common.money import EURO


class PitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the console."""

    people_file: str
    people_key: str
    """The public part of the key that signs the people file, base64url."""
    keys: str
    """The folder of the sealed keys."""
    pepper: str
    """The file of the console's pepper."""
    currency: str = EURO
    """Currency of amounts if the table's session names none."""
    laws: str | None = None
    """A file with the texts of the decrees: JSON, rule id to text."""
    idle: float = 300.0
    """Seconds without a touch after which a session ends."""
    longest: float = 1800.0
    """Maximum duration of a session in seconds."""
    badge_signs: bool = False
    """Whether a signed-in person may sign a grave command with the badge instead of the PIN."""
    ledger: str | None = None
    """The ledger of the jackpots, if it is on this machine: its receipts are printed here."""
    receipt_printer: str | None = None
    """The device file of a thermal printer for receipts, as ``/dev/usb/lp0``."""
    late: float = 5.0
    """Maximum age of a touch in seconds; an older one is ignored."""
    occupied: str | None = None
    """A file that exists while a person is signed in; None to write none. The demo's staff leaves
    decisions to that person.
    """
