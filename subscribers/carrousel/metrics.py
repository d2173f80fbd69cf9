"""What the controller counts and tells Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from controller.contract.jackpot import JackpotState
from controller.metrics.family import MetricFamily, Values
from subscribers.carrousel.facts import Fact, Staked, Won

JACKPOT_LABEL = ("jackpot",)
FAMILIES = (
    MetricFamily("novamas_carrousel_ledger_entries", "gauge", "Entries of the ledger."),
    MetricFamily("novamas_carrousel_broker_connected", "gauge", "Whether the broker is connected."),
    MetricFamily(
        "novamas_carrousel_lag_seconds",
        "gauge",
        "From the last stake or hit at its table until it was in the ledger.",
    ),
    MetricFamily("novamas_carrousel_in_play", "gauge", "1: the jackpot is in play.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_meter_minor_units", "gauge", "Its value, in cents.", JACKPOT_LABEL
    ),
    MetricFamily("novamas_carrousel_tables", "gauge", "Linked tables.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_tables_in_play", "gauge", "Those that are in play.", JACKPOT_LABEL
    ),
    MetricFamily("novamas_carrousel_alerts_open", "gauge", "Alerts that are open.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_coins_total", "counter", "Stakes in the ledger.", JACKPOT_LABEL
    ),
    MetricFamily("novamas_carrousel_hits_total", "counter", "Hands that qualified.", JACKPOT_LABEL),
    MetricFamily(
        "novamas_carrousel_orders_refused_total",
        "counter",
        "Orders of persons that were refused, by the key of the refusal.",
        ("jackpot", "reason"),
    ),
    MetricFamily(
        "novamas_carrousel_alerts_total",
        "counter",
        "Alerts by kind, each time that one was told; `refused`: what tables told and the rules "
        "refused.",
        ("jackpot", "what"),
    ),
)


class JackpotCounts(msgspec.Struct):
    """What is counted since the start, by jackpot."""

    coins: Counter[str] = msgspec.field(default_factory=Counter)
    """Stakes that are in the ledger."""
    hits: Counter[str] = msgspec.field(default_factory=Counter)
    """Hands that qualified, and are in the ledger."""
    refused: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Orders that were refused, by the refusal's key."""
    alerts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Alerts by kind: each time that one was raised or told again."""
    lag: float = 0.0
    """Seconds from the last event of a table until it was in the ledger, by the table's clock."""

    def committed(self, facts: Iterable[tuple[str, Fact]]) -> None:
        """Count facts that are in the ledger, each with its jackpot."""
        for jackpot, fact in facts:
            if isinstance(fact, Staked) and fact.amount:
                self.coins[jackpot] += 1
            elif isinstance(fact, Won):
                self.hits[jackpot] += 1


def metric_values(
    counts: JackpotCounts,
    states: Mapping[str, JackpotState],
    alerts: Mapping[str, int],
    *,
    entries: int,
    connected: bool,
) -> dict[str, Values]:
    """All of it. ``states``: what is said of each jackpot; ``alerts``: how many are open."""

    def each(numbers: Mapping[str, float]) -> Values:
        return {(name,): numbers.get(name, 0) for name in states}

    def by(numbers: Mapping[tuple[str, str], int]) -> Values:
        return {(name, word): number for (name, word), number in numbers.items()}

    return {
        "novamas_carrousel_ledger_entries": {(): entries},
        "novamas_carrousel_broker_connected": {(): connected},
        "novamas_carrousel_lag_seconds": {(): counts.lag},
        "novamas_carrousel_in_play": each({k: s.in_play for k, s in states.items()}),
        "novamas_carrousel_meter_minor_units": each({k: s.value for k, s in states.items()}),
        "novamas_carrousel_tables": each({k: len(s.tables) for k, s in states.items()}),
        "novamas_carrousel_tables_in_play": each(
            {k: sum(table.in_play for table in s.tables.values()) for k, s in states.items()}
        ),
        "novamas_carrousel_alerts_open": each(alerts),
        "novamas_carrousel_coins_total": each(counts.coins),
        "novamas_carrousel_hits_total": each(counts.hits),
        "novamas_carrousel_orders_refused_total": by(counts.refused),
        "novamas_carrousel_alerts_total": by(counts.alerts),
    }
