"""The picture: it fits the terminal, and each state of a table can be read in it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from common.readings import LinkLost
from subscribers.feed.tables import ConnectionChange
from subscribers.terminal.digits import HEIGHT, large
from subscribers.terminal.display import WatchedTables, screenshot
from tests.support.subscribers.played import BY
from tests.support.subscribers.terminal import TerminalScreen, after, roulette


def halves(text: str) -> str:
    """The left half of a picture with the latest spins at the right."""
    return "\n".join(line.partition("││")[0] for line in text.splitlines())


def plain(text: str) -> str:
    """The text without frames, as one line."""
    return re.sub(r"[│╭╮╰╯─\s]+", " ", text)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_a_table_at_work(size: tuple[int, int]) -> None:
    text = roulette()[1].drawn(size)
    assert "mesa-1" in text
    assert "Ruleta francesa" in text, "its name is the decree's, also in an English picture"
    assert "NO MORE BETS" in text
    assert "«no va más»" in text
    assert "black · even" in text
    for line in large("2"):
        assert line.rstrip() in text


def test_the_three_lanes_newest_on_top() -> None:
    text = roulette()[1].drawn()
    rows = [line.split("││")[1] for line in text.splitlines() if "││" in line]
    assert [row.split() for row in rows[:5]] == [
        ["5", "2", "│"],
        ["4", "?", "│"],
        ["3", "void", "│"],
        ["2", "0", "│"],
        ["1", "1", "│"],
    ]
    red, zero, black = (rows[row].rindex(number) for row, number in ((4, "1"), (3, "0"), (0, "2")))
    assert red < zero < black


def test_null_spins_and_irregularities_show_their_article() -> None:
    text = plain(roulette()[1].drawn((120, 40)))
    assert "round 3 void: defective launch ARA02-015 Decreto 159/2002, anexo I, art. 3," in text
    assert "round 4 unresolved: the device was silent" in text


def test_an_empty_table() -> None:
    screen = TerminalScreen()
    text = screen.drawn()
    assert "no result yet" in text
    assert "NO DAEMON AT THIS SITE YET" in text
    assert "OLD" in text


def test_a_decision_that_waits_for_a_person() -> None:
    text = next(
        text
        for steps in range(1, 40)
        if "WAITING FOR A DECISION" in (text := after("roulette/ball-with-rotor", steps).drawn())
    )
    found = plain(halves(text))
    assert "ROUND 1 WAITS FOR A DECISION" in found
    assert "waiting for: " in found
    assert "(round.confirm)" in found
    assert "(round.void)" in found


def test_alerts_and_devices() -> None:
    play, screen = roulette()
    play.take(LinkLost(at=play._at, device="wheel", reason="unplugged"))
    text = screen.drawn((80, 40))
    assert re.search(r"open alerts \d · irregularities 2", text)
    assert "FAULT  the device is disconnected (wheel, unplugged)" in text
    assert "novamas explain link.lost" not in text, "there is no room for it"
    assert "novamas explain link.lost" in screen.drawn((120, 40))
    assert "wheel lost" in text
    assert "stale" in text.splitlines()[-1]


def test_missed_events_are_admitted() -> None:
    play, screen = roulette()
    listeners, play._hear = play._hear, ()
    play.say("round.void", reason="bad_launch", **BY)
    play._hear = listeners
    play.say("bets.open", **BY)
    assert re.search(r"[1-9] events missed", screen.drawn())


def test_a_corrected_number_is_marked() -> None:
    play, screen = roulette()
    play.say("result.correct", round=5, number=4, **BY)
    assert "4*" in screen.drawn()


def test_text_from_outside_cannot_draw() -> None:
    _, screen = roulette()
    hostile = "[red]x[/red]\x1b[2J"
    state = screen.state()
    screen.publish("state", {**state, "status": "fault", "fault": hostile})
    alert = {"alert": "a", "what": hostile, "severity": "fault", "raised": state["time"]}
    screen.publish("alert/a", {**alert, "detail": hostile})
    shown = "".join(segment.text for segment in screen.segments((120, 40)))
    assert shown.count("[red]x[/red]") >= 2
    assert "\x1b[2J" not in shown


@pytest.mark.parametrize("text", ["0", "17", "00", "000", "?"])
def test_large_digits(text: str) -> None:
    lines = large(text)
    assert len(lines) == HEIGHT
    assert {len(line) for line in lines} == {8 * len(text) - 2}


def test_a_screenshot_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    screenshot(WatchedTables(["ruleta-1"]), tmp_path / "demo.svg")
    svg = (tmp_path / "demo.svg").read_text()
    assert svg.startswith("<svg")
    assert "@font-face" not in svg


def test_the_article_of_the_question_precedes_the_alerts() -> None:
    for steps in range(1, 40):
        screen = after("roulette/ball-with-rotor", steps)
        if screen.table.picture.waits:
            break
    raised = screen.state()["time"]
    for name in ("first", "second"):
        alert = {"alert": name, "what": name, "severity": "fault", "raised": raised}
        screen.publish(f"alert/{name}", {**alert, "detail": "its detail " * 9})
    text = screen.drawn((80, 40))
    assert text.index(screen.table.notes[-1].article[:20]) < text.index("FAULT")


def test_a_late_display_finds_it_in_the_retained_topics() -> None:
    play, screen = roulette()
    late = TerminalScreen()
    late.daemon("boot")
    late.retained(play.table.retained())
    drawn = late.table.picture
    assert drawn.body == screen.table.picture.body
    assert [note.round for note in drawn.notes] == [4]
    assert "void" in late.drawn()
    assert "4: unresolved" in plain(late.drawn((120, 40)))


def test_the_reason_of_a_lost_connection_is_shown() -> None:
    _, screen = roulette()
    screen.link(ConnectionChange(up=False, reason="mqtt://127.0.0.1:1: Connection refused"))
    text = plain(halves(screen.drawn((120, 40))))
    assert "NO CONNECTION TO THE BROKER" in text
    assert "mqtt://127.0.0.1:1: Connection refused" in text


def test_a_body_that_this_release_cannot_read_is_admitted() -> None:
    _, screen = roulette()
    screen.publish("state", json.loads('{"status": "open"}'))
    assert "UNREADABLE" in screen.drawn()
