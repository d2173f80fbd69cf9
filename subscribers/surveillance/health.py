"""State of the recorder, for its log and for monitoring at ``/metrics`` and ``/health``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from common.metrics.endpoint import HttpResponse, Pages
from common.metrics.family import MetricFamily, Values
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from subscribers.surveillance.site import RecordedSite

SITE_LABEL = ("site",)
FAMILIES = (
    MetricFamily("novamas_surveillance_kept_total", "counter", "Records stored since the start."),
    MetricFamily(
        "novamas_surveillance_archive_failed_total", "counter", "Attempts to store that failed."
    ),
    MetricFamily("novamas_surveillance_archive_up", "gauge", "1 if the archive stores records."),
    MetricFamily(
        "novamas_surveillance_broker_connected",
        "gauge",
        "1 if connected to the site's broker.",
        SITE_LABEL,
    ),
    MetricFamily(
        "novamas_surveillance_waiting_messages", "gauge", "Messages not stored yet.", SITE_LABEL
    ),
    MetricFamily(
        "novamas_surveillance_wanted_recalls", "gauge", "Recalls not answered yet.", SITE_LABEL
    ),
    MetricFamily(
        "novamas_surveillance_first_sight_keys",
        "gauge",
        "Nodes whose key is trusted only because it came first.",
        SITE_LABEL,
    ),
    MetricFamily(
        "novamas_surveillance_bad_messages_total",
        "counter",
        "Messages that could not be read.",
        SITE_LABEL,
    ),
    MetricFamily(
        "novamas_surveillance_findings_total", "counter", "Findings since the start.", SITE_LABEL
    ),
    MetricFamily(
        "novamas_surveillance_findings_open",
        "gauge",
        "Unsettled findings that are shown as alerts.",
        SITE_LABEL,
    ),
)
SITE_METRIC_FIELDS = {
    "novamas_surveillance_broker_connected": "connected",
    "novamas_surveillance_waiting_messages": "waiting",
    "novamas_surveillance_wanted_recalls": "wanted",
    "novamas_surveillance_bad_messages_total": "bad",
    "novamas_surveillance_findings_total": "findings",
    "novamas_surveillance_findings_open": "open",
}
"""Field of a site's state, by metric."""


class RecorderHealth(msgspec.Struct):
    """Counters and state. ``trouble``: why the archive cannot store records; ``sites``: by id."""

    kept: int = 0
    failed: int = 0
    trouble: str | None = None
    sites: dict[str, dict[str, Any]] = {}

    def update(self, sites: Sequence[RecordedSite]) -> dict[str, Any]:
        """Read the current state of the sites. Return everything as log fields."""
        self.sites = {
            site.id: {
                "connected": site.connection.up,
                "waiting": len(site.pending),
                "wanted": sum(len(table.wants) for table in list(site.recalls.tables.values())),
                "first_sight": site.proofs.unvouched,
                "bad": site.bad_count,
                "findings": site.alerts.finding_count,
                "open": site.alerts.shown,
                "trouble": site.recalls.trouble,
            }
            for site in sites
        }
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields


def metric_values(health: RecorderHealth) -> dict[str, Values]:
    """Return the Prometheus samples of a health state."""
    return {
        "novamas_surveillance_kept_total": {(): health.kept},
        "novamas_surveillance_archive_failed_total": {(): health.failed},
        "novamas_surveillance_archive_up": {(): health.trouble is None},
        "novamas_surveillance_first_sight_keys": {
            (site,): len(state["first_sight"]) for site, state in health.sites.items()
        },
        **{
            name: {(site,): int(state[field]) for site, state in health.sites.items()}
            for name, field in SITE_METRIC_FIELDS.items()
        },
    }


def pages(current: Callable[[], RecorderHealth]) -> Pages:
    """Return the handlers of the pages. ``current`` returns the current state."""

    async def metrics() -> HttpResponse:
        return HttpResponse(await exposition(FAMILIES, metric_values(current())), TEXT_CONTENT_TYPE)

    async def health() -> HttpResponse:
        state = current()
        up = HTTPStatus.OK if state.trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
        return HttpResponse(msgspec.json.encode(state), "application/json", up)

    return {b"/metrics": metrics, b"/health": health}
