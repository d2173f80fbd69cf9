"""Runs a world: so many hours and faults of a seed, then time to become right, then the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from tests.world.faults import FAULTS, Happening, draw
from tests.world.pair import Takeover
from tests.world.parts import SAME_FAULTS
from tests.world.trace import Trace
from tests.world.wheels import croupier
from tests.world.wheels.kinds import drawn_kind
from tests.world.world import TICK_SECONDS, World, world

SETTLE_SECONDS = croupier.PLAYS_SECONDS + 2 * TICK_SECONDS
"""After the last fault has ended, everything must have become right within this time. A world ends
earlier once every checker says that it has.
"""


class Plan(msgspec.Struct, frozen=True):
    """What a run consists of. The seed alone decides ``faults``, unless they are given."""

    seed: int
    hours: float = 1.0
    tables: int = 2
    pace: float = 1.0
    pair: bool = False
    parts: tuple[str, ...] = ()
    """Who takes part, by their names in :data:`tests.world.parts.PARTS`."""
    wheel: str = "cammegh-ss2"
    """The kind of all wheels, of :data:`tests.world.wheels.kinds.KINDS`; empty: drawn by seed."""
    faults: tuple[Happening, ...] = ()

    @property
    def wheels(self) -> tuple[str, ...]:
        """The kind of wheel of each table. With the part ``people``, all keys need a signature,
        and no croupier of a wheel signs.
        """
        by_hand = "people" not in self.parts
        return tuple(
            self.wheel or drawn_kind(self.seed, number, by_hand=by_hand)
            for number in range(1, self.tables + 1)
        )


class Outcome(NamedTuple):
    """How a run ended. ``finding``: what was violated, or None; ``tables``: how many there were;
    ``events``: how many a subscriber has received;
    ``takeovers``: of a pair's tables or ledger; ``announced``: seconds from each claim of a ledger
    to the first statement.
    """

    plan: Plan
    finding: str | None
    tables: int
    events: int
    record: Trace
    takeovers: list[Takeover]
    announced: list[float]

    @property
    def trace(self) -> tuple[str, ...]:
        """What happened, for a person."""
        return tuple(self.record.lines)

    @property
    def digest(self) -> str:
        """The digest of all that happened."""
        return self.record.digest


def plan(
    seed: int,
    hours: float = 1.0,
    tables: int = 2,
    faults: int = 20,
    pace: float = 1.0,
    pair: bool = False,
    parts: tuple[str, ...] = (),
    wheel: str = "",
) -> Plan:
    """Draw the faults of a seed."""
    quiet = Plan(seed, hours, tables, pace, pair, parts, wheel)
    like = (SAME_FAULTS[part] for part in parts if part in SAME_FAULTS)
    known = (*parts, *like, *quiet.wheels, *(("pair",) if pair else ()))
    drawn = tuple(draw(Random(f"faults {seed}"), hours, faults, known))
    return msgspec.structs.replace(quiet, faults=drawn)


def plan_of(of: Plan, names: Sequence[str]) -> Plan:
    """Return the plan with faults of these names alone, at the same times."""
    faults = (fault._replace(name=names[fault.seed % len(names)]) for fault in of.faults)
    return msgspec.structs.replace(of, faults=tuple(faults))


def run(of: Plan, folder: Path | None = None) -> Outcome:
    """Run a world to its end, or to the first thing that must never be."""
    with world(of.seed, of.pace, of.pair, of.parts, of.wheels, folder) as made:
        _schedule(made, of.faults)
        made.loop.call_at(1.0, made.start, context=Context())
        made.quiet_at = max([of.hours * 3600.0, *(fault.until for fault in of.faults)])
        while not (made.finding or made.is_settled) and (
            made.loop.now < made.quiet_at + SETTLE_SECONDS
        ):
            made.loop.run_until_time(made.quiet_at + SETTLE_SECONDS)
        if not (made.finding or made.is_settled):
            made.check_end()
        return Outcome(
            of,
            None if made.finding is None else str(made.finding),
            len(made.tables),
            made.held.received,
            made.trace,
            made.takeovers,
            made.announced,
        )


def _schedule(made: World, faults: Sequence[Happening]) -> None:
    for fault in faults:
        made.loop.call_at(fault.at, _begin, made, fault, context=Context())


def _begin(made: World, fault: Happening) -> None:
    made.note(f"FAULT {fault.name}, for {fault.until - made.loop.now:g} s")
    made.calm.disturb(fault.until)
    end = FAULTS[fault.name].begin(made, Random(fault.seed))
    made.loop.call_at(fault.until, end, context=Context())
