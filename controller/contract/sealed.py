"""The topic `sealed`: cards that are not face up, readable by surveillance alone."""

from __future__ import annotations

import msgspec


class Sealed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The topic ``sealed``, and the body of an entry that only surveillance can read. ``sealed``:
    the box, in base64.

    ``key`` and ``signature``: of the daemon that made it, in hexadecimal; left out where its
    signing key could not be used, and by releases before this.
    """

    sealed: str
    key: str | None = None
    signature: str | None = None


class Opened(msgspec.Struct, frozen=True):
    """What is in a sealed box: an entry of the journal, before it was sealed.

    ``kind``: ``input`` for what the table was given; ``bytes`` and ``state`` in the journal alone.
    ``seq``: the number of the table's last event before it. ``body``: the input in the notation of
    the journal.
    """

    table: str
    boot: str
    seq: int
    time: str
    kind: str
    body: msgspec.Raw
