"""How the recorder is: for its log, and at ``/metrics`` and ``/health`` for whoever watches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from controller.metrics.endpoint import HttpResponse, Pages
from controller.metrics.family import MetricFamily, Values
from controller.metrics.text import TEXT_CONTENT_TYPE, exposition
from subscribers.surveillance.site import Site

SITE = ("site",)
FAMILIES = (
    MetricFamily("novamas_surveillance_kept_total", "counter", "Records kept since the start."),
    MetricFamily("novamas_surveillance_archive_failed_total", "counter", "Attempts it refused."),
    MetricFamily("novamas_surveillance_archive_up", "gauge", "1: the archive takes records."),
    MetricFamily("novamas_surveillance_broker_connected", "gauge", "Of each site.", SITE),
    MetricFamily("novamas_surveillance_waiting_messages", "gauge", "Not kept yet.", SITE),
    MetricFamily("novamas_surveillance_wanted_recalls", "gauge", "Not answered yet.", SITE),
    MetricFamily(
        "novamas_surveillance_first_sight_keys",
        "gauge",
        "Nodes whose key is believed because it was the first one.",
        SITE,
    ),
    MetricFamily("novamas_surveillance_bad_messages_total", "counter", "Could not be read.", SITE),
    MetricFamily(
        "novamas_surveillance_findings_total", "counter", "Findings since the start.", SITE
    ),
    MetricFamily(
        "novamas_surveillance_findings_open",
        "gauge",
        "Findings that nobody has settled, as far as they are shown as alerts.",
        SITE,
    ),
)
FIELDS = {
    "novamas_surveillance_broker_connected": "connected",
    "novamas_surveillance_waiting_messages": "waiting",
    "novamas_surveillance_wanted_recalls": "wanted",
    "novamas_surveillance_bad_messages_total": "bad",
    "novamas_surveillance_findings_total": "findings",
    "novamas_surveillance_findings_open": "open",
}
"""By metric, what of a site it is."""


class Health(msgspec.Struct):
    """What is counted. ``trouble``: why the archive takes nothing; ``sites``: by id."""

    kept: int = 0
    failed: int = 0
    trouble: str | None = None
    sites: dict[str, dict[str, Any]] = {}

    def of(self, sites: Sequence[Site]) -> dict[str, Any]:
        """It as it is now, as fields of the log."""
        self.sites = {
            site.id: {
                "connected": site.connection.up,
                "waiting": len(site.taken),
                "wanted": sum(len(each.wants) for each in list(site.tables.values())),
                "first_sight": site.unvouched,
                "bad": site.bad,
                "findings": site.found,
                "open": site.shown,
                "trouble": site.trouble,
            }
            for site in sites
        }
        told: dict[str, Any] = msgspec.to_builtins(self)
        return told


def values(health: Health) -> dict[str, Values]:
    """It for Prometheus."""
    return {
        "novamas_surveillance_kept_total": {(): health.kept},
        "novamas_surveillance_archive_failed_total": {(): health.failed},
        "novamas_surveillance_archive_up": {(): health.trouble is None},
        "novamas_surveillance_first_sight_keys": {
            (site,): len(told["first_sight"]) for site, told in health.sites.items()
        },
        **{
            name: {(site,): int(told[field]) for site, told in health.sites.items()}
            for name, field in FIELDS.items()
        },
    }


def pages(told: Callable[[], Health]) -> Pages:
    """What is answered; ``told``: how the recorder is now."""

    async def metrics() -> HttpResponse:
        return HttpResponse(await exposition(FAMILIES, values(told())), TEXT_CONTENT_TYPE)

    async def health() -> HttpResponse:
        now = told()
        up = HTTPStatus.OK if now.trouble is None else HTTPStatus.SERVICE_UNAVAILABLE
        return HttpResponse(msgspec.json.encode(now), "application/json", up)

    return {b"/metrics": metrics, b"/health": health}
