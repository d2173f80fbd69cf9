"""State of the webhooks, for their metrics and for ``/health``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

import msgspec

from common.metrics.endpoint import HttpResponse, Pages
from common.metrics.family import MetricFamily, Values
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from subscribers.webhooks.delivery import DeliveryState
from subscribers.webhooks.outbox import QueueState

WEBHOOK_LABEL = ("webhook",)
FAMILIES = (
    MetricFamily("novamas_webhooks_broker_connected", "gauge", "1 if connected to the broker."),
    MetricFamily("novamas_webhooks_outbox_up", "gauge", "1 if the outbox stores events."),
    MetricFamily(
        "novamas_webhooks_gaps_total", "counter", "Times that events may have been missing."
    ),
    MetricFamily(
        "novamas_webhooks_bad_messages_total", "counter", "Messages that could not be read."
    ),
    MetricFamily("novamas_webhooks_unheard_tables", "gauge", "Tables that answer no recall."),
    MetricFamily("novamas_webhooks_sent_total", "counter", "Accepted requests.", WEBHOOK_LABEL),
    MetricFamily("novamas_webhooks_failed_total", "counter", "Failed attempts.", WEBHOOK_LABEL),
    MetricFamily("novamas_webhooks_waiting", "gauge", "Requests that wait.", WEBHOOK_LABEL),
    MetricFamily(
        "novamas_webhooks_oldest_seconds",
        "gauge",
        "Age of the oldest request that waits; 0 without one.",
        WEBHOOK_LABEL,
    ),
    MetricFamily("novamas_webhooks_dead", "gauge", "Dead letters.", WEBHOOK_LABEL),
    MetricFamily(
        "novamas_webhooks_dropped_total",
        "counter",
        "Dead letters dropped because there were too many, ever.",
        WEBHOOK_LABEL,
    ),
)


class WebhooksHealth(msgspec.Struct, frozen=True, kw_only=True):
    """``outbox``: why it cannot store events; ``unheard``: tables that answer no recall, and why;
    ``queues`` and ``deliveries``: by receiver.
    """

    connected: bool
    outbox: str | None
    gaps: int
    bad_messages: int
    unheard: Mapping[str, str]
    queues: Mapping[str, QueueState]
    deliveries: Mapping[str, DeliveryState]


def metric_values(health: WebhooksHealth, now: float) -> dict[str, Values]:
    """Return the samples. ``now``: seconds since 1970."""
    queues, deliveries = health.queues, health.deliveries
    oldest = {
        webhook: 0.0 if queue.oldest is None else max(0.0, now - queue.oldest)
        for webhook, queue in queues.items()
    }

    def by_webhook(numbers: Mapping[str, float]) -> Values:
        return {(webhook,): number for webhook, number in numbers.items()}

    return {
        "novamas_webhooks_broker_connected": {(): health.connected},
        "novamas_webhooks_outbox_up": {(): health.outbox is None},
        "novamas_webhooks_gaps_total": {(): health.gaps},
        "novamas_webhooks_bad_messages_total": {(): health.bad_messages},
        "novamas_webhooks_unheard_tables": {(): len(health.unheard)},
        "novamas_webhooks_sent_total": by_webhook({k: d.sent for k, d in deliveries.items()}),
        "novamas_webhooks_failed_total": by_webhook({k: d.failed for k, d in deliveries.items()}),
        "novamas_webhooks_waiting": by_webhook({k: q.waiting for k, q in queues.items()}),
        "novamas_webhooks_oldest_seconds": by_webhook(oldest),
        "novamas_webhooks_dead": by_webhook({k: q.dead for k, q in queues.items()}),
        "novamas_webhooks_dropped_total": by_webhook({k: q.dropped for k, q in queues.items()}),
    }


def pages(current: Callable[[], Awaitable[WebhooksHealth]], now: Callable[[], float]) -> Pages:
    """Return the handlers of the pages. ``current`` returns the state, ``now`` the time."""

    async def metrics() -> HttpResponse:
        values = metric_values(await current(), now())
        return HttpResponse(await exposition(FAMILIES, values), TEXT_CONTENT_TYPE)

    async def health() -> HttpResponse:
        state = await current()
        up = HTTPStatus.OK if state.outbox is None else HTTPStatus.SERVICE_UNAVAILABLE
        return HttpResponse(msgspec.json.encode(state), "application/json", up)

    return {b"/metrics": metrics, b"/health": health}
