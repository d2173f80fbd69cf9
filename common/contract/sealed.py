"""The topic `sealed`: cards that are not face up, readable by surveillance alone."""

from __future__ import annotations

import msgspec

from common.readings import Whole


class Sealed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The message on the topic ``sealed``, and the body of an entry of the journal that only
    surveillance can read.
    """

    sealed: str
    """A libsodium sealed box to the public key of surveillance, in base64."""
    key: str | None = None
    """The public Ed25519 key of the daemon that made the box, in hexadecimal: that of its
    checkpoints. Absent where the key could not be used, and in boxes of older releases.
    """
    signature: str | None = None
    """The signature by that key, in hexadecimal. Anyone can seal for a public key: without a
    signature the origin is unknown.
    """
    reading: Whole | None = None
    """The number of the reading in the box, which events name as their evidence. Absent where it
    holds no reading, and in boxes of older releases.
    """


class Opened(msgspec.Struct, frozen=True):
    """The content of a sealed box: an entry of the journal before it was sealed."""

    table: str
    """The table's id."""
    boot: str
    """The run of the daemon."""
    seq: Whole
    """The number of the table's last event before it."""
    time: str
    """UTC, ISO 8601 with microseconds."""
    kind: str
    """``input``: an input of the table. In the journal only: ``bytes``, data that a device sent,
    and ``state``, the table's saved state.
    """
    body: msgspec.Raw
    """Of an ``input``: the reading or the command, in the notation of the journal."""
