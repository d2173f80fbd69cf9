"""Who had the lease of a pair before, as an entry of a chain records it."""

from __future__ import annotations

import msgspec

from common.contract.json_bodies import Stored
from common.contract.node import Checkpoint


class HandOver(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The daemon that had the tables before, from its last record in the pair's store.

    ``instance``, ``boot``, ``journal`` and ``term`` identify it; ``since``: the time of that
    record; ``checkpoint``: the signed end of its journal. ``forgotten``: the store had lost its
    records, so the actions of the other daemon are unknown.

    ``sessions`` and ``readings``: the highest numbers that it had assigned, by table. ``at``: when
    the tables were taken over. ``through``: the last entry of this journal before that; every table
    first reports the hand-over after it.
    """

    instance: str = ""
    boot: str = ""
    journal: str = ""
    term: Stored = 0
    since: str = ""
    checkpoint: Checkpoint | None = None
    sessions: dict[str, Stored] = {}
    readings: dict[str, Stored] = {}
    forgotten: bool = False
    at: str = ""
    through: Stored = 0


class Tenure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The lease under which a daemon of a pair serves the tables, in this ``term``. ``before``: the
    last hand-over to this journal; null if there was none.
    """

    instance: str
    term: Stored
    before: HandOver | None = None
