"""Orders of persons: who may give them, how they are refused, and where the money goes."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from common.contract.command_fields import Role, Signature
from common.contract.jackpot import (
    JACKPOT_ORDERS,
    AwardDecide,
    AwardDispute,
    AwardPay,
    AwardUphold,
    AwardWithdraw,
    ClaimSettle,
    GapSettle,
    JackpotResume,
    JackpotSuspend,
    MeterAdjust,
    PoolClose,
    PoolTransfer,
)
from common.contract.jackpot_authority import ORDERS
from subscribers.carrousel.facts import OrderGiven, PlayStatus, TransferReceived
from subscribers.carrousel.jackpot import apply_fact, initial_state
from subscribers.carrousel.ledger_state import OrderRefusedError
from tests.subscribers.carrousel.books import BY, DIRECTOR, HEAD, INSPECTOR, Books, at, terms


def hit(share: tuple[int, int] | None = (1, 10), **more: Any) -> Books:
    """Win a hit of a meter of 12,000; it is final unless persons decide its value."""
    books = Books(terms("ARA02", seed=11_000, **more))
    books.stake("a", 10, 1_000)
    books.win("a", 20, share)
    books.end("a", 20, 1_000)
    books.hear(60)
    return books


# Who may


def test_every_order_names_its_roles() -> None:
    assert set(ORDERS) == set(JACKPOT_ORDERS)
    for order, may in ORDERS.items():
        assert may.two == ("It needs two persons" in " ".join((order.__doc__ or "").split()))
        assert set(may.among) <= set(may.roles) <= set(get_args(Role))
        assert "croupier" not in may.roles
        assert "technician" not in may.roles


def test_a_table_head_and_an_inspector_pay_and_two_table_heads_do_not() -> None:
    books = hit()
    other = Signature(id="h2", name="P. Rius", role="table_head", token="")
    with pytest.raises(OrderRefusedError, match=r"one of who signs award\.pay must be: inspector"):
        books.order(70, AwardPay(paid=0, award=1, amount=1, **BY), HEAD, other)
    assert books.order(70, AwardPay(paid=0, award=1, amount=1, **BY), HEAD, INSPECTOR).receipt == 1


@pytest.mark.parametrize(
    ("signed", "words"),
    [
        ((), "takes 2 persons, by signature; signed by: –"),
        ((DIRECTOR,), "takes 2 persons, by signature; signed by: M. Lasa"),
        ((DIRECTOR, DIRECTOR), "takes 2 persons"),
        ((DIRECTOR, HEAD), "is not for a table_head; it is for: inspector, director"),
        (
            (INSPECTOR, Signature(id="i2", name="O", role="inspector", token="")),
            "must be: director",
        ),
    ],
)
def test_money_is_moved_by_two_persons_one_of_whom_is_the_director(
    signed: tuple[Signature, ...], words: str
) -> None:
    books = hit()
    order = PoolTransfer(generation=1, to="sur", amount=1, **BY)
    with pytest.raises(OrderRefusedError, match=words):
        apply_fact(books.state, OrderGiven(time=at(70), order=order, signed=signed), books.held)


# Payments


def test_an_award_is_paid_in_parts_each_with_its_receipt_and_never_more() -> None:
    books = hit()
    assert books.order(70, AwardPay(paid=0, award=1, amount=1_000, **BY)).receipt == 1
    with pytest.raises(OrderRefusedError, match="200 is due of award 1, and not 201"):
        books.order(71, AwardPay(paid=1_000, award=1, amount=201, **BY))
    assert books.values() == [("a/box:1", 1_200, "payable")]
    assert books.order(72, AwardPay(paid=1_000, award=1, amount=200, **BY)).receipt == 2
    assert books.values() == [("a/box:1", 1_200, "paid")]
    with pytest.raises(OrderRefusedError, match="0 is due of award 1"):
        books.order(73, AwardPay(paid=1_200, award=1, amount=1, **BY))
    assert (books.balance("award"), books.balance("paid", "1")) == (0, 1_200)
    with pytest.raises(OrderRefusedError, match="there is no award 2"):
        books.order(74, AwardPay(paid=0, award=2, amount=1, **BY))


def test_a_payment_ordered_twice_is_made_once() -> None:
    books = hit()
    order = AwardPay(award=1, amount=500, paid=0, **BY)
    assert books.order(70, order).receipt == 1
    with pytest.raises(OrderRefusedError, match="500 was paid of award 1 by now, and not 0"):
        books.order(71, order)
    assert books.balance("paid", "1") == 500
    assert books.order(72, AwardPay(award=1, amount=500, paid=500, **BY)).receipt == 2


def test_of_a_disputed_award_nothing_is_paid_until_it_is_upheld() -> None:
    books = hit()
    books.order(70, AwardDispute(award=1, **BY), HEAD)
    assert books.values()[0][2] == "disputed"
    assert books.told().asks == ("award.uphold", "award.withdraw")
    with pytest.raises(OrderRefusedError, match="award 1 is disputed"):
        books.order(71, AwardPay(paid=0, award=1, amount=1, **BY))
    with pytest.raises(OrderRefusedError, match="award 1 is disputed already"):
        books.order(71, AwardDispute(award=1, **BY), HEAD)
    books.order(72, AwardUphold(award=1, **BY))
    books.order(73, AwardPay(paid=0, award=1, amount=1_200, **BY))
    with pytest.raises(OrderRefusedError, match="nothing is due of award 1 any more"):
        books.order(74, AwardDispute(award=1, **BY), HEAD)


def test_a_disputed_award_is_withdrawn_to_the_meter_unless_something_was_paid() -> None:
    books = hit()
    with pytest.raises(OrderRefusedError, match="nobody disputes award 1"):
        books.order(70, AwardWithdraw(award=1, **BY))
    books.order(71, AwardDispute(award=1, **BY), HEAD)
    books.order(72, AwardWithdraw(award=1, **BY))
    assert (books.meter, books.values()[0][2]) == (12_000, "withdrawn")
    with pytest.raises(OrderRefusedError, match="award 1 was withdrawn"):
        books.order(73, AwardPay(paid=0, award=1, amount=1, **BY))
    paid = hit()
    paid.order(70, AwardPay(paid=0, award=1, amount=1, **BY))
    paid.order(71, AwardDispute(award=1, **BY), HEAD)
    with pytest.raises(OrderRefusedError, match="1 of award 1 was paid"):
        paid.order(72, AwardWithdraw(award=1, **BY))


@pytest.mark.parametrize(
    ("how", "meter", "paid", "house", "status"),
    [
        ("recovered", 12_000, 0, 0, "withdrawn"),
        ("house", 12_000, 500, -500, "withdrawn"),
        ("stands", 10_800, 500, 0, "payable"),
    ],
)
def test_how_a_claim_ends(how: str, meter: int, paid: int, house: int, status: str) -> None:
    books = hit()
    books.order(70, AwardPay(paid=0, award=1, amount=500, **BY))
    with pytest.raises(OrderRefusedError, match="there is no claim about award 1"):
        books.order(71, ClaimSettle(award=1, how="stands", **BY))
    books.unwin("a", 80, (1, 10))
    with pytest.raises(OrderRefusedError, match=r"settle it with claim\.settle"):
        books.order(81, AwardPay(paid=500, award=1, amount=1, **BY))
    books.order(82, ClaimSettle(award=1, how=how, **BY))  # type: ignore[arg-type]
    assert (books.meter, books.balance("paid"), books.balance("house")) == (meter, paid, house)
    assert books.values()[0][2] == status
    assert books.balance("award") == (700 if how == "stands" else 0)


def test_a_royal_that_was_paid_and_recovered_removes_the_new_seed() -> None:
    books = hit((1, 1))
    books.order(70, AwardPay(paid=0, award=1, amount=12_000, **BY))
    books.stake("b", 75, 400)
    books.unwin("a", 80, (1, 1))
    assert books.meter == 11_400
    books.order(82, ClaimSettle(award=1, how="recovered", **BY))
    assert (books.meter, books.balance("seed"), books.balance("paid")) == (12_400, -11_000, 0)


def test_persons_decide_where_the_decree_is_silent() -> None:
    books = hit(None)
    assert books.values() == [("a/box:1", None, "pending")]
    assert (books.told().awards[0].why, books.told().asks) == ("amount", ("award.decide",))
    with pytest.raises(
        OrderRefusedError, match="12000 is left of what the meter held, and not 12001"
    ):
        books.order(70, AwardDecide(award=1, amount=12_001, **BY))
    with pytest.raises(OrderRefusedError, match="an award is worth nothing or more"):
        books.order(70, AwardDecide(award=1, amount=-1, **BY))
    books.order(71, AwardDecide(award=1, amount=3_000, **BY))
    assert books.values() == [("a/box:1", 3_000, "payable")]
    assert books.meter == 9_000
    with pytest.raises(OrderRefusedError, match="award 1 is decided"):
        books.order(72, AwardDecide(award=1, amount=1, **BY))


def test_persons_give_several_royals_all_of_it_and_a_new_period_begins() -> None:
    books = Books(terms("BAL05", seed=1_000, tables=("a",)))
    for box in (1, 2):
        books.stake("a", 10 + box, 500, box)
    for box in (1, 2):
        books.win("a", 20, None, box, "royal_flush")
    books.end("a", 20, 1_000)
    books.order(70, AwardDecide(award=1, amount=950, **BY))
    with pytest.raises(OrderRefusedError, match="950 is left of what the meter held, and not 951"):
        books.order(71, AwardDecide(award=2, amount=951, **BY))
    books.order(72, AwardDecide(award=2, amount=950, **BY))
    assert [each[2] for each in books.values()] == ["payable", "payable"]
    assert (books.meter, books.balance("seed")) == (1_000, -2_000)


def test_an_award_decided_at_nothing_is_done() -> None:
    books = hit(None)
    books.order(70, AwardDecide(award=1, amount=0, **BY))
    assert books.values() == [("a/box:1", 0, "paid")]
    assert books.meter == 12_000


def test_the_decree_is_not_overruled() -> None:
    with pytest.raises(OrderRefusedError, match="the decree says what award 1 takes"):
        hit().order(70, AwardDecide(award=1, amount=1, **BY))


# Gaps, adjustments, transfers, the end


def test_what_persons_can_prove_of_a_gap_is_staked() -> None:
    books = Books(terms("BAL05"))
    with pytest.raises(OrderRefusedError, match="nothing is missing of a"):
        books.order(10, GapSettle(table="a", gap=at(10), amount=100, **BY))
    books.take(PlayStatus(time=at(10), table="a", why="gap"))
    assert "gap.settle" in books.told().asks
    books.order(20, GapSettle(table="a", gap=at(10), amount=1_000, **BY))
    assert (books.balance("meter", "a"), books.balance("house", "a")) == (900, 100)
    assert books.balance("stakes", "a") == -1_000
    assert books.told().asks == ()
    assert books.told().tables["a"].why == "unheard"


def test_the_meter_is_put_right_with_a_reason_and_never_below_nothing() -> None:
    books = Books(terms("BAL05"))
    books.stake("a", 10, 1_000)
    for order, words in (
        (MeterAdjust(generation=1, amount=5, **BY), "say in note why"),
        (MeterAdjust(generation=1, amount=5, note="  ", **BY), "say in note why"),
        (MeterAdjust(generation=1, amount=0, note="?", **BY), "an adjustment of 0 changes nothing"),
        (
            MeterAdjust(generation=1, amount=-901, note="?", **BY),
            "the meter holds 900, and not 901",
        ),
    ):
        with pytest.raises(OrderRefusedError, match=words):
            books.order(20, order)
    books.order(20, MeterAdjust(generation=1, amount=-900, note="counted", **BY))
    assert (books.meter, books.balance("adjusted")) == (0, 900)
    books.order(21, MeterAdjust(generation=2, amount=7, note="counted", **BY))
    assert (books.meter, books.balance("adjusted")) == (7, 893)


def receiving(books: Books, sent: TransferReceived) -> Books:
    """Create another jackpot that receives transfers of this one."""
    other = Books({**terms("BAL05", tables=("c",)), "jackpot": "norte"})
    other.take(sent)
    return other


def test_a_transfer_leaves_one_meter_and_comes_into_the_other() -> None:
    books = Books(terms("BAL05"))
    books.stake("a", 10, 1_000)
    with pytest.raises(OrderRefusedError, match="the meter holds 900, and not 901"):
        books.order(20, PoolTransfer(generation=1, to="sur", amount=901, **BY))
    with pytest.raises(OrderRefusedError, match="to itself"):
        books.order(20, PoolTransfer(generation=1, to="norte", amount=1, **BY))
    (sent,) = books.order(20, PoolTransfer(generation=1, to="sur", amount=600, **BY)).onward
    assert (sent.jackpot, sent.of, sent.amount, sent.currency) == ("sur", "norte", 600, "EUR")
    assert (books.meter, books.balance("transfer", "sur")) == (300, 600)
    other = receiving(books, sent)
    assert (other.meter, other.balance("transfer", "norte")) == (600, -600)


def test_money_waits_for_a_hit_and_for_awards() -> None:
    books = Books(terms("ARA02"))
    books.stake("a", 10, 1_000)
    books.win("a", 20, (1, 10))
    for order in (
        PoolTransfer(generation=1, to="sur", amount=1, **BY),
        PoolClose(generation=1, to="sur", **BY),
    ):
        with pytest.raises(OrderRefusedError, match="the value of hit 1 is not final"):
            books.order(30, order)
    books.end("a", 20, 1_000)
    books.hear(60)
    with pytest.raises(OrderRefusedError, match="awards 1 are not done: pay or settle them"):
        books.order(70, PoolClose(generation=1, to="sur", **BY))


@pytest.mark.parametrize("to", ["sur", None])
def test_a_pool_ends_with_all_its_money_accounted_for(to: str | None) -> None:
    books = Books(terms("EUS96", stake=100, reserve=(1, 4), seed=500, limit=520))
    books.stake("a", 10)
    assert (books.meter, books.reserve) == (520, 60)
    sent = books.order(20, PoolClose(generation=1, to=to, **BY)).onward
    assert (books.meter, books.reserve) == (0, 0)
    assert [reading.amount for reading in sent] == ([] if to is None else [580])
    where = ("house", None) if to is None else ("transfer", to)
    assert books.balance(*where) == (600 if to is None else 580)
    assert (books.told().in_play, books.told().why) == (False, "closed")
    # a coin inserted before and received after is not lost
    books.stake("b", 15)
    assert (books.meter, books.reserve) == (60, 20)
    assert [notice.what for notice in books.notices] == ["closed"]
    books.order(30, PoolClose(generation=2, to=to, **BY))
    assert (books.meter, books.reserve) == (0, 0)
    with pytest.raises(OrderRefusedError, match="it is closed, and holds nothing"):
        books.order(31, PoolClose(generation=3, to=to, **BY))


@pytest.mark.parametrize(
    ("given", "currency", "words"),
    [
        (None, "EUR", "it has no authorisation"),
        (terms("BAL05"), "USD", "is in EUR, and the money is in USD"),
        (terms("EUS96", stake=1, seed=2_000, kind="fixed", boxes=6), "EUR", "it is fixed"),
    ],
)
def test_a_jackpot_that_cannot_receive_money_refuses_it(
    given: dict[str, object] | None, currency: str, words: str
) -> None:
    state = initial_state("norte") if given is None else Books(given).state
    sent = TransferReceived(time=at(1), jackpot="norte", of="sur", currency=currency, amount=5)
    with pytest.raises(OrderRefusedError, match=words):
        apply_fact(state, sent, lambda _account, _before: 0)


def test_one_person_suspends_it_and_it_is_resumed() -> None:
    books = Books()
    books.order(10, JackpotSuspend(generation=1, **BY), HEAD)
    assert (books.told().in_play, books.told().why) == (False, "suspended")
    with pytest.raises(OrderRefusedError, match="it is suspended already"):
        books.order(11, JackpotSuspend(generation=2, **BY), HEAD)
    with pytest.raises(OrderRefusedError, match=r"jackpot\.resume is not for a table_head"):
        books.order(12, JackpotResume(generation=2, **BY), HEAD)
    books.order(13, JackpotResume(generation=2, **BY), two=False)
    assert (books.told().in_play, books.told().why) == (True, None)
    with pytest.raises(OrderRefusedError, match="it is not suspended"):
        books.order(14, JackpotResume(generation=3, **BY), two=False)
