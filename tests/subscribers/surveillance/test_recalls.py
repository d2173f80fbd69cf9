"""Recall requests to a table, and their replies, as values."""

from __future__ import annotations

from common.contract.times import format_utc
from subscribers.surveillance.archive import Gap
from subscribers.surveillance.recalls import (
    DAEMON_RETENTION_SECONDS,
    RESTORED_EVENT,
    RecallOutcome,
    TablePosition,
    WantedEvents,
    evaluate_reply,
    missing_finding_key,
    recompare,
    wanted_events,
)
from tests.subscribers.surveillance.said import BOOT, event

NOW = format_utc(1_790_000_100)
STATE = TablePosition(BOOT, 9, NOW)
GAP = WantedEvents(table="R1", boot=BOOT, first=3, last=6)
ONWARD = WantedEvents(table="R1", boot=BOOT, first=5, archived=event(5))


def test_what_is_wanted_of_a_table() -> None:
    gap = Gap("madrid-1", "R1", BOOT, 3, 6)
    assert wanted_events("R1", [gap], event(9), STATE) == [
        GAP,
        WantedEvents(table="R1", boot=BOOT, first=9, archived=event(9)),
    ]
    assert wanted_events("R1", [], None, STATE) == [WantedEvents(table="R1", boot=BOOT, first=1)]
    assert wanted_events("R1", [], None, None) == []
    assert GAP.body_fields() == {"boot": BOOT, "from": 3, "to": 6}
    assert ONWARD.body_fields() == {"boot": BOOT, "from": 5, "onward": True}


def test_a_gap_that_is_filled_in_parts() -> None:
    first = evaluate_reply(GAP, [event(3), event(4)], STATE, NOW)
    assert first == RecallOutcome((WantedEvents(table="R1", boot=BOOT, first=5, last=6),))
    assert evaluate_reply(first.wants[0], [event(5), event(6)], STATE, NOW) == RecallOutcome()


def test_a_gap_that_cannot_be_filled() -> None:
    given = evaluate_reply(GAP, [], STATE, NOW)
    [found] = given.findings
    assert given.wants == ()
    assert found.what == "events_missing"
    assert "R1: events 3 to 6" in found.detail
    assert f"{found.what}:{found.name}" == missing_finding_key(Gap("madrid-1", "R1", BOOT, 3, 6))
    [found] = evaluate_reply(GAP, [event(3), event(5), event(6)], STATE, NOW).findings
    assert "event 4 of run" in found.detail
    [found] = evaluate_reply(GAP, [event(3, boot="boot-2")], STATE, NOW).findings
    assert "events 3 to 6" in found.detail


def test_a_compared_event_that_is_no_longer_known() -> None:
    swept = WantedEvents(table="R1", boot=BOOT, first=3, last=6, compare=True)
    assert evaluate_reply(swept, [event(n) for n in range(3, 7)], STATE, NOW) == RecallOutcome()
    given = evaluate_reply(swept, [event(3), event(4)], STATE, NOW)
    assert (
        given == RecallOutcome()
    )  # an answer may be cut for its length: what follows is asked later
    [found] = evaluate_reply(swept, [], STATE, NOW).findings
    assert (found.what, found.table, found.boot, found.seq) == ("event_unknown", "R1", BOOT, 3)


def test_what_follows_the_last_event() -> None:
    given = evaluate_reply(ONWARD, [event(5), event(6)], STATE, NOW)
    assert given == RecallOutcome((WantedEvents(table="R1", boot=BOOT, first=7),))
    assert evaluate_reply(ONWARD, [event(5)], STATE, NOW) == RecallOutcome()
    assert evaluate_reply(given.wants[0], [], STATE, NOW) == RecallOutcome()


def test_the_last_event_is_no_longer_known() -> None:
    other = TablePosition("boot-2", 1, NOW)
    given = evaluate_reply(ONWARD, [], other, NOW)
    assert given.wants == (WantedEvents(table="R1", boot="boot-2", first=1),)
    assert [finding.what for finding in given.findings] == ["event_unknown"]
    given = evaluate_reply(ONWARD, [event(1, boot="boot-2")], other, NOW)
    assert "a recall returns run boot-2, event 1" in given.findings[0].detail
    late = format_utc(1_790_000_005 + DAEMON_RETENTION_SECONDS)
    assert (
        evaluate_reply(ONWARD, [], other, late).findings == ()
    )  # it may have been cut in its time


def test_events_are_recalled_again_by_run_and_page() -> None:
    several = [event(9), event(2), event(250), event(4, boot="boot-2")]
    assert [(each.boot, each.first, each.last) for each in recompare("R1", several, 100)] == [
        (BOOT, 2, 101),
        (BOOT, 102, 201),
        (BOOT, 202, 250),
        ("boot-2", 4, 4),
    ]
    assert all(each.compare for each in recompare("R1", several, 100))
    assert recompare("R1", [], 100) == []


def test_a_table_restored_from_a_backup_is_not_reported_as_forgetful() -> None:
    told = event(1, boot="boot-2", type=RESTORED_EVENT, body=b'{"since":"S","restored":"R"}')
    [found] = evaluate_reply(ONWARD, [told], STATE, NOW).findings
    assert found.what == "journal_restored"
    assert "a backup of S, restored at R" in found.detail
    [found] = evaluate_reply(ONWARD, [event(1, boot="boot-2")], STATE, NOW).findings
    assert found.what == "event_unknown"
