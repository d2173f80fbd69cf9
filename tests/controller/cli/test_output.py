"""Output of ``novamas`` into a closed pipe, onto a full disk, or nowhere: never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli import main

pytestmark = pytest.mark.usefixtures("programs")

NOVAMAS = [sys.executable, "-m", "controller.cli"]
SHORT_OUTPUT = [
    "hand",
    "--game",
    "poker-no-draw",
    "--decree",
    "ARA02",
    "Ah",
    "Kh",
    "Qh",
    "Jh",
    "Th",
]
LONG_OUTPUT = ["rules", "--list"]
BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize("words", [SHORT_OUTPUT, LONG_OUTPUT, ["--help"]])
def test_a_closed_pipe_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        done = subprocess.run(
            [*NOVAMAS, *words], stdout=gone, stderr=subprocess.PIPE, env=BUFFERED, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [SHORT_OUTPUT, LONG_OUTPUT, ["--help"]])
def test_a_full_disk_is_reported(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*NOVAMAS, *words], stdout=full, stderr=subprocess.PIPE, env=BUFFERED, check=False
        )
    assert (done.returncode, done.stderr) == (
        1,
        b"novamas: standard output: No space left on device\n",
    )


def test_errors_never_appear_in_the_output() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *NOVAMAS, "check", "no-such-file"],
        stdout=subprocess.PIPE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")


def test_without_an_output_nothing_fails() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *NOVAMAS, "games"], stderr=subprocess.PIPE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_misspelt_subcommand_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chekc", "novamas.toml"]) == 2
    assert capsys.readouterr().err == "novamas: no command 'chekc'; did you mean `check`?\n"
