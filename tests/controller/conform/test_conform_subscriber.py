"""`novamas conform subscriber` at the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from common.people.private_key import make_private_key
from controller.cli import main
from tests.controller.conform.broken_subscribers import BROKEN


@pytest.mark.usefixtures("programs")
def test_a_program_is_tried_and_the_report_is_signed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (broken,) = (each for each in BROKEN if each.id == "SUB-HISTORICAL")
    program = str(broken.write(tmp_path))
    key, secret, report = tmp_path / "key", tmp_path / "secret", tmp_path / "report.json"
    secret.write_text("a long passphrase\n")
    secret.chmod(0o600)
    make_private_key(key, b"a long passphrase")
    signing = ["--report", str(report), "--key", str(key), "--passphrase-file", str(secret)]
    only = ["--only", "SUB-RESULT", "--only", "SUB-HISTORICAL", "--patience", "60"]
    words = ["conform", "subscriber", *only, *signing, "--", sys.executable, program]
    assert main(words) == 1
    assert "was reported with live=True, not False" in capsys.readouterr().out
    assert main(["conform", "verify", str(report)]) == 0
    assert "2 requirements met" in capsys.readouterr().out
    told = json.loads(report.read_bytes())["report"]
    assert [(each["id"], each["outcome"]) for each in told["findings"]] == [
        ("SUB-RESULT", "passed"),
        ("SUB-HISTORICAL", "failed"),
    ]
    assert {file["name"] for file in told["files"]} >= {"conformant.py"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "subscriber -- COMMAND"),
        (["--broker", "here", "--", "true"], "expected mqtt://HOST:PORT"),
        (["--broker", "mqtt://127.0.0.1:1", "--", "true"], "the trial could not begin"),
        (["--only", "DRV-SPLIT", "--", "true"], "DRV-SPLIT"),
        (["--as", "jackpot", "--", "true"], "jackpot"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["conform", "subscriber", *words])
    except SystemExit as ended:  # argparse
        status = int(str(ended.code))
    assert status in (1, 2)
    assert message in capsys.readouterr().err
