"""What an output sends of a table in play, and what our own driver makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.cammegh_ss2_frames import MAX_SPIN, NUMBERS, Status, read_status, write_status
from common.contract.notation import mark_historical, read_input
from common.contract.times import format_utc
from subscribers.feed.live import MAX_AGE_SECONDS
from subscribers.feed.motion import ReceivedMotion
from subscribers.output.status import MIN_SETTLED_LINES
from tests.conftest import cases
from tests.subscribers.output.display import OldDisplay
from tests.support.for_each import for_each
from tests.support.subscribers.played import BY
from tests.support.subscribers.received import Change, TimedPlay, as_sent

WITHOUT_NUMBER = (6, 1, None)


@pytest.fixture
def display() -> Iterator[OldDisplay]:
    made = OldDisplay()
    yield made
    made.close()


def opened(display: OldDisplay, **more: Any) -> TimedPlay:
    play = TimedPlay(display, **more)
    display.ticks(4)
    play.say("session.open", **BY)
    display.ticks(4)
    return play


def round_until_closed(display: OldDisplay, play: TimedPlay) -> None:
    for command in ("bets.open", "bets.close"):
        play.say(command, **BY)
        display.ticks(3)


def result(play: TimedPlay, number: int) -> None:
    play.say("wheel.number", device="wheel", number=number)


def spin(display: OldDisplay, play: TimedPlay, number: int, ticks: int = 6) -> None:
    round_until_closed(display, play)
    result(play, number)
    display.ticks(ticks)


@given(
    st.builds(
        Status,
        state=st.integers(1, 7),
        spin=st.integers(1, MAX_SPIN),
        number=st.sampled_from([None, *NUMBERS.values()]),
        warnings=st.integers(0, 15),
        speed=st.integers(0, 999),
        direction=st.integers(0, 1),
    )
)
def test_a_status_that_is_written_is_read_the_same(status: Status) -> None:
    assert read_status(write_status(status)) == status


def test_a_round_is_shown_as_a_wheel_shows_it(display: OldDisplay) -> None:
    play = opened(display)
    assert display.last() == (1, 1, None)
    play.say("bets.open", **BY)
    display.ticks(2)
    assert display.last() == (2, 1, None)
    play.say("bets.close", **BY)
    display.ticks(2)
    assert display.last() == (4, 1, None)
    result(play, 17)
    display.ticks(1)
    assert display.last() == (5, 1, 17)
    display.ticks(9)
    assert display.last() == (5, 1, 17)
    play.say("bets.open", **BY)
    display.ticks(1)
    assert display.last() == (2, 2, 17)
    assert display.numbers == [17]


def test_the_same_number_twice_is_two_spins(display: OldDisplay) -> None:
    play = opened(display)
    for _ in range(3):
        spin(display, play, 0)
    assert display.numbers == [0, 0, 0]
    assert display.last() == (5, 3, 0)


def test_a_number_is_sent_long_enough_if_the_next_round_opens_at_once(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 5, ticks=0)
    play.say("bets.open", **BY)
    display.ticks(MIN_SETTLED_LINES)
    assert [status.state for status in display.lines[-MIN_SETTLED_LINES:]] == [5] * 4
    display.ticks(1)
    assert display.last() == (2, 2, 5)
    assert display.numbers == [5]


def test_a_corrected_result_is_no_other_spin_and_no_number(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 25)
    play.say("result.correct", round=1, number=27, **BY)
    display.ticks(6)
    assert display.last() == (1, 1, None)
    spin(display, play, 3)
    assert display.numbers == [25, 3]
    assert display.last() == (5, 1, 3)


def test_a_void_spin_keeps_the_last_valid_number(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 8)
    round_until_closed(display, play)
    play.say("round.void", reason="foreign_object", by="I. Sanz", role="inspector")
    display.ticks(4)
    assert display.last() == (1, 2, 8)
    spin(display, play, 9)
    assert display.last() == (5, 2, 9)
    assert display.numbers == [8, 9]


def test_a_table_whose_wheel_is_lost_shows_no_number(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 8)
    play.say("link.lost", device="wheel", reason="unplugged")
    display.ticks(1)
    assert display.last() == WITHOUT_NUMBER
    play.say("link.up", device="wheel")
    display.ticks(4)
    assert display.last()[1:] == (1, None)
    assert display.numbers == [8]


def test_a_late_number_is_not_shown_until_a_person_confirms_it(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 8)
    round_until_closed(display, play)
    play.say("wheel.number", device="wheel", number=31, late=True)
    display.ticks(6)
    assert display.last() == (1, 1, None)
    play.say("round.confirm", number=31, **BY)
    display.ticks(6)
    assert display.last() == (5, 1, 31)
    assert display.numbers == [8, 31]


def test_a_closed_table_shows_no_number(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 8)
    play.say("session.close", **BY)
    display.ticks(2)
    assert display.last() == WITHOUT_NUMBER


def lost(body: bytes) -> list[bytes]:
    return []


def historical(body: bytes) -> list[bytes]:
    return [mark_historical(body)]


def from_before(body: bytes) -> list[bytes]:
    fields = msgspec.json.decode(body)
    return [msgspec.json.encode({**fields, "boot": "earlier"})]


def not_an_object(body: bytes) -> list[bytes]:
    return [b"[" * 100_000]


@for_each("change", [lost, historical, from_before])
def test_a_result_that_is_not_live_is_not_shown_and_takes_the_last_away(change: Change) -> None:
    display = OldDisplay()
    try:
        play = opened(display)
        spin(display, play, 8)
        round_until_closed(display, play)
        display.change = change
        result(play, 9)
        display.change = as_sent
        display.ticks(6)
        assert display.last() == (1, 1, None)
        assert display.numbers == [8]
        spin(display, play, 10)
        assert display.numbers == [8, 10]
    finally:
        display.close()


@for_each("seconds", [MAX_AGE_SECONDS + 1, -MAX_AGE_SECONDS - 1])
def test_a_result_of_another_time_is_not_shown(seconds: float) -> None:
    display = OldDisplay()
    try:
        play = opened(display)
        round_until_closed(display, play)

        def moved(body: bytes) -> list[bytes]:
            fields = msgspec.json.decode(body)
            fields["time"] = format_utc(display.time - seconds)
            return [msgspec.json.encode(fields)]

        display.change = moved
        result(play, 9)
        display.ticks(6)
        assert display.numbers == []
        assert 9 not in [status.number for status in display.lines]
    finally:
        display.close()


def test_a_repeated_event_is_shown_once(display: OldDisplay) -> None:
    play = opened(display)
    earlier: list[bytes] = []

    def repeat(body: bytes) -> list[bytes]:
        earlier.append(body)
        return [body, *earlier]

    display.change = repeat
    spin(display, play, 8)
    spin(display, play, 8)
    assert display.numbers == [8, 8]


def test_what_cannot_be_read_shows_no_number(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 8)
    display.change = not_an_object
    play.say("bets.open", **BY)
    display.ticks(2)
    assert display.last() == WITHOUT_NUMBER


def test_a_lost_broker_or_daemon_shows_no_number_and_says_none_again(display: OldDisplay) -> None:
    play = opened(display)
    spin(display, play, 8)
    for name in ("broker", "daemon"):
        if name == "broker":
            display.broker(up=False)
        else:
            display.node("offline")
        display.ticks(1)
        assert display.last() == WITHOUT_NUMBER
        if name == "broker":
            display.broker(up=True)
        else:
            display.node("online")
        display.ticks(4)
        assert display.last() == (1, 1, None)
    assert display.numbers == [8]


def test_the_rotor_turns_while_its_motion_is_fresh(display: OldDisplay) -> None:
    play = opened(display)
    play.say("bets.open", **BY)
    motion = ReceivedMotion("mesa-1", "ball_in_rim", 1.0, 17.46, "anticlockwise", 1.0)
    display.program.outputs[0].on_motion(motion)
    display.ticks(1)
    assert display.lines[-1] == Status(3, 1, None, 0, 175, 1)
    display.ticks(4)
    assert display.lines[-1] == Status(2, 1, None, 0, 0, 0)


STEPS = (
    *("session.open", "bets.open", "bets.close", "wheel.number"),
    *("wheel.late", "round.confirm", "round.void", "result.correct", "session.close"),
    *("link.lost", "link.up", "broker", "daemon", "restart"),
)
NEXT = {
    "closed": "session.open",
    "waiting": "bets.open",
    "relaunch": "bets.open",
    "bets_open": "bets.close",
    "bets_closed": "wheel.number",
    "decision": "round.confirm",
}
"""By phase: what happens next at a table where nothing goes wrong."""
FIELDS: dict[str, dict[str, Any]] = {
    "round.void": {"reason": "foreign_object", "by": "I. Sanz", "role": "inspector"},
    "link.lost": {"device": "wheel", "reason": "unplugged"},
    "link.up": {"device": "wheel"},
}
WAYS: dict[str, Change] = {
    "as sent": as_sent,
    "lost": lost,
    "historical": historical,
    "repeated": lambda body: [body, body],
}


class Evening:
    """A table played at random, and the numbers that a display must show of it."""

    def __init__(self, display: OldDisplay) -> None:
        self.display = display
        self.play = TimedPlay(display)
        self.expected: list[int] = []
        self._restarts = 0

    def step(self, name: str, number: int, way: str) -> None:
        display = self.display
        if name == "next":
            name = NEXT[self.shown["phase"]] if self._is_current() else "link.up"
        if name == "broker":
            display.broker(up=False)
            display.ticks(2)
            display.broker(up=True)
        elif name == "daemon":
            display.node("offline")
            display.ticks(2)
            display.node("online")
        elif name == "restart":
            self._restarts += 1
            display.node("offline")
            self.play = TimedPlay(display, f"boot-{self._restarts}")
        else:
            self._input(name, number, way)
        display.ticks(MIN_SETTLED_LINES + number % 3)

    def _input(self, name: str, number: int, way: str) -> None:
        fields = {"device": "wheel", "number": number} if name.startswith("wheel") else dict(BY)
        fields = FIELDS.get(name, fields)
        if name == "wheel.late":
            name, fields = "wheel.number", {**fields, "late": True}
        if name in ("round.confirm", "result.correct"):
            fields = {**fields, "number": number}
        if name == "result.correct":
            fields = {**fields, "round": self.shown["round"]}
        told = {"at": self.display.time, "type": name, **fields}
        events: list[dict[str, Any]] = []

        def change(body: bytes) -> list[bytes]:
            events.append(msgspec.json.decode(body))
            return WAYS[way](body)

        self.display.change = change
        current = self._is_current()
        self.play.take(read_input(msgspec.json.encode(told)))
        self.display.change = as_sent
        for event in events:
            if (
                event["type"] == "round.result"
                and way in ("as sent", "repeated")
                and current
                and event["round"] == self.shown["round"]
            ):
                self.expected.append(event["outcome"]["number"])

    @property
    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = msgspec.json.decode(self.play.table.retained()["state"] or b"")
        return state

    @property
    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = self._state["shown"]
        return shown

    def _is_current(self) -> bool:
        return self._state["status"] not in ("stale", "fault")


@settings(max_examples=cases(60, 600))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["next"] * 3 * len(STEPS) + [*STEPS]),
            st.integers(0, 36),
            st.sampled_from(["as sent"] * 9 + [*WAYS]),
        ),
        min_size=40,
        max_size=80,
    )
)
def test_the_driver_finds_each_live_number_once_and_no_other(
    steps: list[tuple[str, int, str]],
) -> None:
    display = OldDisplay()
    try:
        evening = Evening(display)
        display.ticks(4)
        for step in steps:
            evening.step(*step)
        assert display.numbers == evening.expected
        for status in display.lines:
            assert status.state != 5 or status.number is not None
    finally:
        display.close()
