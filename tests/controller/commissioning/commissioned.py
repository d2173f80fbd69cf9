"""A person at the terminal of ``novamas commission``, who answers its questions."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from nacl.pwhash import argon2id

from common.people.private_key import make_private_key
from tests.support.waiting import TIMEOUT_SECONDS

NOVAMAS = Path(sys.executable).with_name("novamas")
INTERRUPT_RETRY_SECONDS = 5.0
"""Delay before a person presses Ctrl-C again."""
INTERRUPTED = "interrupted; "
"""The program's answer to Ctrl-C."""
PASSPHRASE = b"quiet wheel at night"


def key(folder: Path) -> tuple[str, ...]:
    """Arguments that name the person's key."""
    made, said = folder / "soler.key", folder / "soler.pass"
    if not made.exists():
        make_private_key(made, PASSPHRASE, argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN)
        said.write_bytes(PASSPHRASE)
        said.chmod(0o600)
    return ("--key", str(made), "--passphrase-file", str(said), "--by", "J. Soler")


class Person:
    """Starts the program on a separate terminal."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._terminal, side = pty.openpty()
        self.process = subprocess.Popen(
            [NOVAMAS, "commission", *words],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            start_new_session=True,
        )
        os.close(side)
        self.drawn = ""
        self._read = 0

    def asked(self, *questions: str) -> str:
        """Wait until one of these questions is asked, and return it."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while True:
            new = self.drawn[self._read :]
            found = [(new.index(each), each) for each in questions if each in new]
            if found:
                at, question = min(found)
                self._read += at + len(question)
                return question
            assert time.monotonic() < until, f"nobody asks {questions}:\n{self.drawn}"
            self._read_output()

    def answer(self, question: str, message: str) -> None:
        self.asked(question)
        self.type(message)

    def type(self, message: str) -> None:
        os.write(self._terminal, f"{message}\n".encode())

    def ended(self) -> int:
        """Its exit status."""
        self._listen(TIMEOUT_SECONDS)
        assert self.process.returncode is not None, self.drawn
        return self.process.returncode

    def interrupt(self) -> int:
        """Press Ctrl-C until the program answers: Python sees one that arrives between the question
        and the reading of its answer only after the next key. Return its exit status.
        """
        until = time.monotonic() + TIMEOUT_SECONDS
        while INTERRUPTED not in self.drawn and self.process.poll() is None:
            assert time.monotonic() < until, f"Ctrl-C changes nothing:\n{self.drawn}"
            self.process.send_signal(signal.SIGINT)
            self._listen(INTERRUPT_RETRY_SECONDS, INTERRUPTED)
        return self.ended()

    def kill(self) -> None:
        """Kill it, as a power failure does."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self._terminal)

    def _listen(self, seconds: float, wanted: str | None = None) -> None:
        """Listen for this many seconds, or until the program prints ``wanted`` or has ended."""
        until = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < until:
            self._read_output()
            if wanted is not None and wanted in self.drawn:
                return
        self._read_output()

    def _read_output(self) -> None:
        if select.select([self._terminal], [], [], 0.05)[0]:
            try:
                self.drawn += os.read(self._terminal, 65536).decode(errors="replace")
            except OSError:  # it ended
                return
