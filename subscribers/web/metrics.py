"""``/metrics``: the server's metrics for Prometheus."""

from __future__ import annotations

import msgspec

from common.metrics.family import MetricFamily, Values
from subscribers.api.routes import Api
from subscribers.feed.floor import Floor

FAMILIES = (
    MetricFamily("novamas_web_streams", "gauge", "Open streams of pictures."),
    MetricFamily(
        "novamas_web_streams_refused_total",
        "counter",
        "Streams refused because there were too many.",
    ),
    MetricFamily(
        "novamas_web_streams_behind_total",
        "counter",
        "Streams ended because the browser read nothing for too long.",
    ),
    MetricFamily("novamas_web_pictures_sent_total", "counter", "Pictures sent."),
    MetricFamily("novamas_web_tables", "gauge", "Tables shown."),
    MetricFamily("novamas_web_tables_deaf", "gauge", "Tables without current data."),
    MetricFamily("novamas_web_changes_total", "counter", "Changes of tables."),
    MetricFamily("novamas_web_api_streams", "gauge", "HTTP API: open streams of events."),
    MetricFamily(
        "novamas_web_api_streams_refused_total",
        "counter",
        "HTTP API: streams refused because there were too many.",
    ),
    MetricFamily(
        "novamas_web_api_streams_behind_total",
        "counter",
        "HTTP API: streams ended because the reader was too slow.",
    ),
    MetricFamily(
        "novamas_web_api_gaps_total",
        "counter",
        "HTTP API: gaps, because a daemon no longer had events that were missed.",
    ),
    MetricFamily(
        "novamas_web_api_storing",
        "gauge",
        "HTTP API: 1: events are stored and streamed. 0: they cannot be stored.",
    ),
    MetricFamily(
        "novamas_web_broker_connected",
        "gauge",
        "Whether the broker is connected, for real and for simulated tables.",
        ("simulated",),
    ),
)


class WebCounters(msgspec.Struct):
    """Event counters."""

    streams: int = 0
    """Open streams."""
    refused: int = 0
    """Streams refused because there were too many."""
    left_behind: int = 0
    """Streams ended because the browser read nothing for too long."""
    pictures: int = 0
    """Pictures sent."""


def metric_values(counts: WebCounters, floor: Floor, api: Api | None) -> dict[str, Values]:
    """Return the values of all metrics; without an API its own have none."""
    none: dict[str, Values] = {family.name: {} for family in FAMILIES}
    return none | _web_values(counts, floor) | ({} if api is None else _api_values(api))


def _api_values(api: Api) -> dict[str, Values]:
    return {
        "novamas_web_api_streams": {(): api.counts.streams},
        "novamas_web_api_streams_refused_total": {(): api.counts.refused},
        "novamas_web_api_streams_behind_total": {(): api.counts.left_behind},
        "novamas_web_api_gaps_total": {(): 0 if api.events is None else api.events.gaps},
        "novamas_web_api_storing": {
            (): api.events is not None and api.events.trouble is None,
        },
    }


def _web_values(counts: WebCounters, floor: Floor) -> dict[str, Values]:
    return {
        "novamas_web_streams": {(): counts.streams},
        "novamas_web_streams_refused_total": {(): counts.refused},
        "novamas_web_streams_behind_total": {(): counts.left_behind},
        "novamas_web_pictures_sent_total": {(): counts.pictures},
        "novamas_web_tables": {(): len(floor.known)},
        "novamas_web_tables_deaf": {(): sum(why is not None for why in floor.outdated.values())},
        "novamas_web_changes_total": {(): floor.change},
        "novamas_web_broker_connected": {
            (str(simulated).lower(),): floor.connected(simulated) for simulated in floor.worlds
        },
    }
