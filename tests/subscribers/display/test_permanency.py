"""Permanencies: what a day of play shows, what it misses, and where the rounds are kept."""

from __future__ import annotations

import csv
import re
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.messages.messages import LANGUAGES, text
from common.contract.node import Checkpoint
from common.contract.outcomes import RouletteOutcome
from common.days import bounds, day_of, on_wire
from subscribers.display.permanency import (
    Permanency,
    as_csv,
    count_covered,
    entries,
)
from subscribers.display.permanency_page import day_page
from subscribers.display.permanency_pdf import as_pdf
from subscribers.display.round_store import RoundStore
from subscribers.display.rounds import PlayedRound, merge_rounds
from tests.support.pdf import pdf_text, pdf_words

DAY = date(2026, 3, 20)
SIX = time(6, 0)


def number(drawn: int, colour: str | None = None) -> RouletteOutcome:
    return RouletteOutcome(
        number=drawn,
        colour=colour,  # type: ignore[arg-type]
        parity=None,
        half=None,
        dozen=None,
        column=None,
        zeros=0,
        last_of_session=False,
    )


def result(round_: int, drawn: int, *, session: int = 1, at: str | None = None) -> PlayedRound:
    begin, _ = bounds(DAY, SIX)
    when = at or on_wire(begin + timedelta(minutes=round_))
    return PlayedRound(
        session=session, round=round_, kind="result", outcome=number(drawn, "red"), time=when
    )


def permanency(rounds: list[PlayedRound], checkpoint: Checkpoint | None = None) -> Permanency:
    begin, end = bounds(DAY, SIX)
    return Permanency(
        table="ruleta-1",
        title="ruleta francesa",
        day=DAY,
        begin=begin,
        end=end,
        language="es",
        simulated=False,
        entries=entries(rounds, "es"),
        checkpoint=checkpoint,
        covered=count_covered(rounds, checkpoint),
    )


def test_a_gap_between_two_rounds_is_shown_with_its_length() -> None:
    made = permanency([result(1, 7), result(2, 8), result(6, 9)])
    assert [(entry.kind, entry.round, entry.last) for entry in made.entries] == [
        ("result", 1, 1),
        ("result", 2, 2),
        ("missing", 3, 5),
        ("result", 6, 6),
    ]
    assert made.missing == 3
    assert "3 jugadas no recibidas" in as_csv(made)


def test_two_sessions_have_no_gap_between_them() -> None:
    made = permanency([result(7, 1), result(1, 2, session=2)])
    assert [entry.kind for entry in made.entries] == ["result", "result"]


def test_void_unresolved_and_corrected_rounds_are_marked() -> None:
    rounds = [
        PlayedRound(session=1, round=1, kind="void", reason="ball_out"),
        PlayedRound(session=1, round=2, kind="unresolved", reason="silence"),
        PlayedRound(session=1, round=3, kind="result", outcome=number(0), corrected=True),
    ]
    void, unresolved, corrected = entries(rounds, "es")
    assert (void.result, void.note) == ("", "nula: la bola salió del cilindro")
    assert (unresolved.result, unresolved.note) == ("", "sin resolver: el aparato no se oyó")
    assert (corrected.result, corrected.note) == ("0", "corregido")


def test_the_checkpoint_covers_what_was_decided_before_it() -> None:
    rounds = [result(1, 7), result(2, 8), result(3, 9)]
    begin, _ = bounds(DAY, SIX)
    checkpoint = Checkpoint(
        journal="b41c09d2",
        boot="b1",
        time=on_wire(begin + timedelta(minutes=2)),
        position=112,
        hash="ab" * 32,
        key="cd" * 32,
        signature="ef" * 64,
    )
    made = permanency(rounds, checkpoint)
    assert made.covered == 2
    page = as_csv(made)
    for part in ("b41c09d2", "ab" * 32, "cd" * 32, "ef" * 64):
        assert part in page
        assert part in day_page(made, None)
    assert "esta lista no prueba nada" in as_csv(permanency(rounds))


def test_csv_reads_back_as_the_entries() -> None:
    made = permanency([result(1, 7), result(3, 8)])
    lines = [line for line in as_csv(made).splitlines() if not line.startswith("#")]
    read = list(csv.DictReader(lines))
    assert [(each["round"], each["kind"], each["result"]) for each in read] == [
        ("1", "result", "7"),
        ("2", "missing", ""),
        ("3", "result", "8"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_escapes_and_is_in_its_language(language: str) -> None:
    made = permanency([result(1, 7)])
    begin, end = bounds(DAY, SIX)
    hostile = Permanency(
        table="ruleta-1",
        title="<script>alert(1)</script>",
        day=DAY,
        begin=begin,
        end=end,
        language=language,
        simulated=True,
        entries=made.entries,
        checkpoint=None,
        covered=0,
    )
    page = day_page(hostile, "<b>disk</b>")
    assert "<script>" not in page
    assert "<b>disk" not in page
    assert f'<html lang="{language}">' in page


def test_a_long_day_has_its_proof_on_every_sheet_of_the_pdf() -> None:
    data = as_pdf(permanency([result(round_, round_ % 37) for round_ in range(1, 1100)]))
    sheets = data.count(b"/Type /Page\n")
    assert sheets >= 3
    assert pdf_text(data).count(text("permanency.unproved", "es")) == sheets


@given(st.integers(1_577_836_800, 2_051_222_400), st.times())
def test_every_moment_belongs_to_the_day_whose_bounds_hold_it(moment: int, begins: time) -> None:
    begins = begins.replace(second=0, microsecond=0)
    at = datetime.fromtimestamp(moment, UTC)
    begin, end = bounds(day_of(at, begins), begins)
    assert begin <= at < end


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(0, 36))))
def test_what_the_store_gives_back_is_what_memory_holds(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[int, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = RoundStore(folder)
    rounds: tuple[PlayedRound, ...] = ()
    for session, round_, drawn in told:
        found = result(round_, drawn, session=session)
        rounds = merge_rounds(rounds, (found,))
        store.store("ruleta-1", found)
    store.close()
    again = RoundStore(folder)
    assert again.latest("ruleta-1", 600) == rounds
    assert again.latest("ruleta-2", 600) == ()
    begin, end = bounds(DAY, SIX)
    assert again.between("ruleta-1", on_wire(begin), on_wire(end)) == rounds
    again.close()


def test_a_round_of_unknown_time_is_in_the_day_of_those_after_it(
    tmp_path: Path,
) -> None:
    store = RoundStore(tmp_path)
    begin, end = bounds(DAY, SIX)
    unheard = PlayedRound(session=1, round=1, kind="result", outcome=number(5))
    store.store("ruleta-1", unheard)
    assert store.between("ruleta-1", on_wire(begin), on_wire(end)) == ()
    store.store("ruleta-1", result(2, 6))
    assert store.between("ruleta-1", on_wire(begin), on_wire(end)) == (unheard, result(2, 6))


def test_a_file_that_cannot_be_read_is_put_aside_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "rounds.sqlite3"
    path.write_bytes(b"this is no database" * 100)
    store = RoundStore(tmp_path)
    store.store("ruleta-1", result(1, 7))
    assert store.latest("ruleta-1", 5) == (result(1, 7),)
    assert (tmp_path / "rounds.unreadable-1").read_bytes().startswith(b"this is no database")


def wheel_day() -> Permanency:
    """Black, zero, red; a void round, and a corrected one."""
    drawn = (number(17, "black"), number(0), number(12, "red"))
    rounds = [
        PlayedRound(session=1, round=round_, kind="result", outcome=outcome, time=None)
        for round_, outcome in enumerate(drawn, 1)
    ]
    rounds.append(PlayedRound(session=1, round=4, kind="void", reason="bad_launch"))
    rounds.append(PlayedRound(session=1, round=5, kind="result", outcome=drawn[1], corrected=True))
    return permanency(rounds)


def test_each_number_is_in_the_lane_of_its_colour_and_zero_is_green() -> None:
    day = wheel_day()
    assert [entry.lane for entry in day.entries] == ["black", "green", "red", "", "green"]
    cells = re.findall(r'<td class="lane lane-(\w+)">(\d+)</td>', day_page(day, None))
    assert cells == [("black", "17"), ("green", "0"), ("red", "12")]
    assert '<span class="lane-green">0</span> corregido' in day_page(day, None)
    assert as_csv(day).count(",0,green,") == 2


def test_the_sheet_of_a_wheel_has_its_lanes_from_left_to_right() -> None:
    words = [word.strip() for word in pdf_words(as_pdf(wheel_day()))]
    heading = words.index("rojo")
    assert words[heading : heading + 3] == ["rojo", "0", "negro"]
    assert {"17", "0", "12", "corregido"} <= set(words)
    assert any(word.startswith("nula") for word in words)


def test_page_and_paper_begin_with_the_letterhead_of_the_house() -> None:
    day, house = wheel_day(), ("Casino <Mayor>, S.A.", "NIF A-12345678")
    page = day_page(day, None, house=house)
    assert page.index("Casino &lt;Mayor&gt;, S.A.") < page.index(house[1]) < page.index("<h1>")
    words = [word.strip() for word in pdf_words(as_pdf(day, house))]
    assert words[:2] == [*house]
    assert "house" not in day_page(day, None)
