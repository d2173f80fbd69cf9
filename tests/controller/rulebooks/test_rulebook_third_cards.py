"""The tables of the third card in the rulebooks, cell by cell: as Aragon prints them, and the parts
that the other copies lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controller.rulebooks.cards import ThirdCards
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.punto_banca import PuntoBanca
from tests.support.for_each import for_each
from tests.support.games.decrees import book_of, by_decree
from tests.support.games.seeds import stands_in

ANNEX_VI = (
    *["T T T T T T T T T T T"] * 3,
    "T T T T T T T T P T T",
    "P P T T T T T T P P T",
    "P P P P T T T T P P T",
    "P P P P P P T T P P P",
    "P P P P P P P P P P P",
)
ANNEX_VII = (
    *["T T T T T T T T T T T"] * 3,
    "T T T T T T T T P O T",
    "P P T T T T T T P P T",
    "P P P P O T T T P P T",
    "P P P P P P T T P P P",
    "P P P P P P P P P P P",
)
GAMES = ("punto-banca", "chemin-de-fer")


def third(game: str, decree: str) -> ThirdCards:
    return (
        book_of(PuntoBanca, game, decree).third
        if game == "punto-banca"
        else book_of(Chemin, game, decree).third
    )


@pytest.mark.parametrize(
    ("game", "annex"),
    [
        pytest.param("punto-banca", ANNEX_VI, marks=pytest.mark.rule("ARA02-079"), id="VI"),
        pytest.param("chemin-de-fer", ANNEX_VII, marks=pytest.mark.rule("ARA02-097"), id="VII"),
    ],
)
def test_an_annex_is_copied_cell_by_cell(game: str, annex: tuple[str, ...], shared: Path) -> None:
    assert third(game, "ARA02").banker == tuple(row.replace(" ", "") for row in annex)
    assert third(game, "ARA02").repairs == ()
    for total, row in enumerate(annex):
        assert stands_in(shared, "ARA02", f"{total} {row}")


@for_each("decree", ["BAL05", "EUS96", "GAL07"])
@for_each("game", GAMES)
def test_other_copies_are_repaired_from_it_and_marked(game: str, decree: str) -> None:
    table = third(game, decree)
    assert table.banker == third(game, "ARA02").banker
    for repair in table.repairs:
        assert repair.columns == "0123456789P"
        assert repair.read == table.banker[repair.bank]
        assert "ARA02" in repair.lines


@pytest.mark.parametrize(
    ("game", "repaired", "rows", "apart"),
    [
        ("punto-banca", [0, 1, 2, 3], range(8), " "),
        ("chemin-de-fer", [3, 4, 5, 6, 7], range(3, 8), ""),
    ],
    ids=GAMES,
)
def test_the_cells_that_the_basque_copy_prints(
    game: str, repaired: list[int], rows: range, apart: str, shared: Path
) -> None:
    table = third(game, "EUS96")
    printed = {repair.bank: repair.printed for repair in table.repairs}
    assert sorted(printed) == repaired
    for total in rows:
        assert stands_in(
            shared, "EUS96", f"{total} {apart.join(printed.get(total, table.banker[total]))}"
        )


@pytest.mark.parametrize("decree", ["BAL05", "GAL07"])
def test_where_the_table_of_punto_y_banca_is_lost_every_row_is_a_repair(decree: str) -> None:
    repairs = third("punto-banca", decree).repairs
    assert [repair.bank for repair in repairs] == list(range(8))
    assert {repair.printed for repair in repairs} == {""}


@pytest.mark.parametrize("decree", by_decree("BAL05-100", "ARA02-078", "EUS96-121", "GAL07-089"))
def test_the_player_draws_on_0_to_5_and_stands_on_6_or_7(decree: str) -> None:
    assert third("punto-banca", decree).player == "TTTTTTPP"


@pytest.mark.parametrize("decree", by_decree("ARA02-095", "BAL05-113", "EUS96-138", "GAL07-103"))
def test_hands_where_a_player_holds_the_bank(decree: str) -> None:
    assert third("chemin-de-fer", decree).player == "TTTTTOPP"
    assert book_of(Chemin, "baccarat-two-cloths", decree).third.player == "TTTTTOPP"


@pytest.mark.parametrize(
    ("player", "banker", "says"),
    [
        ("TTTTTTP", ANNEX_VI, "player"),
        ("TTTTTTPX", ANNEX_VI, "player"),
        ("TTTTTTPP", ("T" * 11,) * 7, "banker"),
    ],
)
def test_a_bad_table_is_refused(player: str, banker: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ThirdCards(player=player, banker=banker)
