"""The pictures of every game: they fit, and what happened can be read in them."""

from __future__ import annotations

import re

import pytest

from subscribers.cards import points, short
from subscribers.display.baccarat import BaccaratBody
from subscribers.feed.tables import ConnectionChange
from subscribers.terminal.digits import large
from subscribers.terminal.display import WatchedTables
from subscribers.terminal.floor import SCREENSHOT_COLUMNS, draw_floor
from subscribers.terminal.table import TerminalTable
from tests.conftest import cases
from tests.support.games import scripts
from tests.support.subscribers.played import BY, Play, steps
from tests.support.subscribers.terminal import (
    TerminalScreen,
    after,
    drawn,
    on_terminal,
    roulette,
)

SIZES = ((60, 24), (80, 24), (120, 40))
EACH = cases(3, 40)
"""One in this number of steps is drawn."""


def card_names(screen: TerminalScreen) -> set[str]:
    """The cards that the picture shows face up, and can be read in the drawing."""
    return set(re.findall(r"(?:10|[2-9AJQK])[♣♦♥♠]", screen.drawn((200, 60))))


@pytest.mark.parametrize("name", sorted(scripts.scripts()))
def test_every_script_is_drawn_in_every_size(name: str) -> None:
    read, screen = scripts.read(name), TerminalScreen()
    play = Play(read.game, read.decree, read.settings, others=(screen,))
    for step, _ in enumerate(steps(play, read.inputs)):
        if step % EACH == 0:
            for size in SIZES:
                screen.drawn(size)
    assert screen.table.picture.status.text in screen.drawn().splitlines()[-1]
    assert screen.table.missed == 0


@pytest.mark.parametrize("size", SIZES)
def test_boule_with_a_five_that_has_no_colour(size: tuple[int, int]) -> None:
    for count in range(1, 400):
        screen = after("boule/chances-of-numbers", count)
        last = screen.table.picture.body.last
        if last is not None and last.number == "5" and screen.table.picture.current:
            break
    text = screen.drawn(size)
    for line in large("5"):
        assert line.rstrip() in text


@pytest.mark.parametrize("size", SIZES)
def test_a_wheel_of_fortune_shows_numbers_and_jokers(size: tuple[int, int]) -> None:
    seen = set()
    for count in range(1, len(scripts.read("fortune-wheel/jokers").inputs)):
        screen = after("fortune-wheel/jokers", count)
        body = screen.table.picture.body
        if body is None or body.last is None:
            continue
        text, number = screen.drawn(size), body.last.number
        seen.add(number.isdecimal())
        if number.isdecimal():
            lines = (large(number, times) for times in (1, 2, 3))
            assert any(all(line.rstrip() in text for line in each) for each in lines)
        else:
            assert body.symbols[number].upper() in text
    assert False in seen


@pytest.mark.parametrize("size", SIZES)
def test_craps_shows_dice_point_and_shooter(size: tuple[int, int]) -> None:
    points_on = set()
    for count in range(5, len(scripts.read("craps/series").inputs), 3):
        screen = after("craps/series", count)
        body, text = screen.table.picture.body, screen.drawn(size)
        points_on.add(body.point)
        assert (f"POINT {body.point}" if body.on else "COME-OUT") in text
        if body.shooter is not None:
            assert f"{body.shooter} throws" in text
        if body.last is not None:
            assert "+".join(map(str, body.throws[0].dice)) in text
    assert len(points_on) > 1


def test_a_throw_that_was_corrected_is_marked() -> None:
    assert re.search(r"\d\*", after("craps/correction").drawn())


# Cards


def test_a_coup_from_its_first_card_to_its_result() -> None:
    play, screen = on_terminal("punto-banca", "ARA02")
    play.say("session.open", minimum=1000, currency="EUR", **BY)
    play.say("shoe.start", shoe="7", **BY)
    while screen.state()["shown"]["phase"] != "waiting":
        play.say("card.drawn", device="shoe", card="Tc", frame="C")
    assert "burn card 10♣, 10 burned" in screen.drawn()
    play.say("bets.open", **BY)
    play.say("bets.close", **BY)
    for card in ("Jd", "4h", "Ts", "4d"):
        play.say("card.drawn", device="shoe", card=card, frame="C")
        if card == "4h":
            text = screen.drawn((60, 24))
            assert text.count("▒▒▒▒▒") == 6, "two cards, three lines each"
            assert "┌╌╌╌┐" in text
            assert "next card: player" in text
            assert "«no va más»" in text
            assert "♥" not in text
    for who in ("player", "banker"):
        play.say("cards.turn", who=who, **BY)
    for size in (*SIZES, (200, 60)):
        text = screen.drawn(size)
        assert "RESULT" in text
        for name in ("J♦", "10♠", "4♥", "4♦"):
            assert name in text
        assert "BANKER WINS 8 - 0" in text
        assert "natural" in text
        assert "P 0   B 1   T 0" in text


def test_the_bead_plate_goes_down_and_then_to_the_right() -> None:
    screen = after("punto-banca/coups")
    body = screen.table.picture.body
    winners = [body.letters[cell.coup.winner] for cell in body.roads[0].cells]
    assert len(winners) > 1
    rows = [
        re.sub(r"[•│]", "", line.split("││")[1]).split()
        for line in screen.drawn().splitlines()
        if "││" in line
    ]
    marks = [rows[row][column] for column in range(2) for row in range(6)]
    corrected = [cell.coup.corrected for cell in body.roads[0].cells]
    expected = ["*" if changed else won for won, changed in zip(winners, corrected, strict=True)]
    assert marks[: len(winners)] == expected[:12]


def test_two_cloths_are_hands_with_an_outcome_each() -> None:
    text = after("baccarat-two-cloths/rounds", language="es").drawn((100, 40))
    assert "paño 1 gana · paño 2 pierde" in text
    assert "banca" in text


def test_boxes_in_order_and_the_dealer_last() -> None:
    seen = set()
    for count in range(10, len(scripts.read("blackjack/evening").inputs), 5):
        text = after("blackjack/evening", count).drawn((120, 40))
        boxes = re.findall(r"box (\d+)(?:\.\d)? ", text.partition("irregularities")[0])
        assert boxes == sorted(boxes)
        seen |= {word for word in ("double", "wins", "loses", "insurance") if word in text}
        if boxes and "dealer  " in text:
            assert text.index(f"box {boxes[-1]}") < text.index("dealer  ")
    assert {"double", "wins", "loses"} <= seen


def test_seats_and_the_cards_in_the_middle() -> None:
    seen = ""
    for name in sorted(scripts.scripts()):
        if name.startswith("circle/"):
            screen = after(name)
            seen += screen.drawn((120, 40))
    assert re.search(r"seat \d", seen)
    assert "wins" in seen


@pytest.mark.parametrize("name", ["blackjack/evening", "texas-house/correction", "draw/evening"])
def test_the_cards_of_the_last_result_can_be_read(name: str) -> None:
    if name not in scripts.scripts():
        name = next(each for each in sorted(scripts.scripts()) if each.startswith(name[:4]))
    screen = after(name)
    body = screen.table.picture.body
    assert not isinstance(body, BaccaratBody)
    if body.finish.ended is not None and body.finish.ended.kind == "result":
        assert card_names(screen) or "no cards" in screen.drawn()


def test_a_table_without_a_state_has_no_result() -> None:
    screen = TerminalScreen()
    assert "no result yet" in screen.drawn()


# Several tables


def named(count: int) -> list[TerminalTable]:
    return WatchedTables([f"mesa-{number}" for number in range(1, count + 1)]).drawn_tables()


def test_tables_side_by_side_or_in_turns() -> None:
    cards = TerminalScreen("en", "punto-1")
    cards.daemon("boot")
    cards.retained(after("punto-banca/coups")._retained)
    tables = [roulette()[1].table, cards.table]
    size = 2 * SCREENSHOT_COLUMNS, 40
    wide = drawn(draw_floor(tables, size[0]), size)
    assert "black · even" in wide
    assert "bead plate" in wide
    first, second = (drawn(draw_floor(tables, 80, turn), (80, 24)) for turn in (6, 7))
    for page in (first, second):
        assert "mesa-1" in page.splitlines()[0]
        assert "punto-1" in page.splitlines()[0]
    assert ("black · even" in first, "bead plate" in first) == (True, False)
    assert ("black · even" in second, "bead plate" in second) == (False, True)


PAGES = ((180, 72), (120, 24), (80, 50), (80, 24))


def test_tables_are_shown_together_where_there_is_room_and_in_turn_where_not() -> None:
    tables = named(7)
    shown = {
        size: [
            re.findall(r"mesa-\d", drawn(draw_floor(tables, size[0], turn, size[1]), size))
            for turn in range(8)
        ]
        for size in PAGES
    }
    every = [f"mesa-{number}" for number in range(1, 8)]
    assert shown[180, 72] == [every] * 8
    assert shown[120, 24][:5] == [every[:2], every[2:4], every[4:6], every[6:], every[:2]]
    assert shown[80, 50][:4] == [every[:2], every[2:4], every[4:6], every[6:]]
    assert shown[80, 24] == [[name] for name in every] + [every[:1]]


def in_status(number: int, status: str) -> TerminalTable:
    """A table in this status."""
    play, screen = roulette()
    named_screen = TerminalScreen("en", f"mesa-{number}")
    named_screen.daemon("boot")
    named_screen.retained(play.table.retained())
    named_screen.publish("state", {**screen.state(), "status": status})
    return named_screen.table


@pytest.mark.parametrize("size", [(80, 24), (120, 24), (80, 50)])
def test_a_table_that_calls_is_named_while_others_are_shown(size: tuple[int, int]) -> None:
    tables = named(7)
    for number, status in ((1, "open"), (6, "waiting"), (7, "fault")):
        tables[number - 1] = in_status(number, status)

    def page(turn: int) -> str:
        return drawn(draw_floor(tables, size[0], turn, size[1]), size)

    assert page(0).count("mesa-6 waiting") == page(0).count("mesa-7 fault") == 1
    assert "mesa-1 open" not in page(0)
    tables[1:5] = [in_status(number, "stale") for number in range(2, 6)]
    assert "more" in page(0)
    last = next(
        shown
        for turn in range(8)
        if "mesa-7" in (shown := page(turn)) and "mesa-7 fault" not in shown
    )
    assert "mesa-1 " not in last.splitlines()[-1]


def test_an_outdated_table_on_a_slim_picture() -> None:
    screen = after("punto-banca/coups")
    screen.link(ConnectionChange(up=False, reason="refused"))
    assert "NO CONNECTION TO THE BROKER" in screen.drawn((60, 24))


def test_cards_and_points() -> None:
    assert [short(card) for card in ("Ah", "Td", "9c", "Ks")] == ["A♥", "10♦", "9♣", "K♠"]
    assert (points([]), points(["As", None]), points(["9c", "8d"]), points(["Kc", "Th"])) == (
        0,
        1,
        7,
        0,
    )
