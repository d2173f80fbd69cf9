"""The page docs/integrator/quickstart.md, followed to its end: its commands and both programs."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.support import contract
from tests.support.brokers.mosquitto import free_port
from tests.support.programs import running
from tests.support.waiting import until

PAGE = (contract.INTEGRATOR / "quickstart.md").read_text()
MODULES = Path(__file__).parents[1] / "npm" / "node_modules"
NOVAMAS = (sys.executable, "-c", "import sys; from controller.cli import main; sys.exit(main())")
SPIN = 180.0
"""Seconds for a spin of the page's wheel, which takes half a minute, on a starved machine."""


def blocks(language: str, page: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


class Reader:
    """One who follows a page in a folder, with free ports in place of the page's."""

    def __init__(self, folder: Path, stack: ExitStack, page: str = PAGE) -> None:
        self.folder = folder
        self._stack = stack
        self._ports = {port: str(free_port()) for port in ("1883", "4001", "8080")}
        self._commands = [block.rstrip("\n") for block in blocks("sh", page)]

    def text(self, found: str) -> str:
        """A text of the page, with free ports in place of its fixed ones."""
        return re.sub(r"\b(1883|4001|8080)\b", lambda port: self._ports[port[0]], found)

    def words(self, beginning: str) -> list[str]:
        """The command of the page that begins so."""
        return [*NOVAMAS, *shlex.split(self.command(f"novamas {beginning}"))[1:]]

    def command(self, beginning: str) -> str:
        """The line of the page that begins so."""
        [found] = [each for each in self._commands if each.startswith(beginning)]
        return self.text(found)

    def start(self, words: list[str], log: str) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("ab") as file:
            return self._stack.enter_context(
                running(words, cwd=self.folder, stdout=file, stderr=subprocess.STDOUT)
            )

    def printed(self, log: str) -> str:
        return (self.folder / log).read_text()

    def stored(self) -> dict[str, list[tuple[int, str]]]:
        """Number and type of each event in the recorder's database, by run of the daemon, in the
        order in which they were stored.
        """
        runs: dict[str, list[tuple[int, str]]] = {}
        with closing(sqlite3.connect(self.folder / "events.sqlite3")) as database:
            rows = database.execute("SELECT boot, seq, body FROM event ORDER BY rowid")
            for boot, seq, body in rows:
                runs.setdefault(boot, []).append((seq, json.loads(body)["type"]))
        return runs


@pytest.fixture
def reader(programs: None, tmp_path: Path) -> Iterator[Reader]:
    with ExitStack() as stack:
        yield Reader(tmp_path, stack)


def test_a_reader_who_follows_the_page_has_every_event_and_no_stale_number(
    reader: Reader, tell: Callable[[str, Callable[[], str]], None]
) -> None:
    [display], [recorder] = blocks("js"), blocks("python")
    (reader.folder / "display.mjs").write_text(reader.text(display))
    (reader.folder / "record.py").write_text(reader.text(recorder))
    (reader.folder / "node_modules").symlink_to(MODULES)
    subprocess.run(reader.words("init"), cwd=reader.folder, check=True)
    configuration = reader.folder / "novamas.toml"
    configuration.write_text(reader.text(configuration.read_text()))
    reader.start(reader.words("simulate"), "wheel.log")
    daemon = reader.start(reader.words("run"), "daemon.log")
    tell("log of the daemon", lambda: reader.printed("daemon.log"))

    def opened() -> bool:
        sent = subprocess.run(
            reader.words("send"), cwd=reader.folder, check=False, capture_output=True
        )
        return sent.returncode == 0

    def displayed(pattern: str) -> Callable[[], bool]:
        return lambda: re.search(pattern, reader.printed("display.log"), re.MULTILINE) is not None

    def printed() -> str:
        return reader.printed("record.log") + reader.printed("display.log")

    until("the table is open", opened, lambda: reader.printed("daemon.log"))
    reader.start([sys.executable, "record.py"], "record.log")
    reader.start(["node", "display.mjs"], "display.log")
    until("a number on the display", displayed(r"^mesa-1 open \d+$"), printed, SPIN)
    daemon.kill()
    daemon.wait()
    until("the number is not current", displayed(r"open (\d+)\nmesa-1 NOT CURRENT \1$"), printed)
    reader.start(reader.words("run"), "daemon.log")

    def second_result() -> bool:
        runs = list(reader.stored().values())
        return len(runs) == 2 and "round.result" in {kind for _, kind in runs[1]}

    until("a result of the next run", second_result, printed, SPIN)
    for events in reader.stored().values():
        assert [seq for seq, _ in events] == list(range(1, len(events) + 1))
