"""The line that a person types, and the Ctrl-C that comes instead of it."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from common.typed_line import typed_line
from tests.support.terminal import Terminal
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]

# The terminal accepts no output, so that the prompt is not yet written when Ctrl-C comes.
ASKING = """
import os, termios
from common.typed_line import typed_line
print("ready", flush=True)
termios.tcflow(1, termios.TCOOFF)
try:
    typed_line("Name? ")
except KeyboardInterrupt:
    os._exit(130)
"""


@pytest.mark.usefixtures("programs")
def test_ctrl_c_ends_it_also_while_the_prompt_is_written() -> None:
    with Terminal([sys.executable, "-c", ASKING]) as terminal:
        terminal.wait_for("ready")
        until("it waits for the terminal", lambda: _waits(terminal.leader))
        terminal.press_ctrl_c()
        assert terminal.end() == 130


def _waits(process: int) -> bool:
    """Whether the process is asleep: in the write of its prompt, for it waits for nothing else."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


def test_the_line_comes_without_its_end_and_an_ended_input_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Ana \n\nend"))
    assert [typed_line("? ") for _ in range(3)] == ["Ana ", "", "end"]
    with pytest.raises(EOFError):
        typed_line("? ")
    assert capsys.readouterr().out == "? ? ? ? "


def test_no_program_asks_otherwise() -> None:
    asking = [
        str(path)
        for folder in ("common", "controller", "devices", "simulators", "subscribers")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"(?<![\w.])input\(", path.read_text()) and path.name != "typed_line.py"
    ]
    assert asking == []
