"""A subscriber's messages as the recorder stores them."""

from __future__ import annotations

import time
from collections.abc import Iterable

from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.records import BadMessageError, records
from tests.support.brokers.mosquitto import ReceivedMessage


def archive_records(messages: Iterable[ReceivedMessage]) -> list[ArchiveRecord]:
    now, found = format_utc(time.time()), list[ArchiveRecord]()
    for message in messages:
        _, _, site, rest = message.topic.split("/", 3)
        try:
            found += records(site, rest, message.payload, now)
        except BadMessageError:
            continue
    return found
