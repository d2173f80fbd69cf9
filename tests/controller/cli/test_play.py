"""``novamas play``: inputs in, events out, nothing stops at a bad line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from tests.support.programs import running

SESSION = '{"at": 0, "type": "session.open", "by": "M. Lasa", "role": "inspector"}'
SPIN = [
    '{"at": 1, "type": "wheel.phase", "device": "wheel", "phase": "bets_open", "spin": 7}',
    '{"at": 20, "type": "wheel.phase", "device": "wheel", "phase": "ball_in_rim", "spin": 7}',
    '{"at": 30.5, "type": "wheel.phase", "device": "wheel", "phase": "no_more_bets", "spin": 7}',
    '{"at": 50, "type": "wheel.number", "device": "wheel", "number": 17, "spin": 7}',
]


def script(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "script.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def play(*words: str, game: str = "roulette-french", decree: str = "ARA02") -> int:
    return main(["play", game, "--decree", decree, *words])


def events(capsys: pytest.CaptureFixture[str]) -> tuple[list[dict[str, Any]], list[str]]:
    captured = capsys.readouterr()
    return [json.loads(line) for line in captured.out.splitlines()], captured.err.splitlines()


def test_a_spin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(script(tmp_path, SESSION, *SPIN)) == 0
    said, errors = events(capsys)
    assert errors == []
    assert [(e["type"], e["seq"], e["boot"]) for e in said] == [
        ("session.opened", 1, "play"),
        ("round.opened", 2, "play"),
        ("bets.closed", 3, "play"),
        ("round.result", 4, "play"),
    ]
    result = said[-1]
    assert (
        result["outcome"]["number"],
        result["spin"],
        result["outcome"]["colour"],
        result["time"],
    ) == (
        17,
        7,
        "black",
        "1970-01-01T00:00:50.000000Z",
    )


def test_the_same_script_gives_the_same_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(tmp_path, SESSION, *SPIN)
    play(path)
    first = capsys.readouterr().out
    play(path)
    assert capsys.readouterr().out == first


def test_bad_lines_are_named_and_the_rest_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [
        "no json",
        '{"at": 1, "type": "wheel.turn"}',
        '{"at": 1, "type": "wheel.number", "device": "wheel"}',
        '{"at": 1, "type": "wheel.number", "number": 3, "colour": "red"}',
        '{"at": 1e300, "type": "link.up"}',
        "[" * 5000,
    ]
    path = script(tmp_path, "# a comment", "", *bad, SESSION, *SPIN)
    assert play(path) == 1
    said, errors = events(capsys)
    assert [e["type"] for e in said] == [
        "session.opened",
        "round.opened",
        "bets.closed",
        "round.result",
    ]
    assert [line.split(": ")[0] for line in errors] == [
        f"{path}:{number}" for number in range(3, 9)
    ]
    assert "wheel.turn" in errors[1]
    assert "number" in errors[2]
    assert "colour" in errors[3]


def test_a_refused_command_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(
        tmp_path,
        '{"at": 0, "type": "session.close", "by": "M. Lasa", "role": "inspector"}',
        SESSION,
    )
    assert play(path) == 3
    said, errors = events(capsys)
    assert [e["type"] for e in said] == ["session.opened"]
    assert len(errors) == 1
    assert errors[0].startswith(f"{path}:1: refused: ")


def test_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(
        tmp_path, SESSION, '{"at": 1, "type": "bets.open", "by": "A. Puy", "role": "croupier"}'
    )
    assert play(path, "--set", "phases=person") == 0
    assert [e["type"] for e in events(capsys)[0]] == ["session.opened", "round.opened"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--set", "phases=nobody"], "phases"),
        (["--set", "colour=red"], "colour"),
        (["--set", "phases"], "KEY=VALUE"),
        (["no-such-file"], "no-such-file: No such file"),
        (["."], ".: Is a directory"),
    ],
)
def test_a_wrong_call_is_reported(
    words: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(*words) == 1
    assert what in capsys.readouterr().err


@pytest.mark.parametrize(("game", "decree"), [("roulette", "ARA02"), ("roulette-french", "ARA03")])
def test_an_unknown_game_or_decree_is_reported(
    game: str, decree: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(game=game, decree=decree) == 1
    error = capsys.readouterr().err
    assert error.startswith("novamas: ")
    assert "ARA02" in error or "roulette-french" in error


@pytest.mark.usefixtures("programs")
def test_line_by_line() -> None:
    """Each answer is printed before the next input is read."""
    with running(
        [sys.executable, "-m", "controller.cli", "play", "roulette-french", "--decree", "ARA02"],
        cwd=Path(__file__).resolve().parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for line, said in ((SESSION, "session.opened"), (SPIN[0], "round.opened")):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["type"] == said
        process.stdin.write("nonsense\n")
        process.stdin.flush()
        assert process.stderr.readline().startswith("standard input:3: ")
        process.stdin.close()
        assert process.wait() == 1
