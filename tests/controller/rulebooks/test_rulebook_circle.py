"""The rulebooks of circle poker: complete, and in the decrees' own words and figures."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from controller.games.circle.errors import REMEDIES
from controller.games.circle.first_to_act import FIRST_TO_ACT
from controller.games.circle.settings import LAWS
from controller.games.circle.streets import needed, pack
from controller.games.games import make_game
from controller.rulebooks.circle import Circle
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.circle_play import PAIRS
from tests.support.games.decrees import by_decree

every = for_each(("decree", "game"), PAIRS)
NEEDED = {"too_many", "exposed", "exposed_in_cut", "premature", "extra_common"}
"""Errors that the table sees by itself, or that apply before a game is known."""
rule = pytest.mark.rule


def book_of(decree: str, game: str) -> Circle:
    return decrees.book_of(Circle, game, decree)


# Completeness


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert set(book.laws) == {law for law in LAWS if not law.startswith("deal_")} | {
        f"deal_{error}" for error in book.errors
    }
    assert set(book.errors) >= NEEDED
    assert set(book.errors.values()) <= set(REMEDIES)
    assert set(book.first_to_act) <= set(FIRST_TO_ACT)


@every
def test_the_person_responsible_declares_a_round_null(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert book.void_by == (("table_head", "inspector") if decree == "EUS96" else ("table_head",))
    assert {
        "wrong_order",
        "wrong_count",
        "card_exposed",
        "deck_defective",
        "misdeal",
        "cards_lacking",
    } <= set(book.void)


@every
def test_the_pack_has_cards_for_all_players(decree: str, game: str) -> None:
    book = book_of(decree, game)
    made: Any = make_game(game, decree, {})
    assert needed(book, made.settings, book.most or 10) <= len(pack(book, 10))


@pytest.mark.parametrize("deal", ["seats", "seats x", "players dd", "board:3 u"])
def test_an_invalid_street_is_refused(deal: str) -> None:
    book = msgspec.to_builtins(book_of("EUS96", "omaha")) | {"streets": [[deal]]}
    with pytest.raises(ValueError, match="is not a deal"):
        msgspec.convert(book, Circle)


# Figures


PACKS = {
    "texas-holdem": 52,
    "omaha": 52,
    "omaha-five": 52,
    "omaha-hi-lo": 52,
    "holdem-double": 52,
    "synthetic-poker": 28,
}


@pytest.mark.parametrize(
    ("decree", "game"),
    [
        pytest.param(*pair, marks=rule("BAL09-001", "BAL09-004") if pair[0] == "BAL09" else ())
        for pair in PAIRS
    ],
)
def test_the_pack(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert len(pack(book, 10)) == PACKS[game]
    assert len(pack(book, 10)) == 52 or {card[0] for card in pack(book, 10)} == set("AKQJT98")


@rule("BAL09-011", "EUS96-200", "EUS96-213", "ARA02-147", "BAL05-143")
@every
def test_four_players_at_least(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert book.fewest == 4
    assert book.most == (8 if game == "omaha-five" else 10 if decree == "BAL05" else None)


@pytest.mark.parametrize("game", ["texas-holdem", "omaha"])
@pytest.mark.parametrize("decree", by_decree("BAL09-071", "EUS96-214"))
def test_the_share_of_the_house(decree: str, game: str) -> None:
    options = [(rake.of, rake.least, rake.most) for rake in book_of(decree, game).rake]
    assert (
        options
        == [("pot", 0, 5), ("session", 10, 20), ("hand", 20, 50)][: 3 if decree == "EUS96" else 2]
    )


@rule("ARA02-147", "BAL05-143")
def test_the_share_of_the_house_at_synthetic_poker() -> None:
    for decree, least in (("ARA02", 3), ("BAL05", 0)):
        [rake] = book_of(decree, "synthetic-poker").rake
        assert (rake.of, rake.least, rake.most) == ("pot", least, 3)


@rule("BAL09-073", "BAL05-143")
def test_the_amount_that_a_player_brings() -> None:
    for decree, initial in (("BAL09", (10, 200)), ("EUS96", (10, 200)), ("BAL05", (25, 100))):
        stakes = book_of(decree, "synthetic-poker").stakes
        assert stakes is not None
        assert (stakes.initial, stakes.reposition) == (initial, (5, 100))


@rule("BAL09-070")
def test_limits_of_bets() -> None:
    for decree in ("BAL09", "EUS96"):
        book = book_of(decree, "texas-holdem")
        assert (book.minimum, book.ante, book.limits) == ((20, 40), 50, ("split", "pot", "none"))
    assert book_of("EUS96", "omaha-hi-lo").limits == ("fixed", "pot", "none")


@pytest.mark.parametrize(
    ("setting", "decree", "message"),
    [
        ({"rake": "hand", "rake_percent": 30}, "BAL09", "must be one of: pot, session"),
        ({"rake": "pot", "rake_percent": 6}, "EUS96", "0 to 5"),
        ({"rake": "pot"}, "EUS96", "0 to 5"),
        ({"limit": "fixed"}, "BAL09", "split, pot, none"),
    ],
)
@rule("BAL09-071", "EUS96-214")
def test_a_share_that_the_decree_does_not_have_is_refused(
    setting: dict[str, Any], decree: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_game("texas-holdem", decree, setting)
