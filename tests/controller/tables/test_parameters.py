"""What a table makes of the parameters that its devices state."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from common.contract.commands import DeviceService
from common.contract.events import AlertCleared, AlertRaised, AnyEvent, DeviceParameterRead
from common.readings import DeviceParameter
from tests.controller.tables.test_table import make, take

LIMITS, CHANGED = "wheel-parameters", "wheel-parameters-changed"


def stated(
    value: str | None, expected: str | None = None, name: str = "m", device: str = "wheel"
) -> DeviceParameter:
    return DeviceParameter(at=1.0, device=device, parameter=name, value=value, expected=expected)


def service(work: Any = "adjusted") -> DeviceService:
    return DeviceService(at=2.0, by="T. Mas", role="technician", device="wheel", work=work)


def alerts(events: list[AnyEvent]) -> list[tuple[str, str | None]]:
    """The alerts raised and cleared (None), in order."""
    return [
        (event.alert, event.detail if isinstance(event, AlertRaised) else None)
        for event in events
        if isinstance(event, AlertRaised | AlertCleared)
    ]


def test_the_first_value_is_taken_as_right() -> None:
    (event,) = take(make(), stated("1.5"))
    assert isinstance(event, DeviceParameterRead)
    assert (event.parameter, event.value, event.was, event.expected) == ("m", "1.5", None, None)


def test_the_same_value_again_is_no_event() -> None:
    table = make()
    take(table, stated("1.5"))
    assert take(table, stated("1.5")) == []


def test_a_changed_value_is_alerted_until_it_is_back() -> None:
    table = make()
    take(table, stated("1.5"))
    assert alerts(take(table, stated("2.0"))) == [(CHANGED, "m = 2.0, before 1.5")]
    assert alerts(take(table, stated("2.5"))) == [(CHANGED, "m = 2.5, before 1.5")]
    assert alerts(take(table, stated("1.5"))) == [(CHANGED, None)]


def test_a_recorded_work_makes_the_present_values_right() -> None:
    table = make()
    take(table, stated("1.5"), stated("2.0"))
    assert alerts(take(table, service())) == [(CHANGED, None)]
    assert alerts(take(table, stated("1.5"))) == [(CHANGED, "m = 1.5, before 2.0")]


def test_a_value_without_sense_is_alerted_at_first_sight() -> None:
    table = make()
    wrong = "m = 20000.0, expected 0 to 5"
    assert alerts(take(table, stated("20000.0", "0 to 5"))) == [(LIMITS, wrong)]
    assert alerts(take(table, service())) == []  # a person cannot make it sensible
    found = alerts(take(table, stated("38", "37, as configured", "z")))
    assert found == [(LIMITS, f"{wrong}; z = 38, expected 37, as configured")]
    assert alerts(take(table, stated("1.5"))) == [
        (LIMITS, "z = 38, expected 37, as configured"),
        (CHANGED, "m = 1.5, before 20000.0"),
    ]


def test_no_answer_leaves_the_alert_open() -> None:
    table = make()
    take(table, stated("20000.0", "0 to 5"))
    (event,) = take(table, stated(None))
    assert isinstance(event, DeviceParameterRead)
    assert (event.value, event.was) == (None, "20000.0")
    assert take(table, stated(None)) == []
    again = take(table, stated("20000.0", "0 to 5"))
    assert alerts(again) == []
    assert len(again) == 1  # it answers again


def test_a_change_is_seen_across_a_restart() -> None:
    before = make()
    take(before, stated("1.5"))
    after = make(saved=before.saved(), boot="b2")
    (event, raised) = take(after, stated("2.0"))
    assert isinstance(event, DeviceParameterRead)
    assert event.was == "1.5"
    assert alerts([raised]) == [(CHANGED, "m = 2.0, before 1.5")]


def test_the_alerts_of_a_device_that_is_no_longer_configured_end() -> None:
    before = make()
    take(before, stated("1.5"), stated("20000.0", "0 to 5"))
    after = make(saved=before.saved(), boot="b2", devices=("other",))
    found = alerts(take(after, stated("1", device="other")))
    assert dict(found) == {CHANGED: None, LIMITS: None}


def test_a_device_of_no_table_changes_nothing() -> None:
    assert take(make(), stated("1.5", device="stranger")) == []


def test_a_table_without_parameters_is_saved_as_before() -> None:
    assert b"parameters" not in make().saved()


@given(
    st.lists(st.sampled_from([*map(stated, ("1", "2", None)), stated("9", "0 to 5"), service()]))
)
def test_the_open_alerts_follow_from_the_values_alone(inputs: list[Any]) -> None:
    """Whatever the order, with a restart anywhere: open alerts are those of the present values."""
    table, right, present, wrong = make(), None, None, False
    for each in inputs:
        take(table, each)
        table = make(saved=table.saved())
        if isinstance(each, DeviceService):
            right = present
        elif each.value is not None:
            present, wrong = each.value, each.expected is not None
            right = right or present
        open_ = {alert.alert for alert in table.snapshot().alerts.values() if alert is not None}
        assert (LIMITS in open_) == wrong
        assert (CHANGED in open_) == (present != right)
