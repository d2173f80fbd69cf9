"""The rulebooks of craps: complete, and in the decrees' own words and figures."""

from __future__ import annotations

import msgspec
import pytest

from controller.games.craps.settings import LAWS
from controller.rulebooks.craps import Craps
from controller.rulebooks.dispositions import dispositions, own_rules, subjects
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.decrees import by_decree

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
every = for_each("decree", DECREES)
NULL = {
    "die_broken",
    "dice_stacked",
    "die_on_chips",
    "die_off_table",
    "die_on_edge",
    "die_in_reserve",
    "dice_slid",
    "bad_throw",
}


def book_of(decree: str) -> Craps:
    return decrees.book_of(Craps, "craps", decree)


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(decree: str) -> None:
    assert set(LAWS) == set(book_of(decree).laws)


@every
def test_calls_and_open_questions_are_these(decree: str) -> None:
    book = book_of(decree)
    last = {"last_rounds"} if book.last_rounds is not None else set()
    assert set(book.announcements) == {"bets_closed", "void", "change"} | last
    own = {"field_four"} if decree == "ARA02" else set()
    assert set(book.doubts) == {"early_throw", "floor_die", "place_eight", "multiples"} | own


# Its figures


@pytest.mark.parametrize(
    "decree",
    by_decree(
        "BAL05-053 BAL05-054", "ARA02-122 ARA02-123", "EUS96-099 EUS96-100", "GAL07-129 GAL07-130"
    ),
)
def test_six_dice_of_20_to_25_millimetres(decree: str) -> None:
    book = book_of(decree)
    assert (book.dice, book.side) == (6, (200, 250))


@every
def test_the_eight_causes_of_nullity_and_who_is_responsible(decree: str) -> None:
    book = book_of(decree)
    assert set(book.void) == NULL | {"device_fault", "inspector"}
    assert book.void_by == (
        ("croupier", "table_head", "inspector") if decree == "EUS96" else ("croupier", "table_head")
    )


@pytest.mark.parametrize(
    ("decree", "limits"),
    [("BAL05", (20, 1000)), ("ARA02", (50, 200)), ("EUS96", (20, 1000)), ("GAL07", (100, 1000))],
)
def test_the_range_of_the_highest_simple_bet(decree: str, limits: tuple[int, int]) -> None:
    book = book_of(decree)
    assert book.simple_limits == limits
    assert book.multiple_gain == (1, 3)


@every
def test_bets_are_of_four_kinds(decree: str) -> None:
    kinds = [bet.kind for bet in book_of(decree).bets.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "simple": 9,
        "multiple": 11,
        "associated": 4,
        "place": 2,
    }
    assert [word for word, bet in book_of(decree).bets.items() if bet.locked] == ["win"]


@every
def test_decrees_differ_in_words_limits_and_two_bets_alone(decree: str) -> None:
    """Aragon's field has no 4; the Basque text has no highest stake beside Win and Come."""
    ours, others = book_of(decree).bets, book_of("BAL05").bets
    for word, bet in ours.items():
        same = msgspec.structs.replace(bet, name={}) == msgspec.structs.replace(
            others[word], name={}
        )
        differs = {"ARA02": {"field"}, "EUS96": {"win_odds", "come_odds"}}.get(decree, set())
        assert same == (word not in differs)


def test_the_last_shooter() -> None:
    assert [book_of(decree).last_rounds for decree in DECREES] == [None, None, 1, None]


def test_every_rule_of_the_game_has_an_answer() -> None:
    rules = {rule for subject in subjects() if subject.subject == "craps" for rule in subject.ids}
    assert len(rules - set(own_rules())) == 64
    assert rules <= set(dispositions())
