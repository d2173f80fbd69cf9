"""``novamas replay``: the same recordings give the same events."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from devices.recording_writer import ClockedWriter, RecordingWriter

ROULETTE = ("--driver", "cammegh-ss2", "--game", "roulette-french", "--decree", "ARA02")
DAY = "cammegh-ss2-2025-09-23.txt"
TURN = ["2;007;12;0;180;1"] * 4 + ["3;007;12;0;180;1"] * 4 + ["4;007;12;0;180;1"] * 4


def recording(path: Path, start: float, lines: list[str]) -> Path:
    """A wheel that sends twice a second."""
    text = "".join(f"{start + n / 2:.3f} < *X;{line}\n" for n, line in enumerate(lines))
    path.write_text(f"# device: wheel\n# framing: line\n{text}")
    return path


def replay(*words: str | Path) -> int:
    return main(["replay", *map(str, words), *ROULETTE])


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture(scope="module")
def capture(shared: Path) -> Path:
    return shared / "captures" / DAY


def test_a_day_in_play(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(capture) == 0
    captured = capsys.readouterr()
    said = events(captured.out)
    count = Counter(event["type"] for event in said)
    assert count["round.result"] == 135
    assert count["round.unresolved"] == 14
    assert count["round.void"] == 0
    fields = {"round", "spin", "frames", "session", "time", "seq"}
    chances = {"number", "colour", "parity", "half", "dozen", "column"}
    results = [event for event in said if event["type"] == "round.result"]
    assert all(fields <= event.keys() for event in results)
    assert all(chances <= event["outcome"].keys() for event in results)
    assert all(event["frames"] for event in results)
    assert all("candidate" in event for event in said if event["type"] == "round.unresolved")
    assert [event["seq"] for event in said] == list(range(1, len(said) + 1))
    assert {event["boot"] for event in said} == {"replay"}
    assert [event["time"] for event in said] == sorted(event["time"] for event in said)
    assert said[0]["time"] == "2025-09-23T07:25:28.384000Z"
    summary = captured.err.splitlines()[-1]
    assert summary.startswith("135 results, 14 unresolved, 0 void, ")
    assert f"{count['irregularity']} irregularities" in summary
    assert f"{count['data.late']} late bursts" in summary
    assert summary.endswith("0 unreadable lines skipped")


def test_twice_the_same(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replay(capture)
    first = capsys.readouterr()
    replay(capture)
    assert capsys.readouterr() == first


def test_without_a_session_nothing_is_played(
    capture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(capture, "--no-session") == 0
    count = Counter(event["type"] for event in events(capsys.readouterr().out))
    assert count["session.opened"] == 0
    assert count["round.result"] == 0
    assert count["device.state"] > 0


def test_rotated_recordings_are_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [*TURN, *["5;007;23;0;180;1"] * 4]
    whole = recording(tmp_path / "whole", 100.0, lines)
    older = tmp_path / "wheel.rec.1"
    newer = tmp_path / "wheel.rec"
    stamped = [
        f"2025-09-23T07:00:{n // 2:02d}.{n % 2 * 500:03d} < *X;{line}\n"
        for n, line in enumerate(lines)
    ]
    older.write_text("# framing: line\n" + "".join(stamped[:9]))
    newer.write_text("# framing: line\n" + "".join(stamped[9:]))
    assert replay(newer, older) == 0
    parts = events(capsys.readouterr().out)
    assert replay(whole) == 0
    assert [
        (e["type"], e.get("outcome", {}).get("number")) for e in events(capsys.readouterr().out)
    ] == [(e["type"], e.get("outcome", {}).get("number")) for e in parts]
    assert parts[-1]["type"] == "round.result"
    assert parts[-1]["outcome"]["number"] == 23


@pytest.mark.parametrize("step", [86_400.0, -86_400.0])
def test_recordings_around_a_clock_that_was_set_are_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: float
) -> None:
    lines = [*TURN, *["5;007;23;0;180;1"] * 4]
    path, start = tmp_path / "wheel.rec", 1_758_612_328.0
    for file, by in ((path, step), (tmp_path / "whole.rec", 0.0)):
        clocked = ClockedWriter(writer := RecordingWriter(file, {}, max_days=30))
        for n, line in enumerate(lines):
            clocked.write(n / 2, start + n / 2 + by * (n >= 9), b"*X;%b\r\n" % line.encode())
        writer.close()
    assert replay(path, tmp_path / "wheel.rec.1.gz") == 0
    parts = events(capsys.readouterr().out)
    assert replay(tmp_path / "whole.rec") == 0
    whole = events(capsys.readouterr().out)
    timed = ("time", "mono_ns")
    assert [{key: e[key] for key in e if key not in timed} for e in parts] == [
        {key: e[key] for key in e if key not in timed} for e in whole
    ]
    moved = [
        (datetime.fromisoformat(e["time"]) - datetime.fromisoformat(parts[0]["time"]))
        for e in (parts[0], parts[-1])
    ]
    assert moved[0].total_seconds() == 0
    assert moved[1].total_seconds() == pytest.approx(step, abs=60)


def test_a_file_that_is_missing_between_two_is_a_lost_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, start = tmp_path / "wheel.rec", 1_758_612_328.0
    writer = RecordingWriter(path, {}, max_days=30)
    for day in range(3):
        for n, line in enumerate(TURN):
            writer.write(start + 86_400 * day + n / 2, b"*X;%b\r\n" % line.encode())
    writer.close()
    files = [path, tmp_path / "wheel.rec.1.gz", tmp_path / "wheel.rec.2.gz"]
    lost = []
    for some in (files, files[::2]):
        assert replay(*some) == 0
        out = capsys.readouterr().out
        lost.append("the recording between these two files is missing" in out)
    assert lost == [False, True]


def test_a_line_of_another_kind_is_named_and_the_lines_before_it_are_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recording(tmp_path / "wheel.rec", 0.0, [*TURN, *["5;007;23;0;180;1"] * 4])
    path.write_text(path.read_text() + "what is this\n")
    assert replay(path) == 1
    captured = capsys.readouterr()
    assert events(captured.out)[-1]["outcome"]["number"] == 23
    assert captured.err.startswith(f"{path}:19: ")
    assert "use the file as it was recorded" in captured.err


def test_an_unreplayable_recording_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(tmp_path / "none") == 1
    assert f"{tmp_path}/none: No such file" in capsys.readouterr().err
    (tmp_path / "empty").write_text("# device: wheel\n")
    assert replay(tmp_path / "empty") == 1
    assert "not a recording" in capsys.readouterr().err
    both = [recording(tmp_path / name, 0.0, TURN) for name in ("a", "b")]
    assert replay(*both) == 1
    assert "starts before the previous recording ends" in capsys.readouterr().err
    assert main(["replay", str(both[0]), *ROULETTE, "--option", "no_such=1"]) == 1
    assert "no_such" in capsys.readouterr().err
    assert main(["replay", str(both[0]), "--driver", "none", *ROULETTE[2:]]) == 1
    assert "cammegh-ss2" in capsys.readouterr().err


SHOE = (
    "--game",
    "punto-banca",
    "--decree",
    "GAL07",
    "--set",
    "rounds=shoe",
    "--set",
    "turn=when_complete",
)
RECORDINGS = Path(__file__).parents[2] / "recordings"


@pytest.mark.parametrize("driver", ["angel-eye", "bee-tek"])
def test_a_recorded_shoe(driver: str, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = str(RECORDINGS / f"{driver}-punto-banca.txt")
    assert main(["replay", recorded, "--driver", driver, *SHOE, "--shoe", "S1"]) == 0
    said = events(capsys.readouterr().out)
    results = [event for event in said if event["type"] == "round.result"]
    assert results
    assert [event["round"] for event in results] == list(range(1, len(results) + 1))
    assert [event for event in said if event["type"] == "irregularity"] == []


def test_a_shoe_needs_a_number_and_a_session(capsys: pytest.CaptureFixture[str]) -> None:
    recorded = str(RECORDINGS / "angel-eye-punto-banca.txt")
    assert main(["replay", recorded, "--driver", "angel-eye", *SHOE, "--shoe", ""]) == 1
    assert (
        "the shoe cannot be started: a shoe without a number may not be used"
        in capsys.readouterr().err
    )
    assert (
        main(["replay", recorded, "--driver", "angel-eye", *SHOE, "--shoe", "S1", "--no-session"])
        == 1
    )
    assert "the shoe cannot be started: no session is open" in capsys.readouterr().err


def test_a_game_that_cannot_use_the_device_is_refused(
    capture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["replay", str(capture), "--driver", "cammegh-ss2"]
    assert main([*words, "--game", "punto-banca", "--decree", "ARA02"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert (
        "the driver cammegh-ss2 is for roulette-french and roulette-american, but this table plays"
        in captured.err
    )
