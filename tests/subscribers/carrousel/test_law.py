"""The second calculation by itself: examples worked by hand from the gazettes."""

from __future__ import annotations

from fractions import Fraction

from tests.support.carrousel.law import (
    Coin,
    Law,
    Made,
    Play,
    aragon,
    balears,
    euskadi,
    reckon,
    shares,
)
from tests.support.for_each import for_each

ROYAL, FLUSH, LOWER, FOUR = (
    Made("1", "royal_flush"),
    Made("2", "straight_flush", (9,)),
    Made("3", "straight_flush", (8,)),
    Made("4", "four", (2,)),
)
EUSKADI = euskadi(Fraction(4, 5), discards=True)


def parts(law: Law, *made: Made) -> dict[str, Fraction | None]:
    return shares(law, made)


def of(made: Made, box: str, *, discarded: bool = False) -> Made:
    """Return the same hand at another box."""
    return Made(box, made.hand, made.high, discarded)


@for_each(
    ("law", "made", "wanted"),
    [
        (balears(), (ROYAL,), {"1": Fraction(1)}),
        (balears(), (FLUSH,), {"2": Fraction(1, 10)}),
        (balears(), (FOUR,), {}),
        (balears(), (FLUSH, ROYAL), {"1": None, "2": None}),
        (aragon(), (ROYAL, of(ROYAL, "5")), {"1": Fraction(1, 2), "5": Fraction(1, 2)}),
        (aragon(), (LOWER, FLUSH), {"2": Fraction(1, 10), "3": Fraction(0)}),
        (aragon(), (FLUSH, of(FLUSH, "5")), {"2": None, "5": None}),
        (aragon(), (FLUSH, ROYAL), {"1": Fraction(1), "2": None}),
        (aragon(), (FOUR,), {}),
        (EUSKADI, (FOUR,), {"4": Fraction(1, 20)}),
        (EUSKADI, (FOUR, FLUSH), {"2": Fraction(1, 10), "4": Fraction(9, 200)}),
        (
            EUSKADI,
            (FOUR, of(FLUSH, "5"), FLUSH),
            {"5": Fraction(1, 10), "2": Fraction(1, 10), "4": Fraction(8, 200)},
        ),
        (EUSKADI, (ROYAL, of(ROYAL, "5"), of(ROYAL, "6")), dict.fromkeys("156", Fraction(1, 3))),
        (EUSKADI, (of(FOUR, "4", discarded=True),), {"4": Fraction(1, 200)}),
        (
            EUSKADI,
            (of(ROYAL, "1", discarded=True), FOUR),
            {"4": Fraction(1, 20), "1": Fraction(19, 200)},
        ),
        (euskadi(Fraction(4, 5)), (of(FOUR, "4", discarded=True),), {}),
    ],
)
def test_what_part_of_the_whole_each_hand_gets(
    law: Law, made: tuple[Made, ...], wanted: dict[str, Fraction | None]
) -> None:
    assert parts(law, *made) == wanted


def coins(*amounts: int, first: int = 1) -> tuple[Coin, ...]:
    return tuple(Coin(first + n, "1", amount) for n, amount in enumerate(amounts))


def test_an_evening_in_the_balears() -> None:
    """Three coins of 1.01 raise the meter by 0.90 each; a straight flush takes a tenth of 2.70,
    what is left and the coin that fell meanwhile elsewhere go to the royal flush.
    """
    plays = [
        Play("a", 10, coins(101, 101, 101), (FLUSH,)),
        Play("b", 30, (Coin(20, "2", 100),), (ROYAL,)),
        Play("c", 40, (Coin(35, "1", 5000),), (ROYAL,), void=True),
    ]
    found = reckon(balears(), plays, {})
    assert [prize.cents for prize in found.prizes] == [27, 270 - 27 + 90]
    assert (found.meter, found.house) == (0, 3 * 11 + 10)


def test_a_coin_of_a_play_that_is_void_later_has_accumulated_until_then() -> None:
    void = Play("b", 20, coins(1000), (ROYAL,), void=True)
    found = reckon(balears(), [Play("a", 10, (), (FLUSH,)), void], {})
    assert [prize.cents for prize in found.prizes] == [90]
    assert (found.meter, found.house) == (-90, 0)


def test_equal_parts_are_rounded_down_and_the_next_period_begins() -> None:
    seven = coins(100, first=1)
    found = reckon(aragon(seed=50), [Play("a", 10, seven, (ROYAL, of(ROYAL, "5")))], {})
    assert [prize.cents for prize in found.prizes] == [75, 75]
    assert (found.meter, found.seeded) == (50, 100)
    three = (ROYAL, of(ROYAL, "5"), of(ROYAL, "6"))
    found = reckon(aragon(), [Play("a", 10, seven, three)], {})
    assert [prize.cents for prize in found.prizes] == [33, 33, 33]
    assert found.meter == 1


def test_decisions_of_persons_apply_as_made() -> None:
    play = Play("a", 10, coins(1000), (FLUSH, ROYAL))
    found = reckon(balears(), [play], {("a", 10, "1"): 700, ("a", 10, "2"): 100})
    assert {prize.box: prize.cents for prize in found.prizes} == {"1": None, "2": None}
    assert found.meter == 900 - 800


def test_a_misread_hand_has_its_prize_until_the_correction() -> None:
    """Box 2 did not have the straight flush, so the four of box 4 wins alone. Between play and
    correction another table takes a share of what both had left; after it the meter is whole again.
    """
    wrong = Play("a", 10, coins(10_000), (FLUSH, FOUR), corrected=30, right=(FOUR,))
    between = Play("b", 20, (), (of(FLUSH, "3"),))
    found = reckon(euskadi(Fraction(1)), [wrong, between], {})
    left = 10_000 - 1000 - 450
    assert {(prize.table, prize.box): prize.cents for prize in found.prizes} == {
        ("b", "3"): left // 10,
        ("a", "4"): 500,
    }
    assert found.meter == 10_000 - 500 - left // 10


def test_a_misread_royal_flush_removes_the_seed_of_the_next_period() -> None:
    wrong = Play("a", 10, coins(1000), (ROYAL,), corrected=30)
    between = Play("b", 20, (), (of(FLUSH, "3"),))
    found = reckon(aragon(seed=500), [wrong, between], {})
    assert [prize.cents for prize in found.prizes] == [50]
    assert (found.meter, found.seeded) == (1500 - 50, 500)
