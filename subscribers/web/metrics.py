"""``/metrics``: the server's metrics for Prometheus."""

from __future__ import annotations

import msgspec

from controller.metrics.family import MetricFamily, Values
from subscribers.web.floor import Floor

FAMILIES = (
    MetricFamily("novamas_web_streams", "gauge", "Browsers that are served pictures now."),
    MetricFamily("novamas_web_streams_refused_total", "counter", "Refused: there were too many."),
    MetricFamily(
        "novamas_web_streams_behind_total", "counter", "Left: they took nothing for long."
    ),
    MetricFamily("novamas_web_pictures_sent_total", "counter", "Pictures that were sent."),
    MetricFamily("novamas_web_tables", "gauge", "Tables that are shown."),
    MetricFamily("novamas_web_tables_deaf", "gauge", "Tables of which nothing is current."),
    MetricFamily("novamas_web_changes_total", "counter", "Changes of tables."),
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
    """Browsers that are served pictures now."""
    refused: int = 0
    """Those that were refused because there were too many."""
    left_behind: int = 0
    """Those that took nothing for too long."""
    pictures: int = 0
    """Pictures that were sent."""


def metric_values(counts: WebCounters, floor: Floor) -> dict[str, Values]:
    """All of it."""
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
