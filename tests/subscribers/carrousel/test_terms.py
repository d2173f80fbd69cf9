"""The terms of a jackpot: what a decree forbids, and what waits until it is won."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.jackpot import AwardPay
from subscribers.carrousel.facts import PlayStatus, TermsGiven, Won
from subscribers.carrousel.terms import find_flaws
from tests.subscribers.carrousel.books import BY, Books, at, terms
from tests.subscribers.carrousel.terms_decoding import read
from tests.support.for_each import for_each

GOOD: list[dict[str, Any]] = [
    terms("BAL05"),
    terms("ARA02"),
    terms("EUS96", stake=100),
    terms("EUS96", stake=100, games=("poker-draw-house",), seed=200_000),
    terms("EUS96", stake=50, kind="fixed", boxes=6, seed=100_000),
    terms("EUS96", stake=50, games=("blackjack-triple",), least=100_000),
    terms("EUS96", stake=100, reserve=(1, 5), limit=10_000_000),
    {**terms("ARA02"), "authorisation": None},
]


@for_each("given", GOOD)
def test_terms_that_a_decree_allows(given: dict[str, Any]) -> None:
    assert find_flaws(read(given)) == []


def with_authorisation(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**given, "authorisation": {**given["authorisation"], **more}}


@for_each(
    ("given", "words"),
    [
        (terms("BAL05", percentage=(8, 10)), "percentage = 8/10: BAL05 requires 9/10"),
        (terms("ARA02", percentage=(9, 10)), "percentage = 9/10: ARA02 requires 1/1"),
        (terms("ARA02", limit=1), "limit: by ARA02 the whole coin goes into the meter"),
        (terms("ARA02", reserve=(1, 10)), "reserve: by ARA02"),
        (terms("BAL05", entry="plays"), "entry: by BAL05"),
        (terms("BAL05", kind="fixed"), "kind: by BAL05"),
        (terms("EUS96", percentage=(11, 10), stake=1), "percentage = 11/10 is not a valid part"),
        (terms("EUS96", percentage=(1, 0), stake=1), "percentage = 1/0 is not a valid part"),
        (terms("EUS96", percentage=(-1, 2), stake=1), "percentage = -1/2 is not a valid part"),
        (terms("EUS96", reserve=(3, 2), stake=1), "reserve = 3/2 is not a valid part"),
        (terms("EUS96"), "stake is missing"),
        (terms("EUS96", stake=0), "stake = 0"),
        (terms("EUS96", stake=1, limit=5, seed=6), "limit = 0.05 is below the seed of 0.06"),
        (terms("BAL05", games=()), "games is empty"),
        (terms("BAL05", games=("poker-draw-house",)), "poker-draw-house: BAL05 has no jackpot"),
        (terms("BAL05", tables=()), "tables is empty"),
        (terms("BAL05", tables=("a", "a")), "names a table twice"),
        (
            with_authorisation(terms("BAL05"), date="2026-02-30"),
            "date = '2026-02-30' is not a date",
        ),
        (with_authorisation(terms("BAL05"), until="soon"), "until = 'soon' is not a date"),
    ],
)
def test_terms_that_make_no_sense_or_are_against_a_decree(
    given: dict[str, Any], words: str
) -> None:
    found = find_flaws(read(given))
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.rule("EUS96-195")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"games": ("poker-draw-house",), "tables": ("a",), "seed": 99_999},
            "seed = 999.99 is below 1000.00",
        ),
        ({"games": ("poker-draw-house",), "seed": 199_999}, "seed = 1999.99 is below 2000.00"),
        ({"kind": "fixed", "boxes": 6, "seed": 199_999}, "seed = 1999.99 is below 2000.00"),
        ({"kind": "fixed", "boxes": 5, "seed": 200_000}, "boxes must be 6"),
    ],
)
def test_the_least_of_a_jackpot_is_a_multiple_of_the_bet(more: dict[str, Any], words: str) -> None:
    """L1847-1849: fixed 2,000 times the bet with six boxes; else it begins with 1,000 times, and a
    carrousel is the sum of its tables' (L1869).
    """
    found = find_flaws(read(terms("EUS96", stake=100, **more)))
    assert len(found) == 1
    assert words in found[0]


def test_three_sevens_are_worth_2000_times_the_bet() -> None:
    given = terms("EUS96", stake=50, games=("blackjack-triple",), least=99_999)
    assert ["least = 999.99 is below 1000.00" in each for each in find_flaws(read(given))] == [True]


def test_flawed_terms_are_rejected() -> None:
    books = Books()
    before = books.state
    for given in (
        terms("BAL05", percentage=(1, 2)),
        {**terms(), "seed": "much"},
        {**terms(), "colour": "red"},
        {**terms(), "jackpot": "sur"},
    ):
        books.take(TermsGiven(time=at(9), terms=given))
    assert [notice.what for notice in books.notices] == ["terms_flawed"] * 4
    assert books.state == before


def live() -> Books:
    """A jackpot with a coin in it, and new terms with another percentage, seed and limit."""
    books = Books(terms("EUS96", stake=100, percentage=(8, 10), seed=1_000))
    books.stake("a", 10)
    new = terms("EUS96", stake=100, percentage=(5, 10), seed=2_000, limit=2_100)
    books.take(TermsGiven(time=at(20), terms=new))
    return books


def test_terms_of_a_live_jackpot_wait_for_the_hit_and_report_it() -> None:
    books = live()
    assert books.told().terms_wait
    books.stake("b", 30)
    assert books.meter == 1_160  # still 80 of 100
    books.win("a", 40, (1, 10))
    books.end("a", 40)
    books.hear(60)
    assert books.told().terms_wait  # a tenth is not the whole
    books.win("b", 70, (1, 1), hand="royal_flush")
    books.end("b", 70)
    assert books.meter == 2_000  # the seed of the new terms
    books.hear(90)
    assert not books.told().terms_wait
    given = books.told().authorisation
    assert given is not None
    assert given.percentage == (5, 10)
    books.stake("a", 100, round=2)
    books.stake("a", 101, box=2, round=2)
    books.stake("a", 102, box=3, round=2)
    assert (books.meter, books.reserve) == (2_100, 50)


def test_terms_written_after_the_hit_wait_for_the_next_one() -> None:
    books = live()
    books.win("b", 15, (1, 1))
    assert [notice.what for notice in books.notices] == ["award_without_bet"]
    books.stake("b", 16)
    books.win("b", 18, (1, 1))
    books.end("b", 18)
    assert books.meter == 1_000
    books.hear(60)
    assert books.told().terms_wait


def test_an_unplayed_jackpot_gets_new_terms_at_once() -> None:
    books = Books(terms("EUS96", stake=100, seed=1_000))
    books.take(TermsGiven(time=at(5), terms=terms("EUS96", stake=200, seed=700)))
    assert (books.meter, books.balance("seed"), books.told().terms_wait) == (700, -700, False)
    books.stake("a", 10, 200)
    assert books.meter == 860


def test_an_award_that_is_due_keeps_it_live() -> None:
    books = Books(terms("EUS96", stake=100, seed=1_000))
    books.stake("a", 10)
    books.win("a", 20, (1, 1))
    books.end("a", 20)
    books.hear(60)
    assert books.meter == 1_000
    new = terms("EUS96", stake=200, seed=1_000)
    books.take(TermsGiven(time=at(70), terms=new))
    assert books.told().terms_wait
    books.order(80, AwardPay(paid=0, award=1, amount=1_080, **BY))
    books.take(TermsGiven(time=at(90), terms=new))
    assert not books.told().terms_wait


def test_a_renewed_authorisation_and_what_is_shown_hold_at_once() -> None:
    books = live()
    old = terms("EUS96", stake=100, percentage=(8, 10), seed=1_000)
    books.take(TermsGiven(time=at(50), terms=old))
    assert not books.told().terms_wait  # the new terms are no longer in the configuration
    new = with_authorisation({**old, "shown": 5}, number="J-8/2027", until="2027-12-31")
    books.take(TermsGiven(time=at(60), terms=new))
    given = books.told().authorisation
    assert given is not None
    assert (given.number, given.until, books.told().terms_wait) == ("J-8/2027", "2027-12-31", False)


@pytest.mark.rule("EUS96-197")
def test_an_authorisation_that_ends_or_is_removed_puts_the_jackpot_out_of_play() -> None:
    books = Books(with_authorisation(terms("BAL05"), until="2026-03-20"))
    assert (books.told(0).in_play, books.told(86_400).why) == (True, "not_authorised")
    books = live()
    gone = {**terms("EUS96", stake=100, seed=1_000), "authorisation": None}
    books.take(TermsGiven(time=at(50), terms=gone))
    assert (books.told().in_play, books.told().why) == (False, "not_authorised")
    books.stake("b", 60)
    assert books.meter == 1_160  # coins inserted anyway are not lost


def test_a_table_that_new_terms_do_not_name_is_out_of_play_at_once() -> None:
    books = Books(terms("EUS96", stake=100))
    books.stake("a", 10)
    books.take(TermsGiven(time=at(20), terms=terms("EUS96", stake=100, tables=("b", "c"))))
    whys = {name: each.why for name, each in books.told().tables.items()}
    assert whys == {"a": "not_authorised", "b": None, "c": "not_authorised"}


def test_a_jackpot_begins_when_its_authorisation_comes() -> None:
    books = Books({**terms("EUS96", stake=100, seed=900), "authorisation": None})
    assert books.meter == 0
    books.take(TermsGiven(time=at(50), terms=terms("EUS96", stake=100, seed=900)))
    assert (books.meter, books.told().in_play) == (900, True)


def test_the_controllers_reports_on_itself_and_on_a_table() -> None:
    books = Books()
    books.take(PlayStatus(time=at(5), table="", why="store"))
    books.take(PlayStatus(time=at(6), table="a", why="clock"))
    told = books.told()
    assert (told.in_play, told.why) == (False, "store")
    assert (told.tables["a"].in_play, told.tables["a"].why, told.tables["a"].since) == (
        False,
        "clock",
        at(6),
    )
    assert told.tables["b"].in_play


# Table events that cannot count


def test_a_table_that_is_not_authorised_changes_nothing() -> None:
    books = Books()
    books.stake("c", 10)
    books.win("c", 11, (1, 1))
    books.end("c", 12)
    assert [(notice.what, notice.table) for notice in books.notices] == [
        ("not_authorised", "c")
    ] * 3
    assert (books.meter, books.awards()) == (0, [])


@pytest.mark.parametrize("amount", [-1, 0, 99, 101])
def test_an_amount_without_a_part_changes_nothing(amount: int) -> None:
    books = Books(terms("EUS96", stake=100))
    books.stake("a", 10, amount)
    assert [notice.what for notice in books.notices] == ["amount_wrong"]
    books.end("a", 20, amount)
    assert (books.meter, books.balance("stakes")) == (0, 0)


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (99, "€0.99 on the jackpot: the authorised stake is €1.00. "),
        (101, "€1.01 on the jackpot: €1.00 is the authorised stake, and this is more. "),
    ],
)
def test_a_wrong_stake_is_reported_as_money(amount: int, said: str) -> None:
    books = Books(terms("EUS96", stake=100))
    books.stake("a", 10, amount)
    assert said in books.notices[0].text


@pytest.mark.parametrize("share", [(0, 1), (-1, 2), (11, 10), (1, 0), (1, -1)])
def test_a_share_that_is_no_part_of_the_meter_wins_nothing(share: tuple[int, int]) -> None:
    books = Books()
    books.stake("a", 10)
    books.win("a", 20, share)
    assert [notice.what for notice in books.notices] == ["share_wrong"]
    assert (books.meter, books.awards()) == (90, [])


def test_shares_above_the_whole_win_no_more_than_there_is() -> None:
    books = Books()
    for box in (1, 2):
        books.stake("a", 10 + box, 100, box)
    books.win("a", 20, (1, 1), 1)
    books.win("a", 20, (1, 2), 2)
    assert [notice.what for notice in books.notices] == ["share_wrong"]
    assert books.values() == [("a/box:1", 180, "pending")]


def test_the_same_award_twice_is_one() -> None:
    books = Books()
    books.stake("a", 10)
    first = books.hand(Won, "a", 20, (1, 10), 1, "straight_flush")
    books.take(first)
    books.take(replace(first, cause=books.cause("a", 21)))
    assert [notice.what for notice in books.notices] == ["award_twice"]
    assert len(books.awards()) == 1


def test_a_round_made_void_long_after_is_a_question() -> None:
    books = Books(rounds=4)
    for number in range(1, 7):
        books.stake("a", 10 * number, round=number)
        books.end("a", 10 * number + 1, round=number)
    books.void("a", 100, round=1)
    assert [notice.what for notice in books.notices] == ["void_unknown"]
    books.void("a", 101, round=6)
    books.void("a", 102, round=7)
    assert (len(books.notices), books.meter) == (1, 450)
