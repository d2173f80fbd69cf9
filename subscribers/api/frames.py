"""What a stream sends of an event, and the ids by which it resumes. Pure."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from common.contract.http_bodies import GAP_TYPE, StreamPosition
from common.contract.notation import mark_historical
from common.contract.topics import Topics
from subscribers.api.event_log import LoggedEvent
from subscribers.feed.cloud_events import SPEC_VERSION, event_id

StreamFormat = Literal["json", "cloudevents"]
RETRY = b"retry: 1000\n\n"
"""Tells the reader after how many milliseconds to connect again."""
START = "0"
"""The id before the first stored event."""
_MERGED_ID = re.compile(r"([1-9][0-9]{0,17})\.([A-Za-z0-9_-]{1,64})\.([0-9]{1,16})")
_TABLE_ID = re.compile(r"([A-Za-z0-9_-]{1,64})\.([0-9]{1,16})")


class _EventTime(msgspec.Struct, frozen=True):
    time: str


class CloudEventBody(msgspec.Struct, frozen=True, kw_only=True):
    """An event in the JSON format of CloudEvents 1.0."""

    specversion: str = SPEC_VERSION
    id: str
    source: str
    type: str
    time: str
    datacontenttype: str = "application/json"
    data: msgspec.Raw


def merged_id(event: LoggedEvent) -> str:
    """Return the id of an event in a stream of several tables."""
    return f"{event.position}.{event.boot}.{event.seq}"


def parse_merged_id(text: str) -> tuple[int, StreamPosition] | None:
    """Return the position in the log and the event that it names; None if it is no id."""
    found = _MERGED_ID.fullmatch(text)
    return None if found is None else (int(found[1]), StreamPosition(found[2], int(found[3])))


def parse_table_id(text: str) -> StreamPosition | None:
    """Return the event that an id of a table's stream names; None if it is no id."""
    found = _TABLE_ID.fullmatch(text)
    return None if found is None else StreamPosition(found[1], int(found[2]))


def frame(
    event: LoggedEvent, topics: Topics, form: StreamFormat, *, merged: bool, late: bool
) -> bytes:
    """Return the message of an event in a stream. ``merged``: the stream is of several tables;
    ``late``: the event waited, and is marked historical. Built once for all streams.
    """
    key = merged, form == "cloudevents", late
    made = event.frames.get(key)
    if made is None:
        made = event.frames[key] = _frame(event, topics, form, merged=merged, late=late)
    return made


def _frame(
    event: LoggedEvent, topics: Topics, form: StreamFormat, *, merged: bool, late: bool
) -> bytes:
    is_gap = event.type == GAP_TYPE
    body = mark_historical(event.body) if late and not is_gap else event.body
    if form == "cloudevents":
        body = msgspec.json.encode(
            CloudEventBody(
                id=event_id(topics.site, event.table, event.boot, event.seq)
                + (f"/{GAP_TYPE}" if is_gap else ""),
                source=f"{topics.root}/{event.table}",
                type=event.type,
                time=msgspec.json.decode(body, type=_EventTime).time,
                data=msgspec.Raw(body),
            )
        )
    name = b"event: gap\n" if is_gap else b""
    if merged:
        number = f"id: {merged_id(event)}\n".encode()
    else:  # the position of a gap is that of what follows it
        number = b"" if is_gap else f"id: {event.boot}.{event.seq}\n".encode()
    return b"%s%sdata: %s\n\n" % (name, number, body)
