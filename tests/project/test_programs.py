"""Programs that tests start: how they begin, and that they end with their test."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import restore_signals, running

TESTS = Path(__file__).parents[1]
STARTS = ("subprocess.Popen", "PreparedProgram")
WAITS = "import sys; print(flush=True); sys.stdin.read()"


def starts_outside_classes(node: ast.AST) -> Iterator[int]:
    """Lines that start a program in a function. A class that starts one has a method to end it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            continue
        if isinstance(child, ast.Call) and ast.unparse(child.func) in STARTS:
            yield child.lineno
        yield from starts_outside_classes(child)


def test_no_test_starts_a_program_that_may_outlive_it() -> None:
    """Resources that a failing test leaves are reported by the garbage collector in
    another test.
    """
    helper = TESTS / "support" / "programs.py"
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if path != helper and any(each in (text := path.read_text()) for each in STARTS)
        for line in starts_outside_classes(ast.parse(text))
    ]
    assert found == [], "start it with tests.support.programs.running"


@pytest.mark.usefixtures("programs")
def test_a_program_ends_with_the_test_that_fails() -> None:
    started: list[subprocess.Popen[bytes]] = []

    def fail() -> None:
        with running([sys.executable, "-c", WAITS], stdin=-1, stdout=-1) as program:
            started.append(program)
            assert program.returncode is not None

    with pytest.raises(AssertionError):
        fail()
    [program] = started
    assert program.returncode == -signal.SIGKILL
    assert program.stdin is not None
    assert program.stdin.closed


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_program_ends_on_a_signal_that_this_process_was_started_without(
    number: signal.Signals,
) -> None:
    earlier = signal.signal(number, signal.SIG_IGN)
    try:
        restore_signals()
        signal.raise_signal(number)
        with running([sys.executable, "-c", WAITS], stdin=-1, stdout=-1, stderr=-1) as program:
            assert program.stdout is not None
            program.stdout.readline()
            program.send_signal(number)
            program.communicate()
        assert program.returncode == -number
    finally:
        signal.signal(number, earlier)
