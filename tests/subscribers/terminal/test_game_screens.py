"""The pictures of boule, wheel of fortune, craps and poker: they fit, and what happened can be read
in them.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from subscribers.terminal.digits import large
from subscribers.terminal.floor import TableOnFloor, floor
from subscribers.terminal.screen import picture
from subscribers.terminal.table_view import TableView
from tests.support.subscribers.table import ENVELOPE, Narrator, state


def drawn(view: TableView, width: int = 80, height: int = 24) -> str:
    console = Console(width=width, height=height, file=StringIO(), force_terminal=True, record=True)
    console.print(picture(view, width=width), height=height)
    text = console.export_text()
    lines = text.rstrip("\n").split("\n")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    return text


def seen(game: str, *events: tuple[str, dict[str, Any]], **shown: Any) -> TableView:
    view, narrator = TableView("t1"), Narrator()
    view.retained("state", {**state("waiting", **shown), "game": game})
    for kind, fields in (("session.opened", {"by": "M. Lasa", "role": "table_head"}), *events):
        assert view.event({**narrator.event(kind, **fields), "game": game})
    return view


def result(played: int, /, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "round.result", {"round": played, "frames": [], "outcome": fields}


def throw(played: int, *dice: int, point: int | None = None) -> tuple[str, dict[str, Any]]:
    return result(played, dice=list(dice), total=sum(dice), point=point)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_boule_with_a_five_that_has_no_colour(width: int) -> None:
    nothing = {"colour": None, "parity": None, "half": None}
    view = seen(
        "boule",
        result(1, number=6, colour="black", parity="even", half="pasa"),
        result(2, number=5, **nothing),
    )
    text = drawn(view, width)
    for line in large("5"):
        assert line.rstrip() in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_wheel_of_fortune_shows_numbers_and_jokers(width: int) -> None:
    view = seen(
        "fortune-wheel",
        result(1, number=24, cell=7),
        result(2, number="joker", cell=54),
    )
    text = drawn(view, width)
    assert "JOKER" in text
    assert "joker 24" in text
    again = seen("fortune-wheel", result(1, number=24, cell=7))
    found = drawn(again, width)
    assert any(all(line.rstrip() in found for line in large("24", times)) for times in (1, 2))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_craps_shows_dice_point_and_shooter(width: int) -> None:
    view = seen(
        "craps",
        ("shooter.changed", {"seat": 3, "why": "first"}),
        throw(1, 2, 2),
        ("point.set", {"round": 1, "point": 4}),
        (
            "round.void",
            {
                "round": 2,
                "reason": "die_off_table",
                "law": "x",
                "article": "y",
                "last_number": None,
            },
        ),
    )
    text = drawn(view, width)
    assert "POINT 4" in text
    assert "the hard way" in text
    assert "seat 3 throws" in text
    assert "void" in text
    seven = seen(
        "craps", throw(1, 2, 2), throw(2, 3, 4, point=4), ("point.set", {"round": 2, "point": None})
    )
    assert "COME-OUT" in drawn(seven, width)


def test_a_throw_that_was_corrected_takes_its_place() -> None:
    view = seen(
        "craps",
        throw(1, 2, 2),
        (
            "result.corrected",
            {"round": 1, "outcome": {"dice": [2, 3]}, "by": "M. Lasa", "role": "inspector"},
        ),
    )
    assert [(each.dice, each.corrected) for each in view.dice.throws] == [((2, 3), True)]


def test_a_late_display_finds_the_throws_in_the_history() -> None:
    view = TableView("t1")
    view.retained("state", {**state("waiting", point=8, shooter=2), "game": "craps"})
    view.retained(
        "history",
        {
            **ENVELOPE,
            "results": [
                {
                    "round": 4,
                    "kind": "result",
                    "outcome": {"dice": [5, 3], "total": 8, "point": None},
                }
            ],
        },
    )
    text = drawn(view)
    assert "POINT 8" in text
    assert "seat 2 throws" in text
    assert "5+3" in text


HANDS = [
    {"who": "box:1", "cards": ["Ah", "Ad", "Kc", "7d", "2s"], "kind": "pair", "outcome": "win"},
    {"who": "box:10", "cards": [], "outcome": "lose"},
    {"who": "dealer", "cards": ["As", "Kd", "9c", "5d", "3h"], "kind": "high_card"},
]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_hands_of_poker(width: int) -> None:
    dealt = [
        ("card.dealt", {"round": 1, "to": who, "index": index, "card": None})
        for who in ("box:1", "dealer")
        for index in range(1, 6)
    ]
    view = seen(
        "poker-no-draw",
        ("round.opened", {"round": 1}),
        *dealt,
        ("hand.decided", {"round": 1, "who": "box:1", "decision": "go"}),
    )
    before = drawn(view, width)
    assert "▒▒ ▒▒ ▒▒ ▒▒ ▒▒" in before
    assert "go" in before
    after = seen(
        "poker-no-draw",
        ("round.opened", {"round": 1}),
        *dealt,
        result(1, hands=HANDS, marks=["dealer_qualifies"]),
    )
    text = drawn(after, width)
    assert "box 1  A♥ A♦ K♣ 7♦ 2♠" in text
    assert "pair" in text
    assert "dealer qualifies" in text
    assert text.index("box 1 ") < text.index("box 10") < text.index("dealer  ")


def test_the_cards_in_the_middle_are_first_and_ten_seats_have_room() -> None:
    seats = [
        ("card.dealt", {"round": 1, "to": f"seat:{seat}", "index": 1, "card": None})
        for seat in range(10, 0, -1)
    ]
    board = ("card.dealt", {"round": 1, "to": "board", "index": 1, "card": "Th"})
    text = drawn(seen("texas-holdem", ("round.opened", {"round": 1}), *seats, board))
    assert text.index("board  10♥") < text.index("seat 1 ") < text.index("seat 10")


def test_tables_are_shown_together_where_there_is_room_and_in_turn_where_not() -> None:
    tables = [TableOnFloor(TableView(f"mesa-{number}")) for number in range(1, 8)]
    shown = {
        size: [names(floor(tables, *size[:1], turn, size[1]), *size) for turn in range(8)]
        for size in SIZES
    }
    every = [f"mesa-{number}" for number in range(1, 8)]
    assert shown[180, 72] == [every] * 8
    assert shown[120, 24][:5] == [every[:2], every[2:4], every[4:6], every[6:], every[:2]]
    assert shown[80, 50][:4] == [every[:2], every[2:4], every[4:6], every[6:]]
    assert shown[80, 24] == [[name] for name in every] + [every[:1]]


@pytest.mark.parametrize("size", [(80, 24), (120, 24), (80, 50)])
def test_a_table_that_calls_is_named_while_others_are_shown(size: tuple[int, int]) -> None:
    tables = [TableOnFloor(TableView(f"mesa-{number}")) for number in range(1, 8)]
    for number, status in ((1, "open"), (6, "waiting"), (7, "fault")):
        tables[number - 1].view.retained(
            "state", {**state("decision"), "table": f"mesa-{number}", "status": status}
        )
    page = drawn_floor(tables, 0, size)
    assert page.count("mesa-6 waiting") == page.count("mesa-7 fault") == 1
    assert "mesa-1 open" not in page
    for seen in tables[1:5]:
        seen.view.retained("state", {**state("decision"), "status": "stale"})
    assert "more" in drawn_floor(tables, 0, size)
    last = next(
        page
        for turn in range(8)
        if "mesa-7" in (page := drawn_floor(tables, turn, size)) and "mesa-7 fault" not in page
    )
    assert "mesa-1 " not in last.splitlines()[-1]


def drawn_floor(tables: list[TableOnFloor], turn: int, size: tuple[int, int]) -> str:
    console = Console(
        width=size[0], height=size[1], file=StringIO(), force_terminal=True, record=True
    )
    console.print(floor(tables, size[0], turn, size[1]), height=size[1])
    text = console.export_text()
    assert all(len(line) <= size[0] for line in text.splitlines())
    return text


SIZES = ((180, 72), (120, 24), (80, 50), (80, 24))


def names(picture: RenderableType, width: int, height: int) -> list[str]:
    """The tables that are shown; on one screen alone the others are named by their number only."""
    console = Console(width=width, height=height, file=StringIO(), force_terminal=True, record=True)
    console.print(picture, height=height)
    lines = console.export_text().splitlines()
    assert all(len(line) <= width for line in lines)
    return re.findall(r"mesa-\d", " ".join(lines))
