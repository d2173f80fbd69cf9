"""A webhook adapter: results as lines of text for a chat that accepts ``{"text": ...}``."""

from __future__ import annotations

import json

from subscribers.webhooks.adapter import WebhookBody, WebhookEvent


def adapter(event: WebhookEvent) -> WebhookBody | None:
    """Return a line for each result of a roulette; nothing else is sent."""
    if event.type != "round.result":
        return None
    body = json.loads(event.body)
    number = body["outcome"].get("number")
    if number is None:
        return None
    late = " (late)" if body.get("historical") else ""
    return WebhookBody(body=json.dumps({"text": f"{body['table']}: {number}{late}"}).encode())
