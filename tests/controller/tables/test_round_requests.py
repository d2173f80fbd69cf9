"""Requests about a round: sent with its number, repeated, and ended by an answer."""

from __future__ import annotations

from typing import cast

import msgspec
import pytest

from common import clock
from common.contract.events import (
    AnyEvent,
    BetsClosed,
    RoundVoid,
    SessionClosed,
    WitnessReported,
)
from controller.tables.round_requests import RoundRequests
from devices.codec import RoundRequest
from devices.device import CommandRefusedError, DeviceSupervisor, Request
from tests.support.waiting import until_async

pytestmark = pytest.mark.asyncio

DETECT = RoundRequest("detect", after=1.0, every=2.0, times=3)
SPEED = 1000.0


class Asked:
    """The part of a supervisor that is used."""

    def __init__(self) -> None:
        self.sent: list[Request] = []
        self.tried = 0
        self.connected = True

    def prepare(self, command: str, argument: str) -> Request:
        self.tried += 1
        if not self.connected:
            raise CommandRefusedError("not connected")
        return Request(command, f"{command} {argument}".encode())

    def send(self, request: Request) -> None:
        self.sent.append(request)


def requests(camera: Asked, made: RoundRequest = DETECT, speed: float = SPEED) -> RoundRequests:
    device = cast("DeviceSupervisor", camera)
    return RoundRequests({"camera": device}, {"camera": (made,)}, speed)


def closed(number: int, unobserved: bool = False) -> AnyEvent:
    return BetsClosed(session=1, round=number, unobserved=unobserved)


VOID = RoundVoid(
    session=1, round=7, reason="ball_out", law="l", article="a", last_number=None, by="x"
)
ANSWER = WitnessReported(session=1, round=7, device="camera", number=17)


async def test_a_device_is_asked_with_the_number_of_the_round_as_often_as_allowed() -> None:
    camera = Asked()
    made = requests(camera)
    made.on_events([closed(7)])
    await until_async(lambda: len(camera.sent) == DETECT.times)
    await clock.sleep(0.01)
    assert [each.data for each in camera.sent] == [b"detect 7"] * DETECT.times
    assert {each.command for each in camera.sent} == {None}, "a request is no person's command"


@pytest.mark.parametrize(
    "event", [ANSWER, VOID, SessionClosed(session=1, round=7, by="x", role="table_head")]
)
async def test_an_answer_or_the_end_of_the_round_ends_it(event: AnyEvent) -> None:
    camera = Asked()
    made = requests(camera)
    made.on_events([closed(7)])
    made.on_events([event])
    await clock.sleep(0.02)
    assert camera.sent == []


@pytest.mark.parametrize(
    "event",
    [
        msgspec.structs.replace(ANSWER, device="other"),
        msgspec.structs.replace(ANSWER, round=6),
        msgspec.structs.replace(VOID, round=6),
    ],
)
async def test_what_concerns_another_round_or_device_does_not_end_it(event: AnyEvent) -> None:
    camera = Asked()
    made = requests(camera)
    made.on_events([closed(7), event])
    await until_async(lambda: len(camera.sent) == DETECT.times)


async def test_the_next_round_ends_it() -> None:
    camera = Asked()
    made = requests(camera)
    made.on_events([closed(7), closed(8)])
    await until_async(lambda: len(camera.sent) == DETECT.times)
    assert {each.data for each in camera.sent} == {b"detect 8"}


async def test_bets_that_were_closed_unseen_are_not_asked_about() -> None:
    camera = Asked()
    made = requests(camera)
    made.on_events([closed(7), closed(8, unobserved=True)])
    await clock.sleep(0.02)
    assert camera.sent == []


async def test_a_device_that_is_away_is_asked_again_when_it_is_back() -> None:
    camera = Asked()
    camera.connected = False
    made = requests(camera)
    made.on_events([closed(7)])
    await until_async(lambda: camera.tried > 0)
    camera.connected = True
    await until_async(lambda: camera.tried == DETECT.times)
    assert len(camera.sent) < DETECT.times
