"""Metrics of the controller for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from common.contract.jackpot import JackpotState
from common.metrics.family import MetricFamily, Values
from subscribers.carrousel.facts import Fact, Staked, Won

JACKPOT_LABEL = ("jackpot",)
STANDBY_FAMILIES = (
    MetricFamily(
        "novamas_carrousel_standby_term",
        "gauge",
        "Of a pair: the term in which it serves; 0: it waits.",
    ),
    MetricFamily(
        "novamas_carrousel_standby_unable", "gauge", "Of a pair: 1: it waits and could not serve."
    ),
    MetricFamily(
        "novamas_carrousel_standby_unready",
        "gauge",
        "Of a pair: 1: it serves, and no other controller could take over.",
    ),
)
FAMILIES = (
    *STANDBY_FAMILIES,
    MetricFamily("novamas_carrousel_ledger_entries", "gauge", "Entries of the ledger."),
    MetricFamily("novamas_carrousel_broker_connected", "gauge", "1: the broker is connected."),
    MetricFamily(
        "novamas_carrousel_lag_seconds",
        "gauge",
        "Time from the last stake or hit at its table until it was in the ledger.",
    ),
    MetricFamily("novamas_carrousel_in_play", "gauge", "1: the jackpot is in play.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_meter_minor_units",
        "gauge",
        "Value of the meter, in cents.",
        JACKPOT_LABEL,
    ),
    MetricFamily("novamas_carrousel_tables", "gauge", "Linked tables.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_tables_in_play", "gauge", "Linked tables in play.", JACKPOT_LABEL
    ),
    MetricFamily("novamas_carrousel_alerts_open", "gauge", "Open alerts.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_coins_total", "counter", "Stakes in the ledger.", JACKPOT_LABEL
    ),
    MetricFamily("novamas_carrousel_hits_total", "counter", "Hands that qualified.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_orders_refused_total",
        "counter",
        "Refused orders, by the key of the refusal.",
        ("jackpot", "reason"),
    ),
    MetricFamily(
        "novamas_carrousel_alerts_total",
        "counter",
        "Reported alerts by kind; `refused`: table events that the rules refused.",
        ("jackpot", "what"),
    ),
)


class StandbyStatus(msgspec.Struct):
    """State of the pair as one of its controllers reports it. ``term``: 0 while it waits."""

    term: int = 0
    is_unable: bool = False
    is_unready: bool = False

    def values(self) -> dict[str, Values]:
        """Return the samples."""
        return {
            "novamas_carrousel_standby_term": {(): self.term},
            "novamas_carrousel_standby_unable": {(): self.is_unable},
            "novamas_carrousel_standby_unready": {(): self.is_unready},
        }


class JackpotCounts(msgspec.Struct):
    """Counters since the start, by jackpot."""

    coins: Counter[str] = msgspec.field(default_factory=Counter)
    """Stakes in the ledger."""
    hits: Counter[str] = msgspec.field(default_factory=Counter)
    """Awards in the ledger."""
    refused: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Refused orders, by the refusal's key."""
    alerts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Alerts by kind, each time one was raised or reported again."""
    lag: float = 0.0
    """Seconds from the last table event until it was in the ledger, by the table's clock."""

    def committed(self, facts: Iterable[tuple[str, Fact]]) -> None:
        """Count committed facts, each with its jackpot."""
        for jackpot, fact in facts:
            if isinstance(fact, Staked) and fact.amount:
                self.coins[jackpot] += 1
            elif isinstance(fact, Won):
                self.hits[jackpot] += 1


class ControllerHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Health of the controller, as its metrics report it."""

    states: dict[str, JackpotState]
    """The last published state of each jackpot."""
    open_alerts: dict[str, int]
    """Number of open alerts of each jackpot."""
    entries: int
    """Committed entries of the ledger."""
    connected: bool


def metric_values(
    counts: JackpotCounts,
    states: Mapping[str, JackpotState],
    alerts: Mapping[str, int],
    *,
    entries: int,
    connected: bool,
    standby: StandbyStatus | None = None,
) -> dict[str, Values]:
    """Return all samples. ``states``: the published state of each jackpot; ``alerts``: number of
    open ones; ``standby``: set in a pair.
    """

    def by_jackpot(numbers: Mapping[str, float]) -> Values:
        return {(name,): numbers.get(name, 0) for name in states}

    def by_jackpot_and_label(numbers: Mapping[tuple[str, str], int]) -> Values:
        return {(name, word): number for (name, word), number in numbers.items()}

    return {
        **({each.name: {} for each in STANDBY_FAMILIES} if standby is None else standby.values()),
        "novamas_carrousel_ledger_entries": {(): entries},
        "novamas_carrousel_broker_connected": {(): connected},
        "novamas_carrousel_lag_seconds": {(): counts.lag},
        "novamas_carrousel_in_play": by_jackpot({k: s.in_play for k, s in states.items()}),
        "novamas_carrousel_meter_minor_units": by_jackpot({k: s.value for k, s in states.items()}),
        "novamas_carrousel_tables": by_jackpot({k: len(s.tables) for k, s in states.items()}),
        "novamas_carrousel_tables_in_play": by_jackpot(
            {k: sum(table.in_play for table in s.tables.values()) for k, s in states.items()}
        ),
        "novamas_carrousel_alerts_open": by_jackpot(alerts),
        "novamas_carrousel_coins_total": by_jackpot(counts.coins),
        "novamas_carrousel_hits_total": by_jackpot(counts.hits),
        "novamas_carrousel_orders_refused_total": by_jackpot_and_label(counts.refused),
        "novamas_carrousel_alerts_total": by_jackpot_and_label(counts.alerts),
    }
