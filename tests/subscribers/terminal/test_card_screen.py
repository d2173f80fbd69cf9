"""The picture of a card table, and of several tables on one terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from subscribers.cards import points, short
from subscribers.terminal.floor import SCREENSHOT_COLUMNS, TableOnFloor, floor
from subscribers.terminal.screen import ScreenTrouble
from subscribers.terminal.table_view import TableView
from tests.support.subscribers.table import Narrator, card_state, coup, dealt, hands, played, state


def text_of(picture: RenderableType, width: int, height: int) -> str:
    console = Console(width=width, height=height, file=StringIO(), force_terminal=True, record=True)
    console.print(picture, height=height)
    text = console.export_text()
    lines = text.rstrip("\n").split("\n")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    return text


HEALTHY = ScreenTrouble()


def drawn(
    view: TableView, trouble: ScreenTrouble = HEALTHY, width: int = 80, height: int = 24
) -> str:
    return text_of(floor([TableOnFloor(view, trouble)], width), width, height)


def with_result() -> TableView:
    view, narrator = dealt()
    for fields in coup(narrator, 6, "Jd Ts 7h", "4h 4d", "banker", "natural", "pair_banker"):
        view.event(fields)
    return view


@pytest.mark.parametrize(("width", "height"), [(60, 24), (80, 24), (120, 40), (200, 60)])
def test_a_result(width: int, height: int) -> None:
    text = drawn(with_result(), width=width, height=height)
    assert "punto-1" in text
    assert "RESULT" in text
    assert "SIMULATED" in text
    for card in ("J♦", "10♠", "7♥", "4♥", "4♦"):
        assert card in text
    assert "BANKER WINS 8 - 7" in text
    assert "natural · banker pair" in text
    assert "P 1   B 2   T 1" in text
    assert "11 drawn, 301 left" in text


@pytest.mark.parametrize("width", [60, 80])
def test_cards_that_lie_face_down_and_the_next_one(width: int) -> None:
    text = drawn(dealt()[0], width=width)
    assert text.count("▒▒▒▒▒") == 6  # two cards, three lines each
    assert "┌╌╌╌┐" in text
    assert "next card: player" in text
    assert "«no va más»" in text
    assert "♥" not in text


def test_the_bead_plate_goes_down_and_then_to_the_right() -> None:
    view, narrator = dealt()
    for number in (6, 7, 8):
        view.event(
            narrator.event(
                "round.result",
                round=number,
                outcome={"hands": hands("9c Kc", "2d Kd"), "winner": "player", "marks": []},
            )
        )
    rows = [
        line.split("││")[1].strip("│ ").split() for line in drawn(view).splitlines() if "││" in line
    ]
    assert [row[:2] for row in rows[:6]] == [
        ["P", "P"],
        ["•B•", "·"],
        ["•T", "·"],
        ["×", "·"],
        ["P", "·"],
        ["P", "·"],
    ]


def test_a_plate_that_is_full_drops_its_first_column() -> None:
    view, narrator = TableView("punto-1"), Narrator()
    view.retained("state", card_state("waiting"))
    for number in range(1, 56):
        winner = "banker" if number <= 6 else "player"
        view.event(
            narrator.event(
                "round.result",
                round=number,
                outcome={"hands": hands("9c Kc", "2d Kd"), "winner": winner, "marks": []},
            )
        )
    text = drawn(view)
    assert "bead plate · 55" in text
    assert " B " not in text.replace("B 6", "")


def test_a_decision_on_a_slim_picture() -> None:
    view, _ = dealt()
    view.retained("state", card_state("decision", round=5, asks=["card.decide", "round.void"]))
    text = drawn(view, ScreenTrouble("daemon_offline"), width=60)
    assert "WAITING FOR A DECISION" in text
    assert "card.decide" in text
    assert "round.void" in text
    assert "THE DAEMON IS OFFLINE" in text


def test_a_burn() -> None:
    view, narrator = TableView("punto-1"), Narrator()
    view.retained("state", card_state("burning"))
    view.event(narrator.event("shoe.started", shoe="1", decks=6, cards=312, cut=7))
    view.event(narrator.event("card.dealt", to="burn", index=1, card="Tc"))
    assert "burn card 10♣" in drawn(view)
    view.event(narrator.event("cards.burned", count=10, shown="Tc"))
    assert "burn card 10♣, 10 burned" in drawn(view)


def test_a_game_without_a_picture_of_its_own() -> None:
    view, narrator = TableView("bj-1"), Narrator()
    view.retained("state", {**state("dealing"), "table": "bj-1", "game": "blackjack"})
    assert "no result yet" in drawn(view)
    view.event(narrator.event("card.dealt", round=1, to="box:1", index=1, card="Ah"))
    view.event(narrator.event("card.dealt", round=1, to="dealer", index=1, card=None))
    text = drawn(view)
    assert "box 1  A♥" in text
    assert "dealer  ▒▒" in text


def test_tables_side_by_side_or_in_turns() -> None:
    tables = [TableOnFloor(played()[0]), TableOnFloor(with_result())]
    wide = text_of(floor(tables, 2 * SCREENSHOT_COLUMNS), 2 * SCREENSHOT_COLUMNS, 40)
    assert "black · even" in wide
    assert "BANKER WINS" in wide
    first, second = (text_of(floor(tables, 80, turn), 80, 24) for turn in (6, 7))
    assert "ruleta-1" in first.splitlines()[0]
    assert "punto-1" in first.splitlines()[0]
    assert ("black · even" in first, "BANKER WINS" in first) == (True, False)
    assert ("black · even" in second, "BANKER WINS" in second) == (False, True)


def test_cards_and_points() -> None:
    assert [short(card) for card in ("Ah", "Td", "9c", "Ks")] == ["A♥", "10♦", "9♣", "K♠"]
    assert (points([]), points(["As", None]), points(["9c", "8d"]), points(["Kc", "Th"])) == (
        0,
        1,
        7,
        0,
    )
