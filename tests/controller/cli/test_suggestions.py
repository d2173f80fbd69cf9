"""Suggestions for misspelt words on the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.for_each import for_each

pytestmark = pytest.mark.usefixtures("programs")


def run_novamas(*words: str) -> tuple[int, str]:
    """The exit status, and the last line on standard error."""
    ran = subprocess.run(
        [sys.executable, "-m", "controller.cli", *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.stdout == ""
    return ran.returncode, ran.stderr.splitlines()[-1]


@for_each(
    ("words", "message"),
    [
        (("wach",), "novamas: no command 'wach'; did you mean `watch`?"),
        (("people", "rotat"), "invalid choice: 'rotat'; did you mean `rotate`?"),
        (("people", "enrol"), "there are: key, pin, add, revoke, rotate, list, sign, may"),
        (("simulate", "shufler"), "invalid choice: 'shufler'; did you mean `shuffler`?"),
        (("simulate", "wheel", "--protcol", "saturn"), "did you mean `--protocol`?"),
        (("watch", "--langage", "es"), "did you mean `--language`?"),
        (("messages", "--language", "eng"), "invalid choice: 'eng'; did you mean `en`?"),
        (("carrousel", "verfy"), "novamas: carrousel: no action 'verfy'; did you mean `verify`?"),
        (("carrousel", "verify", "ledger", "--singer"), "did you mean `--signer`?"),
        (
            ("surveillance", "serch", "--table", "ruleta-1"),
            "novamas: surveillance: no action 'serch'; did you mean `search`?",
        ),
        (("wheel", "--archive", "x", "--snce", "y"), "did you mean `--since`?"),
    ],
)
def test_a_misspelt_word_is_corrected(words: tuple[str, ...], message: str) -> None:
    status, line = run_novamas(*words)
    assert (status, message in line) == (2, True), line


def test_a_misspelt_setting_is_corrected() -> None:
    rules = ("--driver", "cammegh-ss2", "--game", "roulette-french", "--decree", "BAL05")
    status, line = run_novamas("replay", "x", *rules, "--set", "phase=device")
    assert (status, line.rpartition("; ")[2]) == (1, "did you mean `phases`?")


def test_a_misspelt_role_is_corrected_before_any_question() -> None:
    who = ("--id", "x", "--name", "X", "--table", "*", "--public", "x", "--role", "inspektor")
    told = (1, "novamas: no role 'inspektor'; did you mean `inspector`?")
    assert run_novamas("people", "add", "file", *who) == told


def test_a_configuration_that_is_missing_is_no_misspelt_action() -> None:
    status, line = run_novamas("carrousel", "verify.toml")
    assert status == 1
    assert line == (
        "novamas: verify.toml: file: cannot be read: No such file or directory; `novamas init` "
        "writes a first one"
    )
