"""Which scene a light shows, at a table in play and with the statements of a jackpot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from common.contract.notation import mark_historical
from common.contract.times import format_utc
from subscribers.feed.live import MAX_AGE_SECONDS
from subscribers.feed.tables import BrokerLogin, FeedMessage
from subscribers.lights.__main__ import LightProgram
from subscribers.lights.settings import LightProgramSettings, LightSettings, SceneSettings
from tests.support.for_each import for_each
from tests.support.jackpot import award, statement
from tests.support.subscribers.played import BY, ID
from tests.support.subscribers.received import Receiver, TimedPlay, as_sent

ZERO, HIT, REST, DARK = {1: 255}, {2: 200}, {3: 40}, dict[int, int]()
SECONDS = 20.0


class Lights(Receiver):
    """A light with a scene for zero and one for a hit of the jackpot ``gran``."""

    def __init__(self) -> None:
        super().__init__()
        scenes = (
            SceneSettings(seconds=SECONDS, table=ID, numbers=(0,), channels=ZERO),
            SceneSettings(seconds=SECONDS, jackpot="gran", channels=HIT),
        )
        light = LightSettings(id="bar", protocol="sacn", rest=REST, scene=scenes)
        self.program = LightProgram(
            LightProgramSettings(
                site="casino-mayor", broker=BrokerLogin(url="mqtt://127.0.0.1:1"), lights=(light,)
            )
        )
        self.floor = self.program.floor

    @property
    def levels(self) -> dict[int, int]:
        return dict(self.program.lights[0].levels())

    def state(self, seconds: float = 15.0, **fields: Any) -> None:
        """A statement of the jackpot."""
        body = msgspec.json.encode(statement(seconds=seconds, now=self.time, **fields))
        self.floor.on_message(False, FeedMessage("jackpot/gran/state", body))

    def hit(self, number: int = 2, age: float = 0.0, **fields: Any) -> None:
        won = award(number, **{"time": format_utc(self.time - age), **fields})
        self.state(won=won, last=(won,))


@pytest.fixture
def lights() -> Iterator[Lights]:
    made = Lights()
    yield made
    made.close()


def in_play(lights: Lights) -> TimedPlay:
    play = TimedPlay(lights)
    play.say("session.open", **BY)
    lights.state()
    assert lights.levels == REST
    return play


def spin(play: TimedPlay, number: int) -> None:
    for command in ("bets.open", "bets.close"):
        play.say(command, **BY)
    play.say("wheel.number", device="wheel", number=number)


def test_a_scene_of_a_number_ends_with_its_time(lights: Lights) -> None:
    play = in_play(lights)
    spin(play, 7)
    assert lights.levels == REST
    spin(play, 0)
    assert lights.levels == ZERO
    lights.time += SECONDS - 0.1
    assert lights.levels == ZERO
    lights.time += 0.1
    assert lights.levels == REST


def end_by_correction(lights: Lights, play: TimedPlay) -> None:
    play.say("result.correct", round=1, number=26, **BY)


def end_by_next_result(lights: Lights, play: TimedPlay) -> None:
    spin(play, 5)


def end_by_lost_wheel(lights: Lights, play: TimedPlay) -> None:
    play.say("link.lost", device="wheel", reason="unplugged")


def end_by_dead_daemon(lights: Lights, play: TimedPlay) -> None:
    lights.node("offline")


def end_by_closing(lights: Lights, play: TimedPlay) -> None:
    play.say("session.close", **BY)


ENDS: list[Callable[[Lights, TimedPlay], None]] = [
    end_by_correction, end_by_next_result, end_by_lost_wheel, end_by_dead_daemon, end_by_closing
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_a_scene_ends_with_what_it_shows(
    end: Callable[[Lights, TimedPlay], None], lights: Lights
) -> None:
    play = in_play(lights)
    spin(play, 0)
    assert lights.levels == ZERO
    end(lights, play)
    assert lights.levels == REST


def test_without_a_broker_all_is_dark(lights: Lights) -> None:
    assert lights.levels == DARK
    play = in_play(lights)
    spin(play, 0)
    lights.broker(up=False)
    assert lights.levels == DARK
    lights.broker(up=True)
    assert lights.levels == REST


def test_a_number_that_is_not_live_begins_nothing(lights: Lights) -> None:
    play = in_play(lights)

    def late(body: bytes) -> list[bytes]:
        fields = msgspec.json.decode(body)
        fields["time"] = format_utc(lights.time - MAX_AGE_SECONDS - 1)
        return [msgspec.json.encode(fields)]

    for change in (late, lambda body: [mark_historical(body)]):
        lights.change = change
        spin(play, 0)
        assert lights.levels == REST
    lights.change = as_sent
    spin(play, 0)
    assert lights.levels == ZERO


def test_a_hit_begins_once(lights: Lights) -> None:
    in_play(lights)
    lights.hit()
    assert lights.levels == HIT
    lights.time += SECONDS
    lights.hit(age=SECONDS)
    assert lights.levels == REST
    lights.hit(3)
    assert lights.levels == HIT


@for_each("status", ["withdrawn", "disputed", "claimed"])
def test_a_hit_that_does_not_hold_ends_its_scene_and_begins_none(status: str) -> None:
    lights = Lights()
    try:
        in_play(lights)
        lights.hit()
        assert lights.levels == HIT
        lights.hit(status=status)
        assert lights.levels == REST
        lights.hit(3, status=status)
        assert lights.levels == REST
    finally:
        lights.close()


def test_a_hit_whose_value_becomes_final_goes_on(lights: Lights) -> None:
    in_play(lights)
    lights.hit(status="pending", why="tables", value=None)
    assert lights.levels == HIT
    lights.time += 5
    lights.hit(age=5)
    assert lights.levels == HIT


def test_an_old_hit_begins_nothing(lights: Lights) -> None:
    lights.broker(up=True)
    lights.hit(1)  # retained: it is known when the state becomes current
    assert lights.levels == REST
    lights.hit(2, age=MAX_AGE_SECONDS + 1)
    assert lights.levels == REST
    lights.hit(3, time="not a time")
    assert lights.levels == REST
    lights.broker(up=False)
    assert lights.levels == DARK
    lights.broker(up=True)
    lights.hit(4)
    assert lights.levels == REST
    lights.hit(5)
    assert lights.levels == HIT


def test_a_scene_of_a_hit_ends_when_its_statement_expires(lights: Lights) -> None:
    in_play(lights)
    lights.hit()
    assert lights.levels == HIT
    lights.time += 15
    assert lights.levels == REST
    lights.hit(age=15)
    assert lights.levels == REST, "it does not begin again"
