"""How a person writes a fault."""

from __future__ import annotations

import pytest

from simulators.faults import FAULTS, FaultTrigger, protocol_faults, read_scheduled, read_trigger


@pytest.mark.parametrize(
    ("text", "switch"),
    [
        ("silence 5", FaultTrigger("silence", 5.0)),
        ("fault silence 5", FaultTrigger("silence", 5.0)),
        ("silence=2.5", FaultTrigger("silence", 2.5)),
        ("silence", FaultTrigger("silence", FAULTS["silence"].value)),
        ("fault damaged x3\n", FaultTrigger("damaged", 0.0, 3)),
        ("ball_removed 8 x2", FaultTrigger("ball_removed", 8.0, 2)),
        ("ball_removed=8x2", FaultTrigger("ball_removed", 8.0, 2)),
    ],
)
def test_faults_as_written(text: str, switch: FaultTrigger) -> None:
    assert read_trigger(text) == switch


def test_schedule() -> None:
    assert read_scheduled("12.5:silence=5") == (12.5, FaultTrigger("silence", 5.0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("thunder", "no fault 'thunder'; there are: silence"),
        ("silence five", "write NAME"),
        ("", "write NAME"),
        ("damaged x0", "write NAME"),
    ],
)
def test_what_is_no_fault(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read_trigger(text)


@pytest.mark.parametrize("text", ["silence", "x:silence", "-3:silence", "3:"])
def test_what_is_no_schedule(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a (scheduled )?fault"):
        read_scheduled(text)


def test_each_device_has_its_own_faults() -> None:
    angel_eye, bee_tek, wheel = (
        protocol_faults(protocol) for protocol in ("angel-eye", "bee-tek", "cammegh-ss2")
    )
    assert {"silence", "unplug"} <= angel_eye.keys() & bee_tek.keys() & wheel.keys()
    assert "bad_bcc" in angel_eye.keys() - bee_tek.keys() - wheel.keys()
    assert "wrong_mode" in bee_tek.keys() - angel_eye.keys()
    with pytest.raises(ValueError, match="no fault 'sensor'"):
        read_trigger("sensor", angel_eye)
