"""Defects of the recorder, the journal's bytes and the web server's floor, to plant into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from controller.tables.byte_trace import ByteTrace
from devices.calls import AnyCall
from subscribers.feed import floor
from subscribers.feed.table_snapshot import TableSnapshot
from subscribers.surveillance.site import RecordedSite
from subscribers.surveillance.site_recalls import SiteRecalls

CALLS_KEPT = 50
"""Of so many calls, the last is not kept."""


def acknowledged_before_its_commit(patch: pytest.MonkeyPatch) -> None:
    """The recorder acknowledges each message as it comes."""
    on_message = RecordedSite.on_message

    def eager(site: RecordedSite, topic: str, body: bytes, retained: bool) -> None:
        on_message(site, topic, body, retained)
        site.connection.acknowledge(1)

    patch.setattr(RecordedSite, "on_message", eager)


def gap_is_not_asked_for(patch: pytest.MonkeyPatch) -> None:
    """The recorder does not look for what it has missed."""
    patch.setattr(SiteRecalls, "query_missing", lambda *_: None)


def bytes_are_not_kept(patch: pytest.MonkeyPatch) -> None:
    """Some bytes that led to readings are not in the journal."""
    add, calls = ByteTrace.add, list[AnyCall]()

    def forgetful(trace: ByteTrace, call: AnyCall) -> None:
        calls.append(call)
        if len(calls) % CALLS_KEPT:
            add(trace, call)

    patch.setattr(ByteTrace, "add", forgetful)


def will_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """The floor takes any daemon for the one of the table, and for online, and hears no silence."""

    def any_daemon(_: TableSnapshot, nodes: Mapping[tuple[bool, str], bytes]) -> str | None:
        return next((node for _, node in nodes), None)

    patch.setattr(floor, "daemon_of", any_daemon)
    patch.setattr(floor, "SILENCE_SECONDS", float("inf"))


DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], str] = {
    acknowledged_before_its_commit: "recorder",
    gap_is_not_asked_for: "recorder",
    bytes_are_not_kept: "audit",
    will_is_not_looked_at: "floor",
}
"""Each defect, and the part that finds it."""
