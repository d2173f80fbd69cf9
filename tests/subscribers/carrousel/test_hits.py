"""Hits over several tables: which was first, which tables are awaited, and the effect of
corrections.
"""

from __future__ import annotations

import msgspec
import pytest

from common.contract.jackpot import AwardPay, HitFix, HitsOrder
from controller.games.dealt.state import HISTORY_ROUNDS
from subscribers.carrousel.facts import OrderGiven, PlayStatus, ServedBy
from subscribers.carrousel.ledger_state import OrderRefusedError
from subscribers.carrousel.stakes import REMEMBERED_ROUNDS
from subscribers.carrousel.terms import Terms, find_flaws, find_flaws_in_configuration
from tests.subscribers.carrousel.books import BY, DIRECTOR, INSPECTOR, Books, at, terms
from tests.support.for_each import for_each


def apart(*, bound: float = 1.0) -> Books:
    """Put two tables on two nodes, whose clocks are true within ``bound`` seconds."""
    books = Books(terms("ARA02", seed=10_000))
    for table in ("a", "b"):
        books.take(ServedBy(table=table, node=f"node-{table}", clock_bound=bound))
        books.stake(table, 5 if table == "a" else 6, 1_000)
    return books


def test_a_second_hit_of_a_period_wins_of_the_rest_of_the_first() -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.win("b", 30, (1, 10))
    books.end("b", 30, 1_000)
    # b has reported everything until 30, so that the hit at 20 is final
    assert books.values() == [("a/box:1", 1_200, "payable"), ("b/box:1", 1_080, "pending")]
    books.hear(60)
    assert [each[2] for each in books.values()] == ["payable", "payable"]
    assert books.meter == 12_000 - 1_200 - 1_080


def test_an_earlier_hit_received_later_reduces_the_value_of_the_later_one() -> None:
    books = apart()
    books.win("b", 30, (1, 10))
    books.end("b", 30, 1_000)
    assert books.values() == [("b/box:1", 1_200, "pending")]
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    assert books.values() == [("b/box:1", 1_080, "pending"), ("a/box:1", 1_200, "payable")]
    # nothing was rewritten: the difference was posted
    assert [
        posting.amount
        for made in books.transactions
        for posting in made.postings
        if (posting.account, posting.part) == ("award", "1")
    ] == [1_200, -120]
    assert books.meter == 12_000 - 1_200 - 1_080


def test_a_coin_before_a_hit_that_is_received_later_counts_for_it() -> None:
    books = apart()
    books.win("a", 20, (1, 1), hand="royal_flush")
    books.end("a", 20, 1_000)
    assert books.values() == [("a/box:1", 12_000, "pending")]
    books.stake("b", 19, 1_500)
    books.stake("b", 21, 1_700)
    assert books.values() == [("a/box:1", 12_500, "pending")]
    assert books.meter == 10_200
    books.hear(22, "b")  # its clock may be one second off, and a's too: after 22 is not enough
    assert books.values() == [("a/box:1", 12_500, "pending")]
    assert books.told().awards[0].why == "tables"
    books.hear(22.000001, "b")
    assert books.values() == [("a/box:1", 12_500, "payable")]


def test_a_hit_waits_until_its_own_play_has_ended() -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.hear(60)
    assert books.values()[0][2] == "pending"
    books.end("a", 20, 1_000)
    assert books.values()[0][2] == "payable"


def test_tables_of_one_node_need_no_bound() -> None:
    books = Books(terms("ARA02"))
    books.stake("a", 10, 1_000)
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.hear(20, "b")
    assert books.values()[0][2] == "pending"
    books.stake("b", 20.000001, 100)
    assert books.values() == [("a/box:1", 100, "payable")]


@pytest.mark.parametrize("why", ["gap", "foreign", "not_authorised"])
def test_an_unreachable_table_is_not_waited_for(why: str) -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.take(PlayStatus(time=at(30), table="b", why="unheard"))
    assert books.values()[0][2] == "pending"
    books.take(PlayStatus(time=at(31), table="b", why=why))  # type: ignore[arg-type]
    assert books.values()[0][2] == "payable"


@pytest.mark.parametrize(("seconds", "asked"), [(22.0, True), (22.000001, False)])
def test_hits_closer_than_the_clocks_are_true_are_a_question(
    seconds: float, *, asked: bool
) -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.win("b", seconds, (1, 10))
    books.end("b", seconds, 1_000)
    books.hear(60)
    assert ("hits.order" in books.told().asks) == asked
    assert [award.why for award in books.awards()] == (["order"] * 2 if asked else [None] * 2)
    if not asked:
        return
    with pytest.raises(OrderRefusedError, match="the hits whose order is not known are: 1, 2"):
        books.order(70, HitsOrder(hits=(1, 3), **BY))
    with pytest.raises(OrderRefusedError, match="the value of award 1 is not final yet"):
        books.order(70, AwardPay(paid=0, award=1, amount=1, **BY))
    books.order(70, HitsOrder(hits=(2, 1), **BY))
    assert books.values() == [("a/box:1", 1_080, "payable"), ("b/box:1", 1_200, "payable")]
    assert books.meter == 12_000 - 1_200 - 1_080
    assert books.told().asks == ("award.pay",)


@for_each("unproved", ["a", "b"])
@for_each(("bound", "asked"), [(0.0, False), (9.0, True), (8.9, False), (None, True)])
def test_a_tables_own_time_bound_is_used(
    unproved: str, bound: float | None, *, asked: bool
) -> None:
    """Both clocks should be true within a second, and one of them is not: 10 seconds apart."""
    books = apart()
    for table, seconds in (("a", 20), ("b", 30)):
        books.win(table, seconds, (1, 10), bound=bound if table == unproved else 0.0)
        books.end(table, seconds, 1_000)
    books.hear(600)
    assert ("hits.order" in books.told().asks) == asked


@pytest.mark.parametrize(("until", "why"), [(26.0, "tables"), (26.000001, None)])
def test_a_hit_whose_time_may_be_wrong_waits_for_that_long(until: float, why: str | None) -> None:
    books = apart()
    books.win("a", 20, (1, 10), bound=5.0)
    books.end("a", 20, 1_000)
    books.hear(until, "b")
    assert [award.why for award in books.awards()] == [why]


def test_a_hit_with_an_unknown_time_waits_until_persons_fix_it() -> None:
    books = apart()
    books.win("a", 20, (1, 10), bound=None)
    books.end("a", 20, 1_000)
    books.hear(6_000)
    assert [award.why for award in books.awards()] == ["tables"]
    books.order(6_001, HitFix(hit=1, **BY))
    assert books.values() == [("a/box:1", 1_200, "payable")]


def test_a_wholly_revoked_hit_leaves_no_question() -> None:
    """The withdrawn hit is no longer shown. The other one keeps its position: after it, of 90 % of
    the meter.
    """
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.win("b", 21, (1, 10))
    books.end("b", 21, 1_000)
    books.hear(60)
    assert "hits.order" in books.told().asks
    books.unwin("a", 61, (1, 10))
    assert books.told().asks == ("award.pay",)
    assert books.values() == [("a/box:1", 1_200, "withdrawn"), ("b/box:1", 1_080, "payable")]
    assert books.meter == 12_000 - 1_080


def test_two_hits_of_one_table_are_in_its_own_order_even_if_its_clock_was_put_back() -> None:
    books = Books(terms("ARA02", seed=10_000, tables=("a",)))
    books.stake("a", 10, 1_000)
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.stake("a", 12, 1_000, round=2)
    books.win("a", 13, (1, 10), round=2)
    books.end("a", 13, 1_000, round=2)
    # 10 % of 11,000; then 10 % of 9,900 + 1,000
    assert [each[1] for each in books.values()] == [1_100, 1_090]


def test_persons_make_a_value_final_and_later_arrivals_count_from_there() -> None:
    books = apart()
    books.win("a", 20, (1, 1), hand="royal_flush")
    books.end("a", 20, 1_000)
    assert books.told().asks == ("hit.fix",)
    books.order(50, HitFix(hit=1, **BY))
    assert books.values() == [("a/box:1", 12_000, "payable")]
    books.stake("b", 19, 1_500)
    assert books.values() == [("a/box:1", 12_000, "payable")]
    assert books.meter == 10_500
    books.win("b", 19.5, (1, 10))
    books.end("b", 19.5, 1_500)
    books.hear(60)
    assert books.values()[1] == ("b/box:1", 1_050, "payable")
    with pytest.raises(OrderRefusedError, match="the value of hit 1 is final"):
        books.order(70, HitFix(hit=1, **BY))


@pytest.mark.parametrize(("with_withdrawn", "status"), [(True, "payable"), (False, "pending")])
def test_a_withdrawn_hit_that_waits_keeps_no_later_one_from_being_fixed(
    with_withdrawn: bool, status: str
) -> None:
    """No one sees that it waits. Orders of older releases did not end its wait."""
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.unwin("a", 21, (1, 10))
    books.stake("a", 25, 1_000, round=2)
    books.win("a", 30, (1, 10), round=2)
    books.end("a", 30, 1_000, round=2)
    books.take(
        OrderGiven(
            time=at(50),
            order=HitFix(hit=2, **BY),
            signed=(INSPECTOR, DIRECTOR),
            with_withdrawn=with_withdrawn,
        )
    )
    assert [each[2] for each in books.values()] == ["withdrawn", status]


def test_late_events_of_one_table_stay_in_its_own_order() -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.order(50, HitFix(hit=1, **BY))
    books.win("b", 18, (1, 10))
    books.end("b", 18, 1_000)
    books.stake("b", 19, 500, round=2)
    assert [each[1] for each in books.values()] == [1_200, 1_080]  # of 10,800, and not of 11,300


def test_a_hand_revoked_before_a_payment_returns_to_the_meter_at_that_time() -> None:
    """A hit between the award and its correction keeps its share of the meter of its own time."""
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.win("b", 30, (1, 10))
    books.end("b", 30, 1_000)
    books.unwin("a", 40, (1, 10))
    assert books.values() == [("a/box:1", 1_200, "withdrawn"), ("b/box:1", 1_080, "payable")]
    assert books.meter == 12_000 - 1_080
    books.win("b", 50, (1, 10), round=2)
    assert [notice.what for notice in books.notices] == ["award_without_bet"]
    books.unwin("a", 60, (1, 10))
    assert books.meter == 12_000 - 1_080


def test_a_revoked_royal_removes_the_new_seed() -> None:
    books = apart()
    books.win("a", 20, (1, 1), hand="royal_flush")
    books.end("a", 20, 1_000)
    assert books.meter == 10_000
    books.stake("b", 25, 1_300)
    books.unwin("a", 30, (1, 1), hand="royal_flush")
    assert books.meter == 12_300
    assert books.balance("seed") == -10_000
    # it was a straight flush: a tenth of the meter as it was at the hit
    books.win("a", 30, (1, 10))
    assert books.values()[1][1] == 1_200
    assert books.meter == 12_300 - 1_200


def test_a_straight_flush_misread_as_a_royal_wins_of_the_meter_at_the_hit() -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.hear(60)
    books.stake("b", 70, 1_000, round=2)
    books.unwin("a", 80, (1, 10))
    books.win("a", 80, (1, 1), hand="royal_flush")
    assert books.values() == [("a/box:1", 1_200, "withdrawn"), ("a/box:1", 12_000, "payable")]
    assert books.meter == 11_000  # the new seed, and the coin since


def test_a_hand_that_only_a_correction_finds_wins_of_the_meter_at_that_time() -> None:
    books = apart()
    books.end("a", 20, 1_000)
    books.stake("b", 30, 2_000)
    books.win("a", 40, (1, 10))
    assert books.values() == [("a/box:1", 1_300, "pending")]
    books.hear(60)
    assert books.values() == [("a/box:1", 1_300, "payable")]


def test_after_a_payment_a_revoked_hand_is_a_claim_and_nothing_moves() -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.hear(60)
    books.order(70, AwardPay(paid=0, award=1, amount=500, **BY))
    before = len(books.transactions)
    books.unwin("a", 80, (1, 10))
    assert len(books.transactions) == before
    assert books.values() == [("a/box:1", 1_200, "claimed")]
    assert "claim.settle" in books.told().asks


def test_a_void_round_gives_back_its_stakes_and_its_awards() -> None:
    books = apart()
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1_000)
    books.void("a", 30)
    assert books.values() == [("a/box:1", 1_200, "withdrawn")]
    assert books.meter == 11_000
    assert books.balance("stakes", "a") == 0


def test_a_bet_is_withdrawn_and_lowered_with_what_it_brought() -> None:
    books = Books(terms("BAL05"))
    books.stake("a", 10, 55)
    books.stake("a", 11, 110)
    assert (books.meter, books.balance("house")) == (49 + 49, 12)
    books.stake("a", 12, 33)
    assert (books.meter, books.balance("house"), books.balance("stakes")) == (29, 4, -33)
    books.stake("a", 13, 0)
    assert (books.meter, books.balance("house"), books.balance("stakes")) == (0, 0, 0)


def test_proved_stakes_beyond_the_coins_are_posted_and_missing_ones_questioned() -> None:
    books = Books(terms("BAL05"))
    books.stake("a", 10, 100)
    books.end("a", 20, 150)
    assert (books.meter, books.transactions[-1].what) == (135, "stakes_told")
    books.stake("a", 30, 100, round=2)
    books.end("a", 40, 50, round=2)
    assert books.meter == 225
    assert [notice.what for notice in books.notices] == ["stakes_differ"]
    books.end("a", 41, 100, round=2)
    assert [notice.what for notice in books.notices] == ["stakes_differ"] * 2
    assert books.meter == 225


def test_notices_state_amounts_as_money() -> None:
    books = Books(terms("BAL05"))
    books.stake("a", 10, 123_450)
    books.end("a", 20, 50)
    books.end("a", 21, 100_000)
    books.end("b", 22, -7)
    told = [notice.text for notice in books.notices]
    assert "€1,234.50 in coins were counted, but the table reports €0.50 for the play. " in told[0]
    assert "the table reported the sum of the play again, now €1,000.00. " in told[1]
    assert "the play's sum is -€0.07. " in told[2]


def test_the_last_25_awards_are_remembered_newest_first() -> None:
    books = Books(terms("ARA02", seed=100_000, tables=("a",)))
    for number in range(1, 31):
        books.stake("a", 10 * number, 100, round=number)
        books.win("a", 10 * number + 5, (1, 20), round=number)
        books.end("a", 10 * number + 5, round=number)
        award = books.awards()[-1]
        assert award.value is not None
        books.order(10 * number + 6, AwardPay(paid=0, award=number, amount=award.value, **BY))
    assert [each.award for each in books.told().last] == list(range(30, 5, -1))
    assert {each.status for each in books.told().last} == {"paid"}
    assert books.told().awards == ()
    assert len(books.state.hits) == 25
    books.unwin("a", 400, (1, 20), round=1)
    assert [notice.what for notice in books.notices] == ["award_unknown"]


@pytest.mark.rule("EUS96-185")
def test_a_hand_that_is_put_right_after_many_plays_keeps_its_right() -> None:
    """A table corrects its latest twenty rounds, and the coins of each are remembered as long
    (EUS96 L1661-1671). The hand's share is of the meter at its own play.
    """
    for later in range(HISTORY_ROUNDS):
        books = Books(terms("EUS96", stake=100, percentage=(1, 1), seed=100_000))
        for number in range(1, later + 2):
            books.stake("a", 10 * number, round=number)
            if number == 1:
                books.win("a", 11, (1, 20), hand="four")
            books.end("a", 10 * number + 2, round=number)
        wrong = later * 10 + 15
        books.unwin("a", wrong, (1, 20), hand="four")
        books.win("a", wrong + 1, (1, 10), hand="straight_flush")
        assert books.notices == [], later
        assert [each[1] for each in books.values()][-1] == 10_010, later


def test_a_ledger_of_an_older_release_remembers_as_many_rounds_as_it_did() -> None:
    books = Books(terms("ARA02", seed=10_000), rounds=4)
    for number in range(1, 6):
        books.stake("a", 10 * number, round=number)
        books.end("a", 10 * number + 2, round=number)
    books.win("a", 60, (1, 10))
    assert [notice.what for notice in books.notices] == ["award_without_bet"]
    books.take(ServedBy(table="a", node="n1", clock_bound=0.0, rounds=REMEMBERED_ROUNDS))
    assert books.state.tables["a"].kept == REMEMBERED_ROUNDS > HISTORY_ROUNDS


def test_fixed_jackpots_of_several_tables_begin_with_the_sum() -> None:
    """EUS96 L1847, L1869: what is won is the sum of the jackpots of all tables."""
    fixed = terms("EUS96", stake=100, kind="fixed", boxes=6, seed=399_999)
    [flaw] = find_flaws_in_configuration(msgspec.convert(fixed, Terms))
    assert flaw.startswith("seed = 399999 is below 400000: a fixed jackpot is the sum")
    assert find_flaws_in_configuration(msgspec.convert(fixed | {"seed": 400_000}, Terms)) == []
    # a ledger that has such terms is read as it was written
    assert find_flaws(msgspec.convert(fixed, Terms)) == []
