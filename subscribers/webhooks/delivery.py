"""Sends the requests of one receiver: each table's in order, at least once, by its own threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from common import clock
from common.contract.times import format_utc
from common.log import structlog
from subscribers.feed.cloud_events import CloudEventNames, cloud_event_headers
from subscribers.webhooks.adapter import Adapter, WebhookEvent, as_published
from subscribers.webhooks.errors import OutboxError, ReceiverAwayError, RequestRefusedError
from subscribers.webhooks.lanes import SendingLanes
from subscribers.webhooks.outbox import Letter, Outbox
from subscribers.webhooks.posting import origin, post
from subscribers.webhooks.settings import WebhookSettings
from subscribers.webhooks.signature import read_keys, read_secret, signature_headers

MAX_ATTEMPTS_ALONE = 12
"""Attempts after which a request becomes a dead letter if the receiver accepts others meanwhile."""
LOG_REPEAT_SECONDS = 300.0
"""Interval at which the same problem is logged again."""
OUTBOX_RETRY_SECONDS = 1.0
"""Delay before the outbox is tried again."""


class DeliveryState(msgspec.Struct):
    """What happened since the start. ``trouble``: why requests wait; empty if they do not;
    ``since``: when that began, UTC.
    """

    sent: int = 0
    failed: int = 0
    refused: int = 0
    trouble: str = ""
    since: str = ""


class WebhookDelivery:
    """The threads of one receiver. ``send``: sends a request, for tests."""

    def __init__(
        self,
        settings: WebhookSettings,
        outbox: Outbox,
        adapter: Adapter = as_published,
        lanes: SendingLanes | None = None,
    ) -> None:
        self.settings, self.lanes = settings, lanes or SendingLanes()
        self._outbox, self._adapter = outbox, adapter
        self._lock = threading.Lock()
        self.state = DeliveryState()
        self._failing_since: float | None = None
        """When the failures in a row began, on the monotonic clock."""
        self._failing_alone: dict[str, tuple[int, int]] = {}
        """By table, its request that fails, and how many were accepted when it first did."""
        self._logged_at = 0.0
        self._log = structlog.get_logger().bind(webhook=settings.id)

    def start(self) -> list[threading.Thread]:
        """Start the threads; they run until the lanes are ended."""
        threads = [
            threading.Thread(
                target=self._run, name=f"webhook {self.settings.id} {number}", daemon=True
            )
            for number in range(self.settings.parallel)
        ]
        for thread in threads:
            thread.start()
        return threads

    def _run(self) -> None:
        while not self.lanes.is_ended:
            place = self.lanes.take()
            if place is None:
                continue
            try:
                self.send_next(place)
            except OutboxError as error:
                self._on_failure(str(error))
                self.lanes.failed(place, everything=True, wait=OUTBOX_RETRY_SECONDS)
            except Exception:  # a bug: the request is tried again rather than skipped
                self._log.exception("a request cannot be sent")
                self.lanes.failed(place, everything=False, wait=None)

    def send_next(self, place: str) -> None:
        """Send the next request of a table, which the lanes have given to this thread. Raises
        :class:`OutboxError`.
        """
        letter = self._outbox.next(self.settings.id, place)
        if letter is None:
            self.lanes.done(place, more=False)
            return
        try:
            self._send(letter)
        except RequestRefusedError as error:
            self._bury(letter, str(error))
        except ReceiverAwayError as error:
            self._on_away(letter, error)
            return
        else:
            self._outbox.remove(letter.number)
            with self._lock:
                self.state.sent += 1
        self._failing_alone.pop(place, None)
        self._on_answer()
        self.lanes.done(place, more=True)

    def _send(self, letter: Letter) -> None:
        """Send a request. Raises :class:`ReceiverAwayError` and :class:`RequestRefusedError`."""
        event = WebhookEvent(
            id=letter.id,
            source=letter.place,
            type=letter.type,
            time=letter.time,
            body=letter.body,
        )
        try:
            made = self._adapter(event)
        except Exception as error:  # foreign code: its text may quote the event
            raise RequestRefusedError(
                f"the adapter failed with {type(error).__name__}; call its author"
            ) from None
        if made is None:
            return
        keys = read_keys(self.settings.secret_file)
        headers = {
            "Content-Type": made.content_type,
            **signature_headers(keys, letter.id, clock.wall(), made.body),
            **cloud_event_headers(
                CloudEventNames(letter.id, letter.place, letter.type, letter.time)
            ),
        }
        post(self._address(), made.body, headers, self.settings.ca_file)

    def _address(self) -> str:
        settings = self.settings
        if settings.address_file is not None:
            return read_secret(settings.address_file)
        return settings.address or ""

    def _on_answer(self) -> None:
        with self._lock:
            self._failing_since = None
            if self.state.trouble:
                self._log.info("requests are accepted again", since=self.state.since)
                self.state.trouble = self.state.since = ""

    def _on_failure(self, why: str) -> None:
        now = clock.monotonic()
        with self._lock:
            state = self.state
            state.failed += 1
            if self._failing_since is None:
                self._failing_since = now
            if why != state.trouble or now - self._logged_at >= LOG_REPEAT_SECONDS:
                self._logged_at = now
                self._log.warning("requests wait", why=why)
            state.trouble, state.since = why, state.since or format_utc(clock.wall())

    def _on_away(self, letter: Letter, error: ReceiverAwayError) -> None:
        self._on_failure(str(error))
        self._outbox.count_attempt(letter.number)
        if not error.everything and self._is_given_up_alone(letter):
            self._bury(letter, str(error))
            self.lanes.done(letter.place, more=True)
            return
        limit = self.settings.give_up_after * 3600.0
        with self._lock:
            since = self._failing_since
        if since is not None and clock.monotonic() - since >= limit:
            count = self._outbox.bury_older(self.settings.id, clock.wall() - limit, str(error))
            if count:
                self._log.error("requests are dead letters", count=count, why=str(error))
        self.lanes.failed(letter.place, everything=error.everything, wait=error.wait)

    def _is_given_up_alone(self, letter: Letter) -> bool:
        """Return whether a request fails again and again that is the reason itself: the receiver
        accepts others.
        """
        number, sent = self._failing_alone.get(letter.place, (0, 0))
        if number != letter.number:
            sent = self.state.sent
            self._failing_alone[letter.place] = letter.number, sent
        return letter.attempts + 1 >= MAX_ATTEMPTS_ALONE and self.state.sent > sent

    def _bury(self, letter: Letter, why: str) -> None:
        dropped = self._outbox.bury(letter, why)
        with self._lock:
            self.state.refused += 1
        self._log.error("a request is a dead letter", id=letter.id, why=why)
        if dropped:
            self._log.error("dead letters dropped", count=dropped)

    @property
    def receiver(self) -> str:
        """The receiver's address for people, without what may be a secret."""
        address = self.settings.address
        return "the address in its file" if address is None else origin(address)


DeliveryFactory = Callable[[WebhookSettings, Outbox], WebhookDelivery]
