"""The simulated camera reader: what it sends is what the profile of the tests reads."""

from __future__ import annotations

import json
from math import inf

import pytest

from common.readings import DeviceReport, WheelNumber
from devices.links.mqtt import MAX_PAYLOAD_BYTES
from simulators.wheel.idp_camera import ANSWER_SECONDS, SimulatedIdpCamera
from tests.support.devices.described import proof

REQUEST = b'command {"command":"detect","arg":{"round_id":%d}}\n'


def answers(camera: SimulatedIdpCamera, at: float) -> list[bytes]:
    """What it has sent by then, as lines of the link."""
    sent = [line.partition(b" ") for _, line in camera.advance(at)]
    assert all(len(payload) < MAX_PAYLOAD_BYTES for _, _, payload in sent)
    return [topic + b" 0 " + payload for topic, _, payload in sent]


def test_it_answers_requests_with_what_it_sees() -> None:
    camera, codec = SimulatedIdpCamera((17,)), proof("idp-roulette")
    camera.receive(REQUEST % 7 + REQUEST % 8, 5.0)
    assert answers(camera, 5.0 + ANSWER_SECONDS / 2) == []
    number, report = codec.feed(b"".join(answers(camera, 5.0 + ANSWER_SECONDS)), 6.0)
    assert isinstance(number, WheelNumber)
    assert (number.number, number.spin) == (17, 7)
    assert isinstance(report, DeviceReport)
    assert report.value == "error -1"
    assert camera.rounds == 1


def test_a_camera_that_is_not_sure_says_so() -> None:
    camera, codec = SimulatedIdpCamera((17,)), proof("idp-roulette")
    camera.fault("not_sure", 10.0, 0.0)
    camera.receive(REQUEST % 1, 5.0)
    camera.receive(REQUEST % 2, 11.0)
    report, number = codec.feed(b"".join(answers(camera, 20.0)), 20.0)
    assert isinstance(report, DeviceReport)
    assert isinstance(number, WheelNumber)


@pytest.mark.parametrize(
    "line", [b"command {", b"command []\n", b"status {}\n", b"response {}\n", b"\n", b"command 1\n"]
)
def test_anything_else_is_ignored(line: bytes) -> None:
    camera = SimulatedIdpCamera((17,))
    camera.receive(line, 5.0)
    assert camera.advance(60.0) == []


def test_one_that_posts_reports_by_itself() -> None:
    camera = SimulatedIdpCamera((17, 20), interval=30.0)
    assert camera.deadline == 30.0
    sent = [(at, json.loads(line.partition(b" ")[2])["arg"]) for at, line in camera.advance(90.0)]
    assert sent == [
        (30.0, {"round_id": 1, "res": 17, "err": 0}),
        (60.0, {"round_id": 2, "res": 20, "err": 0}),
    ]
    assert camera.deadline == inf
