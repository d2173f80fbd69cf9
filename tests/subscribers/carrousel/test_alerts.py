"""Alerts that stay open until a person clears them, through restarts."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from common.contract.retained import Alert
from subscribers.carrousel.statement_of_state import JackpotAlerts
from subscribers.carrousel.verification import verify
from tests.subscribers.carrousel.conftest import Make
from tests.support.carrousel.floor import SEED, STAKE, Floor, terms
from tests.support.waiting import until

ALERT = "poker-1-refused"
TOPIC = f"jackpot/linked/alert/{ALERT}"
NOW = "2026-03-20T02:10:16.215319Z"


def shown(floor: Floor, what: str, *, seen: bool) -> Alert:
    """Wait until the alert is open, acknowledged or not, and return it."""

    def found() -> Any:
        body = floor.subscriber.latest(TOPIC)
        return body if body is not None and ("acknowledged_by" in body) == seen else None

    return msgspec.convert(until(what, found, floor.controller.log), Alert)


def restart(floor: Floor) -> None:
    """Restart the controller, and wait until it is in play."""
    before = floor.state()["boot"]
    floor.controller.start()
    floor.until("another run", lambda state: state["boot"] != before and state["in_play"])
    time.sleep(1.0 - time.time() % 1.0)  # orders signed in the second of the start are not


def test_an_alert_stays_open_through_restarts_until_a_person_clears_it(floor: Floor) -> None:
    floor.dealer.coin("poker-1", amount=0)
    raised = shown(floor, "raised", seen=False).raised
    assert "not allowed" in floor.order("j-croupier", "alert.acknowledge", alert=ALERT)["error"]
    unknown = floor.order("m-lasa", "alert.acknowledge", alert="poker-2-refused")
    assert "poker-1-refused" in unknown["error"]
    assert floor.order("m-lasa", "alert.acknowledge", alert=ALERT)["ok"]
    seen = shown(floor, "acknowledged", seen=True)
    assert (seen.acknowledged_by, seen.acknowledged_role) == ("M-Lasa", "table_head")
    assert seen.acknowledged is not None
    assert seen.acknowledged > seen.raised == raised
    again = floor.order("a-riera", "alert.acknowledge", alert=ALERT)
    assert f"by M-Lasa at {seen.acknowledged}" in again["error"]

    floor.controller.kill()
    floor.dealer.coin("poker-2", amount=0)
    restart(floor)
    floor.alert("poker-2-refused")
    again = floor.order("a-riera", "alert.acknowledge", alert=ALERT)
    assert f"by M-Lasa at {seen.acknowledged}" in again["error"]
    assert shown(floor, "as before", seen=True) == seen

    floor.dealer.coin("poker-1", amount=0, box=2)
    assert shown(floor, "open anew", seen=False).raised == raised
    assert not floor.order("m-lasa", "alert.clear", alert=ALERT)["ok"]
    assert floor.order("a-riera", "alert.clear", alert=ALERT)["ok"]
    until("cleared", lambda: floor.subscriber.is_cleared(TOPIC), floor.controller.log)
    assert not floor.order("a-riera", "alert.clear", alert=ALERT)["ok"]

    assert floor.controller.stop() == 0
    restart(floor)
    assert floor.order("a-riera", "alert.clear", alert="poker-2-refused")["ok"]
    assert floor.subscriber.is_cleared(TOPIC)
    assert floor.state()["value"] == SEED
    assert floor.controller.stop() == 0
    assert verify(floor.controller.ledger).findings == []


def test_a_changed_configuration_is_reported_until_it_is_cleared(make: Make) -> None:
    floor = make()
    floor.controller.kill()
    floor.controller.given["jackpots"] = [
        {"terms": terms("poker-1", "poker-2", stake=STAKE + 100), "title": {"es": "carrusel"}}
    ]
    name = "configuration-changed"
    for _ in range(2):
        restart(floor)
        assert "the configuration has changed" in floor.alert(name)["detail"]
        floor.controller.kill()
    restart(floor)
    assert floor.order("t-vidal", "alert.clear", alert=name)["ok"]
    until(
        "cleared",
        lambda: floor.subscriber.is_cleared(f"jackpot/linked/alert/{name}"),
        floor.controller.log,
    )


def test_an_alert_that_ends_with_its_cause_is_not_for_persons_to_clear(floor: Floor) -> None:
    floor.dealer.retain("poker-2", jackpot="other")
    floor.alert("poker-2-foreign")
    for command in ("alert.acknowledge", "alert.clear"):
        refused = floor.order("a-riera", command, alert="poker-2-foreign")
        assert "no alert poker-2-foreign waits for a person" in refused["error"]


def test_an_order_whose_commit_failed_is_not_shown() -> None:
    alerts = JackpotAlerts()
    alerts.report("a-refused", "refused", "a coin", NOW)
    assert alerts.unstored == {"a-refused": "refused"}
    kept = {"a-refused": alerts.open["a-refused"]}
    alerts.unstored.clear()
    by_one = msgspec.structs.replace(kept["a-refused"], acknowledged_by="M. Lasa")
    alerts.sync({"a-refused": by_one})
    assert alerts.open["a-refused"].acknowledged_by == "M. Lasa"
    alerts.sync(kept)
    assert alerts.open == kept
    alerts.sync({})
    assert alerts.open == {}
    alerts.sync(kept)
    assert alerts.open == kept


def test_what_happens_while_an_order_is_stored_is_not_lost() -> None:
    alerts = JackpotAlerts()
    alerts.report("a-refused", "refused", "a coin", NOW)
    alerts.unstored.clear()
    alerts.sync({})
    alerts.report("a-refused", "refused", "another coin", NOW)
    alerts.sync({})
    assert alerts.open["a-refused"].detail == "another coin"
    assert alerts.unstored == {"a-refused": "refused"}
