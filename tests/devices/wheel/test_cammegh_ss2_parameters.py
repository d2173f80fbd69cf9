"""What a Slingshot 2 states when it is asked for its parameters, and when it is asked."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from common.readings import DeviceParameter, DeviceReport, WheelNumber, WheelPhase
from devices.drivers import driver
from devices.wheel import cammegh_ss2_log
from devices.wheel.cammegh_ss2 import Options
from devices.wheel.cammegh_ss2_asking import REREADING_SECONDS
from devices.wheel.cammegh_ss2_inquiry import MAX_REQUESTS
from devices.wheel.cammegh_ss2_parameters import PARAMETERS, expected
from simulators.wheel.cammegh_ss2 import ARCADE, SlingshotSS2
from tests.devices.wheel.asked_slingshot import VALUES, WAITS_FOR_HOST, AskedWheel
from tests.support.for_each import for_each

DUMP = {
    "firmware": "V2.50",
    "mode": "1158",
    "z": "37",
    "n": "2920",
    "s": "16.0 18.0",
    "m": "2.0",
    "h": "161",
    "g": "0",
    "i": "10",
}


def answered(after: float, **changed: str) -> Callable[[str], list[tuple[float, bytes]]]:
    """Answers of the public dump, ``after`` seconds later, with other values where given."""

    def answers(request: str) -> list[tuple[float, bytes]]:
        reply = VALUES[request]
        name = reply.split()[1] if reply.startswith("*T") else ""
        line = f"*T {name} {changed[name]}" if name in changed else reply
        return [(after, line.encode() + b"\r\n")]

    return answers


class TestWhatIsAsked:
    def test_the_values_of_the_dump_make_sense(self) -> None:
        asked = AskedWheel(answers=answered(0.15))
        asked.run(25)
        assert asked.parameters == DUMP
        assert {each.expected for each in asked.of(DeviceParameter)} == {None}
        assert len(asked.of(DeviceParameter)) == len(PARAMETERS)

    def test_each_value_is_asked_twice_and_nothing_else(self) -> None:
        asked = AskedWheel(answers=answered(0.15))
        asked.run(25)
        assert sorted(request for _, request in asked.requests) == sorted([*VALUES, *VALUES])

    def test_an_answer_belongs_to_its_letter_whatever_was_asked_meanwhile(self) -> None:
        """The public host read each answer only after its next request."""
        asked = AskedWheel(answers=answered(1.3))
        asked.run(40)
        assert asked.parameters == DUMP

    def test_m_of_20000_is_stated_with_what_was_expected(self) -> None:
        asked = AskedWheel(answers=answered(0.15, m="20000.0"))
        asked.run(25)
        (wrong,) = [each for each in asked.of(DeviceParameter) if each.expected]
        assert (wrong.parameter, wrong.value, wrong.expected) == ("m", "20000.0", "0 to 5")
        assert wrong.frame == "*T m 20000.0"

    def test_the_pockets_are_those_of_the_configuration(self) -> None:
        asked = AskedWheel(answers=answered(0.15), options=Options(ask=True, pockets=38))
        asked.run(25)
        wrong = {each.parameter: each.expected for each in asked.of(DeviceParameter)}
        assert wrong["z"] == "38, as configured"

    def test_one_flipped_bit_states_no_value(self) -> None:
        """Nothing protects the line: a value counts when it came twice."""
        replies = iter([b"*T m 3.0\r\n"])

        def answers(request: str) -> list[tuple[float, bytes]]:
            if request == "*T M" and (damaged := next(replies, None)):
                return [(0.15, damaged)]
            return answered(0.15)(request)

        asked = AskedWheel(answers=answers)
        asked.run(25)
        assert asked.parameters == DUMP

    def test_a_parameter_that_stays_unanswered_is_given_up_and_named(self) -> None:
        def answers(request: str) -> list[tuple[float, bytes]]:
            return [(0.1, b"*T NO\r\n")] if request == "*T G" else answered(0.15)(request)

        asked = AskedWheel(answers=answers)
        asked.run(60)
        assert asked.parameters == {**DUMP, "g": None}
        assert [request for _, request in asked.requests].count("*T G") == MAX_REQUESTS

    def test_a_mute_wheel_is_asked_a_bounded_number_of_times(self) -> None:
        asked = AskedWheel(answers=lambda _: [])
        asked.run(120)
        assert asked.parameters == dict.fromkeys(PARAMETERS)
        assert len(asked.requests) == MAX_REQUESTS * len(PARAMETERS) + cammegh_ss2_log.MAX_REQUESTS

    def test_the_model_states_its_values(self) -> None:
        asked = AskedWheel()
        asked.run(30)
        model = {"firmware": "2.52", "mode": "1159", "s": "14.0 17.5", "m": "1.5", "h": "60"}
        assert asked.parameters == {**DUMP, **model}


class TestWhenItIsAsked:
    def test_only_in_state_6_between_two_status_lines(self) -> None:
        asked = AskedWheel(SlingshotSS2(mode=WAITS_FOR_HOST))
        asked.run(10)
        asked.wheel.receive(b"*P 1\r\n", asked.now)
        asked.run(11)
        started = asked.now
        assert asked.wheel.state == 1
        asked.run(40)
        assert asked.wheel.state == 2
        assert not [request for at, request in asked.requests if at > started]
        asked.wheel.receive(b"*P 0\r\n", asked.now)
        asked.run(80)
        assert asked.wheel.state == 6
        assert asked.parameters["i"] == "10"

    def test_again_every_ten_minutes_while_it_is_closed(self) -> None:
        asked = AskedWheel()
        asked.run(60)
        first = len(asked.requests)
        asked.wheel.fault("parameter", 20000.0, asked.now)
        asked.run(REREADING_SECONDS - 10)
        assert len(asked.requests) == first
        asked.run(REREADING_SECONDS + 30)
        assert asked.parameters["m"] == "20000.0"

    def test_nothing_on_a_wheel_that_falls_silent(self) -> None:
        asked = AskedWheel()
        asked.run(8)
        asked.line.fault("silence", 60.0, asked.now)
        asked.run(9)
        before = len(asked.requests)
        asked.run(60)
        assert len(asked.requests) == before

    def test_again_after_the_link_was_lost(self) -> None:
        asked = AskedWheel()
        asked.run(40)
        first = len(asked.requests)
        asked.readings += asked.watch.lost(asked.now, "unplugged")
        asked.run(45)
        assert len(asked.requests) == first
        asked.readings += asked.watch.opened(asked.now, kept=True)
        asked.run(80)
        assert len(asked.requests) == 2 * first

    def test_the_spins_are_the_same_as_of_a_wheel_that_is_not_asked(self) -> None:
        asked = AskedWheel(SlingshotSS2(seed=4, mode=ARCADE))
        quiet = AskedWheel(SlingshotSS2(seed=4, mode=ARCADE), Options())
        for each in (asked, quiet):
            each.run(400)
        assert asked.of(WheelNumber) == quiet.of(WheelNumber)
        assert asked.of(WheelPhase) == quiet.of(WheelPhase)
        assert asked.requests
        assert not quiet.requests

    def test_not_asked_unless_the_option_says_so(self) -> None:
        made = driver("cammegh-ss2").make("wheel", Options())
        assert made.deadline is None
        assert not hasattr(made, "ask")

    def test_what_nobody_asked_stays_a_report(self) -> None:
        quiet = AskedWheel(options=Options())
        quiet.run(6)
        quiet.receive(b"*T m 20000.0\r\n")
        assert [each.value for each in quiet.of(DeviceReport)] == ["m 20000.0"]
        assert not quiet.of(DeviceParameter)


@for_each(
    ("name", "value", "sensible"),
    [
        *(("m", value, True) for value in ("0", "1.5", "5")),
        *(("m", value, False) for value in ("5.1", "-1", "", "x", "1 2", "1e1", "nan", "9" * 400)),
        *(("s", value, True) for value in ("14.0 17.5", "16 16")),
        *(("s", value, False) for value in ("18 16", "16", "4 16", "16 41", "1 2 3")),
        *(("z", value, value == "37") for value in ("37", "38", "037", "", "3 7")),
        *(("g", value, value in ("0", "8", "56")) for value in ("0", "8", "56", "1", "64", "x")),
        *(("mode", value, True) for value in ("1157", "1158", "1159", "48535")),
        *(("mode", value, False) for value in ("8", "65536", "-1", "1" * 400)),
        *(("firmware", value, True) for value in ("V2.50", "anything")),
        *(("h", value, value != "0") for value in ("0", "60", "161")),
    ],
)
def test_which_values_make_sense(name: str, value: str, sensible: bool) -> None:
    assert (expected(name, value, 37) is None) == sensible


JUNK = st.binary(max_size=12).filter(lambda data: not set(data) & set(b"\r\n"))


@given(
    lateness=st.lists(st.floats(0, 3), min_size=1, max_size=12),
    lost=st.lists(st.booleans(), max_size=12),
    junk=st.lists(JUNK, max_size=6),
    cut=st.integers(0, 12),
)
def test_only_true_values_are_stated(
    lateness: list[float], lost: list[bool], junk: list[bytes], cut: int
) -> None:
    """However late, lost or mixed with noise, and cut once each: what is stated is true."""
    count = 0
    was_cut = set[str]()

    def answers(request: str) -> list[tuple[float, bytes]]:
        nonlocal count
        count += 1
        line = VALUES[request].encode()
        if count < len(lost) and lost[count] and request not in was_cut:
            was_cut.add(request)
            line = line[:cut]
        noise = [(0.05, junk[count % len(junk)] + b"\r\n")] if junk else []
        return [*noise, (lateness[count % len(lateness)], line + b"\r\n")]

    asked = AskedWheel(answers=answers)
    asked.run(60)
    stated = {name: value for name, value in asked.parameters.items() if value is not None}
    assert stated.items() <= DUMP.items()
    assert len(asked.requests) <= MAX_REQUESTS * len(PARAMETERS) + cammegh_ss2_log.MAX_REQUESTS
