"""Every command works on any terminal and in any locale: never a traceback, never no output."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest

from controller.cli import SUBCOMMANDS
from tests.support.terminal import Terminal

pytestmark = pytest.mark.usefixtures("programs")

ASCII = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LATIN = {"LC_ALL": "C", "PYTHONIOENCODING": "iso-8859-1"}
"""The encoding that Python derives from es_ES.ISO-8859-1, which no machine needs to have."""
NARROW = {"COLUMNS": "20", "LINES": "5"}
PLACES: list[dict[str, str]] = [
    {"TERM": "dumb"},
    {"TERM": "dumb", **ASCII, **NARROW},
    {"TERM": "", **LATIN},
    {"TERM": "xterm", **ASCII},
    {"TERM": "xterm", **LATIN, **NARROW},
    {"TERM": "no-such-terminal", "LANG": "C"},
]
ENV = "/usr/bin/env|-u|LANG|-u|LC_ALL|-u|LC_CTYPE|-u|NO_COLOR|-u|PYTHONIOENCODING"
SAYING = (
    ("games",),
    ("rules", "--list"),
    ("messages", "--language", "eu"),
    ("hand", "--game", "poker-no-draw", "--decree", "ARA02", "Ah", "Kh", "Qh", "Jh", "Th"),
    ("devices",),
    ("check", "/no/such/camión.toml"),
)


def command(place: dict[str, str], *words: str) -> list[str]:
    given = [f"{name}={value}" for name, value in place.items()]
    return [*ENV.split("|"), *given, sys.executable, "-m", "controller.cli", *words]


def test_every_command_at_a_terminal() -> None:
    rows: list[tuple[tuple[str, ...], dict[str, str]]] = [
        ((name, "--help"), place) for name, place in zip(SUBCOMMANDS, cycle(PLACES), strict=False)
    ]
    rows += [(words, place) for words in SAYING for place in PLACES[1:5]]
    for words, place in rows:
        with Terminal(command(place, *words)) as terminal:
            code = terminal.end()
        assert "Traceback" not in terminal.text, (words, place, terminal.text)
        assert terminal.text.strip(), (words, place)
        assert code == (1 if words[0] == "check" and words[-1] != "--help" else 0), (words, place)


def test_without_a_terminal() -> None:
    for words in SAYING[:-1]:
        for place in (ASCII, LATIN):
            done = subprocess.run(
                command(place, *words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                env=dict(os.environ),
            )
            assert (done.returncode, done.stderr) == (0, b""), (words, place)
            assert done.stdout, (words, place)


@pytest.mark.parametrize("place", PLACES[:2])
def test_watch_says_something_on_a_dumb_terminal(tmp_path: Path, place: dict[str, str]) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        '[site]\nid = "palma"\n[broker]\nurl = "mqtt://127.0.0.1:1"\n'
        '[people]\nrequired = "accept-the-risk"\n'
        '[[table]]\nid = "r1"\ngame = "roulette-french"\ndecree = "ARA02"\n'
        '[[table.device]]\nid = "w"\ndriver = "cammegh-ss2"\nlink = "tcp://127.0.0.1:4001"\n'
    )
    with Terminal(command(place, "watch", str(file))) as terminal:
        terminal.wait_for("events follow as JSON lines")
        terminal.wait_for("no connection to")
        terminal.press_ctrl_c()
        terminal.end()
    assert "Traceback" not in terminal.text
