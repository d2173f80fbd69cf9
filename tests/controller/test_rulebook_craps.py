"""What the rulebooks hold of craps: whole, and in the decrees' own words and figures."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from controller.games.craps.settings import LAWS, CrapsSettings
from controller.rulebooks.craps import Craps
from controller.rulebooks.dispositions import dispositions, subjects
from controller.rulebooks.rulebook import rulebook
from tests.controller.seeds import stands_in
from tests.controller.test_rulebooks import of, quotes

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
every = pytest.mark.parametrize("decree", DECREES)
NULL = {"die_broken", "dice_stacked", "die_on_chips", "die_off_table", "die_on_edge", "die_in_reserve", "dice_slid", "bad_throw"}


def book_of(decree: str) -> Craps:
    book = rulebook(decree).craps
    assert book is not None
    return book


@every
def test_has_a_law_for_whatever_the_game_can_report_and_no_other(decree: str) -> None:
    assert set(LAWS) == set(book_of(decree).laws)


@every
def test_cites_its_own_rules(decree: str) -> None:
    book = book_of(decree)
    for law in (*book.laws.values(), *book.void.values()):
        assert law.rule.startswith(f"{decree}-")
        assert law.article.startswith(book.article)


@every
def test_words_are_the_decrees(decree: str, shared: Path) -> None:
    book = book_of(decree)
    [language] = rulebook(decree).languages
    assert stands_in(shared, decree, book.title[language], case=False)
    last = {"last_rounds"} if book.last_rounds is not None else set()
    assert set(book.announcements) == {"bets_closed", "void", "change"} | last
    for announcement in book.announcements.values():
        [(spoken, phrase)] = announcement.items()
        assert spoken == language
        assert stands_in(shared, decree, phrase), phrase
    for bet in book.bets.values():
        [(spoken, name)] = bet.name.items()
        assert spoken == language
        assert stands_in(shared, decree, name, case=False), name


@every
def test_articles_quote_the_decree(decree: str, shared: Path) -> None:
    book = book_of(decree)
    for law in (*book.laws.values(), *book.void.values()):
        assert quotes(law.article)
        for quote in quotes(law.article):
            assert stands_in(shared, decree, quote), quote


@every
def test_doubts_are_settings_with_the_same_choices(decree: str) -> None:
    types = {field.name: field.type for field in msgspec.structs.fields(CrapsSettings)}
    doubts = book_of(decree).doubts
    own = {"field_four"} if decree == "ARA02" else set()
    assert set(doubts) == {"early_throw", "floor_die", "place_eight", "multiples"} | own
    for name, doubt in doubts.items():
        layout = {"layout"} if name == "multiples" and decree != "GAL07" else set()
        assert set(doubt.choices) == set(get_args(types[name])) - layout
        assert doubt.default in doubt.choices


@every
def test_every_doubt_is_in_the_document(decree: str) -> None:
    document = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    section = document.split("## Craps")[1].split("\n## ")[0]
    for name, doubt in book_of(decree).doubts.items():
        [row] = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        assert f"| {doubt.question} | " in row
        assert f"| **{doubt.default}** |" in row
        assert f"{decree} {doubt.lines}" in row


# Its figures


@pytest.mark.parametrize("decree", of("BAL05-053 BAL05-054", "ARA02-122 ARA02-123", "EUS96-099 EUS96-100", "GAL07-129 GAL07-130"))
def test_six_dice_of_20_to_25_millimetres(decree: str) -> None:
    book = book_of(decree)
    assert (book.dice, book.side) == (6, (200, 250))


@every
def test_the_eight_causes_of_nullity_and_who_is_responsible(decree: str) -> None:
    book = book_of(decree)
    assert set(book.void) == NULL | {"device_fault", "inspector"}
    assert book.void_by == (("croupier", "table_head", "inspector") if decree == "EUS96" else ("croupier", "table_head"))


@pytest.mark.parametrize(
    ("decree", "limits"), [("BAL05", (20, 1000)), ("ARA02", (50, 200)), ("EUS96", (20, 1000)), ("GAL07", (100, 1000))]
)
def test_between_what_the_highest_simple_bet_is(decree: str, limits: tuple[int, int]) -> None:
    book = book_of(decree)
    assert book.simple_limits == limits
    assert book.multiple_gain == (1, 3)


@every
def test_bets_are_of_four_kinds(decree: str) -> None:
    kinds = [bet.kind for bet in book_of(decree).bets.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"simple": 9, "multiple": 11, "associated": 4, "place": 2}
    assert [word for word, bet in book_of(decree).bets.items() if bet.locked] == ["win"]


@every
def test_decrees_differ_in_words_limits_and_two_bets_alone(decree: str) -> None:
    """Aragon's field has no 4; the Basque text has no highest stake beside Win and Come."""
    ours, others = book_of(decree).bets, book_of("BAL05").bets
    for word, bet in ours.items():
        same = msgspec.structs.replace(bet, name={}) == msgspec.structs.replace(others[word], name={})
        differs = {"ARA02": {"field"}, "EUS96": {"win_odds", "come_odds"}}.get(decree, set())
        assert same == (word not in differs)


def test_the_last_shooter() -> None:
    assert [book_of(decree).last_rounds for decree in DECREES] == [None, None, 1, None]


def test_every_rule_of_the_game_has_an_answer() -> None:
    rules = {rule for subject in subjects() if subject.subject == "craps" for rule in subject.ids}
    assert len(rules) == 64
    assert rules <= set(dispositions())
