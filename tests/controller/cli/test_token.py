"""``novamas token``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common import clock
from common.people.tokens import TokenFile
from controller.cli import main

CONFIGURATION = """
[site]
id = "casino"
decree = "ARA02"

[api]
tokens = "tokens.jsonl"

[[table]]
id = "ruleta-1"
game = "roulette-french"
simulated = true

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    path = tmp_path / "novamas.toml"
    path.write_text(CONFIGURATION)
    return path


def run(configuration: Path, *words: str) -> int:
    return main(["token", *words, "--config", str(configuration)])


def test_a_token_is_printed_once_listed_without_it_and_revoked(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    until = "2999-01-01T00:00:00.000000Z"
    assert run(configuration, "add", "shop-1", "--table", "ruleta-1", "--until", until) == 0
    token = capsys.readouterr().out.strip()
    file = TokenFile(configuration.parent / "tokens.jsonl", configuration.parent / "memory")
    assert file.find(token, clock.wall()) is not None
    assert run(configuration, "list") == 0
    printed = capsys.readouterr().out
    assert token not in printed
    entry = json.loads(printed)
    assert (entry["name"], entry["tables"], entry["until"]) == ("shop-1", ["ruleta-1"], until)
    assert run(configuration, "revoke", "shop-1") == 0
    assert file.find(token, clock.wall()) is None
    assert run(configuration, "list") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["add"], 2, "NAME is missing"),
        (["add", "Shop"], 1, "name"),
        (["add", "shop-1", "--table", "ruleta-2"], 1, "ruleta-1"),
        (["add", "shop-1", "--until", "tomorrow"], 1, "until"),
        (["revoke", "nobody"], 1, "no token"),
    ],
)
def test_a_mistake_is_named(
    configuration: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    status: int,
    told: str,
) -> None:
    assert run(configuration, *words) == status
    assert told in capsys.readouterr().err


def test_a_site_without_an_api_has_no_tokens(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration.write_text(CONFIGURATION.replace('[api]\ntokens = "tokens.jsonl"', ""))
    assert run(configuration, "add", "shop-1") == 1
    assert "[api]" in capsys.readouterr().err


def test_an_origin_is_a_scheme_and_a_host(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = ("shop.example", "https://shop.example/", "ftp://shop.example", "*")
    text = CONFIGURATION.replace("[api]\n", f"[api]\norigins = {json.dumps(wrong)}\n")
    configuration.write_text(text)
    assert main(["check", str(configuration)]) == 1
    told = capsys.readouterr().err
    assert all(f"api.origins[{index}]" in told for index in range(len(wrong)))
