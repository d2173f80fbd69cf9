"""Long work on a terminal and in a pipe: progress and colours on a terminal only."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controller.proof.test_verify import change
from tests.support.journal.premises import evening
from tests.support.terminal import Terminal

pytestmark = pytest.mark.usefixtures("programs")

PROGRAM = [sys.executable, "-m", "controller.cli"]
RECORDING = Path(__file__).parents[2] / "recordings" / "cammegh-ss2-faults.txt"
REPLAY = ["--driver", "cammegh-ss2", "--game", "roulette-french", "--decree", "ARA02"]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "journal.sqlite3"
    asyncio.run(evening(path))
    return path


def shown(*words: str | Path) -> str:
    """Return what the terminal shows until the program ends."""
    with Terminal([*PROGRAM, *map(str, words)]) as terminal:
        terminal.end()
        return terminal.text


def piped(*words: str | Path) -> tuple[str, str]:
    ran = subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    return ran.stdout, ran.stderr


@pytest.mark.parametrize(
    ("command", "doing", "verdict"),
    [
        ("verify", "verifying", "\x1b[1;32mHOLDS TOGETHER: "),
        ("audit", "auditing", "\x1b[1;32mPROVED: "),
    ],
)
def test_a_verdict_has_progress_and_its_colour_on_a_terminal_alone(
    command: str, doing: str, verdict: str, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    drawn = shown(command, journal)
    assert verdict in drawn
    assert f"\r{doing} 100 %" in drawn
    assert f"%\r\x1b[K{'Journal':8}" in drawn  # the progress is gone before the page begins
    out, error = piped(command, journal, "--text")
    assert "\x1b" not in out
    assert verdict.partition("m")[2] in out
    assert error == ""
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;32m" not in shown(command, journal)


def test_a_failed_check_is_red(journal: Path, tmp_path: Path) -> None:
    copy = tmp_path / "journal.sqlite3"
    copy.write_bytes(journal.read_bytes())
    change(copy, "UPDATE entry SET body = 'other' WHERE position = 9")
    assert "\x1b[1;31mDOES NOT HOLD. First: " in shown("verify", copy)
    assert "\x1b[1;31mNOT PROVED. " in shown("audit", copy)
    assert "\x1b[33mCOULD NOT BE JUDGED: " in shown("verify", tmp_path / "none")


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_a_verdict_is_a_page_on_a_terminal_and_json_in_a_pipe_or_a_file(
    command: str, journal: Path, tmp_path: Path
) -> None:
    out, error = piped(command, journal)
    assert out.count("\n") == 1
    assert json.loads(out)["outcome"] == "holds"
    assert error == ""
    assert piped(command, journal, "--json") == (out, "")
    assert piped(command, tmp_path / "none")[0].startswith('{"outcome":"could_not_be_judged"')
    drawn = shown(command, journal)
    assert f"\n{'Entries' if command == 'verify' else 'Readings'}  " in drawn
    assert '"outcome"' not in drawn
    page = piped(command, journal, "--text")[0]
    assert all(line in drawn.replace("\r\n", "\n") for line in page.splitlines()[:4])


def test_progress_is_shown_while_the_verdict_goes_to_a_file(journal: Path, tmp_path: Path) -> None:
    for command, doing in (("verify", "verifying"), ("audit", "auditing")):
        out = tmp_path / command
        words = ["/bin/sh", "-c", 'exec "$@" > "$0"', str(out), *PROGRAM, command, str(journal)]
        with Terminal(words) as terminal:
            assert terminal.end() == 0
            assert f"\r{doing} 100 %" in terminal.text
        assert json.loads(out.read_text())["outcome"] == "holds"


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_asking_for_both_forms_is_an_error(command: str, journal: Path) -> None:
    out, error = piped(command, journal, "--json", "--text")
    assert out == ""
    assert "not allowed with argument" in error


@pytest.mark.parametrize("command", ["verify", "audit"])
def test_json_is_for_machines_on_a_terminal_too(command: str, journal: Path) -> None:
    out, error = piped(command, journal, "--json")
    assert json.loads(out)["outcome"] in ("holds", "could_not_be_judged")
    assert error == ""
    assert "\x1b[1" not in shown(command, journal, "--json")


def test_lines_on_a_terminal_are_not_drawn_over(journal: Path) -> None:
    """Progress is for a person before an empty screen; here the lines themselves show it."""
    assert " %" not in shown("export", journal)
    assert " %" not in shown("replay", RECORDING, *REPLAY)


def test_progress_is_shown_while_the_lines_go_to_a_file(journal: Path, tmp_path: Path) -> None:
    for words, doing in (
        (["export", str(journal)], "reading"),
        (["replay", str(RECORDING), *REPLAY], "replaying"),
    ):
        out = tmp_path / doing
        script = 'exec "$@" > "$0"'
        with Terminal(["/bin/sh", "-c", script, str(out), *PROGRAM, *words]) as terminal:
            assert terminal.end() == 0
            assert f"\r{doing} " in terminal.text
        assert all(json.loads(line) for line in out.read_text().splitlines())
        assert out.read_text()
