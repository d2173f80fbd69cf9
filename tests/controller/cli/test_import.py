"""``novamas import deck-mate-1``: the history of a shuffler, in the order of its cycles and with
its clock corrected.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cli import main
from devices.shuffler.deck_mate_1_history import read_history
from tests.support.for_each import for_each

HISTORY = """\
SHUFFLE MASTER DECK MATE
Serial Number: DM104422
Report Time: 03:15:44
Report Date: 01-02-03
Gripper Offset: 12
Platform Offset: -3

Door Opened   Time: 22:10:00  Date: 01-01-03  P: 120 G: 44 Cyc: 18944
Missing Card  Time: 22:12:31  Date: 01-01-03  P: 121 G: 44 Cyc: 18945
Powered Up    Time: 00:00:09  Date: 01-01-03  P: 120 G: 44 Cyc: 18946
Jam Recovery  Time: 01:44:10  Date: 01-02-03  P: 119 G: 45 Cyc: 19010
Extra Card    Time: 01:02:03  Date: 01-02-03  P: 119 G: 45 Cyc: 18990

Power Ups: 2
CDS Failures: 0
Total Cycles: 19012
"""


def imported(
    path: Path, *words: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[dict[str, Any]], str]:
    code = main(["import", "deck-mate-1", str(path), *words])
    captured = capsys.readouterr()
    return code, [json.loads(line) for line in captured.out.splitlines()], captured.err


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "history.txt"
    path.write_bytes(HISTORY.replace("\n", "\r\n").encode("ascii"))
    return path


def test_head_events_and_counters(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines, errors = imported(history, capsys=capsys)
    assert code == 0
    assert lines[0] == {
        "type": "head",
        "serial": "DM104422",
        "reported": "2003-01-02T03:15:44",
        "off": None,
        "offsets": {"gripper offset": "12", "platform offset": "-3"},
    }
    names = [(line["name"], line["cycle"], line["line"]) for line in lines[1:-1]]
    assert names == [
        ("Door Opened", 18944, 8),
        ("Missing Card", 18945, 9),
        ("Powered Up", 18946, 10),
        ("Extra Card", 18990, 12),
        ("Jam Recovery", 19010, 11),
    ]
    assert lines[-1] == {
        "type": "totals",
        "counters": {"Power Ups": 2, "CDS Failures": 0, "Total Cycles": 19012},
    }
    assert "clock was set back" in errors


def test_a_clock_with_a_constant_error_is_corrected(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines, _ = imported(history, "--made", "2026-11-19T03:16:00", capsys=capsys)
    true = {line["cycle"]: (line["true"], line["doubtful"]) for line in lines[1:-1]}
    assert true == {
        18944: (None, True),
        18945: (None, True),
        18946: ("2026-11-18T00:00:25", False),
        18990: ("2026-11-19T01:02:19", False),
        19010: ("2026-11-19T01:44:26", False),
    }
    assert lines[0]["off"] == 753580816.0


def test_damage_is_named_with_its_line_and_the_rest_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "history.txt"
    path.write_text(
        HISTORY.replace("22:12:31  Date: 01-01-03", "99:12:31  Date: 01-01-03").replace(
            "Powered Up    Time", "Powered Up    T1me"
        )
    )
    code, lines, errors = imported(path, capsys=capsys)
    assert code == 1
    assert [line["cycle"] for line in lines[1:-1]] == [18944, 18945, 18990, 19010]
    assert "line 9: 01-01-03 99:12:31 is not a valid time" in errors
    assert "line 10: 'Powered Up    T1me: 00:00:09" in errors


def test_an_event_of_another_kind_is_kept() -> None:
    (event,) = read_history(
        "Serial Number: 1\nTray Lost Time: 01:00:00 Date: 02-03-24 P: 1 G: 2 Cyc: 3\n"
    ).events
    assert (event.name, event.known) == ("Tray Lost", False)


@for_each("name", ["P: 120", "G: 44", "Cyc: 18946"])
@for_each("digits", [13, 40, 5000])
def test_an_invalid_number_is_damage_and_no_part_of_it_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, digits: int
) -> None:
    path = tmp_path / "history.txt"
    path.write_text(HISTORY.replace(name, f"{name.split()[0]} {'9' * digits}"))
    code, lines, errors = imported(path, capsys=capsys)
    whole = {line["cycle"] for line in lines if line["type"] == "event"}
    assert whole < {18944, 18945, 18946, 18990, 19010}
    assert code == 1 or 18944 not in whole  # text before the first event is read as the head
    assert "belongs to no event" in errors or 18944 not in whole


def test_an_invalid_counter_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "history.txt"
    path.write_text(HISTORY.replace("19012", "9" * 5000))
    _, lines, _ = imported(path, capsys=capsys)
    assert lines[-1]["counters"] == {"Power Ups": 2, "CDS Failures": 0}


def test_a_time_before_year_one_is_invalid(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines, _ = imported(history, "--made", "0001-01-01T00:00:00", capsys=capsys)
    assert code == 0
    assert {line["true"] for line in lines[1:-1] if line["cycle"] < 19010} == {None}


def test_a_file_that_is_no_history_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.txt"
    path.write_text("a shopping list\n")
    code, lines, errors = imported(path, capsys=capsys)
    assert (code, lines) == (1, [])
    assert "neither a serial number nor an event" in errors
    assert imported(tmp_path / "lost.txt", capsys=capsys)[0] == 1


@given(st.text(max_size=300))
def test_no_text_raises_any_but_the_documented_exception(text: str) -> None:
    try:
        read_history("Serial Number: 1\n" + text)
    except ValueError:
        pytest.fail("a history with a head is one")
