"""The webhooks' service: follows all tables of a site, stores what each receiver should get, and
sends it.

Events come without a session at the broker: whatever is missed is recalled from the daemons'
journals, from the last event that the outbox has. So while the outbox cannot store, nothing is lost
as long as the journals have it, at least a week.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from common import clock, randomness
from common.contract.node import NodeStatus
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from common.metrics.endpoint import serve
from subscribers.essential import essential
from subscribers.feed.alerts import OpenAlerts
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.event_intake import EventIntake
from subscribers.feed.recall_key import RecallKey
from subscribers.webhooks.adapter import Adapter, as_published
from subscribers.webhooks.delivery import WebhookDelivery
from subscribers.webhooks.errors import OutboxError
from subscribers.webhooks.health import WebhooksHealth, pages
from subscribers.webhooks.outbox import Outbox, QueueState
from subscribers.webhooks.routing import letters_for
from subscribers.webhooks.settings import WebhooksSettings

TICK_SECONDS = 0.1
"""Interval at which due recalls are sent."""
CHECK_INTERVAL_SECONDS = 2.0
"""Interval for looking at the queues: alerts, and dead letters that a person queued again."""
MAX_BATCH = 500
"""Events stored at once."""
RETRY_DELAY_SECONDS = 1.0
"""Delay before the outbox is tried again."""
UNDELIVERED_SECONDS = 60.0
"""Age of the oldest waiting request from which it is reported."""
FAREWELL_TIMEOUT_SECONDS = 3.0
"""Time allowed at shutdown for the last message to the broker."""
STOP_TIMEOUT_SECONDS = 2.0
"""Time allowed at shutdown for requests to end. Those that did not are sent again."""
STALLED_ALERT_ID = "webhooks-stalled"


class WebhookService:
    """``outbox``: opened and locked. Raises ``PrivateKeyError`` and ``OSError`` if the reader's key
    cannot be used, and :class:`OutboxError`.
    """

    def __init__(
        self,
        settings: WebhooksSettings,
        outbox: Outbox,
        adapters: Mapping[str, Adapter] | None = None,
    ) -> None:
        self._settings, self._outbox = settings, outbox
        self._log = structlog.get_logger()
        topics = Topics(settings.site)
        self._status_topic = topics.node(settings.node, "status")
        self._alert_topic = topics.node(settings.node, "alert/")
        boot = randomness.token_hex(4)
        self._online, self._offline = (
            msgspec.json.encode(NodeStatus(word, boot)) for word in ("online", "offline")
        )
        self._connection = ServiceConnection(
            settings.broker,
            [f"{self._alert_topic}+"],
            (self._status_topic, self._offline),
            self._on_message,
            self._on_link,
        )
        self.intake = EventIntake(
            settings.site,
            self._connection,
            followed=outbox.followed(),
            client=settings.broker.username or settings.node,
            signer=_signer(settings),
        )
        for topic in self.intake.topics():
            self._connection.listen(topic)
        self.deliveries = {
            webhook.id: WebhookDelivery(
                webhook, outbox, (adapters or {}).get(webhook.id, as_published)
            )
            for webhook in settings.webhooks
        }
        self._alerts = OpenAlerts()
        self._trouble: str | None = None
        """Why the outbox cannot store events."""
        self._queues: Mapping[str, QueueState] = {}
        self._work = asyncio.Event()

    async def run(self, ending: asyncio.Event) -> None:
        """Run until ``ending`` is set."""
        threads = [thread for delivery in self.deliveries.values() for thread in delivery.start()]
        async with asyncio.TaskGroup() as group:

            def start(name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
                return group.create_task(essential(name, work, ending), name=name)

            tasks = [
                start("connection", self._connection.run()),
                start("outbox", self._store()),
                start("clock", self._run_clock()),
                start("queues", self._watch_queues()),
            ]
            if self._settings.listen is not None:
                handlers = pages(self.health, clock.wall)
                tasks.append(start("pages", serve(self._settings.listen, handlers)))
            await ending.wait()
            for delivery in self.deliveries.values():
                delivery.lanes.end()
            with suppress(Exception):  # the broker publishes our last will instead
                async with asyncio.timeout(FAREWELL_TIMEOUT_SECONDS):
                    await self._connection.flush({self._status_topic: self._offline})
            self._connection.end()
            for task in tasks:
                task.cancel()
        end = clock.monotonic() + STOP_TIMEOUT_SECONDS
        for thread in threads:
            await asyncio.to_thread(thread.join, max(0.0, end - clock.monotonic()))

    # What arrives

    def _on_link(self, up: bool) -> None:
        self.intake.on_link()
        if up:
            self._log.info("connected")
            self._connection.retain(self._status_topic, self._online)
            self._alerts.changed |= self._alerts.open.keys()
            self._publish_alerts()

    def _on_message(self, topic: str, body: bytes, retained: bool) -> None:
        if topic.startswith(self._alert_topic):
            name = topic.removeprefix(self._alert_topic)
            if body and name not in self._alerts.open:  # left over from a previous run
                self._connection.retain(topic, b"")
            return
        self.intake.on_message(topic, body, retained)
        if self.intake.pending:
            self._work.set()

    async def _run_clock(self) -> None:
        while True:
            await clock.sleep(TICK_SECONDS)
            self.intake.send_due(clock.monotonic())

    # Storing

    async def _store(self) -> None:
        """Store what comes; retry until it succeeds."""
        pending = self.intake.pending
        while True:
            if not pending:
                self._work.clear()
                await self._work.wait()
                continue
            items = list(islice(pending, MAX_BATCH))
            letters = [
                letter for item in items for letter in letters_for(item, self._settings.webhooks)
            ]
            followed = {item.place: msgspec.json.encode(item.runs) for item in items}
            try:
                gave_way = await asyncio.to_thread(self._outbox.add, letters, followed)
            except OutboxError as error:
                self._set_trouble(str(error))
                await clock.sleep(RETRY_DELAY_SECONDS)
                continue
            self._set_trouble(None)
            for _ in items:
                pending.popleft()
            for (webhook, fate), count in gave_way.items():
                self._log.error(
                    "the queue is full" if fate == "dead" else "dead letters dropped",
                    webhook=webhook,
                    count=count,
                )
            for webhook in {letter.webhook for letter in letters}:
                places = {letter.place for letter in letters if letter.webhook == webhook}
                self.deliveries[webhook].lanes.add(places)

    def _set_trouble(self, why: str | None) -> None:
        if why is not None and why != self._trouble:
            self._log.error("the outbox stores nothing", reason=why, alert=STALLED_ALERT_ID)
        elif why is None and self._trouble is not None:
            self._log.info("the outbox stores events again")
        changed, self._trouble = why != self._trouble, why
        if not changed:
            return
        if why is None:
            self._alerts.clear(STALLED_ALERT_ID)
        else:
            self._raise(STALLED_ALERT_ID, "webhooks.stalled", why, fault=True)
        self._publish_alerts()

    # Health

    async def _watch_queues(self) -> None:
        while True:
            try:
                self._queues = await asyncio.to_thread(self._outbox.states)
                for webhook, delivery in self.deliveries.items():
                    if self._queues.get(webhook, QueueState()).waiting:
                        delivery.lanes.add(await asyncio.to_thread(self._outbox.places, webhook))
            except OutboxError as error:
                self._set_trouble(str(error))
            else:
                if not self.intake.pending:
                    self._set_trouble(None)
                self._check_queues()
            await clock.sleep(CHECK_INTERVAL_SECONDS)

    def _check_queues(self) -> None:
        wanted = dict[str, tuple[str, str]]()
        for webhook, delivery in self.deliveries.items():
            queue = self._queues.get(webhook, QueueState())
            if (why := undelivered(queue, delivery, clock.wall())) is not None:
                wanted[f"webhooks-undelivered-{webhook}"] = "webhooks.undelivered", why
        for table, why in self.intake.unheard(clock.monotonic()).items():
            wanted[f"webhooks-unheard-{table}"] = "webhooks.unheard", f"{table}: {why}"
        for name in self._alerts.open.keys() - wanted.keys() - {STALLED_ALERT_ID}:
            self._alerts.clear(name)
        for name, (what, why) in wanted.items():
            self._raise(name, what, why)
        self._publish_alerts()

    def _raise(self, name: str, what: str, why: str, *, fault: bool = False) -> None:
        before = self._alerts.open.get(name)
        if before is None:
            self._log.warning("alert", alert=name, detail=why)
        elif before.detail == why:
            return
        raised = format_utc(clock.wall()) if before is None else before.raised
        self._alerts.put(
            Alert(
                alert=name,
                what=what,
                severity="fault" if fault else "warning",
                raised=raised,
                detail=why,
            )
        )

    def _publish_alerts(self) -> None:
        for name in self._alerts.take_changed():
            self._connection.retain(f"{self._alert_topic}{name}", self._alerts.body(name))

    async def health(self) -> WebhooksHealth:
        """Return the state of the service."""
        with suppress(OutboxError):
            self._queues = await asyncio.to_thread(self._outbox.states)
        return WebhooksHealth(
            connected=self._connection.up,
            outbox=self._trouble,
            gaps=self.intake.gaps,
            bad_messages=self.intake.bad,
            unheard=self.intake.unheard(clock.monotonic()),
            queues={
                webhook: self._queues.get(webhook, QueueState()) for webhook in self.deliveries
            },
            deliveries={webhook: each.state for webhook, each in self.deliveries.items()},
        )


def undelivered(queue: QueueState, delivery: WebhookDelivery, now: float) -> str | None:
    """Return what a person should know about a queue, or None."""
    parts = []
    if queue.oldest is not None and now - queue.oldest >= UNDELIVERED_SECONDS:
        why = delivery.state.trouble or "they are being sent"
        parts.append(f"requests wait for {delivery.settings.id}: {why}")
    if queue.dead:
        parts.append(f"{delivery.settings.id} has dead letters: `novamas webhooks list` shows them")
    return "; ".join(parts) or None


def _signer(settings: WebhooksSettings) -> tuple[RecallKey, str] | None:
    if settings.recall_key is None or settings.recall_passphrase is None:
        return None
    key = RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))
    return None if settings.recall_person is None else (key, settings.recall_person)
