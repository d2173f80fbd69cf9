"""Stored state of a linked table's intake, and the results of its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from subscribers.carrousel.facts import CaughtUp, NotWon, PlayStaked, RoundVoided, Staked, Won

IntakeAlert = Literal["contradiction", "gap", "refused"]
"""``contradiction``: two events with one number differ, or the table does not know an event that it
published. ``gap``: events are missing and the table cannot supply them. ``refused``: an event does
not fit what is authorised.
"""


class EventPosition(msgspec.Struct, frozen=True):
    """Position of the last event accepted from a table, committed at ``time``. ``digest``: of its
    body; empty if it was never received, because the table was linked after it. ``seq`` 0: before
    the first event of that run.
    """

    boot: str
    seq: int
    time: str
    digest: str = ""


class RecallRequest(msgspec.Struct, frozen=True):
    """A recall to a table whose last accepted event is ``at``: everything from ``first`` of that
    run on, and all later runs.
    """

    at: EventPosition
    first: int
    """The number after ``at``; or that of ``at`` itself, to check whether the table
    still knows it.
    """
    time: str
    """When it was sent, on the controller's clock."""
    waiting: frozenset[tuple[str, int]]
    """Events that had arrived and waited for earlier ones."""


class IntakeMemory(msgspec.Struct):
    """Stored state of a table, saved together with the facts accepted until then."""

    at: EventPosition | None = None
    """None: no message of the table was received yet."""
    since: str | None = None
    """When the table was linked, if its run had no event yet: earlier events do not count. None
    after the first event.
    """
    boots: list[str] = []
    """Runs of the daemon before that of ``at``."""
    currency: str | None = None
    """Currency of the open session."""
    rounds: list[tuple[int, int]] = []
    """Latest sessions and rounds with bets on the jackpot."""
    last: tuple[int, int] = (0, 0)
    """Latest session and round with an accepted event."""
    settled: tuple[int, int] = (0, 0)
    """``last`` when persons settled a gap: no event of a round up to this one is accepted, since it
    is unknown which of them the persons have counted.
    """
    gap: str | None = None
    """Which events are missing and cannot be recalled; nothing is accepted until persons have
    settled it.
    """


class IntakeRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules from the terms in force."""

    tables: tuple[str, ...]
    games: tuple[str, ...]
    decree: str
    currency: str
    simulated: bool = False


class IntakeNotice(msgspec.Struct, frozen=True):
    """Something a person must know. The ledger is unchanged."""

    table: str
    alert: IntakeAlert
    detail: str


TableFact = Staked | PlayStaked | RoundVoided | Won | NotWon | CaughtUp


class IntakeResult(NamedTuple):
    """The result of a message. ``ask``: recall the events after ``at``."""

    facts: Sequence[TableFact] = ()
    notices: Sequence[IntakeNotice] = ()
    ask: bool = False


NOTHING = IntakeResult()
