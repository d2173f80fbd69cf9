"""The spins that a roulette follows since its wheel's log was read, and the comparison."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from common.contract.commands import (
    DeviceService,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    RoundUnresolved,
    WheelDifference,
    WheelReconciled,
    WheelUnreconciled,
)
from common.contract.notation import Input
from common.contract.retained import About
from common.readings import (
    LinkLost,
    LinkUp,
    Number,
    Phase,
    WheelLog,
    WheelLogProblem,
    WheelNumber,
    WheelPhase,
)
from controller.games.games import make_game
from controller.tables.table import Table
from controller.tables.wheel_logs import MAX_SPINS, TAIL_ENTRIES
from tests.controller.tables.test_table import take
from tests.support.for_each import for_each

HEAD: dict[str, Any] = {"at": 0.0, "by": "M. Lasa", "role": "table_head"}
BEFORE: tuple[Number | None, ...] = (*range(30), None)
"""The log before the table opens, with a failed launch."""


class Roulette:
    """A table, its wheel with a log, and what the daemon receives of both."""

    def __init__(self, log: tuple[Number | None, ...] = BEFORE) -> None:
        self.table = self._make(None)
        self.log = list(log)
        self.events: list[AnyEvent] = []
        self.count = 0
        self.take(LinkUp(at=0.0, device="wheel"))

    def _make(self, saved: bytes | None) -> Table:
        game = make_game("roulette-french", "ARA02", {})
        about = About(devices={"wheel": "cammegh-ss2"})
        return Table(
            "palma", "r1", "roulette-french", "ARA02", game, "b1", saved=saved, about=about
        )

    def take(self, *inputs: Input) -> list[AnyEvent]:
        found = take(self.table, *inputs)
        self.events += found
        return found

    def restart(self) -> None:
        self.table = self._make(self.table.saved())
        self.take(*self.table.gap(0.0))
        self.take(LinkUp(at=0.0, device="wheel"))

    def open(self) -> None:
        self.take(SessionOpen(**HEAD))

    def phase(self, phase: Phase, late: bool = False) -> None:
        self.take(WheelPhase(at=1.0, device="wheel", phase=phase, spin=self.count, late=late))

    def spin(self, number: int) -> None:
        """A whole spin, seen by all."""
        self.begin()
        self.log.append(number)
        self.take(WheelNumber(at=1.0, device="wheel", number=number, spin=self.count))
        self.phase("settled")

    def begin(self) -> None:
        self.count = self.count % 256 + 1
        for phase in ("bets_open", "ball_in_rim", "no_more_bets"):
            self.phase(phase)

    def unseen(self, *numbers: int) -> None:
        """Spins that the wheel plays while its link is lost."""
        self.take(LinkLost(at=1.0, device="wheel", reason="unplugged"))
        self.log += numbers
        self.count = (self.count + len(numbers) - 1) % 256 + 1
        self.take(LinkUp(at=1.0, device="wheel"))

    def read(self, first: int = 0, problem: WheelLogProblem | None = None) -> list[AnyEvent]:
        entries = () if problem else tuple(self.log[first:])
        pages = -(-len(self.log) // 256)
        return self.take(
            WheelLog(
                at=2.0, device="wheel", pages=pages, first=first, entries=entries, problem=problem
            )
        )


def played(*numbers: int) -> Roulette:
    """A table whose log was read before its session, and its spins."""
    roulette = Roulette()
    roulette.read()
    roulette.open()
    for number in numbers:
        roulette.spin(number)
    return roulette


def differences(events: list[AnyEvent]) -> list[tuple[str, tuple[Number, ...], tuple[int, ...]]]:
    return [
        (event.what, event.wheel, event.rounds)
        for event in events
        if isinstance(event, WheelDifference)
    ]


def alerts(events: list[AnyEvent]) -> list[str | None]:
    """The details of the alerts about the log that were raised; None: cleared."""
    return [
        event.detail if isinstance(event, AlertRaised) else None
        for event in events
        if isinstance(event, AlertRaised | AlertCleared) and event.alert == "wheel-log"
    ]


def test_the_first_reading_is_where_the_comparison_begins() -> None:
    (event,) = Roulette().read()
    assert isinstance(event, WheelUnreconciled)
    assert (event.why, event.spins) == ("first", 0)


def test_the_same_results() -> None:
    roulette = played(17, 0, 17, 17)
    (event,) = roulette.read()
    assert isinstance(event, WheelReconciled)
    assert (event.spins, event.failed) == (4, 0)
    (again,) = roulette.read()
    assert isinstance(again, WheelReconciled)
    assert again.spins == 0


def test_failed_launches_are_counted_and_no_results() -> None:
    roulette = played(17)
    roulette.log.append(None)
    roulette.spin(18)
    (event,) = roulette.read()
    assert isinstance(event, WheelReconciled)
    assert (event.spins, event.failed) == (2, 1)


def test_spins_of_a_gap_are_found_and_not_published() -> None:
    roulette = played(17)
    roulette.unseen(8, 9)
    roulette.phase("bets_open", late=True)
    roulette.spin(3)
    found = roulette.read()
    assert differences(found) == [("missing_in_journal", (8, 9), ())]
    (difference,) = [each for each in found if isinstance(each, WheelDifference)]
    assert (difference.session, difference.after) == (1, 1)
    assert alerts(found) == ["missing_in_journal after round 1: 8 9 in the log"]
    assert {type(each) for each in found} == {WheelDifference, AlertRaised}


def test_an_unresolved_round_gets_evidence_and_no_result() -> None:
    roulette = played(17)
    roulette.begin()
    roulette.unseen()
    roulette.log.append(8)
    roulette.spin(3)
    assert [type(each) for each in roulette.events].count(RoundUnresolved) == 1
    found = roulette.read()
    assert differences(found) == [("unresolved", (8,), (2,))]
    assert alerts(found) == []
    assert len(found) == 1
    roulette.take(RoundConfirm(**HEAD, round=2, number=8))
    roulette.spin(4)
    (event,) = roulette.read()
    assert isinstance(event, WheelReconciled)


def test_a_number_that_comes_after_its_round_was_left_unresolved() -> None:
    """The game makes another round of it; the log has one number for both."""
    roulette = played(17)
    roulette.begin()
    roulette.unseen()
    roulette.log.append(8)
    roulette.phase("bets_open")
    late = WheelNumber(at=1.0, device="wheel", number=8, spin=roulette.count, late=True)
    roulette.take(late)
    roulette.spin(3)
    left = [each.round for each in roulette.events if isinstance(each, RoundUnresolved)]
    assert left == [2, 3]
    assert differences(roulette.read()) == [("unresolved", (), (2,))]


def test_an_unresolved_round_that_a_person_settled_before_the_reading() -> None:
    roulette = played(17)
    roulette.begin()
    roulette.unseen()
    roulette.log.append(8)
    roulette.spin(3)
    roulette.take(RoundConfirm(**HEAD, round=2, number=9))
    found = roulette.read()
    assert differences(found) == [("different", (8,), (2,))]


def test_a_corrected_result_differs_from_the_log() -> None:
    roulette = played(17, 18, 19)
    roulette.take(ResultCorrect(**HEAD, round=2, number=20, note="camera"))
    found = roulette.read()
    assert differences(found) == [("different", (18,), (2,))]
    assert alerts(found) == ["different round 2: 18 in the log"]


def test_a_void_round_keeps_the_number_that_the_wheel_showed() -> None:
    roulette = played(17)
    roulette.begin()
    roulette.take(RoundVoid(**HEAD, reason="device_fault"))
    roulette.log.append(8)
    roulette.take(WheelNumber(at=1.0, device="wheel", number=8, spin=roulette.count))
    roulette.spin(3)
    (event,) = roulette.read()
    assert isinstance(event, WheelReconciled)
    assert event.spins == 3


def test_a_void_round_whose_ball_never_fell() -> None:
    roulette = played(17)
    roulette.begin()
    roulette.take(RoundVoid(**HEAD, reason="device_fault"))
    roulette.spin(3)
    assert isinstance(roulette.read()[0], WheelReconciled)


def test_numbers_outside_a_session_are_spins_too() -> None:
    roulette = Roulette()
    roulette.read()
    roulette.spin(5)
    (event,) = [each for each in roulette.read() if isinstance(each, WheelReconciled)]
    assert event.spins == 1


def test_spins_of_two_sessions() -> None:
    roulette = played(17)
    roulette.phase("bets_open")
    roulette.take(SessionClose(**HEAD))
    roulette.open()
    roulette.spin(18)
    roulette.unseen(9)
    assert differences(roulette.read()) == [("missing_in_journal", (9,), ())]


def test_a_restart_of_the_daemon_loses_no_spin() -> None:
    roulette = played(17)
    roulette.restart()
    repeated = WheelNumber(at=1.0, device="wheel", number=17, spin=roulette.count, late=True)
    roulette.take(repeated)  # the wheel still shows it
    roulette.spin(18)
    (event,) = roulette.read()
    assert isinstance(event, WheelReconciled)
    assert event.spins == 2


class TestWhatCannotBeCompared:
    def why(self, events: list[AnyEvent]) -> tuple[str, int]:
        (event,) = [each for each in events if isinstance(each, WheelUnreconciled)]
        return event.why, event.spins

    @for_each(
        "problem",
        ["unanswered", "refused", "checksum", "truncated", "wrapped", "interrupted"],
    )
    def test_a_log_that_was_not_read(self, problem: WheelLogProblem) -> None:
        """The spins wait for the next reading."""
        roulette = played(17)
        assert self.why(roulette.read(problem=problem)) == (problem, 1)
        roulette.spin(18)
        (event,) = roulette.read()
        assert isinstance(event, WheelReconciled)
        assert event.spins == 2

    def test_a_log_that_was_cleared(self) -> None:
        roulette = played(17, 18)
        roulette.log = [18]
        found = roulette.read()
        assert self.why(found) == ("cleared", 2)
        assert alerts(found) == ["the log was cleared"]
        roulette.spin(19)
        assert isinstance(roulette.read()[0], WheelReconciled)

    def test_a_log_that_began_again_or_was_written(self) -> None:
        roulette = played(17, 18)
        roulette.log[len(BEFORE) - 3] = 36
        found = roulette.read()
        assert self.why(found) == ("rewritten", 2)
        assert alerts(found) == ["the log was rewritten"]

    def test_more_was_played_than_is_read(self) -> None:
        roulette = played(17)
        assert self.why(roulette.read(first=len(BEFORE) + 1)) == ("too_old", 1)

    def test_the_newest_pages_suffice_where_nothing_older_is_missing(self) -> None:
        roulette = played(17)
        assert isinstance(roulette.read(first=len(BEFORE) - TAIL_ENTRIES // 2)[0], WheelReconciled)
        roulette.spin(18)
        assert isinstance(roulette.read(first=len(BEFORE) + 1)[0], WheelReconciled)

    def test_more_spins_than_are_followed(self) -> None:
        roulette = Roulette()
        roulette.read()
        for number in range(MAX_SPINS + 1):
            roulette.count = number % 256 + 1
            roulette.log.append(number % 37)
            roulette.take(
                WheelNumber(at=1.0, device="wheel", number=number % 37, spin=roulette.count)
            )
        assert self.why(roulette.read()) == ("too_many", MAX_SPINS)


def test_work_on_the_wheel_settles_the_alert() -> None:
    roulette = played(17)
    roulette.log[-1] = 18
    assert alerts(roulette.read()) == ["different round 1: 18 in the log"]
    work = DeviceService(
        at=3.0, by="T. Mas", role="technician", device="wheel", work="inspected", note="camera: 17"
    )
    assert alerts(roulette.take(work)) == [None]


def test_a_table_whose_log_was_never_read_is_saved_as_before() -> None:
    roulette = Roulette()
    roulette.open()
    roulette.spin(17)
    assert b"wheel_logs" not in roulette.table.saved()


@given(st.lists(st.tuples(st.integers(0, 36), st.sampled_from("sssugr")), max_size=12))
def test_the_journal_of_any_evening_is_compared_truly(evening: list[tuple[int, str]]) -> None:
    """Spins seen, left unresolved by a silence, or played while the link was lost, and restarts:
    nothing differs but what was missed, and what is offered for a round is its number.
    """
    roulette = played()
    truth: dict[int, int] = {}
    unseen = 0
    for number, fate in evening:
        if fate == "u":
            known = len([each for each in roulette.events if isinstance(each, RoundUnresolved)])
            roulette.begin()
            roulette.unseen()
            roulette.log.append(number)
            roulette.phase("bets_open")
            left = [each for each in roulette.events if isinstance(each, RoundUnresolved)]
            if len(left) > known:
                truth[left[-1].round] = number
        elif fate == "g":
            roulette.unseen(number)
            unseen += 1
        elif fate == "r":
            roulette.restart()
        else:
            roulette.spin(number)
    found = differences(roulette.read())
    for what, wheel, rounds in found:
        if what == "unresolved" and rounds[0] in truth:
            assert wheel == (truth[rounds[0]],)
    assert {what for what, _, _ in found} <= {"unresolved", "missing_in_journal", "ambiguous"}
    if not unseen and not truth and all(fate in "sr" for _, fate in evening):
        assert not found
