"""What moves at the tables, on its way to the browsers: credible, fresh and bounded, or ignored."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from common.contract.motion import Motion
from subscribers.feed.floor import Floor
from subscribers.feed.motion import MAX_BYTES
from subscribers.web.motion import Motions
from tests.support.subscribers.real import spun
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.web.conftest import House
from tests.web.raw import ask
from tests.web.test_displays import retain

MOTION: dict[str, Any] = {
    "site": "casino-mayor",
    "table": "ruleta-1",
    "time": "2026-03-20T02:10:20.500000Z",
    "phase": "ball_in_rim",
    "since": "2026-03-20T02:10:16.500000Z",
    "rpm": 28.4,
    "direction": "clockwise",
    "launched_at": "2026-03-20T02:10:16.500000Z",
}
HOSTILE: dict[str, Any] = {
    "no object": b"[]",
    "no JSON": b"\xff",
    "deep": b"[" * 900,
    "large": json.dumps(MOTION | {"site": "x" * MAX_BYTES}).encode(),
    "another table": MOTION | {"table": "ruleta-2"},
    "no phase": MOTION | {"phase": "winning"},
    "no direction": MOTION | {"direction": "toString"},
    "too fast": MOTION | {"rpm": 1e9},
    "backwards": MOTION | {"rpm": -1},
    "a text": MOTION | {"rpm": "28"},
    "no time": MOTION | {"time": "now"},
    "in the future": MOTION | {"since": "2026-03-20T02:10:21.500000Z"},
    "long ago": MOTION | {"launched_at": "2020-03-20T02:10:16.500000Z"},
}


def motions() -> Motions:
    return Motions(Floor({"ruleta-1": False}, lambda: "2026-03-20T02:10:16.215319Z"))


def body(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


async def test_a_browser_receives_ages_and_no_more_than_moves() -> None:
    known = motions()
    known.on_message("ruleta-1", False, body(MOTION | {"number": 17, "card": "7h"}))
    [line] = known.since(0.0, ["ruleta-1", "ruleta-2"])
    assert json.loads(line) == {
        "table": "ruleta-1",
        "phase": "ball_in_rim",
        "since": 4.0,
        "rpm": 28.4,
        "direction": "clockwise",
        "launched": 4.0,
    }
    known.on_message("ruleta-1", False, body(MOTION | {"rpm": 20.0}))
    assert len(known.since(0.0, ["ruleta-1"])) == 1  # the last one alone


@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_not_credible_is_ignored(name: str) -> None:
    known = motions()
    known.on_message("ruleta-1", False, body(HOSTILE[name]))
    assert known.since(0.0, ["ruleta-1"]) == []


async def test_a_table_that_is_unknown_or_of_the_other_world_does_not_move() -> None:
    known = motions()
    known.on_message("ruleta-1", True, body(MOTION))
    known.on_message("ruleta-9", False, body(MOTION | {"table": "ruleta-9"}))
    assert known.since(0.0, ["ruleta-1", "ruleta-9"]) == []


def test_no_field_of_the_topic_can_hold_a_result() -> None:
    assert set(Motion.__struct_fields__) == {*MOTION, "simulated"}


def test_a_stream_has_the_motion_of_its_tables_alone(house: House) -> None:
    server = house.serve([("ruleta-1", False), ("ruleta-2", False)])
    for name in ("ruleta-1", "ruleta-2"):
        retain(house.teller, spun([25]), name)
    until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS) as stream:
        stream.sendall(b"GET /stream?table=ruleta-1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        read = bytearray()

        def has(text: bytes) -> bool:
            read.extend(stream.recv(1 << 16))
            return text in read

        until("the picture", lambda: has(b"event: picture"))
        for table in ("ruleta-2", "ruleta-1"):
            house.teller.move(table, MOTION | {"table": table})
        until("the motion", lambda: has(b'event: motion\ndata: {"table":"ruleta-1"'))
        house.teller.move("ruleta-1", MOTION | {"phase": "settled"})
        until("the next one", lambda: has(b'"phase":"settled"'))
    assert b'"table":"ruleta-2"' not in read
