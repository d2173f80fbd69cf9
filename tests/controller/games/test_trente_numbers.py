"""The chances of the rows, counted through the game's own functions and dealt through the game
itself, against published figures.

With the cards put back, as S.-D. Poisson counts them («Mémoire sur l'avantage du banquier au jeu de
trente et quarante», Annales de mathématiques pures et appliquées 16, 1825): the banker's advantage,
half the chance of 31-31, is eleven thousandths, and after 34 in the first row a player who bet on
the second has lost fifty-six thousandths of the stake. :data:`PUBLISHED` is the usual table of the
totals, to the digits printed.

For six decks, beatablegames.com, «Il 31 après»: an advantage of 1.096 percent.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from math import sqrt

import pytest

from common.contract.events import RoundResult
from controller.games.cards import RANKS, composition
from controller.games.trente.rows import next_row, points
from tests.support.games.outcomes import outcome_of
from tests.support.games.trente_play import Play, shuffled

PUBLISHED = {
    31: "0.148061",
    32: "0.137905",
    33: "0.127512",
    34: "0.116891",
    35: "0.106050",
    40: "0.05179",
}
"""The chance of each total of a row. The last digit may be cut off or rounded."""
TOTALS = range(31, 41)


@cache
def row(made: int) -> dict[int, Fraction]:
    """The distribution of final totals of a row with this total, when each card is one of thirteen
    ranks, all equally likely.
    """
    so_far = ("Ts",) * (made // 10) + ((f"{RANKS[made % 10 - 1]}s",) if made % 10 else ())
    assert points(so_far) == made
    if next_row(so_far) != "black":
        return {made: Fraction(1)}
    found: Counter[int] = Counter()
    chances: dict[int, Fraction] = {}
    for rank in RANKS:
        found[points([f"{rank}s"])] += 1
    for more, times in found.items():
        for total, chance in row(made + more).items():
            chances[total] = chances.get(total, Fraction(0)) + chance * Fraction(times, len(RANKS))
    return chances


def test_the_totals_of_a_row() -> None:
    assert sum(row(0).values()) == 1
    for total, digits in PUBLISHED.items():
        assert float(row(0)[total]) == pytest.approx(
            float(digits), abs=10.0 ** -len(digits.partition(".")[2])
        )


def test_the_refait_and_the_other_ties() -> None:
    ties = {total: row(0)[total] ** 2 for total in TOTALS}
    assert round(float(ties[31] / 2), 3) == 0.011
    assert round(float(ties[31]) * 100, 2) == 2.19
    assert float(sum(ties.values()) - ties[31]) == pytest.approx(0.0878, abs=1e-4)


def test_the_cost_of_34_in_the_first_row_to_a_bet_on_the_second() -> None:
    wins = sum(row(0)[total] for total in TOTALS if total < 34)
    loses = sum(row(0)[total] for total in TOTALS if total > 34)
    assert round(float(loses - wins), 3) == 0.056


def test_the_first_row_of_six_decks_exactly() -> None:
    """Every way of drawing the row from the whole shoe, by how often each value is among
    its cards.
    """
    values = Counter(points([card]) for card in composition(6).elements())
    open_rows: dict[tuple[int, ...], Fraction] = {(0,) * 10: Fraction(1)}
    found: dict[int, Fraction] = dict.fromkeys(TOTALS, Fraction(0))
    while open_rows:
        longer: dict[tuple[int, ...], Fraction] = {}
        for drawn, chance in open_rows.items():
            left = 312 - sum(drawn)
            made = sum(value * times for value, times in enumerate(drawn, 1))
            for value in range(1, 11):
                weight = chance * Fraction(values[value] - drawn[value - 1], left)
                if made + value >= 31:
                    found[made + value] += weight
                elif weight:
                    more = (*drawn[: value - 1], drawn[value - 1] + 1, *drawn[value:])
                    longer[more] = longer.get(more, Fraction(0)) + weight
        open_rows = longer
    assert sum(found.values()) == 1
    # Cards that do not come back change a chance by less than a thousandth.
    assert [float(found[total]) for total in TOTALS] == pytest.approx(
        [float(row(0)[total]) for total in TOTALS], abs=1e-3
    )


def test_whole_shoes_dealt_by_the_game() -> None:
    """Each share within five standard deviations; 31-31 by its six-deck chance, twice 1.096
    percent.
    """
    made: Counter[int] = Counter()
    marks: Counter[str] = Counter()
    coups = 0
    for seed in range(60):
        play = Play("BAL05", rounds="shoe")
        play.open()
        for event in play.cards(" ".join(shuffled(seed)[:307])):
            if isinstance(event, RoundResult):
                coups += 1
                made.update(
                    hand.points for hand in outcome_of(event).hands if isinstance(hand.points, int)
                )
                marks.update({str(outcome_of(event).winner), *outcome_of(event).marks})
    assert coups > 1500
    for total, chance in ((total, float(row(0)[total])) for total in TOTALS):
        assert abs(made[total] - 2 * coups * chance) < 5 * sqrt(2 * coups * chance * (1 - chance))
    tie = float(sum(chance**2 for chance in row(0).values()))
    null = tie - float(row(0)[31] ** 2)
    for mark, chance in {
        "refait": 0.02192,
        "tie": null,
        "black": (1 - tie) / 2,
        "colour": (1 - tie) / 2,
    }.items():
        assert abs(marks[mark] - coups * chance) < 5 * sqrt(coups * chance * (1 - chance)), mark
