"""Lines in a burst after a silence are true, but not live."""

from __future__ import annotations

from common.readings import LinkLate, WheelNumber, WheelPhase
from tests.devices.wheel.slingshot import PERIOD, WheelFeed, faults, numbers, status

BURST = 0.001


def test_late_until_the_wheel_speaks_at_its_own_pace() -> None:
    wheel = WheelFeed()
    wheel.send(2, 3, "14")
    wheel.send(2, 3, "14", after=40.0)
    wheel.send(2, 3, "14", after=BURST)
    wheel.send(3, 3, "14", after=BURST)
    wheel.send(4, 3, "14", after=0.39)
    readings = wheel.send(4, 3, "14", after=0.4)
    assert wheel.codec.counters.late == 4
    late, phase = readings
    assert isinstance(late, LinkLate)
    assert (late.frames, round(late.silence, 3)) == (4, 40.0)
    assert isinstance(phase, WheelPhase)
    assert not phase.late
    assert [(r.phase, r.late) for r in wheel.readings if isinstance(r, WheelPhase)] == [
        ("bets_open", False),
        ("bets_open", True),
        ("ball_in_rim", True),
        ("no_more_bets", True),
        ("no_more_bets", False),
    ]


def test_one_push_that_is_missing_makes_the_next_late_and_no_more() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    assert wheel.send(4, 3, "14", after=1.5 * PERIOD) == []
    assert wheel.codec.counters.late == 0
    wheel.send(4, 3, "14", after=2 * PERIOD)
    wheel.send(4, 3, "14")
    assert wheel.codec.counters.late == 1


def test_a_wheel_faster_than_its_configured_period_is_late_and_reported() -> None:
    """After a silence its lines cannot be distinguished from a burst. This is reported each
    minute.
    """
    wheel = WheelFeed()
    wheel.send(2)
    wheel.send(2, after=10.0)
    before = len(wheel.readings)
    for _ in range(1500):
        wheel.send(2, after=0.125)
    assert wheel.codec.counters.late == 1501
    bursts = [reading for reading in wheel.readings[before:] if isinstance(reading, LinkLate)]
    assert [(reading.frames, reading.silence) for reading in bursts] == [
        (480, 10.0),
        (480, 0.0),
        (480, 0.0),
    ]
    (last,) = [each for each in wheel.send(2) if isinstance(each, LinkLate)]
    assert last.frames == 61


def test_another_silence_within_the_burst() -> None:
    wheel = WheelFeed()
    wheel.send(2)
    for after in (30.0, BURST, 50.0, BURST):
        wheel.send(2, after=after)
    (late, _) = wheel.send(2)
    assert isinstance(late, LinkLate)
    assert (late.frames, round(late.silence, 3)) == (4, 50.0)


def test_the_ball_fell_in_the_silence_and_still_lies_there() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    wheel.send(4, 3, "14", after=20.0)
    assert numbers(wheel.send(5, 3, "35", after=BURST)) == []
    assert numbers(wheel.send(5, 3, "35", after=BURST)) == []
    (late, phase, number) = wheel.send(5, 3, "35")
    assert isinstance(late, LinkLate)
    assert isinstance(phase, WheelPhase)
    assert (phase.phase, phase.late) == ("settled", False)
    assert number == WheelNumber(
        at=wheel.now, device="wheel", frame=status(5, 3, "35").decode(), number=35, spin=3
    )


def test_the_ball_fell_in_the_silence_and_the_next_spin_is_on() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    (number, phase) = wheel.send(2, 4, "35", after=60.0)
    assert number == WheelNumber(
        at=wheel.now,
        device="wheel",
        frame=status(2, 4, "35").decode(),
        number=35,
        spin=3,
        late=True,
    )
    assert isinstance(phase, WheelPhase)
    assert (phase.phase, phase.spin, phase.late) == ("bets_open", 4, True)
    assert numbers(wheel.send(2, 4, "35")) == []


def test_it_is_recovered_across_the_wrap() -> None:
    wheel = WheelFeed()
    wheel.send(4, 256, "14")
    assert [(n.spin, n.number, n.late) for n in numbers(wheel.send(3, 1, " 0", after=60.0))] == [
        (256, 0, True)
    ]


def test_it_is_recovered_from_a_live_line_too() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    assert [(n.spin, n.number, n.late) for n in numbers(wheel.send(2, 4, "35"))] == [(3, 35, True)]


def test_two_spins_on_nothing_is_recovered() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    wheel.send(2, 5, "35", after=90.0)
    assert [(n.spin, n.late) for n in numbers(wheel.play(5, "35", " 1"))] == [(5, False)]
    assert len(numbers(wheel.readings)) == 1


def test_a_burst_of_several_spins_gives_each_its_number() -> None:
    wheel = WheelFeed()
    wheel.play(3, "14", "35")
    before = "35"
    for spin, number in ((4, " 2"), (5, " 2"), (6, "17")):
        wheel.send(2, spin, before, after=90.0 if spin == 4 else BURST)
        for state in (3, 4, 5):
            wheel.send(state, spin, number if state == 5 else before, after=BURST)
        before = number
    wheel.send(2, 7, before, after=BURST)
    wheel.send(2, 7, before)
    assert [(n.spin, n.number, n.late) for n in numbers(wheel.readings)] == [
        (3, 35, False),
        (4, 2, True),
        (5, 2, True),
        (6, 17, True),
    ]
    assert faults(wheel.readings) == []


def test_where_the_field_shows_the_next_result_already_the_late_line_speaks() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    wheel.send(5, 3, "35", after=60.0)
    (number, phase) = wheel.send(5, 4, "20", after=BURST)
    assert isinstance(number, WheelNumber)
    assert (number.spin, number.number, number.late, number.frame) == (
        3,
        35,
        True,
        status(5, 3, "35").decode(),
    )
    assert isinstance(phase, WheelPhase)
    assert [(n.spin, n.number, n.late) for n in numbers(wheel.send(5, 4, "20"))] == [(4, 20, False)]


def test_where_it_does_and_nothing_was_seen_nothing_is_reported() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    assert numbers(wheel.send(5, 4, "20", after=60.0)) == []


def test_a_number_that_came_late_is_reported_though_more_than_one_spin_is_gone() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    assert numbers(wheel.send(5, 3, "35", after=60.0)) == []
    wheel.codec.reconnected(wheel.now)
    assert [(n.spin, n.number, n.late) for n in numbers(wheel.send(2, 9, "20", after=60.0))] == [
        (3, 35, True)
    ]


def test_a_number_that_came_late_is_reported_though_the_wheel_was_switched_off() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    wheel.send(5, 3, "35", after=60.0)
    assert [(n.spin, n.number, n.late) for n in numbers(wheel.send(6, 1, after=60.0))] == [
        (3, 35, True)
    ]
    assert faults(wheel.readings) == []


def test_a_blank_field_is_no_candidate() -> None:
    wheel = WheelFeed()
    wheel.send(4, 1)
    assert numbers(wheel.send(2, 2, after=60.0)) == []


def test_late_witnesses_that_agree_and_that_differ() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    wheel.line(b"35", after=0.1)
    (agreed,) = numbers(wheel.send(2, 4, "35", after=60.0))
    assert (agreed.number, agreed.witness, agreed.late) == (35, "both", True)
    assert agreed.frame == r"35\r\n*X;2;004;35;0;166;0"
    wheel.send(2, 4, "35")
    wheel.send(5, 4, "20", after=60.0)
    (differed,) = numbers(wheel.send(2, 5, "21", after=BURST))
    assert (differed.number, differed.conflict, differed.witness, differed.late) == (
        21,
        20,
        "status",
        True,
    )


def test_after_a_new_connection_everything_is_late_until_it_is_paced() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14")
    wheel.raw(b"*X;4;003;1", after=0.1)
    wheel.codec.reconnected(wheel.now)
    assert wheel.line(b"*X;4;003;14;0;165;0", after=0.1) != []
    assert wheel.codec.counters.damaged == 0
    assert numbers(wheel.send(5, 3, "35", after=0.1)) == []
    (late, *_, number) = wheel.send(5, 3, "35")
    assert isinstance(late, LinkLate)
    assert late.frames == 2
    assert isinstance(number, WheelNumber)
    assert not number.late


def test_a_connection_before_the_first_word_is_no_silence() -> None:
    wheel = WheelFeed()
    wheel.codec.reconnected(wheel.now)
    wheel.send(2, after=30.0)
    assert wheel.codec.counters.late == 0


def test_late_warnings_wait_for_a_live_line() -> None:
    wheel = WheelFeed()
    wheel.send(4, 3, "14", warnings=1)
    assert faults(wheel.send(4, 3, "14", warnings=5, after=30.0)) == []
    assert faults(wheel.send(4, 3, "14", warnings=5)) == [("sensor", True)]
    told = [faults(wheel.send(4, 3, "14", warnings=5)) for _ in range(10)]
    assert told == [[]] * 9 + [[("ball_removed", True)]]


def test_a_fault_does_not_pass_to_the_next_spin_where_its_end_comes_late() -> None:
    """No late line raises one, and each ends one that it does not show."""
    for silence in (40.0, None):
        wheel = WheelFeed()
        wheel.send(2)
        assert faults(wheel.send(3, warnings=2)) == [("ball_with_rotor", True)]
        if silence is None:  # it lay unread, since we were not scheduled
            since, wheel.now = wheel.now, wheel.now + PERIOD
            wheel.codec.delayed(since, wheel.now)
            assert faults(wheel.send(3, warnings=2, after=0.0)) == []
            assert faults(wheel.send(2, 2, after=0.0)) == [("ball_with_rotor", False)]
        else:
            assert faults(wheel.send(3, warnings=2, after=silence)) == []
            assert faults(wheel.send(2, 2, after=BURST)) == [("ball_with_rotor", False)]
        assert faults(wheel.send(3, 2, warnings=2, after=BURST if silence else 0.0)) == []
        assert faults(wheel.send(3, 2)) == []
