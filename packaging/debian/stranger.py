"""A person at a terminal who knows the commands of a page, reads what is printed, and answers
questions; for tests.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence

from engine import CHECKOUT

PAGE = CHECKOUT / "docs" / "technician" / "first-number.md"
PROMPT = re.compile(r"(> |\] )$")
"""How output ends that waits for an answer."""
IDLE_SECONDS = 0.5
PATIENCE_SECONDS = 600.0
"""Maximum seconds for a whole way, of which nothing is asserted."""
ANSWERS = {
    "Id of the casino": "casino-prueba",
    "Which decree": "ARA02",
    "Id of the table": "ruleta-1",
    "Which device": "serial:///dev/ttyUSB0",
    "inspector's name": "A. Riera",
    "inspector's badge": "4711",
    "PIN of the inspector": "271828",
    "Passphrase of the site's key": "una frase muy larga",
}
"""What only a person knows, by words of the question. All else is answered with Enter."""
LIVE = "shows now?"
"""The question below which a device shows its last number."""


def commands(way: str) -> list[str]:
    """Return the commands of a section of the page."""
    section = PAGE.read_text().partition(f"## {way}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    lines = block.replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", line) for line in lines]


class Stranger:
    """Types into a program that runs at a terminal of its own."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.began = time.monotonic()
        self._master, slave = os.openpty()
        self.process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self.read = ""
        """All that was printed."""
        self.asked: list[str] = []
        """The questions, with their answers."""
        self._answered = 0
        self._last = ""

    def until(self, wanted: str) -> str:
        """Answer what is asked until a line is printed, and return the first group of it."""
        while not (found := re.search(wanted, self.read)):
            assert time.monotonic() - self.began < PATIENCE_SECONDS, self.read
            if select.select([self._master], [], [], IDLE_SECONDS)[0]:
                try:
                    self.read += os.read(self._master, 65536).decode(errors="replace")
                except OSError:  # the other side is closed
                    raise AssertionError(f"it ended:\n{self.read}") from None
            elif (answer := self._answer(self.read[self._answered :])) is not None:
                self._answered, self._last = len(self.read), answer
                os.write(self._master, f"{answer}\n".encode())
        return found[1]

    def _answer(self, asked: str) -> str | None:
        """Return what to type; None while nothing is asked, or the number is not shown yet."""
        if LIVE in asked:
            if not re.search(r"number: \d", asked):
                return None
        elif not PROMPT.search(asked):
            return None
        if "(again)" in asked:
            return self._last
        answer = next((text for words, text in ANSWERS.items() if words in asked), "")
        self.asked.append(f"{asked.strip()} {answer}")
        return answer

    def seconds(self) -> float:
        """Return the time since the first command."""
        return time.monotonic() - self.began

    def close(self) -> None:
        """Press Ctrl-C, and wait for the end."""
        os.write(self._master, b"\x03")
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(60)
        os.close(self._master)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


__all__ = ["Stranger", "commands"]
