"""Reports what the broker's rules keep back, and sends it again once they were corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from common import clock
from common.contract.node import BrokerConnection
from common.log import structlog
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.delivery import NO_ECHO_REASON, REFUSED_REASON, topic_kind
from controller.mqtt.node_alert import node_alert
from controller.mqtt.outbox import EventOutbox
from controller.mqtt.posting import MessagePoster
from controller.mqtt.retained import RetainedTopics
from controller.mqtt.subscriptions import TopicSubscriptions
from controller.mqtt.tables_api import TablesApi

RULES_ALERT_ID = "broker-rules"
"""Id of the alert that the broker does not deliver this daemon's messages, or does not let it read
its topics.
"""
RULES_ADVICE = "Let the daemon's user write and read all its topics: `novamas acl` prints the rules"
QUOTA_ADVICE = "See the broker's log, its quotas and its disk"


class DeliveryRules:
    """The alert about the broker's rules, and the messages that should have come back. ``changed``
    is called when the health has changed, ``wake`` when there is something to publish.
    """

    def __init__(
        self,
        *,
        api: TablesApi,
        poster: MessagePoster,
        outbox: EventOutbox,
        retained: RetainedTopics,
        subscriptions: TopicSubscriptions,
        health: BrokerConnection,
        changed: Callable[[], None],
        wake: Callable[[], None],
        url: str,
    ) -> None:
        self._api = api
        self._poster = poster
        self._delivery = poster.delivery
        self._outbox = outbox
        self._retained = retained
        self._subscriptions = subscriptions
        self._health = health
        self._changed = changed
        self._wake = wake
        self._check_due = False
        """It is time to check which messages did not come back."""
        self._log = structlog.get_logger().bind(broker=url)

    def update_alert(self) -> None:
        """Raise or clear the alert that the broker's rules keep messages from being delivered."""
        forbidden = self._delivery.forbidden
        counted = Counter(map(topic_kind, forbidden))
        if counted != self._health.forbidden:
            self._health.forbidden = dict(sorted(counted.items()))
            self._changed()
        refused = sorted(self._subscriptions.refused)
        parts = _kept_back(forbidden, counted, refused)
        if not parts:
            if self._api.alerts.pop(RULES_ALERT_ID, None) is not None:
                self._log.info("the broker passes on everything")
                self._wake()
            return
        is_rule = refused or {REFUSED_REASON, NO_ECHO_REASON} & set(forbidden.values())
        detail = (
            f"the broker's rules keep messages back: {'; '.join(parts)}. "
            f"{RULES_ADVICE if is_rule else QUOTA_ADVICE}. The events are in the journal and are "
            "sent again then"
        )
        known = self._api.alerts.get(RULES_ALERT_ID)
        if known is None or known.detail != detail:
            self._api.alerts[RULES_ALERT_ID] = node_alert(RULES_ALERT_ID, "broker.rules", detail)
            self._log.error(
                "the broker's rules keep messages back",
                topics=sorted(forbidden)[:20],
                alert=RULES_ALERT_ID,
            )
            self._wake()

    def request_check(self) -> None:
        """Check soon which messages did not come back."""
        self._check_due = True
        self._wake()

    async def check(self, connection: PublisherConnection) -> None:
        """If it is time, check the messages that should have come back. The reply to a SUBSCRIBE
        shows that everything that the broker sent before it has been read.
        """
        if not self._check_due:
            return
        self._check_due = False
        for topic in self._delivery.topics:
            if not self._api.serves(topic):  # its table was removed, or another daemon has it
                self._delivery.forget(topic)
        if not (overdue := self._delivery.overdue(clock.monotonic())):
            return
        await connection.subscribe_to([self._api.status(online=True).topic], retained=False)
        for sent in self._delivery.expire(overdue, clock.monotonic()):
            self._send_again(connection, sent.topic, sent.position)
        self.update_alert()
        connection.flush()

    def retry_forbidden(self) -> None:
        """Publish on the forbidden topics, to see whether the broker's rules were corrected."""
        if (connection := self._poster.connection) is not None:
            waiting = self._delivery.waiting()
            for topic in list(self._delivery.forbidden):
                self._send_again(connection, topic, waiting.get(topic, 0))
            connection.flush()

    def _send_again(self, connection: PublisherConnection, topic: str, position: int) -> None:
        """Publish a message again: the event at ``position``, or a retained topic."""
        if position:
            self._outbox.send_again(connection, position)
        else:
            self._retained.send_again(connection, topic)


def _kept_back(forbidden: dict[str, str], counted: Counter[str], refused: list[str]) -> list[str]:
    """Describe the forbidden topics, by kind, and the refused subscriptions."""
    parts = [
        f"{name} ({next(t for t in forbidden if topic_kind(t) == name)}"
        f"{f' and {count - 1} more' if count > 1 else ''}): "
        f"{next(why for t, why in forbidden.items() if topic_kind(t) == name)}"
        for name, count in sorted(counted.items())
    ]
    if refused:
        parts.append(
            f"it refuses to let this daemon read {', '.join(refused[:3])}"
            f"{f' and {len(refused) - 3} more' if len(refused) > 3 else ''}, so it is unknown "
            "which messages there are delivered"
        )
    return parts
