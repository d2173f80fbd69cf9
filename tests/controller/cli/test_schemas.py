"""``novamas schemas`` writes the contract, and reports where a folder differs from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.contract.openapi import openapi
from common.contract.schemas import documents, to_bytes
from common.contract.vocabulary import pages
from controller.cli import main


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """Return the files of the contract by path."""
    return documents() | {"openapi.json": to_bytes(openapi())} | pages()


def test_written_files_pass_the_check(
    files: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schemas", str(tmp_path)]) == 0
    assert {path: (tmp_path / path).read_bytes() for path in files} == files
    assert main(["schemas", "--check", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(files)


def test_the_check_names_what_differs_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["schemas", str(tmp_path)])
    changed, missing = tmp_path / "asyncapi.json", tmp_path / "schemas" / "events.json"
    changed.write_text("{}")
    missing.unlink()
    assert main(["schemas", "--check", str(tmp_path)]) == 1
    errors = capsys.readouterr().err
    assert str(changed) in errors
    assert str(missing) in errors
    assert changed.read_text() == "{}"
    assert not missing.exists()


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "schemas").write_text("a file where a folder should be")
    assert main(["schemas", str(tmp_path)]) == 1
    assert "novamas: " in capsys.readouterr().err
