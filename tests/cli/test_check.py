"""``novamas check``: a summary, or every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli import main

SAMPLE = Path(__file__).parents[2] / "docs" / "novamas.toml"


def test_the_sample_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(SAMPLE)]) == 0
    told = capsys.readouterr()
    assert told.out.startswith(
        "ok: site casino-mayor, node node-1, broker mqtt://127.0.0.1:1883\n  ruleta-1: "
        "roulette-french BAL05: wheel ("
    )
    assert told.err == ""


def test_every_mistake_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        SAMPLE.read_text().replace("keepalive", "keepaliv").replace('"ruleta-2"', '"ruleta 2"')
    )
    assert main(["check", str(file)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert [
        line.removeprefix(f"{file}: ").split(": ")[1] for line in told.err.splitlines()[:-1]
    ] == [
        "broker.keepaliv",
        "table[1].id",
    ]
    assert told.err.splitlines()[-1] == f"novamas: 2 errors in {file}"


def test_a_wrong_decree_is_told_beside_a_wrong_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        SAMPLE.read_text()
        .replace('"roulette-french"', '"roulete-french"', 1)
        .replace('"BAL05"', '"BAL50"', 1)
    )
    assert main(["check", str(file)]) == 1
    told = capsys.readouterr().err
    assert "no game 'roulete-french'; did you mean `roulette-french`?" in told
    assert "no decree 'BAL50'; did you mean BAL" in told


def test_a_credential_that_only_the_service_can_read_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "novamas.toml"
    text = SAMPLE.read_text()
    assert "password_credential = " in text
    file.write_text(text)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert main(["check", str(file)]) == 0
    assert "note: broker.password_credential: systemd passes" in capsys.readouterr().out
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert main(["check", str(file)]) == 0
    assert "note:" not in capsys.readouterr().out
