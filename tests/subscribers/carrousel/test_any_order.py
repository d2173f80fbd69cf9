"""The ledger's balances do not depend on the order in which tables' events arrive: they equal what
the law gives for the events sorted by time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from common.contract.jackpot import (
    AwardDecide,
    AwardDispute,
    AwardPay,
    AwardUphold,
    AwardWithdraw,
    ClaimSettle,
    HitFix,
    HitsOrder,
    JackpotOrder,
    MeterAdjust,
    PoolClose,
    PoolTransfer,
)
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.facts import (
    CaughtUp,
    Fact,
    NotWon,
    PlayStaked,
    RoundVoided,
    ServedBy,
    Staked,
    Won,
)
from subscribers.carrousel.ledger_state import OrderRefusedError
from tests.conftest import LONG
from tests.subscribers.carrousel.books import BY, Books, at, terms
from tests.subscribers.carrousel.naive import Evening, Event

EVENINGS = 40 if LONG in os.environ else 12
"""Drawn for each kind of jackpot."""

CARDS = ("9s", "8s", "7s", "6s", "5s")
SHARES: list[list[tuple[int, int]]] = [
    [(1, 1)],
    [(1, 2), (1, 2)],
    [(1, 3), (1, 3), (1, 3)],
    [(1, 10)],
    [(1, 20)],
    [(1, 10), (9, 200)],
    [(1, 10), (1, 10)],
    [(1, 10), (9, 100), (81, 2000)],
    [(1, 20), (19, 200), (171, 20000)],
]
KINDS: list[dict[str, Any]] = [
    terms("BAL05"),
    terms("ARA02"),
    terms("ARA02", seed=5_000, remainder="first"),
    terms("EUS96", stake=101, seed=1_001, percentage=(37, 100), reserve=(1, 7)),
    terms("EUS96", stake=101, seed=500, percentage=(4, 5), reserve=(1, 3), limit=900),
    terms("EUS96", stake=100, seed=300, entry="plays", remainder="first"),
    terms("EUS96", stake=50, seed=100_000, kind="fixed", boxes=6),
    terms(
        "EUS96",
        stake=50,
        seed=7,
        least=100_000,
        games=("blackjack-triple",),
        reserve=(1, 2),
        limit=400,
    ),
]


class Table:
    """Events of one table in an evening."""

    def __init__(self, name: str, kind: dict[str, Any], chance: Random) -> None:
        self.name, self.kind, self.chance = name, kind, chance
        self.events: list[Event] = []
        self.seq = 0
        self.time = chance.randrange(1, 5)
        for number in range(1, chance.randrange(2, 7)):
            self.play(number)

    def cause(self, *, later: bool = True) -> Cause:
        if later:
            self.time += self.chance.randrange(1, 40)
        self.seq += 1
        return Cause(time=at(self.time), table=self.name, boot="b1", seq=self.seq)

    def play(self, number: int) -> None:
        of: dict[str, Any] = {"session": 1, "round": number}
        boxes: dict[str, int] = {}
        for _ in range(self.chance.randrange(6)):
            box = f"box:{self.chance.randrange(1, 4)}"
            amount = self.kind.get("stake") or boxes.get(box, 0) + self.chance.randrange(1, 300)
            if box in boxes and self.chance.random() < 0.2:
                amount = 0 if self.kind.get("stake") else self.chance.randrange(boxes[box])
            boxes[box] = amount
            self.events.append(Staked(cause=self.cause(), box=box, amount=amount, coin=True, **of))
            boxes = {name: each for name, each in boxes.items() if each}
        if not boxes or self.chance.random() < 0.15:
            self.events.append(RoundVoided(cause=self.cause(), **of))
            return
        cause, won = self.cause(), self.hands(boxes)
        for box, share in won:
            self.events.append(Won(cause=cause, box=box, share=share, **self.hand(share), **of))
            cause = self.cause(later=False)
        told = sum(boxes.values()) + (77 if self.chance.random() < 0.1 else 0)
        self.events.append(PlayStaked(cause=cause, amount=told, slots=told, **of))
        if self.chance.random() < 0.4:
            self.correct(won, boxes, of)
        elif self.chance.random() < 0.1:
            self.events.append(RoundVoided(cause=self.cause(), **of))

    def hands(self, boxes: dict[str, int]) -> list[tuple[str, tuple[int, int]]]:
        if self.chance.random() < 0.45:
            return []
        shares = self.chance.choice([each for each in SHARES if len(each) <= len(boxes)])
        return list(zip(self.chance.sample(sorted(boxes), len(shares)), shares, strict=True))

    def hand(self, share: tuple[int, int]) -> dict[str, Any]:
        return {"hand": f"hand_{share[0]}_{share[1]}", "cards": CARDS}

    def correct(
        self,
        won: list[tuple[str, tuple[int, int]]],
        boxes: dict[str, int],
        of: dict[str, Any],
    ) -> None:
        cause, after = self.cause(), self.hands(boxes)
        for box, share in [each for each in won if each not in after]:
            self.events.append(NotWon(cause=cause, box=box, share=share, **self.hand(share), **of))
            cause = self.cause(later=False)
        for box, share in [each for each in after if each not in won]:
            self.events.append(Won(cause=cause, box=box, share=share, **self.hand(share), **of))
            cause = self.cause(later=False)


def told(table: Table, chance: Random) -> list[Fact]:
    """Return a table's messages, with recall replies in between and one at the end."""
    facts: list[Fact] = []
    for event in table.events:
        facts.append(event)
        if chance.random() < 0.3:
            facts.append(CaughtUp(table=table.name, time=event.cause.time))
    return [*facts, CaughtUp(table=table.name, time=at(100_000))]


def interleaved(streams: list[list[Fact]], chance: Random) -> list[Fact]:
    """Return all messages, each stream in its own order: sometimes mixed, sometimes one long after
    the other.
    """
    left = [list(each) for each in streams]
    found: list[Fact] = []
    while any(left):
        stream = chance.choice([each for each in left if each])
        count = chance.choice((1, 1, 2, 5, 100))
        found += stream[:count]
        del stream[:count]
    return found


def booked(kind: dict[str, Any], facts: list[Fact]) -> tuple[Counter[Any], dict[Any, int]]:
    """Return the balances by account and part, and the value of each award."""
    books = Books(kind)
    for fact in facts:
        books.take(fact)
    named = {
        str(award.number): (hit.table, hit.session, hit.round, award.box, award.hand, award.share)
        for hit in books.state.hits
        for award in hit.awards
    }
    worth: dict[Any, int] = {}
    for hit in books.state.hits:
        for award in hit.awards:
            if not award.returned:
                assert award.value is not None
                worth[named[str(award.number)]] = award.value
    sums: Counter[Any] = Counter()
    for made in books.transactions:
        for posting in made.postings:
            part = named[posting.part] if posting.account == "award" else posting.part
            sums[posting.account, part] += posting.amount
    assert all(award.status in ("payable", "paid", "withdrawn") for award in books.awards())
    assert sum(sums.values()) == 0
    return Counter({name: amount for name, amount in sums.items() if amount}), worth


@pytest.mark.parametrize("kind", KINDS, ids=range(len(KINDS)))
@settings(max_examples=EVENINGS)
@given(st.integers(0, 2**64))
def test_the_ledger_is_the_same_in_any_order_of_the_tables_and_what_the_law_gives(
    kind: dict[str, Any], number: int
) -> None:
    chance = Random(number)
    names = ("a", "b", "c")[: chance.randrange(1, 4)]
    given_ = {**kind, "authorisation": {**kind["authorisation"], "tables": names}}
    tables = [Table(name, kind, chance) for name in names]
    streams = [told(table, chance) for table in tables]
    law = Evening(given_, [event for table in tables for event in table.events])
    first = None
    for _ in range(4):
        sums, worth = booked(given_, interleaved(streams, chance))
        assert worth == law.worth
        by_account: Counter[str] = Counter()
        for (account, _part), amount in sums.items():
            by_account[account] += amount
        assert {name: each for name, each in by_account.items() if each} == {
            name: each for name, each in law.sums.items() if each
        }
        first = first or sums
        assert sums == first


def test_the_same_facts_post_the_same_to_the_byte() -> None:
    chance = Random(7)
    tables = [Table(name, KINDS[4], chance) for name in ("a", "b")]
    facts = interleaved([told(table, chance) for table in tables], chance)
    one, other = Books(KINDS[4]), Books(KINDS[4])
    for fact in facts:
        one.take(fact)
        other.take(fact)
    assert one.transactions == other.transactions
    assert len(one.transactions) > 20


ORDERS: list[Callable[[int, int, int, int], JackpotOrder]] = [
    lambda number, amount, paid, _: AwardPay(award=number, amount=amount, paid=paid, **BY),
    lambda number, amount, paid, _: AwardPay(award=number, amount=amount, paid=paid, **BY),
    lambda number, amount, _p, _g: AwardDecide(award=number, amount=amount, **BY),
    lambda number, _a, _p, _g: AwardDispute(award=number, **BY),
    lambda number, _a, _p, _g: AwardUphold(award=number, **BY),
    lambda number, _a, _p, _g: AwardWithdraw(award=number, **BY),
    lambda number, _a, _p, _g: ClaimSettle(award=number, how="recovered", **BY),
    lambda number, _a, _p, _g: ClaimSettle(award=number, how="house", **BY),
    lambda number, _a, _p, _g: ClaimSettle(award=number, how="stands", **BY),
    lambda number, _a, _p, _g: HitFix(hit=number, **BY),
    lambda number, _a, _p, _g: HitsOrder(hits=(number + 1, number), **BY),
    lambda number, _a, _p, _g: HitsOrder(hits=(number, number + 1), **BY),
    lambda _n, amount, _p, generation: MeterAdjust(
        generation=generation, amount=-amount, by="M. Lasa", role="director", note="counted"
    ),
    lambda _n, amount, _p, generation: PoolTransfer(
        generation=generation, to="sur", amount=amount, **BY
    ),
    lambda _n, _a, _p, generation: PoolClose(generation=generation, to=None, **BY),
]


@pytest.mark.parametrize("kind", KINDS, ids=range(len(KINDS)))
@settings(max_examples=EVENINGS)
@given(st.integers(0, 2**64))
def test_under_any_orders_the_accounts_balance_and_nothing_is_paid_twice(
    kind: dict[str, Any], number: int
) -> None:
    chance = Random(number)
    names = ("a", "b", "c")
    given_ = {**kind, "authorisation": {**kind["authorisation"], "tables": names}}
    books = Books(given_, nodes=False)
    for name in names:
        books.take(ServedBy(table=name, node=f"node-{name}", clock_bound=chance.choice((0.0, 9.0))))
    streams = [told(Table(name, kind, chance), chance) for name in names]
    receipts: list[int] = []
    for fact in interleaved(streams, chance):
        if isinstance(fact, Won) and chance.random() < 0.2:
            fact = replace(fact, share=None)
        books.take(fact)
        for _ in range(chance.randrange(6)):
            award_number = chance.randint(1, books.state.award_count + 1)
            paid_before = {each.award: each.paid for each in books.awards()}
            order = chance.choice(ORDERS[-3:] if chance.random() < 0.02 else ORDERS[:-3])(
                award_number,
                chance.choice((1, 1, 5, 20, 200)),
                paid_before.get(award_number, 0),
                books.state.generation,
            )
            before = books.state, len(books.transactions)
            try:
                receipt = books.order(2_000, order).receipt
            except OrderRefusedError:
                assert (books.state, len(books.transactions)) == before
            else:
                receipts += [receipt] if receipt is not None else []
                assert (receipt is not None) == isinstance(order, AwardPay)
        for award in books.awards():
            locked = books.balance("award", str(award.award))
            assert 0 <= award.paid <= max(award.value or 0, 0)
            assert locked == (0 if award.status == "withdrawn" else (award.value or 0) - award.paid)
    assert receipts == list(range(1, len(receipts) + 1))
    for made in books.transactions:
        assert sum(posting.amount for posting in made.postings) == 0
    paid = sum(
        posting.amount
        for made in books.transactions
        if made.what == "payment"
        for posting in made.postings
        if posting.account == "paid"
    )
    assert paid >= books.balance("paid")
