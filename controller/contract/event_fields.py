"""The envelope of every event, and what events of several games are made of."""

from __future__ import annotations

from typing import Literal

import msgspec

Announcement = dict[str, str]
"""What is called at the table, in the decree's own words, by language: ``{"es": "no va más"}``."""


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """One piece of evidence: the frame as received, and when."""

    at: float
    frame: str
    device: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The envelope. ``seq`` is contiguous per table and ``boot``; ``time`` is UTC, ISO 8601 with
    microseconds; ``mono_ns`` is the host's monotonic clock. ``session`` counts the table's
    sessions, ``round`` the rounds of a session, both from 1; ``historical`` marks an answer to a
    recall or a delivery after an outage.
    """

    site: str = ""
    table: str = ""
    game: str = ""
    decree: str = ""
    boot: str = ""
    seq: int = 0
    time: str = ""
    mono_ns: int = 0
    simulated: bool = False
    historical: bool = False
    session: int = 0
    round: int = 0


class Settled(msgspec.Struct, frozen=True, omit_defaults=True):
    """What becomes of one kind of bet. ``pays`` to 1, as a fraction ``(numerator, denominator)``;
    of a bet that wins.

    ``stays``: it is neither won nor lost yet. ``void``: it is given back. ``who``: whose, where it
    is a hand's own.
    """

    bet: str
    outcome: Literal["win", "lose", "tie", "void", "stays"]
    pays: tuple[int, int] | None = None
    who: str | None = None
