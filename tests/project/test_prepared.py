"""Programs that tests fork from an interpreter with its imports done: they are as started ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.prepared import PreparedProgram
from tests.support.programs import running

pytestmark = pytest.mark.usefixtures("programs")

STATE = """
import json, os, random, signal, sys, threading
print(json.dumps({
    "argv": sys.argv,
    "environment": dict(os.environ),
    "folder": os.getcwd(),
    "umask": os.umask(0),
    "descriptors": sorted(os.listdir("/proc/self/fd"))[:-1],
    "threads": threading.active_count(),
    "name": __name__,
    "group": os.getpgid(0),
    "signals": {each.name: str(signal.getsignal(each)).split(" at ")[0]
                for each in signal.valid_signals() if isinstance(each, signal.Signals)},
}))
sys.exit(7)
"""
WAITS = "import sys, time; print('there', flush=True); time.sleep(1000)"


class Forked:
    """The output of a program that was forked, and its exit code."""

    def __init__(self, *words: str, **options: Any) -> None:
        self.program = PreparedProgram(words, stdout=subprocess.PIPE, **options)
        assert self.program.stdout is not None
        with self.program.stdout as output:
            self.output = output.read()
        self.code = self.program.wait()


def test_a_fork_finds_what_a_new_interpreter_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "ONLY": "this"}
    os.umask(0o027)  # the next test has its own again
    forked = Forked("-c", STATE, "a", "b c", stderr=subprocess.STDOUT, environment=environment)
    words = [sys.executable, "-c", STATE, "a", "b c"]
    with running(words, stdin=-3, stdout=-1, stderr=-2, env=environment) as program:
        output, _ = program.communicate()
    assert json.loads(forked.output) == json.loads(output)
    assert (forked.code, program.returncode) == (7, 7)


def test_chance_differs_between_forks() -> None:
    code = "import random, secrets, uuid; print(random.random(), secrets.token_hex(), uuid.uuid4())"
    first, second = Forked("-c", code).output.split(), Forked("-c", code).output.split()
    assert len({*first, *second}) == 6


def test_a_signal_to_one_whose_exit_code_is_on_the_way_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The interpreter collects a fork that has ended before it reports the exit code."""
    program = Forked("-c", "pass").program
    monkeypatch.setattr(program, "poll", lambda: None)
    program.kill()


def test_a_module_is_run_as_a_program() -> None:
    forked = Forked("-m", "subscribers.web", "--help", environment={"COLUMNS": "80"})
    assert b"python -m subscribers.web" in forked.output
    assert forked.code == 0


class Waiting:
    """A program that was forked, once it waits."""

    def __init__(self, errors: Path) -> None:
        with errors.open("wb") as file:
            self.program = PreparedProgram(["-c", WAITS], stdout=subprocess.PIPE, stderr=file)
        assert self.program.stdout is not None
        self.output = self.program.stdout
        assert self.output.readline() == b"there\n"

    def end(self) -> int:
        """Return its exit code once it has ended, and all that has its output."""
        with self.output:
            assert self.output.read() == b""
        return self.program.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_fork_ends_by_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    first, second = Waiting(tmp_path / "first"), Waiting(tmp_path / "second")
    with pytest.raises(subprocess.TimeoutExpired):
        first.program.wait(0)
    assert first.program.poll() is None
    first.program.send_signal(number)
    assert first.end() == -number
    assert first.program.poll() == -number
    first.program.kill()  # there is none to end
    second.program.kill()
    assert second.end() == -signal.SIGKILL
    assert ("KeyboardInterrupt" in (tmp_path / "first").read_text()) == (number == signal.SIGINT)
