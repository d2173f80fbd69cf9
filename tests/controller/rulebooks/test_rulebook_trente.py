"""The rulebooks of trente et quarante: complete, and in the decrees' own words and figures."""

from __future__ import annotations

import pytest

from controller.games.trente.settings import LAWS
from controller.rulebooks.dispositions import dispositions, subjects
from controller.rulebooks.trente import Trente
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.decrees import by_decree

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
every = for_each("decree", DECREES)


def book_of(decree: str) -> Trente:
    return decrees.book_of(Trente, "trente-et-quarante", decree)


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(decree: str) -> None:
    assert set(LAWS) == set(book_of(decree).laws)


@every
def test_calls_chances_and_open_questions_are_these(decree: str) -> None:
    book = book_of(decree)
    last = {"last_rounds"} if book.last_rounds is not None else set()
    assert set(book.announcements) == {"colour_wins", "colour_loses"} | last
    assert set(book.chances) == {"red", "black", "colour", "inverse"} == set(book.settlement)
    assert set(book.doubts) == {"rounds", "refait"}


# Its figures


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-008 BAL05-009", "ARA02-035", "EUS96-089", "GAL07-041 GAL07-042")
)
def test_six_decks_of_one_colour_without_index(decree: str) -> None:
    shoe = book_of(decree).shoe
    assert (shoe.decks, shoe.backs, shoe.index) == (6, (6,), False)


@pytest.mark.parametrize("decree", by_decree("BAL05-092", "ARA02-044", "EUS96-094", "GAL07-047"))
def test_five_cards_are_behind_the_cut_card(decree: str) -> None:
    shoe = book_of(decree).shoe
    assert (shoe.behind, shoe.behind_exact, shoe.after_cut, shoe.burn) == (5, True, "void", 0)


@pytest.mark.parametrize("decree", by_decree("BAL05-094", "ARA02-047", "GAL07-086"))
def test_the_highest_bet_is_a_thousand_times_the_lowest(decree: str) -> None:
    assert book_of(decree).limits == (1000,)


def test_the_highest_bet_in_the_basque_country() -> None:
    assert book_of("EUS96").limits == (20, 25, 50)


@pytest.mark.parametrize("decree", by_decree("BAL05-094", "ARA02-047", "EUS96-098"))
def test_insurance_costs_a_hundredth_of_the_bet(decree: str) -> None:
    assert book_of(decree).insurance == (1, 100)


@pytest.mark.parametrize("decree", by_decree("ARA02-046", "EUS96-097", "GAL07-084"))
def test_colour_and_inverse_are_paid_first(decree: str) -> None:
    assert book_of(decree).settlement == ("colour", "inverse", "black", "red")


@every
def test_only_the_person_responsible_declares_a_round_null(decree: str) -> None:
    book = book_of(decree)
    assert set(book.void) == {"cut_card", "cards_stuck", "misdeal", "device_fault", "inspector"}
    assert book.void_by == (("table_head", "inspector") if decree == "EUS96" else ("table_head",))


def test_every_rule_of_the_game_has_an_answer() -> None:
    rules = {
        rule
        for subject in subjects()
        if subject.subject == "trente-et-quarante"
        for rule in subject.ids
    }
    assert len(rules) > 30
    assert rules <= set(dispositions())
