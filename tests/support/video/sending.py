"""Messages of a broker, archived, and one receiver of each kind that gets bookmarks of them."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import msgspec

from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.open_archive import open_archive
from subscribers.video.bookmarks import DEFAULT_EVENT_TYPES
from subscribers.video.delivery import BookmarkDelivery, progress_key
from subscribers.video.settings import BookmarkSettings
from tests.support.brokers.mosquitto import Subscriber
from tests.support.video.receivers import HTTPReceiver, LineReceiver, Statistics
from tests.support.waiting import until

EVENTS = (*DEFAULT_EVENT_TYPES, "round.opened", "bets.closed", "award.qualified")


class Recorder:
    """Archives the messages of tables at a broker. Late messages are stored on arrival."""

    def __init__(self, place: str, subscriber: Subscriber) -> None:
        self._archive, self._subscriber, self._end = (
            open_archive(place),
            subscriber,
            threading.Event(),
        )
        self._thread = threading.Thread(target=self._keep)
        self._thread.start()

    def _keep(self) -> None:
        known = 0
        while not self._end.wait(0.01):
            messages = self._subscriber.messages[known:]
            known += len(messages)
            records = [
                ArchiveRecord(
                    site=body["site"],
                    kind="event",
                    key=f"{body['table']}/{body['boot']}/{body['seq']}",
                    time=body["time"],
                    received=format_utc(time.time()),
                    body=message.payload,
                    table=body["table"],
                    boot=body["boot"],
                    seq=body["seq"],
                    type=body["type"],
                    session=body.get("session", 0),
                    round=body.get("round", 0),
                )
                for message in messages
                if message.topic.endswith("/event")
                for body in [message.body]
            ]
            if records:
                self._archive.store(records)

    def close(self) -> None:
        self._end.set()
        self._thread.join()
        self._archive.close()


class Receivers:
    """One receiver of each kind, and their deliveries."""

    def __init__(self, place: str, ending: ExitStack) -> None:
        self.webhook, self.frigate, self.pos = HTTPReceiver(), HTTPReceiver(), LineReceiver()
        self.milestone = LineReceiver(Statistics("novamas"))
        self._end = threading.Event()
        given: dict[str, dict[str, Any]] = {
            "webhook": {"address": f"{self.webhook.address}/bookmarks"},
            "frigate": {"address": self.frigate.address},
            "pos": {"address": self.pos.address, "begin": "BEGIN"},
            "milestone": {"address": self.milestone.address, "echo": "statistics"},
        }
        self.all = {
            kind: BookmarkDelivery(
                msgspec.convert(
                    {
                        "id": kind,
                        "kind": kind,
                        "site": "palma",
                        "events": EVENTS,
                        "pace": 1000.0,
                        "late_after": 0.5,
                    }
                    | fields,
                    BookmarkSettings,
                ),
                partial(open_archive, place),
                self._end,
            )
            for kind, fields in given.items()
        }
        threads = [threading.Thread(target=each.run) for each in self.all.values()]
        for thread in threads:
            thread.start()
        with closing(open_archive(place)) as archive:
            for kind in given:
                until(f"{kind} begins", partial(archive.load_value, progress_key(kind)))
        for made in (self.webhook, self.frigate, self.pos, self.milestone):
            ending.callback(made.stop)
        for thread in threads:
            ending.callback(thread.join)
        ending.callback(self._end.set)
