"""What a webhook sends for an event: the event as it was published, or what an adapter makes of it.

An adapter changes the body and its content type, nothing else: address, id, order, signature and
retries are the same for all. It is pure.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from common.extensions import ExtensionRecord, load_extension


class WebhookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event to send. ``body``: as published, JSON."""

    id: str
    source: str
    """The root of the table's topics."""
    type: str
    time: str
    body: bytes


class WebhookBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a request."""

    body: bytes
    content_type: str = "application/json"


Adapter = Callable[[WebhookEvent], WebhookBody | None]
"""Returns the body of the request for an event; None: this event is not sent."""


def load_adapter(name: str) -> tuple[Adapter, ExtensionRecord]:
    """Load the adapter of an extension. Raises :class:`common.extensions.ExtensionError`."""
    return load_extension(
        "webhooks", name, lambda found: None if callable(found) else "it is not a function"
    )


def as_published(event: WebhookEvent) -> WebhookBody:
    """Return the event as it was published."""
    return WebhookBody(body=event.body)
