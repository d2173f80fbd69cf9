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
    assert told.err.splitlines()[-1] == "novamas: mistakes: 2"
