"""Orders of persons through the service: the order of hits, disconnected tables, disputes, and
transfers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from common.contract.times import format_utc
from tests.subscribers.carrousel.conftest import Make
from tests.support.carrousel.floor import SEED, STAKE, Dealer, Floor, accounts, terms
from tests.support.waiting import until

RISE = STAKE * 9 // 10


@contextmanager
def two_nodes(make: Make) -> Iterator[tuple[Floor, Dealer]]:
    """A floor with another table, ``poker-3``, at another node."""
    authorisation = terms("poker-1", "poker-2", "poker-3")["authorisation"]
    floor = make({"clock_bound": 0.5}, authorisation=authorisation)
    other = Dealer(floor.broker.port, node="node-2", boot="c1")
    try:
        other.serve("poker-3")
        floor.in_play("poker-1", "poker-2", "poker-3")
        yield floor, other
    finally:
        other.close()


def two_jackpots(make: Make) -> Floor:
    """A floor with another jackpot, ``other``, whose table does not exist."""
    both = [terms("poker-1", "poker-2"), terms("poker-9", jackpot="other")]
    return make({"jackpots": [{"terms": each, "title": {"es": "carrusel"}} for each in both]})


def worth(floor: Floor, jackpot: str, value: int) -> dict[str, Any]:
    """Wait until a jackpot has this value, and return its state."""

    def found() -> dict[str, Any] | None:
        state = floor.state(jackpot)
        return state if state.get("value") == value else None

    state: dict[str, Any] = until(f"{jackpot} is worth {value}", found, floor.controller.log)
    return state


def payable(floor: Floor) -> dict[str, Any]:
    """Play a hit, and return its award."""
    floor.dealer.coin("poker-1")
    floor.dealer.award("poker-1")
    floor.dealer.staked("poker-1", STAKE)
    state = floor.until("payable", lambda state: "award.pay" in state.get("asks", ()))
    award: dict[str, Any] = state["awards"][0]
    return award


def test_two_persons_order_two_hits(make: Make) -> None:
    with two_nodes(make) as (floor, other):
        floor.dealer.coin("poker-1")
        other.coin("poker-3")
        worth(floor, "linked", SEED + 2 * RISE)
        now = format_utc(time.time())
        floor.dealer.award("poker-1", time=now)
        other.award("poker-3", time=now)
        floor.dealer.staked("poker-1", STAKE)
        other.staked("poker-3", STAKE)
        state = floor.until("both are asked", lambda state: "hits.order" in state.get("asks", ()))
        assert [(award["status"], award["why"]) for award in state["awards"]] == [
            ("pending", "order")
        ] * 2
        hits = {award["table"]: award["hit"] for award in state["awards"]}
        wrong = floor.two("hits.order", hits=[hits["poker-1"], 99])
        assert "the hits whose order is not known are" in wrong["error"]
        unpaid = floor.two("award.pay", award=1, amount=1)
        assert not unpaid["ok"]
        assert floor.two("hits.order", hits=[hits["poker-3"], hits["poker-1"]])["ok"]
        state = floor.until(
            "both are payable",
            lambda state: [award["status"] for award in state["awards"]] == ["payable"] * 2,
        )
        first = (SEED + 2 * RISE) // 10
        assert {each["table"]: each["value"] for each in state["awards"]} == {
            "poker-3": first,
            "poker-1": (SEED + 2 * RISE - first) // 10,
        }


def test_a_hit_need_not_wait_for_a_table_that_is_cut_off(make: Make) -> None:
    with two_nodes(make) as (floor, other):
        other.answers = False
        other.offline()
        floor.until("cut off", lambda state: state["tables"]["poker-3"]["why"] == "unheard")
        other.coin("poker-3", lost=True)
        floor.dealer.coin("poker-1")
        floor.dealer.award("poker-1")
        floor.dealer.staked("poker-1", STAKE)
        state = floor.until("it waits", lambda state: "hit.fix" in state.get("asks", ()))
        [award] = state["awards"]
        assert (award["status"], award["why"]) == ("pending", "tables")
        assert not floor.two("hit.fix", hit=award["hit"] + 1)["ok"]
        assert floor.two("hit.fix", hit=award["hit"])["ok"]
        state = floor.until("final", lambda state: state["awards"][0]["status"] == "payable")
        value = (SEED + RISE) // 10
        assert state["awards"][0]["value"] == value
        other.answers = True
        other.online()
        other.retain("poker-3")
        state = worth(floor, "linked", SEED + 2 * RISE - value)
        assert state["awards"][0]["value"] == value, "it is final"


def test_an_award_is_disputed_upheld_and_withdrawn(floor: Floor) -> None:
    award = payable(floor)
    number, value = award["award"], award["value"]
    assert not floor.order("j-croupier", "award.dispute", award=number)["ok"]
    assert floor.order("m-lasa", "award.dispute", award=number)["ok"]
    state = floor.until("disputed", lambda state: state["awards"][0]["status"] == "disputed")
    assert {"award.uphold", "award.withdraw"} <= set(state.get("asks", ()))
    assert not floor.two("award.pay", award=number, amount=value)["ok"]
    assert floor.two("award.uphold", award=number)["ok"]
    floor.until("upheld", lambda state: state["awards"][0]["status"] == "payable")
    assert not floor.two("award.withdraw", award=number)["ok"], "nobody objects"
    assert floor.order("m-lasa", "award.dispute", award=number)["ok"]
    assert floor.two("award.withdraw", award=number)["ok"]
    state = floor.until("withdrawn", lambda state: not state["awards"])
    assert state["last"][0]["status"] == "withdrawn"
    assert state["value"] == SEED + RISE
    assert accounts(floor.controller.ledger).get(("paid", str(number))) is None


def test_money_goes_to_another_jackpot(make: Make) -> None:
    floor = two_jackpots(make)
    worth(floor, "other", SEED)
    for wrong in ({"to": "linked", "amount": 5}, {"to": "none", "amount": 5}):
        assert not floor.two("pool.transfer", **wrong)["ok"]
    assert "the meter holds" in floor.two("pool.transfer", to="other", amount=SEED + 1)["error"]
    assert floor.two("pool.transfer", to="other", amount=1000)["ok"]
    worth(floor, "linked", SEED - 1000)
    worth(floor, "other", SEED + 1000)
    held = accounts(floor.controller.ledger)
    assert (held["transfer", "other"], held["transfer", "linked"]) == (1000, -1000)
    floor.dealer.coin("poker-1")
    worth(floor, "linked", SEED - 1000 + RISE)


def test_a_jackpot_ends_and_all_it_holds_goes_to_another(make: Make) -> None:
    floor = two_jackpots(make)
    number = payable(floor)["award"]
    assert "not done" in floor.two("pool.close", to="other")["error"]
    value = (SEED + RISE) // 10
    assert floor.two("award.pay", award=number, amount=value)["ok"]
    assert floor.two("pool.close", to="other")["ok"]
    state = worth(floor, "linked", 0)
    assert (state["in_play"], state["why"]) == (False, "closed")
    worth(floor, "other", 2 * SEED + RISE - value)
    floor.dealer.coin("poker-2", round=2)
    assert "close it again" in floor.alert("poker-2-closed")["detail"]
    worth(floor, "linked", RISE)
    assert floor.two("pool.close", to="other")["ok"]
    worth(floor, "linked", 0)
    worth(floor, "other", 2 * SEED + 2 * RISE - value)
    floor.controller.stop()
    floor.controller.start()
    floor.until("still closed", lambda state: state["why"] == "closed")
