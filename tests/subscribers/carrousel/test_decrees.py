"""What each decree gives to the cent, with numbers worked by hand. Amounts are in cents."""

from __future__ import annotations

import pytest

from subscribers.carrousel.shares import Parts, contribution, values, whole
from tests.subscribers.carrousel.books import Books, terms
from tests.subscribers.carrousel.terms_decoding import read


@pytest.mark.rule("BAL05-137")
def test_ninety_percent_of_each_coin_goes_to_the_meter_in_the_balearics() -> None:
    """«el 90% del valor de les monedes introduides s'incorpora a l'acumulat» (L2457-2458)."""
    books = Books(terms("BAL05"))
    books.stake("a", 10, 100)
    books.stake("b", 11, 55)
    assert books.balance("stakes", "a") == -100
    assert (books.balance("meter", "a"), books.balance("house", "a")) == (90, 10)
    # 55 × 0.9 = 49.5: the half cent is not the meter's
    assert (books.balance("meter", "b"), books.balance("house", "b")) == (49, 6)
    assert books.meter == 139


@pytest.mark.rule("BAL05-137")
def test_a_royal_wins_the_whole_meter_of_all_tables_and_a_straight_flush_a_tenth() -> None:
    """«se li paga l'acumulat de totes les taules que formen el carrousel ... escala de color cobra
    el 10%» (L2453-2455).
    """
    books = Books(terms("BAL05"))
    books.stake("a", 10, 1000)
    books.stake("b", 11, 1005)  # 904.5
    books.win("a", 20, (1, 10))
    books.end("a", 20, 1000)
    # 900 + 904 = 1804; a tenth is 180.4
    assert books.values() == [("a/box:1", 180, "pending")]
    assert books.meter == 1624
    books.win("b", 30, (1, 1), hand="royal_flush")
    books.end("b", 30, 1005)
    assert books.values()[1] == ("b/box:1", 1624, "pending")
    assert books.meter == 0
    books.hear(60)
    assert [each[2] for each in books.values()] == ["payable", "payable"]


@pytest.mark.rule("ARA02-140")
def test_all_of_each_coin_accumulates_in_aragon() -> None:
    """«la totalidad de las monedas introducidas se incorporan al acumulado» (L1400)."""
    books = Books(terms("ARA02"))
    books.stake("a", 10, 101)
    books.stake("b", 11, 33)
    assert (books.meter, books.balance("house")) == (134, 0)


@pytest.mark.rule("ARA02-141")
@pytest.mark.parametrize(
    ("remainder", "worth", "left"),
    [("meter", [333, 333, 333], 2), ("first", [335, 333, 333], 0)],
)
def test_royals_share_in_equal_parts_and_odd_cents_go_where_the_site_configures(
    remainder: str, worth: list[int], left: int
) -> None:
    """«entregándose por partes iguales en el caso de que la obtuviesen varios jugadores» (L1398).
    1001 between three: 333 each, and 2 are left.
    """
    books = Books(terms("ARA02", remainder=remainder))
    for box, amount in ((1, 500), (2, 400), (3, 101)):
        books.stake("a", 10 + box, amount, box)
    for box in (1, 2, 3):
        books.win("a", 20, (1, 3), box, "royal_flush")
    books.end("a", 20, 1001)
    assert [each[1] for each in books.values()] == worth
    assert books.meter == left


@pytest.mark.rule("ARA02-142")
def test_a_hand_without_a_coin_wins_nothing() -> None:
    books = Books(terms("ARA02"))
    books.stake("a", 10, 100, box=1)
    books.win("a", 20, (1, 1), box=2, hand="royal_flush")
    assert [notice.what for notice in books.notices] == ["award_without_bet"]
    assert (books.meter, books.values()) == (100, [])


@pytest.mark.rule("EUS96-186")
def test_the_authorised_percentage_of_what_is_bet_raises_the_meter() -> None:
    """«ehuneko zehatzean, eta joko-arloan eskumena duen Sailak baimenduta» (L1849)."""
    books = Books(terms("EUS96", stake=250, percentage=(37, 100), seed=250_000))
    books.stake("a", 10, 250)
    # 250 × 0.37 = 92.5
    assert (books.meter, books.balance("house")) == (250_092, 158)


@pytest.mark.rule("EUS96-187")
def test_what_a_person_enters_raises_the_meter_when_the_play_has_ended() -> None:
    """b.1 «jokaldi bakoitza amaitzean, esku horretan Jackpoten apustuari jokatutako zenbatekoa
    sartuko du» (L1853): a prize of the play is of the meter before that.
    """
    books = Books(terms("EUS96", stake=100, entry="plays", seed=100_000))
    books.stake("a", 10, 100, box=1)
    books.stake("a", 11, 100, box=2)
    assert books.meter == 100_000
    books.win("a", 20, (1, 20), box=1, hand="four")
    books.end("a", 20, 200)
    assert books.values()[0][1] == 5_000
    assert books.meter == 100_000 - 5_000 + 160
    assert books.balance("stakes", "a") == -200


@pytest.mark.rule("EUS96-188")
def test_a_coin_raises_the_meter_before_the_cards_come() -> None:
    """b.2 (L1855): the prize of the play is of a meter that has its own coins."""
    books = Books(terms("EUS96", stake=100, seed=100_000))
    books.stake("a", 10, 100)
    assert books.meter == 100_080
    books.win("a", 20, (1, 20), hand="four")
    assert books.values()[0][1] == 5_004


@pytest.mark.rule("EUS96-189")
def test_prizes_are_deducted_from_the_meter_and_paid_amounts_are_in_the_book() -> None:
    """«ordaindutako zenbatekoak ... kontabilitate-liburuan jaso beharko dira, eta bisorean dagokion
    kenkaria» (L1673, L1863).
    """
    books = Books(terms("EUS96", stake=100, seed=100_000))
    books.stake("a", 10)
    before = books.meter
    books.win("a", 20, (1, 10))
    books.end("a", 20)
    assert books.meter == before - 10_008
    assert books.balance("award", "1") == 10_008


@pytest.mark.rule("EUS96-190")
@pytest.mark.parametrize(
    ("share", "worth"), [((1, 20), 5_004), ((1, 10), 10_008), ((1, 1), 100_080)]
)
def test_four_of_a_kind_a_twentieth_a_straight_flush_a_tenth_a_royal_all(
    share: tuple[int, int], worth: int
) -> None:
    books = Books(terms("EUS96", stake=100, seed=100_000))
    books.stake("a", 10)
    books.win("a", 20, share)
    books.end("a", 20)
    books.hear(60)
    assert books.values() == [("a/box:1", worth, "payable")]
    assert books.meter == (100_000 if share == (1, 1) else 100_080 - worth)


@pytest.mark.rule("EUS96-191", "EUS96-192")
def test_prizes_with_discards_are_a_tenth_of_that_of_what_those_without_have_left() -> None:
    """Four of a kind without discards 5 % of 200,000 = 10,000. Of the 190,000 that are left a royal
    with discards 10 % = 19,000. Of the 171,000 left a straight flush with discards 1 % = 1,710
    (L1829-1843, L1861).
    """
    books = Books(
        terms("EUS96", games=("poker-draw-house",), stake=100, seed=199_760, tables=("a",))
    )
    for box in (1, 2, 3):
        books.stake("a", 10 + box, 100, box)
    assert books.meter == 200_000
    for box, share in ((2, (1, 20)), (1, (19, 200)), (3, (171, 20000))):
        books.win("a", 20, share, box, f"hand_{box}")
    books.end("a", 20, 300)
    assert [each[1] for each in books.values()] == [10_000, 19_000, 1_710]
    assert books.meter == 169_290


@pytest.mark.rule("EUS96-193")
def test_several_royals_share_the_whole_meter_and_a_new_period_begins() -> None:
    """«Jackpoten zenbateko osoa beren artean banatuko da, zati beretan» (L1857)."""
    books = Books(terms("EUS96", stake=101, seed=1_001, percentage=(1, 1)))
    books.stake("a", 10, 101, box=1)
    books.stake("a", 11, 101, box=2)
    for box in (1, 2):
        books.win("a", 20, (1, 2), box, "royal_flush")
    # 1203 between two: 601 each, and the odd cent stays in the meter beside the new seed
    assert [each[1] for each in books.values()] == [601, 601]
    assert books.meter == 1_002
    assert books.balance("seed") == -2_002


@pytest.mark.rule("EUS96-194")
def test_the_highest_first_the_next_of_what_is_left_and_equal_ones_of_the_whole() -> None:
    """L1859. Of 200,000: 10 % = 20,000; of the 180,000 left 10 % = 18,000; of the 162,000 left 5 %
    = 8,100. Two equal straight flushes have 20,000 each.
    """
    books = Books(terms("EUS96", stake=100, seed=199_760))
    for box in (1, 2, 3):
        books.stake("a", 10 + box, 100, box)
    for box, share in ((3, (1, 10)), (2, (9, 100)), (1, (81, 2000))):
        books.win("a", 20, share, box, f"hand_{box}")
    assert [each[1] for each in books.values()] == [20_000, 18_000, 8_100]
    equal = Books(terms("EUS96", stake=100, seed=199_840))
    for box in (1, 2):
        equal.stake("a", 10 + box, 100, box)
        assert equal.meter == 199_840 + 80 * box
    for box in (1, 2):
        equal.win("a", 20, (1, 10), box)
    assert [each[1] for each in equal.values()] == [20_000, 20_000]


@pytest.mark.rule("EUS96-195")
def test_a_fixed_jackpot_is_restored_at_once_and_its_stakes_are_the_houses() -> None:
    """«Finkoa izanez gero ... apustuaren balioa bider 2.000» (L1847)."""
    books = Books(terms("EUS96", stake=50, seed=100_000, kind="fixed", boxes=6))
    books.stake("a", 10, 50)
    assert (books.meter, books.balance("house")) == (100_000, 50)
    books.win("a", 20, (1, 20), hand="four")
    assert (books.values()[0][1], books.meter) == (5_000, 100_000)
    assert books.balance("seed") == -105_000


@pytest.mark.rule("EUS96-196", "ARA02-140")
def test_the_carrousel_is_the_sum_of_what_its_tables_brought() -> None:
    """«mahai guztien Jackpoten gehitura» (L1869): one meter, and the part of each in it."""
    books = Books(terms("ARA02", tables=("a", "b", "c")))
    for number, table in enumerate("abc"):
        books.stake(table, 10 + number, 100 * (number + 1))
    assert [books.balance("meter", table) for table in "abc"] == [100, 200, 300]
    assert books.meter == 600


@pytest.mark.rule("EUS96-197")
def test_without_an_authorisation_nothing_begins() -> None:
    """«berariazko baimena beharko dute» (L530)."""
    given = {**terms("EUS96", stake=50), "authorisation": None}
    books = Books(given)
    books.stake("a", 10)
    assert [notice.what for notice in books.notices] == ["not_authorised"]
    assert (books.transactions, books.told().in_play, books.told().why) == (
        [],
        False,
        "not_authorised",
    )


def test_three_sevens_are_worth_the_least_and_the_house_adds_what_lacks() -> None:
    """«inolaz ere ezingo da apustuaren balioa baino 2.000 aldiz txikiago izan» (L526): of a bet of
    50, 100,000 at least.
    """
    books = Books(terms("EUS96", games=("blackjack-triple",), stake=50, seed=70_000, least=100_000))
    books.stake("a", 10, 50)
    books.win("a", 20, (1, 1), hand="sevens_3_suited")
    books.end("a", 20, 50)
    assert books.values()[0][1] == 100_000
    # of the coin 10 are the house's; 100,000 - 70,040 it adds, and the seed is put in again
    assert books.balance("house") == 10 - 29_960
    assert (books.meter, books.balance("seed")) == (70_000, -140_000)


def test_the_reserve_has_its_part_and_seeds_the_next_period_first() -> None:
    """Of each 100, 80 raise the meter: a quarter of that, 20, goes to the reserve. After a royal
    the meter begins with 500: 100 from the reserve, 400 from the house.
    """
    books = Books(terms("EUS96", stake=100, reserve=(1, 4), seed=500))
    for number in range(5):
        books.stake("a", 10 + number, 100, round=number)
    assert (books.meter, books.reserve, books.balance("house")) == (800, 100, 100)
    books.win("a", 20, (1, 1), round=4)
    assert books.values()[0][1] == 800
    assert (books.meter, books.reserve, books.balance("seed")) == (500, 0, -900)


def test_above_its_limit_the_meter_does_not_rise_and_comes_back_from_the_reserve() -> None:
    books = Books(terms("EUS96", stake=100, limit=1_000, seed=900))
    books.stake("a", 10)
    books.stake("b", 11)
    assert (books.meter, books.reserve) == (1_000, 60)
    books.void("a", 12)
    assert (books.meter, books.reserve) == (980, 0)


def test_stakes_that_go_back_after_their_meter_was_won_are_advanced_by_the_house() -> None:
    """Table b's coin was in what a took; the round of b is void. The next coin pays it back."""
    books = Books(terms("BAL05"))
    books.stake("b", 10, 100)
    books.stake("a", 11, 100)
    books.win("a", 20, (1, 1))
    books.end("a", 20)
    books.void("b", 30)
    assert books.balance("stakes", "b") == 0
    assert (books.meter, books.balance("house")) == (0, 10 - 90)
    books.stake("b", 40, 100, round=2)
    assert (books.meter, books.balance("house")) == (0, 20)
    books.stake("b", 41, 200, round=2)
    assert (books.meter, books.balance("house")) == (90, 30)


def test_what_a_stake_brings() -> None:
    given = read(terms("EUS96", stake=101, reserve=(1, 3)))
    assert contribution(101, given) == Parts(101, 54, 26)  # 80.8 -> 80; a third 26.6 -> 26
    assert contribution(101, given).house == 21
    assert contribution(0, given) == Parts()
    assert (-Parts(3, 2, 1), Parts(3, 2, 1) + Parts(1, 0, 1)) == (Parts(-3, -2, -1), Parts(4, 2, 2))


def test_shares_of_a_value() -> None:
    assert values([(1, 3), (1, 3)], 100, first=False) == [33, 33]
    assert values([(1, 3), (1, 3)], 100, first=True) == [33, 33]  # 66.6: no whole cent is left
    # 19.9, 17.91 and 9.95 are 47.76 together, and 45 rounded down each
    assert values([(1, 10), (9, 100), (1, 20)], 199, first=True) == [21, 17, 9]
    assert values([], 100, first=True) == []
    assert whole([(1, 2), (1, 2)])
    assert not whole([(1, 2), (1, 3), None])
