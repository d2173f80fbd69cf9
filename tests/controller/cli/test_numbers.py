"""Invalid numbers on the command line."""

from __future__ import annotations

import pytest

from controller.cli import main
from tests.support.for_each import for_each


@for_each(
    ("words", "message"),
    [
        (
            ["decode", "cammegh-ss2", "a.rec", "--stale-after", "-5"],
            "-5 is not a number of seconds above 0",
        ),
        (
            ["decode", "cammegh-ss2", "a.rec", "--stale-after", "nan"],
            "nan is not a number of seconds above 0",
        ),
        (
            ["profile", "test", "a.toml", "a.rec", "--stale-after", "soon"],
            "soon is not a number of seconds above 0",
        ),
        (
            ["record", "tcp://127.0.0.1:4001", "a.rec", "--seconds", "0"],
            "0 is not a number of seconds above 0",
        ),
        (
            ["record", "tcp://127.0.0.1:4001", "a.rec", "--seconds", "inf"],
            "inf is not a number of seconds above 0",
        ),
        (["demo", "--speed", "fast"], "fast is not a number above 0 and at most 1000"),
        (["demo", "--speed", "1001"], "1001 is not a number above 0 and at most 1000"),
        (["demo", "--rounds", "0"], "0 is not a whole number from 1 up"),
        (["demo", "--rounds", "two"], "two is not a whole number from 1 up"),
    ],
)
def test_a_wrong_number_is_reported(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert capsys.readouterr().err.endswith(f"{message}\n")
