"""What a table is asked, and what follows from its answer, as values."""

from __future__ import annotations

from controller.contract.times import utc
from subscribers.surveillance.archive import Gap
from subscribers.surveillance.recalls import (
    KEPT,
    RESTORED,
    Next,
    TableState,
    Want,
    again,
    answered,
    missing_key,
    wants,
)
from tests.subscribers.surveillance.said import BOOT, event

NOW = utc(1_790_000_100)
STATE = TableState(BOOT, 9, NOW)
GAP = Want(table="R1", boot=BOOT, first=3, last=6)
ONWARD = Want(table="R1", boot=BOOT, first=5, known=event(5))


def test_what_is_wanted_of_a_table() -> None:
    gap = Gap("madrid-1", "R1", BOOT, 3, 6)
    assert wants("R1", [gap], event(9), STATE) == [
        GAP,
        Want(table="R1", boot=BOOT, first=9, known=event(9)),
    ]
    assert wants("R1", [], None, STATE) == [Want(table="R1", boot=BOOT, first=1)]
    assert wants("R1", [], None, None) == []
    assert GAP.fields() == {"boot": BOOT, "from": 3, "to": 6}
    assert ONWARD.fields() == {"boot": BOOT, "from": 5, "onward": True}


def test_a_gap_that_is_filled_in_parts() -> None:
    first = answered(GAP, [event(3), event(4)], STATE, NOW)
    assert first == Next((Want(table="R1", boot=BOOT, first=5, last=6),))
    assert answered(first.wants[0], [event(5), event(6)], STATE, NOW) == Next()


def test_a_gap_that_nobody_can_fill() -> None:
    given = answered(GAP, [], STATE, NOW)
    [found] = given.findings
    assert given.wants == ()
    assert found.what == "events_missing"
    assert "R1: events 3 to 6" in found.detail
    assert f"{found.what}:{found.name}" == missing_key(Gap("madrid-1", "R1", BOOT, 3, 6))
    [found] = answered(GAP, [event(3), event(5), event(6)], STATE, NOW).findings
    assert "event 4 of run" in found.detail
    [found] = answered(GAP, [event(3, boot="boot-2")], STATE, NOW).findings
    assert "events 3 to 6" in found.detail


def test_what_is_compared_anew_and_not_known_any_more() -> None:
    swept = Want(table="R1", boot=BOOT, first=3, last=6, swept=True)
    assert answered(swept, [event(n) for n in range(3, 7)], STATE, NOW) == Next()
    given = answered(swept, [event(3), event(4)], STATE, NOW)
    assert given == Next()  # an answer may be cut for its length: what follows is asked later
    [found] = answered(swept, [], STATE, NOW).findings
    assert (found.what, found.table, found.boot, found.seq) == ("event_unknown", "R1", BOOT, 3)


def test_what_follows_the_last_event() -> None:
    given = answered(ONWARD, [event(5), event(6)], STATE, NOW)
    assert given == Next((Want(table="R1", boot=BOOT, first=7),))
    assert answered(ONWARD, [event(5)], STATE, NOW) == Next()
    assert answered(given.wants[0], [], STATE, NOW) == Next()


def test_the_last_event_is_not_known_any_more() -> None:
    other = TableState("boot-2", 1, NOW)
    given = answered(ONWARD, [], other, NOW)
    assert given.wants == (Want(table="R1", boot="boot-2", first=1),)
    assert [each.what for each in given.findings] == ["event_unknown"]
    given = answered(ONWARD, [event(1, boot="boot-2")], other, NOW)
    assert "it gives run boot-2, event 1" in given.findings[0].detail
    late = utc(1_790_000_005 + KEPT)
    assert answered(ONWARD, [], other, late).findings == ()  # it may have been cut in its time


def test_events_are_asked_again_by_run_and_page() -> None:
    several = [event(9), event(2), event(250), event(4, boot="boot-2")]
    assert [(each.boot, each.first, each.last) for each in again("R1", several, 100)] == [
        (BOOT, 2, 101),
        (BOOT, 102, 201),
        (BOOT, 202, 250),
        ("boot-2", 4, 4),
    ]
    assert all(each.swept for each in again("R1", several, 100))
    assert again("R1", [], 100) == []


def test_a_table_that_goes_on_from_a_backup_is_not_said_to_have_forgotten() -> None:
    told = event(1, boot="boot-2", type=RESTORED, body=b'{"since":"S","restored":"R"}')
    [found] = answered(ONWARD, [told], STATE, NOW).findings
    assert found.what == "journal_restored"
    assert "a backup of S, restored at R" in found.detail
    [found] = answered(ONWARD, [event(1, boot="boot-2")], STATE, NOW).findings
    assert found.what == "event_unknown"
