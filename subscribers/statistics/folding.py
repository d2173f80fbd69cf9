"""Statistics of any number of tables: a fold over the records of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp
from typing import Any

import msgspec

from subscribers.statistics.cylinder import Cylinder, cylinder, ordered
from subscribers.statistics.health import (
    FindingName,
    HealthFinding,
    ObservedWheel,
    WheelReport,
    is_reset,
)
from subscribers.statistics.shoes import (
    RANKS,
    SUITS,
    DealtShoe,
    ShoeEvidence,
    after,
    rising_sequences,
)
from subscribers.statistics.spins import (
    CorrectedSpin,
    ServiceWork,
    ShoeDealt,
    TableEvent,
    TableSpins,
    VoidSpin,
    WheelSpin,
)
from subscribers.surveillance.archive import ArchiveRecord

SiteAndTable = tuple[str, str]
"""Site and table."""
EVENT_TYPES = (
    "session.opened", "session.closed", "staff.arrived", "staff.left", "round.opened",
    "bets.closed", "round.result", "round.void", "round.unresolved", "result.corrected",
    "device.serviced", "device.identified", "shoe.started", "shoe.ended", "cards.burned",
    "card.dealt", "card.turned",
)  # fmt: skip
"""Types of events that are read."""


class ShoesReport(msgspec.Struct, frozen=True):
    """Report on the shoes of a table."""

    site: str
    table: str
    simulated: bool
    since: str
    until: str
    shoes: int
    order_evidence: float
    """Evidence that an order is repeated, in part or whole."""
    ranks_evidence: float
    """Evidence that ranks or suits occur more or less often than they should."""
    threshold: float
    alarms: dict[str, int]
    neighbours_kept: int
    neighbours_expected: float
    rising_sequences: int | None
    """Of the last shoe within the order before, if a shoe is one deck; about 26 if shuffled."""
    counts: dict[str, int]


class TableStatistics:
    """Statistics of one table."""

    def __init__(self) -> None:
        self.spins = TableSpins()
        self.orders: dict[str, Cylinder] = {}
        """Roulette wheel by run of the daemon, from the table's settings."""
        self.wheels: list[ObservedWheel] = []
        self.begun: tuple[str, str] = ("first", "")
        self.fresh = True
        self.shoes = ShoeEvidence()
        self.shoe: DealtShoe | None = None
        self.rising: int | None = None
        self.seen: tuple[str, str, bool] = ("", "", False)


class _StatisticsAbout(msgspec.Struct, frozen=True):
    settings: dict[str, Any] = {}


class _StatisticsInfo(msgspec.Struct, frozen=True):
    about: _StatisticsAbout = _StatisticsAbout()


class Statistics:
    """Statistics of all tables. Records that cannot be read are counted in ``unread``
    and skipped.
    """

    def __init__(self) -> None:
        self.tables: dict[SiteAndTable, TableStatistics] = {}
        self.unread = 0

    def on_info(self, record: ArchiveRecord) -> None:
        """Handle a table's info, before the events of its run."""
        try:
            info = msgspec.json.decode(record.body, type=_StatisticsInfo)
        except (ValueError, RecursionError):
            self.unread += 1
            return
        table = self.tables.setdefault((record.site, record.table), TableStatistics())
        table.orders[record.boot] = ordered(info.about.settings.get("pocket_order"))

    def on_event(self, record: ArchiveRecord) -> Iterator[HealthFinding]:
        """Handle an event. The events of one table must come in their order."""
        try:
            event = msgspec.json.decode(record.body, type=TableEvent)
        except (ValueError, RecursionError):
            self.unread += 1
            return
        table = record.site, record.table
        statistics = self.tables.setdefault(table, TableStatistics())
        for happening in statistics.spins.on_event(event):
            match happening:
                case WheelSpin():
                    yield from _on_spin(statistics, happening)
                case CorrectedSpin() if statistics.wheels and not statistics.fresh:
                    wheel = statistics.wheels[-1]
                    if {happening.number, happening.spin.number} <= set(wheel.cylinder.places):
                        wheel.correct(happening)
                case VoidSpin() if statistics.wheels and not statistics.fresh:
                    statistics.wheels[-1].void(happening)
                case ServiceWork():
                    _on_serviced(statistics, happening)
                case ShoeDealt():
                    yield from _on_shoe(statistics, happening)

    def wheels(self) -> list[WheelReport]:
        """Return the reports of the current and former wheels of all tables."""
        return [wheel.report() for table in self.tables.values() for wheel in table.wheels]

    def shoes(self) -> list[ShoesReport]:
        """Return the reports of the tables with shoes."""
        return [
            ShoesReport(
                site,
                table,
                statistics.seen[2],
                statistics.seen[0],
                statistics.seen[1],
                statistics.shoes.shoes,
                exp(min(statistics.shoes.order_evidence, 690.0)),
                exp(min(statistics.shoes.ranks_evidence, 690.0)),
                1000.0,
                statistics.shoes.alarms,
                statistics.shoes.kept,
                statistics.shoes.expected,
                statistics.rising,
                {part: statistics.shoes.counts.get(part, 0) for part in RANKS + SUITS},
            )
            for (site, table), statistics in self.tables.items()
            if statistics.shoes.shoes
        ]


def read_records(statistics: Statistics, records: Iterable[ArchiveRecord]) -> list[HealthFinding]:
    """Handle all records. Return the findings."""
    return [finding for record in records for finding in statistics.on_event(record)]


def _on_spin(table: TableStatistics, spin: WheelSpin) -> Iterator[HealthFinding]:
    wheel = cylinder(spin.family, _pocket_order(table, spin.boot))
    if wheel is None or spin.number not in wheel.places:
        return
    if table.fresh or table.wheels[-1].cylinder != wheel:
        work, serial = table.begun if table.fresh else ("pocket_order", table.begun[1])
        table.wheels.append(ObservedWheel(spin, wheel, work, serial))
        table.fresh = False
    yield from table.wheels[-1].add_spin(spin)


def _pocket_order(table: TableStatistics, boot: str) -> Cylinder | None:
    """Return the wheel of a run. If the run has not reported it, the former wheel; else the first
    one that was reported.
    """
    if boot in table.orders:
        return table.orders[boot]
    former = next((wheel.cylinder for wheel in reversed(table.wheels) if wheel.cylinder.ring), None)
    return former or next(iter(table.orders.values()), None)


def _on_serviced(table: TableStatistics, service: ServiceWork) -> None:
    device = table.wheels[-1].device if table.wheels else service.device
    if service.work == "ball_changed" and table.wheels and not table.fresh:
        table.wheels[-1].new_ball(service)
    elif is_reset(service, device):
        table.begun, table.fresh = (service.work, service.serial or table.begun[1]), True


def _on_shoe(table: TableStatistics, event: ShoeDealt) -> Iterator[HealthFinding]:
    previous, alarms_before = table.shoe, table.shoes.alarms
    if previous is not None and previous.decks != event.shoe.decks:
        previous = None
    table.shoes, table.shoe = after(table.shoes, previous, event.shoe), event.shoe
    table.seen = table.seen[0] or event.time, event.time, event.simulated
    table.rising = None
    if previous is not None and event.shoe.decks == 1:
        table.rising = rising_sequences(_known_cards(previous), _known_cards(event.shoe))
    names: dict[str, FindingName] = {"order": "shoe_order", "ranks": "shoe_ranks"}
    for name, number in table.shoes.alarms.items():
        if name not in alarms_before:
            neighbours = f"{table.shoes.kept} neighbours kept, {table.shoes.expected:.0f} expected"
            detail = neighbours if name == "order" else "ranks or suits are not evenly distributed"
            yield HealthFinding(
                names[name], event.site, event.table, event.time, table.seen[0], number, detail
            )


def _known_cards(shoe: DealtShoe) -> list[str]:
    return list(dict.fromkeys(card for card in shoe.cards if card is not None))
