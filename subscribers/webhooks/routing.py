"""Which receivers get an event, and with which id. Pure.

A request has one public event and nothing else, so it never contains a face-down card: the topic
``event`` publishes a card only when it is face up. Sealed boxes are never read.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from common.contract.topics import Topics
from subscribers.feed.event_intake import PendingItem
from subscribers.feed.following import EventGap
from subscribers.webhooks.outbox import NewLetter
from subscribers.webhooks.settings import WebhookSettings

GAP_TYPE = "gap"
"""Type of the notice that events may be missing."""


def letters_for(pending: PendingItem, webhooks: Sequence[WebhookSettings]) -> list[NewLetter]:
    """Return the requests for an event, or for a notice that events may be missing: every receiver
    of the table gets that.
    """
    item, names = pending.item, pending.names
    if item is None:
        return []
    _, _, site, table = pending.place.split("/")
    simulated = pending.place.startswith(f"{Topics(site, simulated=True).root}/")
    if isinstance(item, EventGap):
        after, before = item.after, item.before
        name = f"{site}/{table}/{GAP_TYPE}/{after.boot}.{after.seq}-{before.boot}.{before.seq}"
        notice = {
            "type": GAP_TYPE,
            "site": site,
            "table": table,
            "time": pending.noticed,
            "after": {"boot": after.boot, "seq": after.seq},
            "before": {"boot": before.boot, "seq": before.seq},
        }
        return [
            NewLetter(
                webhook.id,
                pending.place,
                name,
                GAP_TYPE,
                pending.noticed,
                msgspec.json.encode(notice),
            )
            for webhook in webhooks
            if is_receiver(webhook, table, simulated)
        ]
    assert names is not None
    return [
        NewLetter(webhook.id, pending.place, names.id, names.type, names.time, item.body)
        for webhook in webhooks
        if is_receiver(webhook, table, simulated)
        and (not webhook.events or names.type in webhook.events)
    ]


def is_receiver(webhook: WebhookSettings, table: str, simulated: bool) -> bool:
    """Return whether a receiver gets the events of a table."""
    return simulated == webhook.simulated and (not webhook.tables or table in webhook.tables)
