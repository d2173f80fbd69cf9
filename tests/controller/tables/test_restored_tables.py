"""A table whose journal was restored from a backup: its reports, and that it never reuses a number,
whatever happened in the gap.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given as property_of
from hypothesis import strategies as st

from common.contract.commands import BetsOpen, SessionClose, SessionOpen
from common.contract.events import JournalRestored, SessionOpened
from common.contract.notation import Input, read_input, write
from common.contract.times import format_utc, parse_utc
from common.readings import JournalRestore, LinkUp
from controller.games.games import make_game
from controller.journal.setup import RestoredBackup
from controller.tables.after_restore import MIN_SESSION_JUMP, restore_reading, session_jump
from controller.tables.restored import MAX_READINGS_PER_SESSION
from controller.tables.saved_state import UnrestorableStateError
from controller.tables.table import Table
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS

HEAD: dict[str, Any] = {"at": 0.0, "by": "M. Lasa", "role": "inspector"}
SINCE = "2026-11-19T20:00:00.000000Z"
POINT = RestoredBackup(
    journal="4f0c",
    position=700,
    hash="9a",
    since=SINCE,
    file="journal.sqlite3.restored",
    at="2026-11-20T09:00:00.000000Z",
    by="novamas",
)
RESTORE = restore_reading(POINT, "t1", 0.0, parse_utc("2026-11-20T10:00:00Z"))


def make(
    game: str,
    decree: str,
    saved: bytes | None = None,
    boot: str = "b1",
    *,
    over: bool = False,
    **settings: str,
) -> Table:
    made = make_game(game, decree, settings)
    return Table("casino", "t1", game, decree, made, boot, saved=saved, over=over)


def take(table: Table, *inputs: Input) -> list[Any]:
    return [event for each in inputs for event in table.handle(each, SINCE, 1).events]


def restored(table: Table) -> tuple[Table, list[Any]]:
    """The table as a backup made now has it, restored, and its output."""
    made = make(table.game_id, table.decree, table.saved(), "b2")
    return made, take(made, RESTORE, LinkUp(at=1.0, device="wheel"))


@for_each(("game", "decree"), PAIRS)
def test_every_game_is_closed_and_opens_with_an_unpublished_number(game: str, decree: str) -> None:
    table = make(game, decree)
    take(table, SessionOpen(**HEAD), SessionClose(**HEAD), SessionOpen(**HEAD))
    made, events = restored(table)
    event = events[0]
    assert isinstance(event, JournalRestored)
    assert (event.seq, event.was_open, event.next_session) == (1, 2, 2 + RESTORE.jump + 1)
    assert (event.journal, event.position, event.since) == ("4f0c", 700, SINCE)
    assert b'"status":"closed"' in (made.retained()["state"] or b"")
    [opened] = [each for each in take(made, SessionOpen(**HEAD)) if isinstance(each, SessionOpened)]
    assert opened.session == event.next_session
    readings = MAX_READINGS_PER_SESSION * RESTORE.jump if made.face_down else 0
    assert made.readings == readings


def test_rounds_in_progress_are_named_and_get_no_result_here() -> None:
    table = make("roulette-french", "ARA02", phases="person")
    take(table, SessionOpen(**HEAD), BetsOpen(**HEAD))
    made, events = restored(table)
    assert (events[0].was_open, events[0].in_progress) == (1, 1)
    assert b'"round":0' in (made.retained()["state"] or b"")


def test_a_table_that_was_closed_reports_no_open_session() -> None:
    table = make("roulette-french", "ARA02")
    take(table, SessionOpen(**HEAD), SessionClose(**HEAD))
    _, events = restored(table)
    assert (events[0].was_open, events[0].in_progress) == (None, None)


def test_a_table_whose_state_is_lost_continues_beyond_the_backups_numbers() -> None:
    table = make("roulette-french", "ARA02")
    point = msgspec.structs.replace(POINT, sessions={"t1": 4000})
    [said, *_] = take(table, restore_reading(point, "t1", 0.0, parse_utc(POINT.at)))
    assert said.next_session == 4001 + session_jump(parse_utc(SINCE), parse_utc(POINT.at))
    assert said.was_open is None


def test_a_session_that_another_daemon_ended_blocks_no_other_game() -> None:
    table = make("roulette-french", "ARA02")
    take(table, SessionOpen(**HEAD))
    with pytest.raises(UnrestorableStateError, match="its session is open"):
        make("roulette-american", "ARA02", table.saved(), "b2")
    made = make("roulette-american", "ARA02", table.saved(), "b2", over=True)
    said = take(made, RESTORE, LinkUp(at=1.0, device="wheel"))
    assert (said[0].was_open, said[0].next_session) == (None, RESTORE.jump + 1)
    assert any("roulette-french" in str(getattr(each, "detail", "")) for each in said)


def test_the_restore_is_stored_as_it_is_applied() -> None:
    assert read_input(write(RESTORE)) == RESTORE
    assert isinstance(RESTORE, JournalRestore)


@property_of(
    since=st.floats(1_700_000_000, 2_000_000_000),
    gap=st.floats(0, 10 * 365 * 86_400),
    opened=st.integers(0, 10**7),
)
def test_numbers_continue_beyond_all_that_may_have_been_used(
    since: float, gap: float, opened: int
) -> None:
    """Also where a session was opened each second, and a thousand more."""
    by = session_jump(since, since + gap)
    given_in_gap = min(opened, MIN_SESSION_JUMP + int(gap))
    assert by >= given_in_gap
    assert by <= MIN_SESSION_JUMP + gap + 1.001


@property_of(
    gap=st.integers(0, 10 * 365 * 86_400),
    until_next=st.integers(1, 86_400),
    opened=st.integers(0, 86_400),
)
def test_numbers_continue_beyond_those_after_an_earlier_restore_of_the_same_backup(
    gap: int, until_next: int, opened: int
) -> None:
    first, second = session_jump(0.0, gap), session_jump(0.0, gap + until_next)
    last_opened = first + min(opened, until_next)
    assert second + 1 > last_opened


@property_of(now=st.floats(0, 4_000_000_000))
def test_a_clock_that_is_behind_reduces_nothing(now: float) -> None:
    """At least the time until the restore has passed, by the clock of then."""
    least = session_jump(parse_utc(SINCE), parse_utc(POINT.at))
    assert least == MIN_SESSION_JUMP + 13 * 3600
    assert restore_reading(POINT, "t1", 0.0, now).jump >= least
    assert format_utc(parse_utc(SINCE)) == SINCE
