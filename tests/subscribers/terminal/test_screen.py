"""The picture: it fits the terminal, and each state of a table can be read in it."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from subscribers.terminal.digits import HEIGHT, large
from subscribers.terminal.display import Display, screenshot
from subscribers.terminal.screen import ScreenTrouble, picture
from subscribers.terminal.table_view import TableView
from tests.support.subscribers.table import BLACK, played, state


def halves(text: str) -> str:
    """The left half of a picture with the latest spins at the right."""
    return "\n".join(line.partition("││")[0] for line in text.splitlines())


HEALTHY = ScreenTrouble()


def drawn(
    view: TableView, trouble: ScreenTrouble = HEALTHY, width: int = 80, height: int = 24
) -> str:
    console = Console(width=width, height=height, file=StringIO(), force_terminal=True, record=True)
    console.print(picture(view, trouble, width), height=height)
    text = console.export_text()
    lines = text.rstrip("\n").split("\n")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    return text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 60)])
def test_a_table_at_work(width: int, height: int) -> None:
    text = drawn(played()[0], width=width, height=height)
    assert "ruleta-1" in text
    assert "French roulette" in text  # the picture is in English, the decree is not
    assert "SIMULATED" in text
    assert "NO MORE BETS" in text
    assert "«no va más» · «prou apostes»" in text
    assert "black · even" in text
    for line in large("2"):
        assert line.rstrip() in text


def test_the_three_lanes_newest_on_top() -> None:
    text = drawn(played()[0])
    rows = [line.split("││")[1] for line in text.splitlines() if "││" in line]
    assert [row.split() for row in rows[:5]] == [
        ["5", "2", "│"],
        ["4", "12?", "│"],
        ["3", "void", "│"],
        ["2", "0", "│"],
        ["1", "1", "│"],
    ]
    red, zero, black = (rows[row].rindex(number) for row, number in ((4, "1"), (3, "0"), (0, "2")))
    assert red < zero < black


def test_null_spins_and_irregularities_show_their_article() -> None:
    text = re.sub(r"[│\s]+", " ", drawn(played()[0], width=120, height=40))
    assert (
        "round 3 void: defective launch ARA02-015 Decreto 159/2002, anexo I, art. 3, epígrafe 1, "
        "IV.3.d)" in text
    )
    assert "round 4 unresolved: the device was silent" in text


def test_an_empty_table() -> None:
    text = drawn(TableView("t"), ScreenTrouble("no_daemon"))
    assert "no result yet" in text
    assert "NO DAEMON AT THIS SITE YET" in text
    assert "OLD" in text


def test_a_decision_that_waits_for_a_person() -> None:
    view, _ = played()
    view.retained(
        "state", state("decision", status="waiting", asks=["round.confirm", "round.void"])
    )
    text = drawn(view)
    assert "WAITING FOR A DECISION" in text
    assert (
        "waiting for: confirm the result (round.confirm) · void the round (round.void)"
        in re.sub(r"[│\s]+", " ", halves(text))
    )


def test_alerts_and_devices() -> None:
    view, narrator = played()
    view.event(
        narrator.event(
            "alert.raised",
            alert="wheel-link",
            what="link.lost",
            severity="fault",
            device="wheel",
            detail="unplugged",
        )
    )
    lost = state("waiting", status="stale")
    lost["devices"]["wheel"]["state"] = "lost"
    view.retained("state", lost)
    text = drawn(view)
    assert "open alerts 1 · irregularities 2" in text
    assert "FAULT  the device is disconnected (wheel, unplugged)" in text
    assert "novamas explain" not in text, "there is no room for it"
    assert "novamas explain link.lost" in drawn(view, width=100)
    assert "wheel lost" in text
    assert "stale" in text


def test_missed_events_are_admitted() -> None:
    view, narrator = played()
    narrator.seq += 2
    view.event(narrator.event("round.opened", round=9))
    assert "2 events missed" in drawn(view)


def test_a_corrected_number_is_marked() -> None:
    view, narrator = played()
    view.event(
        narrator.event("result.corrected", round=5, was=4, by="x", outcome={"number": 2, **BLACK})
    )
    assert "2*" in drawn(view)


def test_text_from_outside_cannot_draw() -> None:
    view, narrator = played()
    view.event(
        narrator.event("irregularity", round=6, what="[red]x[/red]\x1b[2J", law="", article="")
    )
    console = Console(width=80, height=24, file=(file := StringIO()), force_terminal=True)
    console.print(picture(view), height=24)
    assert "[red]x[/red]" in file.getvalue()
    assert "\x1b[2J" not in file.getvalue()


@pytest.mark.parametrize("text", ["0", "17", "00", "000", "?"])
def test_large_digits(text: str) -> None:
    lines = large(text)
    assert len(lines) == HEIGHT
    assert {len(line) for line in lines} == {8 * len(text) - 2}


def test_a_screenshot_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    display = Display("ruleta-1")
    screenshot([display], tmp_path / "demo.svg")
    svg = (tmp_path / "demo.svg").read_text()
    assert svg.startswith("<svg")
    assert "@font-face" not in svg


def test_the_article_of_the_question_precedes_the_alerts() -> None:
    view, narrator = played()
    for name in ("wheel-link", "number_unknown"):
        view.event(narrator.event("alert.raised", alert=name, what=name, detail="its detail " * 9))
    view.event(
        narrator.event(
            "irregularity",
            round=6,
            what="ball_removed",
            law="ARA02-016",
            article="artículo que decide",
        )
    )
    assert "artículo que decide" not in drawn(view)
    view.retained(
        "state", state("decision", "waiting", round=6, asks=["round.confirm", "round.void"])
    )
    text = drawn(view)
    assert text.index("artículo que decide") < text.index("FAULT")
    view.retained("state", state("decision", "waiting", round=7, asks=["cards.show"]))
    assert "artículo que decide" not in drawn(view)
