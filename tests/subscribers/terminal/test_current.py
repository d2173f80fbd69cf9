"""Outdated values are grey at once and show since when; tables and parts share the terminal."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.segment import Segment

from common.readings import LinkLost
from subscribers.feed.tables import ConnectionChange
from subscribers.terminal.current import clock
from subscribers.terminal.display import WatchedTables
from subscribers.terminal.floor import draw_floor
from subscribers.terminal.space import FRAME_LINES, rows, shares
from tests.support.for_each import for_each
from tests.support.subscribers.played import BY, Play
from tests.support.subscribers.terminal import (
    TerminalScreen,
    after,
    drawn,
    on_terminal,
    roulette,
    spin,
)

BLACK_POCKET = (192, 192, 192), (16, 16, 16)
"""The white of a terminal on the black of a pocket."""
GREY = (128, 128, 128), None


def pixels(segments: list[Segment]) -> set[Any]:
    """The colours in which the pixels of the large number are drawn, and those of their ground."""
    return {
        tuple(
            colour and tuple(colour.get_truecolor())
            for colour in (segment.style.color, segment.style.bgcolor)
        )
        for segment in segments
        if "█" in segment.text and segment.style is not None
    }


def words(screen: TerminalScreen, size: tuple[int, int] = (80, 24)) -> str:
    """The text without frames and without the panel at the right, as one line."""
    left = "\n".join(line.partition("││")[0] for line in screen.drawn(size).splitlines())
    return re.sub(r"[│─╭╮╰╯\s]+", " ", left)


def unresolved() -> tuple[Play, TerminalScreen]:
    """The sixth round has no result."""
    play, screen = roulette()
    play.take(LinkLost(at=play._at, device="wheel", reason="cut"))
    play.say("link.up", device="wheel")
    play.say("wheel.number", device="wheel", number=3, spin=6, late=True, frame="")
    return play, screen


def test_a_current_number_has_its_colour() -> None:
    assert pixels(roulette()[1].segments()) == {BLACK_POCKET}


def test_the_number_of_a_silent_device_is_grey() -> None:
    play, screen = roulette()
    play.take(LinkLost(at=play._at, device="wheel", reason="cut"))
    assert pixels(screen.segments()) == {GREY}
    trouble = screen.table.picture.trouble
    assert trouble is not None
    assert trouble.since is not None
    assert f"STALE since {clock(trouble.since)} wheel" in words(screen)


def test_a_round_without_a_result_makes_the_last_number_grey() -> None:
    _, screen = unresolved()
    assert pixels(screen.segments()) == {GREY}
    assert "ROUND 6 IS UNRESOLVED" in words(screen)
    assert "since" in words(screen)


def test_the_number_of_an_offline_daemon_is_grey() -> None:
    _, screen = roulette()
    screen.daemon("boot", "offline")
    assert pixels(screen.segments()) == {GREY}
    assert "THE DAEMON IS OFFLINE" in words(screen)


def test_the_number_without_a_broker_is_grey() -> None:
    _, screen = roulette()
    screen.link(ConnectionChange(up=False, reason="refused"))
    assert pixels(screen.segments()) == {GREY}
    assert "NO CONNECTION TO THE BROKER since" in words(screen)


def test_a_table_at_fault_is_grey_too() -> None:
    _, screen = roulette()
    state = screen.state()
    screen.publish("state", {**state, "status": "fault", "fault": "the disk is full"})
    assert pixels(screen.segments()) == {GREY}
    assert f"FAULT since {clock(state['time'])} the disk is full" in words(screen)


def test_a_later_result_is_current_though_an_earlier_round_waits() -> None:
    play, screen = unresolved()
    spin(play, 4)
    assert pixels(screen.segments()) == {BLACK_POCKET}
    assert "IS UNRESOLVED" not in words(screen)


def test_a_settled_round_is_current_again() -> None:
    play, screen = unresolved()
    play.say("round.confirm", round=6, **BY)
    assert GREY not in pixels(screen.segments())


@for_each("name", ["punto-banca/silence", "craps/silence"])
def test_cards_and_dice_are_grey_over_a_round_without_a_result(name: str) -> None:
    seen = set()
    for steps in range(1, 60):
        screen = after(name, steps)
        picture = screen.table.picture
        if picture.trouble is not None and picture.trouble.why == "unresolved":
            assert "IS UNRESOLVED" in words(screen)
            assert not any(
                segment.style is not None and segment.style.bgcolor is not None
                for segment in screen.segments()
                if "●" in segment.text or "♥" in segment.text
            )
        seen.add(None if picture.trouble is None else picture.trouble.why)
    assert {None, "unresolved"} <= seen


def test_the_call_to_a_round_shows_what_to_do_and_who_may() -> None:
    play, screen = unresolved()
    found = re.search(r"WARNING a round has no result \(round 4, round 6\); .*", words(screen))
    assert found is not None
    assert "confirm the result (round.confirm)" in found[0]
    assert "table head" in found[0]
    for number in (4, 6):
        play.say("round.confirm", round=number, **BY)
    assert "table head" not in words(screen)


def test_the_display_remembers_since_when_it_is_in_trouble() -> None:
    watched = WatchedTables(["t1"])

    def trouble() -> tuple[str, str | None]:
        [table] = watched.drawn_tables()
        assert table.picture.trouble is not None
        return table.picture.trouble.why, table.picture.trouble.since

    first = trouble()
    assert first == ("no_broker", trouble()[1])
    watched.on_message(ConnectionChange(up=True))
    assert trouble()[0] == "no_daemon"
    assert str(trouble()[1]) > str(first[1])


def test_a_late_display_finds_split_hands_in_the_state() -> None:
    for steps in range(1, 200):
        screen = after("blackjack/evening", steps)
        if "box:3.2" in screen.state()["shown"]["hands"]:
            break
    late = TerminalScreen()
    late.daemon("boot")
    late.retained(screen._retained)
    assert "box 3.2" in words(late)
    assert "▒▒" not in words(late)


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
    tables = WatchedTables([f"mesa-{number}" for number in range(1, 8)]).drawn_tables()
    lines = drawn(draw_floor(tables, 200, 0, 50), (200, 50)).rstrip("\n").split("\n")
    assert len(lines) == 50
    assert [name in lines[0] for name in ("mesa-1", "mesa-4")] == [True, True]
    assert [name in lines[25] for name in ("mesa-5", "mesa-7")] == [True, True]
    assert lines[26].rstrip().endswith("╮")
    assert len(lines[26].rstrip()) >= 198


def test_where_there_is_room_what_came_how_often() -> None:
    play, screen = on_terminal("roulette-french", "ARA02", {"phases": "person"})
    play.say("session.open", minimum=500, currency="EUR", **BY)
    for number in range(1, 73):
        spin(play, 1 + number % 36)
    tall = re.sub(r"[│─╭╮╰╯\s]+", " ", screen.drawn((120, 40)))
    assert "of 72 numbers" in tall
    assert re.search(r"red \d\d % · black \d\d %", tall)
    assert re.search(r"hot \d+×2", tall)
    assert re.search(r"cold 0×0 \d+×2", tall)
    assert "last 20" in tall
    assert "of 72 numbers" not in words(screen)  # the lanes need the room at 80 by 24


@pytest.mark.parametrize("language", ["en", "eu"])
def test_every_trouble_of_the_browser_is_one_here(language: str) -> None:
    _, screen = roulette(language)
    for status in ("fault", "stale"):
        screen.publish("state", {**screen.state(), "status": status, "fault": "disk"})
        trouble = screen.table.picture.trouble
        assert trouble is not None
        assert trouble.why == status
        assert trouble.text.upper() in words(screen)
