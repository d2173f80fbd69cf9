"""Outdated values are grey at once and show since when; tables and parts share the terminal."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from rich.segment import Segment

from subscribers.feed.tables import ConnectionChange
from subscribers.terminal.current import clock
from subscribers.terminal.display import Display
from subscribers.terminal.floor import TableOnFloor, floor
from subscribers.terminal.screen import ScreenTrouble, picture
from subscribers.terminal.space import FRAME_LINES, rows, shares
from subscribers.terminal.table_view import MAX_SPINS, TableView
from tests.support.for_each import for_each
from tests.support.subscribers.table import BLACK, ENVELOPE, RED, Narrator, played, state

SINCE = "2026-03-20T02:10:42.307311Z"
BLACK_POCKET = (192, 192, 192), (16, 16, 16)
"""The white of a terminal on the black of a pocket."""
GREY = (128, 128, 128), None


def seen(
    view: TableView,
    trouble: ScreenTrouble = ScreenTrouble(),  # noqa: B008
    size: tuple[int, int] = (80, 24),
) -> list[Segment]:
    console = Console(width=size[0], height=size[1], file=StringIO(), force_terminal=True)
    options = console.options.update(height=size[1])
    return list(console.render(picture(view, trouble, size[0]), options))


def pixels(drawn: list[Segment]) -> set[Any]:
    """The colours in which the pixels of the large number are drawn, and those of their ground."""
    return {
        tuple(
            colour and tuple(colour.get_truecolor())
            for colour in (segment.style.color, segment.style.bgcolor)
        )
        for segment in drawn
        if "█" in segment.text and segment.style is not None
    }


def words(drawn: list[Segment]) -> str:
    return re.sub(r"[│─╭╮╰╯\s]+", " ", "".join(segment.text for segment in drawn))


def lost() -> TableView:
    view, _ = played()
    view.retained(
        "state",
        {
            **state("bets_closed", status="stale"),
            "devices": {"wheel": {"state": "lost", "since": SINCE}},
        },
    )
    return view


def unresolved() -> tuple[TableView, Narrator]:
    """Round 6 has no result, and neither has round 4."""
    view, narrator = played()
    view.event(narrator.event("round.unresolved", round=6, why="silence", candidate=3, time=SINCE))
    view.retained("state", state("waiting", status="waiting", asks=[], unresolved=[4, 6]))
    return view, narrator


def test_a_current_number_has_its_colour() -> None:
    assert pixels(seen(played()[0])) == {BLACK_POCKET}


@pytest.mark.parametrize(
    ("view", "trouble", "said"),
    [
        (lost(), ScreenTrouble(), f"wheel lost, since {clock(SINCE)}"),
        (unresolved()[0], ScreenTrouble(), f"round 6 has no result, since {clock(SINCE)}"),
        (played()[0], ScreenTrouble("no_broker", since=SINCE), f"since {clock(SINCE)}"),
        (played()[0], ScreenTrouble("daemon_offline"), "THE DAEMON IS OFFLINE"),
    ],
)
def test_an_outdated_number_is_grey_and_shows_since_when(
    view: TableView, trouble: ScreenTrouble, said: str
) -> None:
    drawn = seen(view, trouble)
    assert pixels(drawn) == {GREY}
    assert said in words(drawn)


def test_a_table_at_fault_is_grey_too() -> None:
    view, _ = played()
    view.retained("state", {**state("bets_closed", status="fault"), "time": SINCE})
    assert pixels(seen(view)) == {GREY}
    assert f"fault, since {clock(SINCE)}" in words(seen(view))


def test_a_later_result_is_current_though_an_earlier_round_waits() -> None:
    view, narrator = unresolved()
    view.event(narrator.event("round.result", round=7, outcome={"number": 4, **BLACK}))
    assert pixels(seen(view)) == {BLACK_POCKET}
    assert "has no result" not in words(seen(view))


def test_a_settled_round_is_current_again() -> None:
    view, narrator = unresolved()
    view.event(narrator.event("round.result", round=6, outcome={"number": 3, **RED}))
    view.event(narrator.event("round.void", round=4, reason="inspector", law="", article=""))
    assert GREY not in pixels(seen(view))


def test_cards_and_dice_are_grey_over_a_round_without_a_result() -> None:
    for game, outcome in (
        ("punto-banca", {"winner": "player", "hands": [], "marks": []}),
        ("craps", {"dice": [3, 4], "total": 7}),
    ):
        view, narrator = TableView("t1"), Narrator()
        view.retained("state", {**state("waiting"), "game": game})
        view.event({**narrator.event("round.result", round=1, outcome=outcome), "game": game})
        assert "has no result" not in words(seen(view))
        lost_round = narrator.event("round.unresolved", round=2, why="silence", candidate=None)
        view.event({**lost_round, "game": game})
        assert "round 2 has no result" in words(seen(view))
        view.event({**narrator.event("round.result", round=2, outcome=outcome), "game": game})
        assert "has no result" not in words(seen(view))


def test_the_call_to_a_round_shows_what_to_do_and_who_may() -> None:
    view, narrator = unresolved()
    raised: dict[str, Any] = {
        "alert": "round-unresolved",
        "what": "round.unresolved",
        "severity": "warning",
        "rounds": [4, 6],
        "settled_by": {"round.confirm": ["table_head", "inspector"], "round.void": ["inspector"]},
    }
    view.event(narrator.event("alert.raised", **raised))
    assert (
        "WARNING a round has no result (round 4, round 6); confirm the result (round.confirm): "
        "table head, gaming inspector; void the round (round.void): gaming inspector"
        in words(seen(view))
    )
    view.event(narrator.event("alert.cleared", alert="round-unresolved"))
    assert "table head" not in words(seen(view))


def test_the_display_remembers_since_when_it_is_in_trouble() -> None:
    display = Display("t1")
    first = display.trouble()
    assert (first.what, display.trouble().since) == ("no_broker", first.since)
    display.on_message(ConnectionChange(up=True))
    assert display.trouble().what == "no_daemon"
    assert display.trouble().since > first.since


# A split pair


def split(view: TableView, narrator: Narrator) -> None:
    for to, index, card in (("box:3", 1, "8s"), ("dealer", 1, "Td"), ("box:3", 2, "8h")):
        view.event(narrator.event("card.dealt", round=1, to=to, index=index, card=card))
    view.event(narrator.event("hand.decided", round=1, who="box:3", decision="split"))


def test_a_split_pair_lies_in_two_hands_of_open_cards() -> None:
    view, narrator = TableView("bj-1"), Narrator()
    view.retained("state", {**state("players"), "game": "blackjack"})
    split(view, narrator)
    assert view.cards.hands == {"box:3": ["8s"], "box:3.2": ["8h"], "dealer": ["Td"]}
    for to, card in (("box:3", "Kc"), ("box:3.2", "2h")):
        view.event(narrator.event("card.dealt", round=1, to=to, index=2, card=card))
    assert view.cards.hands == {"box:3": ["8s", "Kc"], "box:3.2": ["8h", "2h"], "dealer": ["Td"]}
    assert "box 3.2 8♥ 2♥" in words(seen(view))
    assert "▒▒" not in words(seen(view))


def test_a_late_display_finds_the_split_hands_in_the_state() -> None:
    view = TableView("bj-1")
    hands = {"box:3": {"cards": ["8s"], "points": 8}, "box:3.2": {"cards": ["8h"], "points": 8}}
    dealer = {"cards": ["Td"], "points": 10}
    view.retained("state", {**state("players", hands=hands, dealer=dealer), "game": "blackjack"})
    assert view.cards.hands == {"box:3": ["8s"], "box:3.2": ["8h"], "dealer": ["Td"]}


# The space of a terminal


@for_each("width", [48, 60, 80, 120, 200])
@for_each("height", [24, 25, 40, 50, 90])
@for_each("noted", [0, 1, 5, 40])
def test_the_parts_of_a_table_fill_its_lines(width: int, height: int, noted: int) -> None:
    part = shares(width, height, noted)
    assert part.now.height + FRAME_LINES + part.below + part.notes + FRAME_LINES == height
    assert part.now.height >= 9
    assert (part.notes > 0) == (noted > 0)
    assert not (part.beside and part.below)
    assert part.notes <= noted + FRAME_LINES


def test_as_many_tables_as_fit_and_each_as_large_as_possible() -> None:
    assert rows(7, 200, 50) == (4, 2)
    assert rows(1, 200, 50) == (1, 1)
    assert rows(2, 200, 50) == (2, 1)
    assert rows(4, 200, 50) == (2, 2)
    assert rows(7, 80, 24) == (1, 1)
    assert rows(7, 47, 10) == (1, 1)


def test_seven_tables_fit_200_by_50_and_the_last_row_has_no_hole() -> None:
    tables = [TableOnFloor(TableView(f"mesa-{number}")) for number in range(1, 8)]
    console = Console(width=200, height=50, file=StringIO(), force_terminal=True, record=True)
    console.print(floor(tables, 200, 0, 50), height=50)
    lines = console.export_text().rstrip("\n").split("\n")
    assert len(lines) == 50
    assert [name in lines[0] for name in ("mesa-1", "mesa-4")] == [True, True]
    assert [name in lines[25] for name in ("mesa-5", "mesa-7")] == [True, True]
    assert lines[26].rstrip().endswith("╮")
    assert len(lines[26].rstrip()) >= 198


def sampled(rounds: int) -> TableView:
    view, narrator = TableView("ruleta-1"), Narrator()
    view.retained("state", state("waiting"))
    for number in range(1, rounds + 1):
        pocket = 1 + number % 36
        chances = RED if pocket % 2 else BLACK
        outcome = {"number": pocket, **chances}
        view.event(narrator.event("round.result", round=number, outcome=outcome))
    return view


def test_where_there_is_room_what_came_how_often() -> None:
    view = sampled(72)
    view.event({**ENVELOPE, "seq": 900, "type": "round.void", "round": 72, "reason": "inspector"})
    tall = words(seen(view, size=(120, 40)))
    assert "of 71 numbers" in tall
    assert "black 51 % · red 49 %" in tall
    assert re.search(r"hot \d+×2", tall)
    assert "cold 0×0 1×1" in tall
    assert f"last {MAX_SPINS}" in tall
    assert "of 71 numbers" not in words(seen(view))  # the lanes need the room at 80 by 24
