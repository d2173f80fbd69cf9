"""Rounds of a day over the wire: received, kept over a restart, filled from ``history``."""

from __future__ import annotations

import urllib.error

import pytest
from playwright.sync_api import Page, expect

from tests.support.waiting import until
from tests.support.web.going import go
from tests.support.web.server import Teller, WebServer
from tests.web.conftest import House, Serve
from tests.web.test_web import LEAF, state

CHANCES = {"colour": "red", "parity": "odd", "half": "falta", "dozen": 1, "column": 1}


def outcome(number: int) -> dict[str, object]:
    return {
        "family": "roulette",
        "number": number,
        **CHANCES,
        "zeros": 0,
        "last_of_session": False,
    }


def result(seq: int, round_: int, number: int) -> dict[str, object]:
    return {
        **LEAF,
        "type": "round.result",
        "seq": seq,
        "time": f"2026-03-20T12:{round_:02}:00.000000Z",
        "mono_ns": seq,
        "session": 1,
        "round": round_,
        "outcome": outcome(number),
        "frames": [],
    }


def history(*rounds: tuple[int, int]) -> dict[str, object]:
    lines = [
        {"kind": "result", "round": round_, "outcome": outcome(number), "corrected": False}
        for round_, number in rounds
    ]
    return {**LEAF, "session": 1, "results": lines}


@pytest.mark.essential
def test_a_day_is_kept_over_a_restart_and_filled_from_the_history(
    serve: Serve, teller: Teller, page: Page
) -> None:
    teller.tell("ruleta-1", "state", state(25))
    first = serve([("ruleta-1", False)])
    first.hears()
    day = "/table/ruleta-1/day/2026-03-20.csv"
    for seq, (round_, number) in enumerate(((1, 11), (2, 12), (4, 14)), 1):
        teller.tell("ruleta-1", "event", result(seq, round_, number))
    until("round 4", lambda: "\r\n1,4,4,result" in first.get(day))
    assert "\r\n1,3,3,missing" in first.get(day)
    assert first.stop() == 0

    teller.tell("ruleta-1", "history", history((3, 13), (4, 14), (5, 15)))
    teller.node("checkpoint", {**CHECKPOINT, "time": "2026-03-20T12:02:30.000000Z"})
    second = serve([("ruleta-1", False)])
    second.hears()
    teller.tell("ruleta-1", "event", result(6, 6, 16))
    until("round 6", lambda: "\r\n1,6,6,result" in second.get(day))
    told = second.get(day)
    assert [line.split(",")[1:6:4] for line in told.splitlines() if line.startswith("1,")] == [
        [str(round_), str(round_ + 10)] for round_ in range(1, 7)
    ]
    assert "# 2 de estas jugadas se decidieron antes" in second.get(day + "?lang=es")
    go(page, f"{second.address}/table/ruleta-1/days?lang=gl")
    page.get_by_role("link", name="2026-03-20").click()
    expect(page.locator("tbody tr")).to_have_count(6)
    expect(page.get_by_role("heading", level=1)).to_contain_text("ruleta-1")


@pytest.fixture(scope="module")
def server(house: House) -> WebServer:
    return house.serve([("ruleta-1", False)])


@pytest.mark.parametrize("path", ["/2026-02-30", "/x", "/2026-03-20.exe", "/..%2f..%2fetc"])
def test_an_invalid_day_is_not_found(server: WebServer, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        server.get("/table/ruleta-1/day" + path)


CHECKPOINT = {
    "journal": "b41c09d2",
    "boot": "b1",
    "position": 112,
    "hash": "ab" * 32,
    "key": "cd" * 32,
    "signature": "ef" * 64,
}
