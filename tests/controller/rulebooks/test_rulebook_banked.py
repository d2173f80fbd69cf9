"""The rulebooks of trijoker, texas against the house and pai gow: complete, and in the decrees' own
words and figures.
"""

from __future__ import annotations

from typing import Any

import pytest

from controller.games.hands.evaluator import RANKINGS
from controller.games.pai_gow import settings as pai_gow_settings
from controller.games.texas_house import settings as texas_house_settings
from controller.games.trijoker import settings as trijoker_settings
from controller.rulebooks.common_poker import Banked, TexasHouse, Trijoker
from controller.rulebooks.pai_gow import PaiGow
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.banked_play import PAIRS
from tests.support.games.decrees import by_decree

every = for_each(("game", "decree"), PAIRS)
LAWS = {
    "trijoker": trijoker_settings.LAWS,
    "texas-house": texas_house_settings.LAWS,
    "pai-gow": pai_gow_settings.LAWS,
}
DOUBTS = {
    ("trijoker", "BAL05"): set(),
    ("trijoker", "EUS96"): {"face_up"},
    ("texas-house", "EUS96"): {"misdeal", "second_bet"},
    ("pai-gow", "BAL09"): {"hands", "compared", "dealt"},
    ("pai-gow", "EUS96"): {"hands", "compared", "dealt"},
}


def book_of(game: str, decree: str) -> Any:
    return decrees.book_of(Banked, game, decree)


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(game: str, decree: str) -> None:
    own = {
        law
        for law, decrees in trijoker_settings.OWN_LAWS.items()
        if game == "trijoker" and decree in decrees
    }
    assert set(book_of(game, decree).laws) == {*LAWS[game], *own}


@every
def test_calls_errors_and_open_questions_are_these(game: str, decree: str) -> None:
    book = book_of(game, decree)
    calls = {
        "bets_closed",
        *(["pass"] if game == "texas-house" else []),
        *(["last_rounds"] if decree == "EUS96" else []),
    }
    assert set(book.announcements) == calls
    assert set(book.errors.values()) <= set(book.void)
    assert set(book.doubts) == DOUBTS[game, decree]


# Figures


@every
def test_paid_hands_are_hands_of_the_ranking(game: str, decree: str) -> None:
    book = book_of(game, decree)
    categories = set(RANKINGS[book.ranking].categories)
    match book:
        case Trijoker():
            assert set(book.pays) == categories - {"high_card"}
        case TexasHouse():
            assert set(book.ante) == categories
            assert set(book.bonus) == categories - {"high_card"}
        case PaiGow():
            assert book.pays == (1, 1)


@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
def test_trijoker_is_for_seven_players_each_for_himself(decree: str) -> None:
    book = book_of("trijoker", decree)
    assert (book.boxes, book.bets_per_box, len(book.bets)) == (7, 1, 3)
    assert book.limits == ((10, 20, 25) if decree == "BAL05" else (10, 20, 30))
    assert book.decks == (3 if decree == "BAL05" else 1)
    assert book.last_rounds == (None if decree == "BAL05" else 3)


@pytest.mark.rule("EUS96-172")
def test_texas_pays_as_the_decree_lists() -> None:
    book = book_of("texas-house", "EUS96")
    assert (book.boxes, book.bets_per_box, book.limits) == (9, 2, (10, 20, 30, 50))
    ante = {name: high for name, (high, _) in book.ante.items()}
    assert ante == dict.fromkeys(book.ante, 1) | {
        "royal_flush": 100,
        "straight_flush": 20,
        "four": 10,
        "full_house": 3,
        "flush": 2,
    }
    low = {"pair", "two_pair", "trips", "straight"}
    assert {name: pays for name, (pays, _) in book.bonus.items()} == {
        name: 7 if name in low else 25 for name in book.bonus
    }
    assert (book.bonus_pair_from, book.qualifies, book.second) == ("A", "4", (1, 1))


@pytest.mark.parametrize("decree", by_decree("BAL09-036", "EUS96-176"))
def test_pai_gow_has_three_dice_of_20_to_25_millimetres(decree: str) -> None:
    book = book_of("pai-gow", decree)
    assert (book.dice, book.die) == (3, (200, 250))


@pytest.mark.parametrize("decree", [*by_decree("BAL09-013 BAL09-074"), "EUS96"])
def test_pai_gow_is_for_six_players_and_keeps_up_to_five_percent(decree: str) -> None:
    book = book_of("pai-gow", decree)
    assert (book.boxes, book.commission, book.hand, book.low) == (6, 50, 7, 2)
