"""Statistics of any number of tables: a fold over the records of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp
from typing import Any

import msgspec

from subscribers.statistics.cylinder import Cylinder, cylinder, ordered
from subscribers.statistics.health import FindingName, Found, Wheel, WheelReport, resets
from subscribers.statistics.shoes import (
    RANKS,
    SUITS,
    Shoe,
    ShoeEvidence,
    after,
    rising_sequences,
)
from subscribers.statistics.spins import Corrected, Dealt, Serviced, Spin, TableSpins, Told, Void
from subscribers.surveillance.archive import ArchiveRecord

Table = tuple[str, str]
"""Site and table."""
TYPES = (
    "session.opened", "session.closed", "staff.arrived", "staff.left", "round.opened",
    "bets.closed", "round.result", "round.void", "round.unresolved", "result.corrected",
    "device.serviced", "device.identified", "shoe.started", "shoe.ended", "cards.burned",
    "card.dealt", "card.turned",
)  # fmt: skip
"""The events that are read."""


class ShoesReport(msgspec.Struct, frozen=True):
    """All that is told of the shoes of a table."""

    site: str
    table: str
    simulated: bool
    since: str
    until: str
    shoes: int
    order_evidence: float
    """That an order comes again, in part or whole."""
    ranks_evidence: float
    """That ranks or suits come more or less often than they should."""
    threshold: float
    alarms: dict[str, int]
    neighbours_kept: int
    neighbours_expected: float
    rising_sequences: int | None
    """Of the last shoe within the order before, where a shoe is one deck; about 26 if shuffled."""
    counts: dict[str, int]


class TableStatistics:
    """What is known of one table."""

    def __init__(self) -> None:
        self.spins = TableSpins()
        self.orders: dict[str, Cylinder] = {}
        """The wheel of roulette by run of the daemon, as the settings of the table have it."""
        self.wheels: list[Wheel] = []
        self.begun: tuple[str, str] = ("first", "")
        self.fresh = True
        self.shoes = ShoeEvidence()
        self.shoe: Shoe | None = None
        self.rising: int | None = None
        self.seen: tuple[str, str, bool] = ("", "", False)


class _About(msgspec.Struct, frozen=True):
    settings: dict[str, Any] = {}


class _Info(msgspec.Struct, frozen=True):
    about: _About = _About()


class Statistics:
    """Any number of tables. What cannot be read is counted in ``unread`` and left out."""

    def __init__(self) -> None:
        self.tables: dict[Table, TableStatistics] = {}
        self.unread = 0

    def know(self, record: ArchiveRecord) -> None:
        """What a table says of itself, before the events of its run."""
        try:
            told = msgspec.json.decode(record.body, type=_Info)
        except (ValueError, RecursionError):
            self.unread += 1
            return
        known = self.tables.setdefault((record.site, record.table), TableStatistics())
        known.orders[record.boot] = ordered(told.about.settings.get("pocket_order"))

    def take(self, record: ArchiveRecord) -> Iterator[Found]:
        """One event of a table, those of a table in their order."""
        try:
            told = msgspec.json.decode(record.body, type=Told)
        except (ValueError, RecursionError):
            self.unread += 1
            return
        table = record.site, record.table
        known = self.tables.setdefault(table, TableStatistics())
        for happened in known.spins.take(told):
            match happened:
                case Spin():
                    yield from _spun(known, happened)
                case Corrected() if known.wheels and not known.fresh:
                    wheel = known.wheels[-1]
                    if {happened.number, happened.spin.number} <= set(wheel.cylinder.places):
                        wheel.correct(happened)
                case Void() if known.wheels and not known.fresh:
                    known.wheels[-1].void(happened)
                case Serviced():
                    _serviced(known, happened)
                case Dealt():
                    yield from _dealt(known, happened)

    def wheels(self) -> list[WheelReport]:
        """The wheels as they stand at their tables, and those before them."""
        return [wheel.report() for known in self.tables.values() for wheel in known.wheels]

    def shoes(self) -> list[ShoesReport]:
        """The shoes of the tables that have some."""
        return [
            ShoesReport(
                site,
                table,
                known.seen[2],
                known.seen[0],
                known.seen[1],
                known.shoes.shoes,
                exp(min(known.shoes.order_evidence, 690.0)),
                exp(min(known.shoes.ranks_evidence, 690.0)),
                1000.0,
                known.shoes.alarms,
                known.shoes.kept,
                known.shoes.expected,
                known.rising,
                {part: known.shoes.counts.get(part, 0) for part in RANKS + SUITS},
            )
            for (site, table), known in self.tables.items()
            if known.shoes.shoes
        ]


def read(statistics: Statistics, records: Iterable[ArchiveRecord]) -> list[Found]:
    """Take all of them. Returns what was found."""
    return [found for record in records for found in statistics.take(record)]


def _spun(known: TableStatistics, spin: Spin) -> Iterator[Found]:
    shape = cylinder(spin.family, _order(known, spin.boot))
    if shape is None or spin.number not in shape.places:
        return
    if known.fresh or known.wheels[-1].cylinder != shape:
        work, serial = known.begun if known.fresh else ("pocket_order", known.begun[1])
        known.wheels.append(Wheel(spin, shape, work, serial))
        known.fresh = False
    yield from known.wheels[-1].take(spin)


def _order(known: TableStatistics, boot: str) -> Cylinder | None:
    """The wheel of a run. Of one that told none, it is as it was before; if nothing was before, as
    it was told first.
    """
    if boot in known.orders:
        return known.orders[boot]
    before = next((each.cylinder for each in reversed(known.wheels) if each.cylinder.ring), None)
    return before or next(iter(known.orders.values()), None)


def _serviced(known: TableStatistics, given: Serviced) -> None:
    device = known.wheels[-1].device if known.wheels else given.device
    if given.work == "ball_changed" and known.wheels and not known.fresh:
        known.wheels[-1].new_ball(given)
    elif resets(given, device):
        known.begun, known.fresh = (given.work, given.serial or known.begun[1]), True


def _dealt(known: TableStatistics, dealt: Dealt) -> Iterator[Found]:
    before, was = known.shoe, known.shoes.alarms
    if before is not None and before.decks != dealt.shoe.decks:
        before = None
    known.shoes, known.shoe = after(known.shoes, before, dealt.shoe), dealt.shoe
    known.seen = known.seen[0] or dealt.time, dealt.time, dealt.simulated
    known.rising = None
    if before is not None and dealt.shoe.decks == 1:
        known.rising = rising_sequences(_seen(before), _seen(dealt.shoe))
    names: dict[str, FindingName] = {"order": "shoe_order", "ranks": "shoe_ranks"}
    for name, number in known.shoes.alarms.items():
        if name not in was:
            kept = f"{known.shoes.kept} neighbours kept, {known.shoes.expected:.0f} expected"
            detail = kept if name == "order" else "ranks or suits do not come as they should"
            yield Found(
                names[name], dealt.site, dealt.table, dealt.time, known.seen[0], number, detail
            )


def _seen(shoe: Shoe) -> list[str]:
    return list(dict.fromkeys(card for card in shoe.cards if card is not None))
