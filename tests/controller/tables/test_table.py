"""The table: envelope, links, alerts, retained state, and continuing after a restart."""

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
    RoundVoid,
    SessionClose,
    SessionOpen,
    ShoeStart,
)
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    DataLate,
    DeviceState,
    ResultCorrected,
    RoundOpened,
    RoundResult,
)
from common.contract.notation import Input, read_event, write
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.readings import (
    LinkGarbage,
    LinkLate,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    WheelFault,
    WheelNumber,
)
from controller.games.games import make_game
from controller.tables.facts import MAX_CORRECTABLE_RESULTS
from controller.tables.saved_state import FOREIGN_STATE_REASON, UnrestorableStateError
from controller.tables.table import Table
from tests.controller.tables.counting import FAILING_NUMBER, Counting

HEAD: dict[str, Any] = {"at": 0.0, "by": "M. Lasa", "role": "inspector"}


def make(
    *,
    saved: bytes | None = None,
    boot: str = "b1",
    game_id: str = "counting",
    devices: tuple[str, ...] = ("wheel",),
) -> Table:
    about = About(devices=dict.fromkeys(devices, "driver"))
    return Table("casino", "t1", game_id, "ARA02", Counting(), boot, saved=saved, about=about)


def take(table: Table, *inputs: Input) -> list[AnyEvent]:
    return [
        event
        for each in inputs
        for event in table.handle(each, f"time {each.at}", round(each.at * 1e9)).events
    ]


def leaf(table: Table, name: str) -> Any:
    body = table.retained()[name]
    assert body is not None
    return msgspec.json.decode(body)


def lost(reason: str = "unplugged", device: str = "wheel") -> LinkLost:
    return LinkLost(at=1.0, device=device, reason=reason)


UP = LinkUp(at=0.5, device="wheel")
NUMBER = WheelNumber(at=2.0, device="wheel", number=17)
OPEN = SessionOpen(**HEAD)


def test_every_event_has_the_whole_envelope() -> None:
    (event,) = take(make(), NUMBER)
    assert isinstance(event, RoundResult)
    assert (event.site, event.table, event.game, event.decree, event.boot, event.seq) == (
        "casino",
        "t1",
        "counting",
        "ARA02",
        "b1",
        1,
    )
    assert (event.time, event.mono_ns, event.round, event.simulated) == (
        "time 2.0",
        2_000_000_000,
        1,
        False,
    )


@pytest.mark.parametrize(
    ("reading", "state", "detail"),
    [
        (lost(), "lost", "unplugged"),
        (LinkStale(at=1.0, device="wheel", age=5.25), "stale", "no valid frame for 5.25 s"),
        (
            LinkUnintelligible(at=1.0, device="wheel", bytes=80),
            "unintelligible",
            "80 bytes, and no frame among them",
        ),
    ],
)
def test_a_lost_link_raises_an_alert_until_it_is_back(
    reading: Any, state: Any, detail: str
) -> None:
    table = make()
    took = take(table, UP, reading, reading, NUMBER, msgspec.structs.replace(UP, at=3.0))
    assert [type(event) for event in took] == [
        DeviceState,
        DeviceState,
        AlertRaised,
        RoundResult,
        DeviceState,
        AlertCleared,
    ]
    assert [event.seq for event in took] == [1, 2, 3, 4, 5, 6]
    gone, alert = took[1:3]
    assert isinstance(gone, DeviceState)
    assert (gone.device, gone.state, gone.detail) == ("wheel", state, detail)
    assert isinstance(alert, AlertRaised)
    assert (alert.alert, alert.what, alert.device, alert.detail) == (
        "wheel-link",
        f"link.{state}",
        "wheel",
        detail,
    )


def test_another_reason_for_the_loss_is_published() -> None:
    table = make()
    take(table, UP, lost("unplugged"))
    assert [type(event) for event in take(table, lost("no such file"))] == [
        DeviceState,
        AlertRaised,
    ]
    assert leaf(table, "alert/wheel-link")["detail"] == "no such file"


def test_a_silent_open_link_turns_the_loss_into_a_warning_until_data_arrives() -> None:
    table, opened = make(), LinkOpen(at=2.0, device="wheel")
    take(table, UP, lost())
    state, alert = take(table, opened, opened)
    assert isinstance(state, DeviceState)
    assert (state.state, state.detail) == ("open", "nothing heard yet")
    assert isinstance(alert, AlertRaised)
    assert (alert.alert, alert.what, alert.severity, alert.device) == (
        "wheel-link",
        "link.open",
        "warning",
        "wheel",
    )
    assert leaf(table, "alert/wheel-link")["what"] == "link.open"
    assert leaf(table, "state")["status"] == "stale"
    assert [type(event) for event in take(table, UP)] == [DeviceState, AlertCleared]


def test_a_link_that_is_lost_again_before_any_data_is_lost() -> None:
    table = make()
    take(table, UP, lost(), LinkOpen(at=2.0, device="wheel"))
    assert [type(event) for event in take(table, lost())] == [DeviceState, AlertRaised]
    assert leaf(table, "alert/wheel-link")["what"] == "link.lost"


def test_a_restart_does_not_report_a_link_that_stayed_open() -> None:
    take(
        before := make(),
        UP,
        lost(),
        LinkOpen(at=2.0, device="wheel"),
        AlertAcknowledge(**HEAD, alert="wheel-link"),
    )
    table = make(saved=before.saved(), boot="b2")
    assert [
        type(event) for event in take(table, *table.gap(0.0), LinkOpen(at=1.0, device="wheel"))
    ] == [DeviceState, DeviceState]
    assert leaf(table, "alert/wheel-link")["acknowledged_by"] == HEAD["by"]
    assert [type(event) for event in take(table, UP)] == [DeviceState, AlertCleared]


def test_at_a_start_an_open_link_raises_nothing() -> None:
    table = make()
    took = take(table, *table.gap(0.0), LinkOpen(at=1.0, device="wheel"))
    assert [event.state for event in took if isinstance(event, DeviceState)] == ["lost", "open"]
    assert len(took) == 2


def test_late_data_is_reported_and_garbage_is_counted() -> None:
    table = make()
    took = take(
        table,
        LinkLate(at=1.0, device="wheel", frames=7, silence=40.5),
        LinkGarbage(at=1.0, device="wheel", bytes=9),
    )
    assert len(took) == 1
    assert isinstance(took[0], DataLate)
    assert (took[0].frames, took[0].silence) == (7, 40.5)
    assert table.garbage == {"wheel": 9}


def test_one_word_states_the_tables_status() -> None:
    table = make()
    words = [leaf(table, "state")["status"]]
    for given in (UP, OPEN, BetsOpen(**HEAD), lost(), UP, SessionClose(**HEAD), NUMBER):
        take(table, given)
        words.append(leaf(table, "state")["status"])
    assert words == ["stale", "closed", "open", "waiting", "stale", "waiting", "closed", "closed"]
    table.halted = "no room"
    assert leaf(table, "state")["status"] == "fault"
    assert leaf(table, "state")["fault"] == "no room"
    with pytest.raises(RejectedError, match="no room"):
        take(table, OPEN)


def test_a_table_without_data_from_one_of_its_devices_is_stale() -> None:
    table = make(devices=("wheel", "slot"))
    take(table, UP)
    assert leaf(table, "state")["status"] == "stale"


def test_a_correction_names_the_event_that_it_replaces() -> None:
    table = make()
    told = take(table, OPEN, NUMBER, WheelNumber(at=3.0, device="wheel", number=5))
    first, second = [event for event in told if isinstance(event, RoundResult)]
    assert replaced(table, round=1, number=9) == (first.seq, "b1")
    again = make(saved=table.saved(), boot="b2")
    number, boot = replaced(again, round=1, number=8)
    assert (number, boot) == (table.seq, "b1"), "the first correction"
    assert replaced(again, round=1, number=7) == (again.seq - 1, "b2")
    assert replaced(again, round=2, number=6) == (second.seq, "b1")


def test_a_correction_of_a_forgotten_result_names_nothing() -> None:
    table = make()
    take(
        table,
        OPEN,
        *(
            WheelNumber(at=1.0 + at, device="wheel", number=at)
            for at in range(MAX_CORRECTABLE_RESULTS + 1)
        ),
    )
    assert replaced(table, round=1, number=9) == (None, None)
    assert replaced(table, round=3, number=9)[1] == "b1"


def replaced(table: Table, **fields: Any) -> tuple[int | None, str | None]:
    """The event that a correction names as replaced."""
    [corrected] = [
        event
        for event in take(table, ResultCorrect(**HEAD, **fields))
        if isinstance(event, ResultCorrected)
    ]
    return corrected.replaces, corrected.replaces_boot


def test_the_result_is_the_valid_one() -> None:
    table = make()
    assert table.retained()["result"] == b"null"
    take(table, OPEN, NUMBER, WheelNumber(at=3.0, device="wheel", number=5))
    assert (leaf(table, "result")["outcome"]["number"], leaf(table, "result")["round"]) == (5, 2)
    take(table, ResultCorrect(**HEAD, round=1, number=9))
    assert leaf(table, "result")["outcome"]["number"] == 5
    take(table, ResultCorrect(**HEAD, round=2, number=6))
    assert (leaf(table, "result")["type"], leaf(table, "result")["outcome"]["number"]) == (
        "result.corrected",
        6,
    )
    take(table, RoundVoid(**HEAD, reason="inspector"))
    assert table.retained()["result"] == b"null"


def test_history_and_info_are_shown() -> None:
    table = make()
    take(table, NUMBER, NUMBER)
    assert leaf(table, "history")["results"] == [
        {
            "round": round_,
            "kind": "result",
            "outcome": {
                "family": "fortune-wheel",
                "number": 17,
                "cell": None,
                "last_of_session": False,
            },
            "corrected": False,
        }
        for round_ in (1, 2)
    ]
    assert leaf(table, "info")["about"]["devices"] == {"wheel": "driver"}
    assert leaf(table, "info")["table"] == "t1"


def test_alerts_are_acknowledged_once() -> None:
    table = make()
    seen = AlertAcknowledge(**HEAD, alert="wheel-link")
    with pytest.raises(RejectedError, match="is not open; no alert is"):
        take(table, seen)
    take(table, UP, lost())
    (event,) = take(table, seen)
    assert event.seq == 4
    shown = leaf(table, "alert/wheel-link")
    assert (shown["acknowledged_by"], shown["acknowledged_role"]) == ("M. Lasa", "inspector")
    with pytest.raises(RejectedError, match="was acknowledged by M"):
        take(table, seen)
    take(table, UP)
    assert table.retained()["alert/wheel-link"] is None
    with pytest.raises(RejectedError, match="is not open"):
        take(table, seen)


def test_alerts_of_the_game_are_kept_too() -> None:
    table = make()
    take(table, WheelFault(at=1.0, device="wheel", fault="sensor", active=True))
    assert leaf(table, "alert/sensor")["what"] == "sensor"
    assert leaf(table, "state")["alerts"] == ["sensor"]
    take(table, WheelFault(at=2.0, device="wheel", fault="sensor", active=False))
    assert table.retained()["alert/sensor"] is None


def test_a_game_that_fails_on_a_reading_gives_no_more_results() -> None:
    table = make()
    take(table, UP, OPEN, NUMBER)
    (event,) = take(table, WheelNumber(at=3.0, device="wheel", number=FAILING_NUMBER))
    assert isinstance(event, AlertRaised)
    assert event.alert == "table-fault"
    assert "a defect" in str(event.detail)
    assert take(table, NUMBER) == []
    with pytest.raises(RejectedError, match="in fault"):
        take(table, SessionClose(**HEAD))
    assert [type(e) for e in take(table, lost())] == [DeviceState, AlertRaised]
    take(table, AlertAcknowledge(**HEAD, alert="table-fault"))
    assert leaf(table, "state")["status"] == "fault"
    assert leaf(table, "result")["outcome"]["number"] == 17

    again = make(saved=table.saved(), boot="b2")
    assert [e.alert for e in take(again, *again.gap(4.0)) if isinstance(e, AlertCleared)] == [
        "table-fault"
    ]
    assert isinstance(take(again, NUMBER)[0], RoundResult)


def test_a_game_that_fails_on_a_command_continues() -> None:
    table = make()
    before = table.saved()
    with pytest.raises(RejectedError, match="a defect"):
        take(table, BetsClose(**HEAD))
    assert table.saved() == before
    assert isinstance(take(table, NUMBER)[0], RoundResult)


def test_a_restart_continues_in_the_same_session_and_round() -> None:
    table = make()
    take(table, UP, OPEN, NUMBER, NUMBER)
    again = make(saved=table.saved(), boot="b2")
    assert {name: body for name, body in again.retained().items() if name != "state"} == {
        name: body.replace(b'"boot":"b1"', b'"boot":"b2"') if name != "result" and body else body
        for name, body in table.retained().items()
        if name != "state"
    }
    took = take(again, *again.gap(9.0))
    assert [(type(e), e.boot, e.seq) for e in took] == [(DeviceState, "b2", 1)]
    assert leaf(again, "state")["status"] == "stale"
    assert leaf(again, "state")["shown"]["gaps"] == 1
    up, result = take(again, UP, NUMBER)
    assert (up.seq, result.seq, result.session, result.round) == (2, 3, 1, 3)


def test_an_alert_survives_a_restart() -> None:
    table = make()
    take(table, UP, lost())
    again = make(saved=table.saved(), boot="b2")
    take(again, *again.gap(9.0))
    assert leaf(again, "alert/wheel-link")["raised"] == "time 1.0"
    assert [type(e) for e in take(again, UP)] == [DeviceState, AlertCleared]


def test_the_alert_of_a_device_that_is_no_longer_configured_is_cleared() -> None:
    table = make()
    take(table, UP, lost())
    again = make(saved=table.saved(), boot="b2", devices=("other",))
    cleared, *_ = take(again, *again.gap(9.0))
    assert isinstance(cleared, AlertCleared)
    assert cleared.alert == "wheel-link"
    assert list(leaf(again, "state")["devices"]) == ["other"]


@pytest.mark.parametrize(
    ("saved", "detail"),
    [(b"{}", "missing required field"), (b"\xff", "malformed"), (None, "of counting under ARA02")],
)
def test_an_incompatible_state_starts_over_and_reports_it(saved: bytes | None, detail: str) -> None:
    table = make()
    take(table, UP, OPEN, NUMBER, SessionClose(**HEAD))
    again = make(
        saved=saved or table.saved(), boot="b2", game_id="other" if saved is None else "counting"
    )
    alert, state = take(again, *again.gap(9.0))
    assert isinstance(alert, AlertRaised)
    assert (alert.alert, alert.severity) == ("table-anew", "warning")
    assert detail in str(alert.detail)
    assert isinstance(state, DeviceState)
    assert again.retained()["result"] == b"null"


def test_an_open_session_of_another_game_is_not_dropped() -> None:
    table = make()
    take(table, OPEN)
    with pytest.raises(
        UnrestorableStateError, match="table t1: before this it was a table of counting under ARA02"
    ):
        make(saved=table.saved(), boot="b2", game_id="other")


def boule(saved: bytes | None = None) -> Table:
    game = make_game("boule", "ARA02", {})
    return Table("casino", "t1", "boule", "ARA02", game, "b2", saved=saved)


def as_another_release_saved_it(*inputs: Input) -> bytes:
    """The current round had another name there."""
    table = boule()
    take(table, OPEN, *inputs)
    return table.saved().replace(b'"current":', b'"hand":')


def test_an_open_session_that_another_release_saved_otherwise_is_not_dropped() -> None:
    saved = as_another_release_saved_it(BetsOpen(**HEAD))
    with pytest.raises(UnrestorableStateError, match=r"table t1: .*start that release .*close"):
        boule(saved)


def test_an_open_session_of_another_release_continues_where_nothing_of_it_is_lost() -> None:
    again = boule(as_another_release_saved_it())
    assert leaf(again, "state")["shown"]["session"] == 1
    assert again.sound
    [opened] = take(again, BetsOpen(**HEAD))
    assert isinstance(opened, RoundOpened)
    assert opened.round == 1


def test_a_closed_session_that_another_release_saved_otherwise_starts_over_and_reports_it() -> None:
    table = boule()
    take(table, OPEN, SessionClose(**HEAD))
    again = boule(table.saved().replace(b'"session":', b'"sitting":'))
    [alert] = again._pending_events
    assert isinstance(alert, AlertRaised)
    assert alert.detail == FOREIGN_STATE_REASON


devices = st.sampled_from(["wheel", "slot"])
ats = st.floats(0, 1e6)
inputs: st.SearchStrategy[Input] = st.one_of(
    st.builds(LinkUp, at=ats, device=devices),
    st.builds(LinkLost, at=ats, device=devices, reason=st.sampled_from(["unplugged", "refused"])),
    st.builds(LinkStale, at=ats, device=devices, age=st.just(5.0)),
    st.builds(LinkUnintelligible, at=ats, device=devices, bytes=st.just(70)),
    st.builds(LinkLate, at=ats, device=devices, frames=st.just(3), silence=st.just(9.0)),
    st.builds(LinkGarbage, at=ats, device=devices, bytes=st.just(3)),
    st.builds(WheelNumber, at=ats, device=devices, number=st.integers(0, 36)),
    st.builds(
        WheelFault,
        at=ats,
        device=devices,
        fault=st.sampled_from(["sensor", "self_test"]),
        active=st.booleans(),
    ),
    st.builds(SessionOpen, at=ats, by=st.just("A"), role=st.just("inspector")),
    st.builds(SessionClose, at=ats, by=st.just("A"), role=st.just("inspector")),
    st.builds(
        ResultCorrect,
        at=ats,
        by=st.just("A"),
        role=st.just("inspector"),
        round=st.integers(0, 4),
        number=st.integers(0, 36),
    ),
    st.builds(
        AlertAcknowledge,
        at=ats,
        by=st.just("A"),
        role=st.just("inspector"),
        alert=st.sampled_from(["wheel-link", "sensor"]),
    ),
)


@property_of(st.lists(inputs, max_size=40), st.data())
def test_any_inputs_keep_the_invariants(given: list[Input], data: st.DataObject) -> None:
    """Numbers are contiguous, retained state agrees with the events, and a table restored anywhere
    continues identically.
    """
    table, taken_up = make(devices=("wheel", "slot")), make(devices=("wheel", "slot"))
    seen: list[AnyEvent] = []
    open_alerts: set[str] = set()
    for each in given:
        if data.draw(st.booleans()):
            taken_up = make(devices=("wheel", "slot"), saved=taken_up.saved())
        before = table.saved()
        try:
            took = take(table, each)
        except RejectedError:
            assert table.saved() == before
            with pytest.raises(RejectedError):
                take(taken_up, each)
            continue
        assert take(taken_up, each) == took
        assert taken_up.retained() == table.retained()
        seen += took
        for event in took:
            assert read_event(write(event)) == event
            if isinstance(event, AlertRaised):
                open_alerts.add(event.alert)
            if isinstance(event, AlertCleared):
                open_alerts.discard(event.alert)
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert leaf(table, "state")["seq"] == len(seen)
    assert set(leaf(table, "state")["alerts"]) == open_alerts
    assert {
        name for name, body in table.retained().items() if name.startswith("alert/") and body
    } == {f"alert/{a}" for a in open_alerts}
    down = {
        device
        for device, standing in leaf(table, "state")["devices"].items()
        if standing["state"] != "up"
    }
    assert {f"{device}-link" for device in down} == {
        alert for alert in open_alerts if alert.endswith("-link")
    }


def test_the_shoe_of_a_card_game_has_a_topic_of_its_own() -> None:
    table = Table(
        "casino", "punto-1", "punto-banca", "ARA02", make_game("punto-banca", "ARA02", {}), "b1"
    )
    assert msgspec.json.decode(table.retained()["shoe"] or b"")["shoe"] is None
    for command in (SessionOpen(**HEAD), ShoeStart(**HEAD, shoe="S7")):
        table.handle(command, "2026-03-20T02:10:15.549646Z", 1)
    shoe = msgspec.json.decode(table.retained()["shoe"] or b"")["shoe"]
    assert (shoe["number"], shoe["drawn"], shoe["left"]) == ("S7", 0, 312)
    roulette = Table(
        "casino",
        "ruleta-1",
        "roulette-french",
        "ARA02",
        make_game("roulette-french", "ARA02", {}),
        "b1",
    )
    assert "shoe" not in roulette.retained()
