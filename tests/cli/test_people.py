"""``novamas people``."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from controller.cli import main


def may(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    asked = ["people", "may", "--game", "roulette-french", "--decree", "ARA02", *options]
    assert main(asked) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["command"]: line for line in lines}


def test_who_may_say_what(capsys: pytest.CaptureFixture[str]) -> None:
    found = may(capsys)
    assert found["round.void"] == {
        "command": "round.void",
        "roles": ["table_head", "inspector"],
        "law": "Decreto 159/2002, anexo I, art. 3, epígrafe 1",
        "narrowed": False,
    }
    assert found["bets.open"]["law"] is None


def test_what_a_role_may_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"bets.open", "bets.close"} <= may(capsys, "--role", "croupier").keys()
    assert "round.void" not in may(capsys, "--role", "croupier")
    assert may(capsys, "--role", "reader").keys() == {"recall"}


def test_a_person_gets_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    asked = ["people", "may", "--game", "roulette-french", "--decree", "ARA02"]
    assert main([*asked, "--role", "inspector"]) == 0
    drawn = capsys.readouterr().out
    assert "round.void" in drawn
    assert "default: no decree" in drawn


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        (["--game", "roulette-french"], 2, "--decree is missing"),
        (["--decree", "ARA02"], 2, "--game is missing"),
        (["--game", "roulette-french", "--decree", "ARA02", "--role", "cropier"], 2, "croupier"),
        (["--game", "roulete", "--decree", "ARA02"], 1, "no game 'roulete'"),
        (["--game", "trijoker", "--decree", "ARA02"], 1, "trijoker"),
        (["--game", "boule", "--decree", "ARA03"], 1, "ARA02"),
    ],
)
def test_what_is_wrong_is_told(
    asked: list[str], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["people", "may", *asked]) == status
    assert told in capsys.readouterr().err
