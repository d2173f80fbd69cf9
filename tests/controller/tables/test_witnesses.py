"""Second witnesses: agreement, disagreement, silence and lateness. A witness gives no result,
delays none, and a late report never counts for the next round.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given as property_of
from hypothesis import strategies as st

from common.contract.commands import (
    AlertAcknowledge,
    BetsClose,
    BetsOpen,
    ResultCorrect,
    RoundConfirm,
    SessionClose,
    SessionOpen,
)
from common.contract.event_fields import WITNESS_KEYPAD, WitnessStatement
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    WitnessReported,
)
from common.contract.notation import Input, read_input
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.readings import DiceRead, LinkLost, LinkUp, WheelCell, WheelFault, WheelNumber
from controller.games.games import make_game
from controller.tables.device_links import RESTART_REASON
from controller.tables.stages import EventCounters
from controller.tables.table import Table
from controller.tables.witnesses import MAX_SILENT_RESULTS

WITHIN = 10.0
HEAD: dict[str, Any] = {"by": "M. Lasa", "role": "table_head"}
BY_HAND = {"phases": "person"}


def make(
    game: str = "roulette-french",
    settings: dict[str, Any] | None = None,
    witnesses: tuple[str, ...] = ("camera",),
    saved: bytes | None = None,
    requested: frozenset[str] = frozenset(),
) -> Table:
    settings = BY_HAND if settings is None else settings
    devices = ("device", *(witness for witness in witnesses if witness != WITNESS_KEYPAD))
    return Table(
        "casino",
        "t1",
        game,
        "ARA02",
        make_game(game, "ARA02", settings),
        "b1",
        saved=saved,
        about=About(devices=dict.fromkeys(devices, "driver")),
        witnesses=dict.fromkeys(witnesses, WITHIN),
        requested=requested,
    )


def take(table: Table, *inputs: Input) -> list[AnyEvent]:
    return [
        event
        for each in inputs
        for event in table.handle(each, f"time {each.at}", round(each.at * 1e9)).events
    ]


def of(kind: type[Any], events: list[AnyEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def number(at: float, value: int | str, device: str = "device", **fields: Any) -> WheelNumber:
    frame = f"number {value}"
    return WheelNumber(at=at, device=device, number=value, frame=frame, **fields)


def opened(at: float = 1.0, currency: str = "EUR") -> SessionOpen:
    return SessionOpen(at=at, minimum=500, currency=currency, **HEAD)


def bets(at: float) -> tuple[BetsOpen, BetsClose]:
    """The bets of a round, open for one second, closed at this time."""
    return BetsOpen(at=at - 1, **HEAD), BetsClose(at=at, **HEAD)


def playing(closed: float = 100.0, **made: Any) -> Table:
    """A table in its first round, whose bets were closed long after anything else."""
    table = make(**made)
    take(table, opened(), *bets(closed))
    return table


def seen(device: str = "camera", **fields: Any) -> WitnessStatement:
    return WitnessStatement(device=device, **fields)


def test_a_witness_that_speaks_first_and_agrees_is_noted_in_the_result() -> None:
    table = playing()
    (reported,) = take(table, number(104, 17, "camera"))
    assert isinstance(reported, WitnessReported)
    assert (reported.session, reported.round, reported.device) == (1, 1, "camera")
    assert (reported.number, reported.agrees) == (17, None)
    assert [frame.device for frame in reported.frames] == ["camera"]
    (result,) = of(RoundResult, take(table, number(105, 17)))
    assert result.witnesses == (seen(number=17, agrees=True),)
    assert [frame.device for frame in result.frames] == ["device"]


def test_a_silent_witness_delays_nothing() -> None:
    with_one, alone = playing(), playing(witnesses=())
    results = [of(RoundResult, take(table, number(105, 17))) for table in (with_one, alone)]
    (noted,), (plain,) = results
    assert isinstance(noted, RoundResult)
    assert noted.witnesses == (seen(),)
    assert plain.witnesses == ()
    assert msgspec.structs.replace(noted, witnesses=()) == plain


def test_a_witness_that_agrees_afterwards() -> None:
    table = playing()
    take(table, number(105, 17))
    (reported,) = take(table, number(106, 17, "camera"))
    assert isinstance(reported, WitnessReported)
    assert (reported.round, reported.agrees) == (1, True)
    assert take(table, number(107, 17, "camera")) == [], "a repeated report says nothing new"


def test_disagreement_before_the_result_asks_a_person() -> None:
    table = playing()
    take(table, number(104, 20, "camera"))
    events = take(table, number(105, 17))
    assert not of(RoundResult, events)
    (irregular,) = of(Irregularity, events)
    assert (irregular.what, irregular.detail) == ("witnesses_disagree", "17 and 20")
    assert "round.confirm" in irregular.asks
    (unresolved,) = of(RoundUnresolved, events)
    assert (unresolved.why, unresolved.candidate) == ("witnesses_disagree", 17)
    assert unresolved.witnesses == (seen(number=20, agrees=False),)
    (result,) = of(RoundResult, take(table, RoundConfirm(at=130, round=1, number=20, **HEAD)))
    assert result.witnesses == (seen(number=20, agrees=True),)


def test_the_last_report_of_a_witness_before_the_result_counts() -> None:
    table = playing()
    take(table, number(103, 20, "camera"), number(104, 17, "camera"))
    (result,) = of(RoundResult, take(table, number(105, 17)))
    assert result.witnesses == (seen(number=17, agrees=True),)


def test_disagreement_after_the_result_is_an_alert_that_a_person_settles() -> None:
    table = playing()
    take(table, number(105, 17))
    reported, alert = take(table, number(107, 20, "camera"))
    assert isinstance(reported, WitnessReported)
    assert reported.agrees is False
    assert isinstance(alert, AlertRaised)
    assert (alert.alert, alert.what, alert.rounds) == ("camera-witness", "witness.disagrees", (1,))
    assert (alert.detail, alert.device) == ("17; camera: 20", "camera")
    events = take(table, AlertAcknowledge(at=120, alert="camera-witness", **HEAD))
    assert [event.alert for event in of(AlertCleared, events)] == ["camera-witness"]


def test_a_correction_settles_the_alert() -> None:
    table = playing()
    take(table, number(105, 17), number(107, 20, "camera"))
    events = take(table, ResultCorrect(at=110, round=1, number=20, **HEAD))
    assert [event.alert for event in of(AlertCleared, events)] == ["camera-witness"]
    (second,) = of(WitnessReported, take(table, number(111, 20, "camera", spin=3))) or [None]
    assert second is None, "it has reported 20 already"


def test_two_witnesses_that_disagree_among_themselves() -> None:
    table = playing(witnesses=("camera", "keypad"))
    take(table, number(103, 17, "camera"), number(104, 20, "keypad"))
    (unresolved,) = of(RoundUnresolved, take(table, number(105, 17)))
    assert unresolved.witnesses == (
        seen(number=17, agrees=True),
        seen("keypad", number=20, agrees=False),
    )


def test_witnesses_alone_give_no_result() -> None:
    table = playing(witnesses=("camera", "keypad"))
    events = take(
        table,
        LinkLost(at=101, device="device", reason="unplugged"),
        number(104, 17, "camera"),
        number(104.5, 17, "keypad"),
    )
    assert not of(RoundResult, events)
    assert [event.number for event in of(WitnessReported, events)] == [17, 17]
    (unresolved,) = of(RoundUnresolved, take(table, SessionClose(at=200, **HEAD)))
    assert unresolved.candidate is None
    assert unresolved.witnesses == (seen(number=17), seen("keypad", number=17))


def test_a_lost_witness_changes_nothing_for_the_game() -> None:
    table = make()
    take(table, LinkUp(at=1, device="device"), opened(), *bets(100.0))
    take(table, LinkLost(at=102, device="camera", reason="broker"))
    fault = WheelFault(at=103, device="camera", fault="ball_out", active=True)
    assert take(table, fault) == []
    state = msgspec.json.decode(table.retained()["state"] or b"")
    assert (state["status"], state["devices"]["camera"]["state"]) == ("open", "lost")
    assert of(RoundResult, take(table, number(105, 17)))


@pytest.mark.parametrize(
    "report",
    [
        number(104, 20, "camera", late=True),
        DiceRead(at=104, device="camera", values=(1, 2), late=True),
        WheelCell(at=104, device="camera", cell=3),
    ],
)
def test_what_is_not_live_or_no_number_does_not_count(report: Input) -> None:
    table = playing()
    assert take(table, report) == []
    (result,) = of(RoundResult, take(table, number(105, 17)))
    assert result.witnesses == (seen(),)


def test_before_bets_are_closed_and_without_a_session_nothing_counts() -> None:
    table = make()
    assert take(table, number(0.5, 17, "camera")) == []
    take(table, opened(), BetsOpen(at=100, **HEAD))
    assert take(table, number(101, 17, "camera")) == []


@property_of(
    delay=st.floats(0, WITHIN),
    closing=st.floats(0.1, 3 * WITHIN),
    wait=st.floats(0.1, 60),
    primary=st.sampled_from((17, 20)),
)
def test_a_late_answer_never_counts_for_the_next_round(
    delay: float, closing: float, wait: float, primary: int
) -> None:
    """However soon the next round follows: an answer in its time is about the round before."""
    table = playing()
    take(table, number(105, 17))
    late, closed = number(105 + delay, 17, "camera"), BetsClose(at=105 + closing, **HEAD)
    inputs: list[Input] = [BetsOpen(at=105.05, **HEAD), closed]
    answer = take(table, *sorted((*inputs, late), key=lambda each: each.at))
    assert all(event.round == 1 for event in of(WitnessReported, answer))
    events = take(table, number(105 + max(delay, closing) + wait, primary))
    (result,) = of(RoundResult, events)
    assert (result.round, result.witnesses) == (2, (seen(),))


def test_a_round_of_the_witness_counts_for_one_round() -> None:
    """A witness that numbers its rounds may repeat one for ever."""
    table = playing()
    take(table, number(104, 17, "camera", spin=7), number(105, 17), *bets(200))
    assert take(table, number(204, 17, "camera", spin=7)) == []
    (reported,) = take(table, number(204.5, 18, "camera", spin=8))
    assert isinstance(reported, WitnessReported)
    assert reported.round == 2


def test_a_repeated_round_of_the_witness_counts_for_none_after_a_newer_one() -> None:
    table = playing()
    take(table, number(110.0, 17, "camera", spin=1), number(111.0, 17))
    take(table, *bets(200.0), number(210.0, 4, "camera", spin=2))
    assert not take(table, number(211.0, 17, "camera", spin=1))
    assert of(RoundResult, take(table, number(212.0, 4)))


def test_a_late_report_of_a_spin_without_a_round_does_not_count() -> None:
    """The ball ran when the session was opened, and fell before the first bets."""
    table = make()
    take(table, opened(), number(95.0, 9), *bets(100.0))
    assert not take(table, number(104.0, 9, "camera"))
    assert of(RoundResult, take(table, number(110.0, 17)))


def test_agreement_is_counted() -> None:
    table, counters = playing(), EventCounters()
    for inputs in (
        (number(104, 17, "camera"), number(105, 17)),
        (*bets(200), number(205, 17), number(206, 17, "camera")),
        (*bets(300), number(305, 17), number(306, 20, "camera")),
        (*bets(400), number(404, 20, "camera"), number(405, 17)),
        (RoundConfirm(at=420, round=4, number=17, **HEAD),),
    ):
        counters.count(take(table, *inputs))
    assert counters.witnessed == {
        ("camera", "agrees"): 1,
        ("camera", "disagrees"): 1,
        ("camera", "silent"): 2,
        ("camera", "agrees_later"): 1,
        ("camera", "disagrees_later"): 1,
    }


def test_many_silent_results_raise_one_alert_until_it_speaks() -> None:
    table, raised = make(), []
    take(table, opened())
    for played in range(1, 3 * MAX_SILENT_RESULTS):
        at = 100.0 * played
        raised += of(AlertRaised, take(table, *bets(at), number(at + 5, 17)))
    (alert,) = raised
    assert (alert.alert, alert.severity) == ("camera-witness-silent", "warning")
    cleared = of(AlertCleared, take(table, number(at + 6, 17, "camera")))
    assert [event.alert for event in cleared] == ["camera-witness-silent"]


def test_what_witnesses_reported_outlives_a_restart_and_is_not_mixed_up() -> None:
    table = playing()
    take(table, number(104, 17, "camera"))
    again = make(saved=table.saved())
    take(again, *again.gap(110.0, RESTART_REASON))
    assert take(again, number(112, 20, "camera")) == [], "it may be about anything"
    events = take(again, SessionClose(at=200, **HEAD))
    (unresolved,) = of(RoundUnresolved, events)
    assert unresolved.witnesses == (seen(number=17),)


@pytest.mark.parametrize("lost_at", [103, 106])
def test_a_report_after_a_lost_link_may_be_of_a_spin_that_nobody_saw(lost_at: int) -> None:
    """The link may have been closed because the machine was suspended, and the clock with it."""
    table = playing(witnesses=("camera", "sensor"))
    lost = LinkLost(at=lost_at, device="camera", reason="suspended")
    result = number(105, 17)
    take(table, *((lost, result) if lost_at < result.at else (result, lost)))
    take(table, LinkUp(at=108, device="camera"))
    assert take(table, number(108, 32, "camera")) == []
    (reported,) = of(WitnessReported, take(table, number(109, 17, "sensor")))
    assert reported.agrees, "its link was open"
    take(table, *bets(130))
    (live,) = of(WitnessReported, take(table, number(134, 8, "camera")))
    assert live.round == 2


def test_a_link_that_is_open_again_before_the_round_ends_is_no_doubt() -> None:
    table = playing()
    take(table, LinkLost(at=101, device="camera", reason="unplugged"))
    take(table, LinkUp(at=103, device="camera"), number(105, 17))
    (reported,) = of(WitnessReported, take(table, number(106, 17, "camera")))
    assert (reported.round, reported.agrees) == (1, True)


def test_the_state_of_a_table_without_a_witness_is_as_before() -> None:
    saved = msgspec.json.decode(playing(witnesses=()).saved())
    assert "witnessed" not in saved
    assert "witnessed" in msgspec.json.decode(playing().saved())


def test_the_alerts_of_a_former_witness_end() -> None:
    table = playing()
    take(table, number(105, 17), number(107, 20, "camera"))
    again = make(saved=table.saved(), witnesses=())
    cleared = of(AlertCleared, take(again, *again.gap(110.0)))
    assert "camera-witness" in {event.alert for event in cleared}


def test_a_witness_of_dice() -> None:
    table = make("craps", {"serials": "unwatched", "shooter": "unwatched"})
    script = (
        b'{"type":"session.open","at":1.0,"by":"M. Lasa","role":"table_head"}',
        b'{"type":"bets.open","at":99.0,"by":"M. Lasa","role":"croupier"}',
        b'{"type":"bets.close","at":100.0,"by":"M. Lasa","role":"croupier"}',
        b'{"type":"dice.read","at":103.0,"device":"camera","values":[4,3]}',
        b'{"type":"dice.read","at":104.0,"device":"device","values":[3,4]}',
    )
    (result,) = of(RoundResult, take(table, *map(read_input, script)))
    assert result.witnesses == (seen(dice=(4, 3), agrees=True),)
    take(table, *bets(200))
    take(table, DiceRead(at=203, device="camera", values=(6, 6)))
    events = take(table, DiceRead(at=204, device="device", values=(3, 4)))
    asked = [event for event in of(Irregularity, events) if event.what == "witnesses_disagree"]
    assert [event.detail for event in asked] == ["3 4 and 6 6"]
    assert not of(RoundResult, events)
    (confirmed,) = of(RoundResult, take(table, RoundConfirm(at=220, round=2, **HEAD)))
    assert confirmed.witnesses == (seen(dice=(6, 6), agrees=False),)


@pytest.mark.parametrize("game", ["boule", "fortune-wheel"])
@pytest.mark.parametrize("agrees", [True, False])
def test_a_witness_of_a_wheel_that_reports_places(game: str, agrees: bool) -> None:
    """The witness reports the number; the game knows which one the cell of its own wheel has."""
    table = playing(game=game)
    cell = WheelCell(at=105, device="device", cell=5, turns=9)
    plain = playing(game=game)
    (result,) = of(RoundResult, take(plain, cell))
    worth = result.outcome.number
    other = next(each for each in (1, 2, 3, 5, 6, 7) if each != worth)
    take(table, number(104, worth if agrees else other, "camera"))
    events = take(table, cell)
    assert bool(of(RoundResult, events)) is agrees
    if not agrees:
        assert [event.why for event in of(RoundUnresolved, events)] == ["witnesses_disagree"]


@property_of(st.data())
def test_whatever_witnesses_report_the_table_decides_alone_or_asks(data: st.DataObject) -> None:
    """Beside any reports the same round has the same result at the same moment, or a person is
    asked; never another result.
    """
    with_one, alone = playing(), playing(witnesses=())
    at, results, plain = 105.0, list[AnyEvent](), list[AnyEvent]()
    for _ in range(data.draw(st.integers(1, 6))):
        for _ in range(data.draw(st.integers(0, 3))):
            at += data.draw(st.floats(0, 2 * WITHIN))
            value = data.draw(st.integers(0, 40) | st.just("00"))
            spin = data.draw(st.sampled_from((None, 1, 2)))
            events = take(with_one, number(at, value, "camera", spin=spin))
            assert not of(RoundResult, events)
        at += 1
        drawn = data.draw(st.sampled_from((17, 20)))
        results += take(with_one, number(at, drawn))
        plain += take(alone, number(at, drawn))
        at += 2
        for table in (with_one, alone):
            take(table, *bets(at))
    decided = {event.round: event for event in of(RoundResult, results)}
    asked = {event.round for event in of(RoundUnresolved, results)}
    for expected in of(RoundResult, plain):
        assert expected.round in decided or expected.round in asked
        if expected.round in decided:
            own = decided[expected.round]
            assert (own.time, own.outcome) == (expected.time, expected.outcome)


ASKED = frozenset({"camera"})


def reports(table: Table, *inputs: Input) -> list[tuple[int, int | str | None, bool | None]]:
    """Round, number and agreement of what the camera reports."""
    return [
        (event.round, event.number, event.agrees)
        for event in of(WitnessReported, take(table, *inputs))
    ]


def test_an_answer_counts_for_the_round_that_it_names() -> None:
    table = playing(requested=ASKED)
    take(table, number(105, 17))
    take(table, *bets(107))  # by its time alone, a report could be about either round
    assert reports(table, number(108, 20, "camera", spin=2)) == [(2, 20, None)]
    assert reports(table, number(109, 17, "camera", spin=1)) == [(1, 17, True)]
    (doubt,) = of(RoundUnresolved, take(table, number(110, 17)))
    assert doubt.why == "witnesses_disagree"


@pytest.mark.parametrize("name", [0, 1, 3, 7, 2**40])
def test_an_answer_that_names_another_round_counts_for_none(name: int) -> None:
    table = playing(requested=ASKED)
    take(table, number(105, 17), *bets(207))
    assert reports(table, number(208, 20, "camera", spin=name)) == []
    (result,) = of(RoundResult, take(table, number(210, 17)))
    assert result.witnesses == (seen(),)


def test_an_answer_without_a_name_belongs_to_a_round_by_its_time() -> None:
    table = playing(requested=ASKED)
    assert reports(table, number(104, 17, "camera")) == [(1, 17, None)]
    take(table, number(105, 17), *bets(107))
    assert reports(table, number(108, 20, "camera")) == []


def test_an_answer_that_comes_too_late_counts_for_none() -> None:
    table = playing(requested=ASKED)
    take(table, number(105, 17))
    assert reports(table, number(105 + WITHIN + 1, 17, "camera", spin=1)) == []


def test_an_answer_of_the_session_before_counts_for_no_round_of_the_next() -> None:
    table = playing(requested=ASKED)
    take(table, number(105, 17))
    take(table, SessionClose(at=106, **HEAD), opened(107), *bets(109))
    assert reports(table, number(110, 17, "camera", spin=1)) == []
    assert reports(table, number(107 + WITHIN + 1, 20, "camera", spin=1)) == [(1, 20, None)]


def test_a_number_of_its_own_names_no_round_unless_it_was_asked() -> None:
    table = playing()
    assert reports(table, number(104, 17, "camera", spin=4711)) == [(1, 17, None)]


@property_of(
    st.lists(
        st.tuples(
            st.sampled_from(("camera", "device", "bets")), st.integers(0, 6), st.integers(0, 9)
        ),
        max_size=30,
    )
)
def test_an_answer_never_counts_for_a_round_that_it_does_not_name(
    steps: list[tuple[str, int, int]],
) -> None:
    table, now = playing(requested=ASKED), 100.0
    for who, name, pause in steps:
        now += pause
        if who == "bets":
            try:
                take(table, BetsOpen(at=now, **HEAD), BetsClose(at=now, **HEAD))
            except RejectedError:
                continue
        elif who == "device":
            take(table, number(now, 17))
        else:
            found = reports(table, number(now, 20, "camera", spin=name))
            assert all(round_ == name for round_, _, _ in found)
