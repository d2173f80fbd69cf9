"""Each order is followed once, for the state its signers saw, whatever happens to the
controller.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.contract.jackpot import JACKPOT_ORDERS, STATE_FIELDS
from subscribers.carrousel.facts import OrderGiven
from subscribers.carrousel.reading import read_fact
from tests.subscribers.carrousel.books import Books, at, terms
from tests.subscribers.carrousel.conftest import Make
from tests.subscribers.carrousel.test_orders import payable, two_jackpots
from tests.support.carrousel.floor import STAKE, Floor, accounts
from tests.support.chaos.faked_clock import Clock
from tests.support.for_each import for_each
from tests.support.waiting import until


def key(reply: dict[str, Any]) -> str:
    return str(reply["refusal"]["key"])


def everything(floor: Floor) -> None:
    """Give every kind of order; most are followed, the others are refused."""
    number = payable(floor)["award"]
    assert floor.order("m-lasa", "award.dispute", award=number)["ok"]
    assert floor.two("award.uphold", award=number)["ok"]
    assert floor.two("award.pay", award=number, amount=7, paid=0)["ok"]
    assert not floor.two("award.withdraw", award=number)["ok"]
    assert not floor.two("award.decide", award=number, amount=5)["ok"]
    assert not floor.two("hit.fix", hit=1)["ok"]
    assert not floor.two("hits.order", hits=[1, 2])["ok"]
    floor.dealer.award("poker-1", valid=False)
    floor.until("a claim", lambda state: state["awards"][0]["status"] == "claimed")
    assert floor.two("claim.settle", award=number, how="recovered")["ok"]
    assert floor.two("meter.adjust", amount=-3, note="counted")["ok"]
    floor.until("adjusted", lambda state: state["generation"] == 2)
    assert floor.two("pool.transfer", to="other", amount=11)["ok"]
    floor.until("sent", lambda state: state["generation"] == 3)
    assert floor.order("m-lasa", "jackpot.suspend")["ok"]
    floor.until("suspended", lambda state: state["generation"] == 4)
    assert floor.order("a-riera", "jackpot.resume")["ok"]
    floor.until("resumed", lambda state: state["generation"] == 5)
    floor.dealer.coin("poker-2", amount=0)
    floor.alert("poker-2-refused")
    assert floor.order("m-lasa", "alert.acknowledge", alert="poker-2-refused")["ok"]
    assert floor.order("a-riera", "alert.clear", alert="poker-2-refused")["ok"]
    floor.dealer.coin("poker-1", box=2, round=2)
    floor.dealer.journals["poker-1"].pop()
    floor.dealer.restart("b9")
    floor.dealer.coin("poker-1", box=3, round=3)
    floor.until("a gap", lambda state: state["tables"]["poker-1"]["why"] == "gap")
    assert floor.two("gap.settle", table="poker-1", amount=STAKE)["ok"]
    floor.until("settled", lambda state: state["tables"]["poker-1"]["why"] != "gap")
    assert floor.two("pool.close", to="other")["ok"]
    floor.until("closed", lambda state: state["why"] == "closed")
    assert {command for _, command, _, _ in floor.given} == {
        str(kind.__struct_config__.tag) for kind in JACKPOT_ORDERS
    }


@pytest.mark.parametrize("ahead", [0, 8])
def test_no_order_is_followed_again_after_a_kill(make: Make, ahead: int) -> None:
    """This includes orders signed by a clock that is ahead: no clock decides what was followed."""
    floor = two_jackpots(make)
    floor.ahead = ahead
    everything(floor)
    held = accounts(floor.controller.ledger)
    floor.restart()
    for jackpot, command, number, token in tuple(floor.given):
        again = floor.reply_to(jackpot, command, token, number)
        assert (command, key(again)) == (command, "signed_already")
    assert accounts(floor.controller.ledger) == held


def test_a_clock_that_was_put_back_brings_no_order_to_life(floor: Floor, tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    floor.controller.environment = clock.environment
    floor.restart()
    award = payable(floor)
    assert floor.two("award.pay", award=award["award"], amount=100)["ok"]
    clock.set(-3600)
    floor.restart()
    clock.set(0)
    for given in tuple(floor.given):
        jackpot, command, number, token = given
        again = floor.reply_to(jackpot, command, token, number)
        assert key(again) == "signed_already"
    assert accounts(floor.controller.ledger)["paid", "1"] == 100


def test_an_order_is_followed_as_soon_as_the_controller_is_back(floor: Floor) -> None:
    floor.restart()
    assert floor.order("m-lasa", "jackpot.suspend")["ok"]


def test_what_waited_or_was_refused_before_a_kill_stays_so(floor: Floor) -> None:
    award = payable(floor)
    number, value = award["award"], award["value"]
    too_much = floor.two("award.pay", award=number, amount=value + 1)
    assert key(too_much) == "award_due"
    assert key(floor.order("a-riera", "award.pay", award=number, amount=1)) == (
        "second_person_wanted"
    )
    floor.restart()
    for jackpot, command, jti, token in tuple(floor.given):
        assert key(floor.reply_to(jackpot, command, token, jti)) == "signed_already"
    second = floor.order("t-vidal", "award.pay", award=number, amount=1)
    assert key(second) == "second_person_wanted"
    assert accounts(floor.controller.ledger).get(("paid", "1")) is None


def test_an_order_that_does_not_name_what_its_signers_saw_is_refused(floor: Floor) -> None:
    award = payable(floor)["award"]
    generation = floor.state()["generation"]
    pay = {"award": award, "amount": 10}
    for command, fields, field, now in (
        ("award.pay", pay, "paid", 0),
        ("meter.adjust", {"amount": 5, "note": "x"}, "generation", generation),
        ("pool.transfer", {"amount": 5, "to": "other"}, "generation", generation),
        ("pool.close", {}, "generation", generation),
        ("jackpot.suspend", {}, "generation", generation),
        ("jackpot.resume", {}, "generation", generation),
    ):
        reply = floor.order("t-vidal", command, **{**fields, field: None})
        assert (key(reply), reply["refusal"]["fields"]) == (
            "order_unnamed",
            {"order": command, "field": field, "now": now},
        )
        assert f"{field}={now}" in reply["error"]
    outdated = floor.order("t-vidal", "meter.adjust", amount=5, note="x", generation=99)
    assert key(outdated) == "order_outdated"
    assert key(floor.order("t-vidal", "award.pay", **pay, paid=5)) == "award_paid_meanwhile"
    assert key(floor.order("a-riera", "gap.settle", table="poker-1", gap=None, amount=5)) == (
        "gap_none"
    )


def test_a_gap_is_settled_by_its_own_name_alone(floor: Floor) -> None:
    dealer = floor.dealer
    dealer.coin("poker-1", box=1)
    dealer.coin("poker-1", box=2)
    gaps: list[str] = []
    for boot in ("b8", "b9"):
        del dealer.journals["poker-1"][-1]
        dealer.restart(boot)
        dealer.coin("poker-1", box=3, round=2)
        dealer.coin("poker-1", box=4, round=2)
        state = floor.until(
            "a gap",
            lambda state: (
                state["tables"]["poker-1"]["why"] == "gap"
                and state["tables"]["poker-1"]["since"] not in gaps
            ),
        )
        gaps.append(state["tables"]["poker-1"]["since"])
        unnamed = floor.order("a-riera", "gap.settle", table="poker-1", gap=None, amount=5)
        assert (key(unnamed), unnamed["refusal"]["fields"]["now"]) == ("order_unnamed", gaps[-1])
        first = floor.order("a-riera", "gap.settle", table="poker-1", amount=5, gap=gaps[0])
        assert key(first) == ("second_person_wanted" if boot == "b8" else "order_outdated")
        if boot == "b8":
            assert floor.two("gap.settle", table="poker-1", amount=7)["ok"]
            floor.until("in play again", lambda state: state["tables"]["poker-1"]["why"] != "gap")


def adjusted(floor: Floor, _: dict[str, Any]) -> None:
    assert floor.two("meter.adjust", amount=1, note="x")["ok"]


def disputed(floor: Floor, award: dict[str, Any]) -> None:
    """The award ends in its former state, and was in another one in between."""
    assert floor.order("m-lasa", "award.dispute", award=award["award"])["ok"]
    assert floor.two("award.uphold", award=award["award"])["ok"]


def paid_in_part(floor: Floor, award: dict[str, Any]) -> None:
    assert floor.two("award.pay", award=award["award"], amount=3)["ok"]


def taken_back(floor: Floor, _: dict[str, Any]) -> None:
    floor.dealer.award("poker-1", valid=False)
    floor.until("it is taken back", lambda state: not state["awards"])


@pytest.mark.parametrize(
    ("command", "meanwhile"),
    [
        ("award.pay", disputed),
        ("award.pay", paid_in_part),
        ("award.pay", taken_back),
        ("meter.adjust", adjusted),
    ],
)
def test_a_first_signature_ends_with_the_state_that_it_is_about(
    floor: Floor, command: str, meanwhile: Callable[[Floor, dict[str, Any]], None]
) -> None:
    award = payable(floor)
    fields = {
        "award.pay": {"award": award["award"], "amount": 7, "paid": 0},
        "meter.adjust": {"amount": 9, "note": "x", "generation": 1},
    }[command]
    number, token = floor.signed("a-riera", command, **fields)
    assert key(floor.reply_to("linked", command, token, number)) == "second_person_wanted"
    meanwhile(floor, award)
    until(
        "the first is reported",
        lambda: (
            [key(each) for each in floor._replies("linked", number)][1:] == ["second_person_over"]
        ),
        floor.controller.log,
    )
    before = accounts(floor.controller.ledger)
    second = floor.order("t-vidal", command, **fields)
    assert not second["ok"]
    assert accounts(floor.controller.ledger) == before


@for_each("kind", STATE_FIELDS)
def test_an_order_that_an_older_release_followed_can_be_read(kind: type[msgspec.Struct]) -> None:
    fields = {"award": 1, "amount": 5, "table": "a", "to": None, "note": None}
    tag = str(kind.__struct_config__.tag)
    told = {"type": tag, "by": "A", "role": "director"}
    wanted = {field.encode_name for field in msgspec.structs.fields(kind)} - {STATE_FIELDS[kind]}
    order = {**told, **{name: each for name, each in fields.items() if name in wanted}}
    if tag == "pool.transfer":
        order["to"] = "other"
    if tag == "award.pay":
        order["paid"] = None
    body = msgspec.json.encode({"fact": "ordered", "time": "", "order": order, "signed": []})
    fact = read_fact(body)
    assert isinstance(fact, OrderGiven)
    assert (type(fact.order), fact.unnamed) == (kind, True)


def test_what_older_releases_followed_makes_no_generation() -> None:
    """So the state saved beside an older ledger still follows from its facts."""
    books = Books(terms("BAL05"))
    signed = [{"id": "m-lasa", "name": "M. Lasa", "role": "table_head", "token": ""}]
    order = {"type": "jackpot.suspend", "by": "M. Lasa", "role": "table_head"}
    fact = {"fact": "ordered", "time": at(1), "order": order, "signed": signed}
    books.take(read_fact(msgspec.json.encode(fact)))
    assert (books.state.suspended, books.state.generation) == (True, 1)
    assert b"generation" not in msgspec.json.encode(books.state)
