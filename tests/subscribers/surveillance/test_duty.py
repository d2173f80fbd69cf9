"""Who was on duty, joined with what happened meanwhile: the same in every database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from common.contract.times import format_utc
from subscribers.surveillance.archive import Query, RecordArchive
from subscribers.surveillance.duty import LOOK_BACK, authors, find_during, spans
from subscribers.surveillance.lookup import find_records
from subscribers.surveillance.search_request import SearchRequest
from subscribers.web.surveillance_people import current
from tests.subscribers.surveillance.said import event

START = datetime.fromtimestamp(1_790_000_000, UTC)


def at(second: int) -> str:
    return format_utc(START.timestamp() + second)


def told(second: int, type_: str, table: str = "R1", **fields: Any) -> Any:
    """An event at this second of the table."""
    body = msgspec.json.encode({"type": type_, "seq": second, **fields})
    return event(second, table, type=type_, body=body, session=1, round=fields.get("round", 0))


def staff(second: int, type_: str, person: str, table: str = "R1", duty: str = "croupier") -> Any:
    return told(second, type_, table, person=person, duty=duty, by="M. Lasa")


@pytest.fixture
def evening(archive: RecordArchive) -> RecordArchive:
    """Riera deals at R1, Mas relieves him, and he deals again until the session closes; meanwhile
    he is at R2, where he has two duties.
    """
    archive.store(
        [
            told(1, "session.opened"),
            staff(2, "staff.arrived", "A. Riera"),
            told(3, "round.result", round=1),
            staff(4, "staff.left", "A. Riera"),
            staff(5, "staff.arrived", "A. Riera Mas"),
            told(6, "round.result", round=2),
            staff(7, "staff.left", "A. Riera Mas"),
            staff(8, "staff.arrived", "A. Riera"),
            told(9, "round.result", round=3),
            told(12, "session.closed"),
            told(14, "round.result", round=4),
            staff(4, "staff.arrived", "A. Riera", "R2"),
            staff(5, "staff.arrived", "A. Riera", "R2", "inspector"),
            told(6, "round.result", "R2", round=7),
            staff(7, "staff.left", "A. Riera", "R2"),
            staff(8, "staff.left", "A. Riera", "R2", "inspector"),
            told(9, "round.result", "R2", round=8),
        ]
    )
    return archive


def rounds(archive: RecordArchive, **request: Any) -> list[tuple[str, int]]:
    given = SearchRequest(what=("round.result",), **request)
    return [(row.record.table, row.record.round) for row in find_records(archive, given)]


@pytest.mark.usefixtures("programs")
def test_rounds_of_a_person_on_duty(evening: RecordArchive) -> None:
    own = [("R1", 1), ("R2", 7), ("R1", 3)]
    assert rounds(evening, on_duty="A. Riera") == own
    assert rounds(evening, on_duty="A. Riera", latest=True) == own[::-1]
    assert rounds(evening, on_duty="A. Riera", tables=("R1",)) == [("R1", 1), ("R1", 3)]
    assert rounds(evening, on_duty="A. Riera", limit=2) == own[:2]
    assert rounds(evening, on_duty="A. Riera Mas") == [("R1", 2)]
    assert rounds(evening, on_duty="a. riera") == []
    assert rounds(evening, on_duty="A. Riera", sites=("elsewhere",)) == []


@pytest.mark.usefixtures("programs")
def test_a_duty_that_began_before_the_period_counts(evening: RecordArchive) -> None:
    assert rounds(evening, on_duty="A. Riera", since=at(9)) == [("R1", 3)]
    assert rounds(evening, on_duty="A. Riera", until=at(9)) == [("R1", 1), ("R2", 7)]
    assert rounds(evening, on_duty="A. Riera", since=at(13)) == []
    duties, sessions = spans(evening, (), ("R1",), at(9))
    assert [(span.person, span.since, span.until) for span in duties] == [
        ("A. Riera", at(8), at(12))
    ]
    assert [(span.since, span.until) for span in sessions] == [(at(1), at(12))]


@pytest.mark.usefixtures("programs")
def test_the_next_session_ends_duties_whose_end_is_missing(archive: RecordArchive) -> None:
    archive.store(
        [
            staff(1, "staff.arrived", "A. Riera"),
            told(5, "session.opened"),
            staff(6, "staff.arrived", "B. Pons"),
        ]
    )
    duties, sessions = spans(archive, (), ())
    assert [(span.person, span.until) for span in duties] == [
        ("A. Riera", at(5)),
        ("B. Pons", None),
    ]
    assert [span.until for span in sessions] == [None]
    assert current(duties) is not None
    assert msgspec.to_builtins(current(duties)) == {"since": at(6), "until": None}
    assert current([]) is None


def test_the_last_period_is_that_of_the_latest_begin(evening: RecordArchive) -> None:
    duties, _ = spans(evening, (), ("R2",))
    assert msgspec.to_builtins(current(duties)) == {"since": at(5), "until": at(8)}


def test_authors_and_signers_are_named_once(archive: RecordArchive) -> None:
    signed: Any = {"signed_by": [{"id": "b-pons", "name": "B. Pons"}, 7, {"name": 8}]}
    archive.store(
        [
            told(1, "round.void", by="M. Lasa", **signed),
            staff(2, "staff.arrived", "A. Riera"),
            told(3, "round.void", by=["x"]),
            told(4, "round.opened"),
        ]
    )
    assert authors(archive, (), (), None, None) == ["B. Pons", "M. Lasa"]
    assert authors(archive, (), (), at(2), at(4)) == ["M. Lasa"]


def test_a_period_at_the_edge_of_time_is_searched(archive: RecordArchive) -> None:
    archive.store([staff(1, "staff.arrived", "A. Riera")])
    assert len(spans(archive, (), (), "0001-01-01T00:00:00.000000Z")[0]) == 1
    later = format_utc(START.timestamp() + LOOK_BACK.total_seconds() + 2)
    assert spans(archive, (), (), later) == ([], [])
    assert list(find_during(archive, Query(), [])) == []
