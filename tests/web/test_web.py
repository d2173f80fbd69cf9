"""The server and its pages, in a real browser, over a real broker."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.subscribers.table import ENVELOPE
from tests.support.web.going import go
from tests.support.web.server import Teller
from tests.web.conftest import Serve

LEAF = {**ENVELOPE, "site": "casino-mayor", "simulated": False}


def state(number: int, colour: str | None = "red", **fields: object) -> dict[str, object]:
    shown = {
        "view": "roulette",
        "phase": "bets_open",
        "session": 1,
        "round": 3,
        "asks": [],
        "minimum": 500,
        "currency": "EUR",
        "settings": {},
        "spin": 3,
        "relaunch": False,
        "last_of_session": False,
        "unresolved": [],
        "bets": [],
        "last_number": number,
        "last_rounds": None,
        "rounds_at_this_minimum": None,
        "last_colour": colour,
        "zeros": 0,
        "zero_choices": [],
    }
    told = {"status": "open", "seq": 3, "time": "2026-03-20T02:10:16.215319Z", "fault": None}
    return {
        **LEAF,
        **told,
        "takes": [],
        "staff": {},
        "devices": {},
        "alerts": [],
        "shown": shown,
        **fields,
    }


@pytest.mark.essential
def test_a_number_is_shown_and_greyed_when_its_daemon_goes(
    serve: Serve, teller: Teller, page: Page
) -> None:
    teller.tell("ruleta-1", "state", state(25))
    server = serve([("ruleta-1", False)])
    go(page, f"{server.address}/table/ruleta-1?lang=es")
    expect(page.locator(".number")).to_have_text("25")
    expect(page.locator(".trouble")).to_have_count(0)
    teller.node("status", {"status": "offline", "boot": "b1"})
    expect(page.locator(".trouble")).to_contain_text("el servicio está desconectado")
    expect(page.locator("article.before .number")).to_have_text("25")
    teller.online("b1")
    expect(page.locator(".trouble")).to_have_count(0)
    page.route("**/stream*", lambda _: None)  # the page calls again, and is kept waiting
    assert server.stop() == 0


def test_a_simulated_table_beside_real_ones_is_shown(
    serve: Serve, teller: Teller, page: Page
) -> None:
    """Its daemon says among the real tables that it is online."""
    teller.tell("ruleta-1", "state", state(25))
    practice = {**state(7), "table": "trial-1", "simulated": True}
    teller.say("novamas-sim/v1/casino-mayor/trial-1/state", practice)
    server = serve([("ruleta-1", False), ("trial-1", True)])
    go(page, f"{server.address}/table/trial-1?lang=es")
    expect(page.locator(".number")).to_have_text("7")
    expect(page.locator(".trouble")).to_have_count(0)
