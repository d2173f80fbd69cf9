"""The program in the README of novamas-client, at a real daemon and broker: whatever ends
meanwhile, it has each event once and in order.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, serve, spin, until_up
from tests.support.daemon.process import Daemon, Wheel
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

PACKAGE = Path(__file__).parents[2] / "packaging" / "clients" / "python"
LINE = re.compile(r"^r1 (\S+) (\d+) (\S+)$")


def test_the_program_has_every_event_once_and_in_order(
    tmp_path: Path,
    ending: ExitStack,
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    found = re.search(
        r"^```python\n(.*?)^```", (PACKAGE / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    program = found[1].replace("novamas-sim/v1/casino", "novamas/v1/palma")
    (folder / "follow.py").write_text(program.replace("1883", str(mosquitto.port)))
    output = folder / "output"

    def start() -> subprocess.Popen[bytes]:
        with output.open("ab") as file:
            return ending.enter_context(
                running(
                    [sys.executable, "follow.py"],
                    cwd=folder,
                    env={"PYTHONPATH": str(PACKAGE)},
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
            )

    def printed() -> list[tuple[str, int, str]]:
        lines = output.read_text().splitlines()
        assert all(map(LINE.match, lines)), lines
        return [(found[1], int(found[2]), found[3]) for found in map(LINE.match, lines) if found]

    def positions() -> dict[str, list[list[Any]]]:
        found: dict[str, list[list[Any]]] = json.loads((folder / "positions.json").read_text())
        return found

    def follows(boot: str, kind: str) -> None:
        until(
            f"{kind} of {boot}",
            lambda: any((run, what) == (boot, kind) for run, _, what in printed()),
            output.read_text,
        )

    served, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    follower = start()
    until("the program has begun", (folder / "positions.json").exists, output.read_text)
    assert command(subscriber, "session.open")["ok"]
    spin(wheel, subscriber, "17", 2)
    first = str(served.boot())
    follows(first, "round.result")
    last = printed()[-1][:2]
    until("it is stored", lambda: positions()["r1"][-1] == [*last], output.read_text)
    follower.kill()
    follower.wait()
    served.kill()  # its last events may be unpublished, and come from the next run
    served.start()
    until_up(subscriber, served)
    assert command(subscriber, "session.close")["ok"]
    assert command(subscriber, "session.open")["ok"]
    start()
    second = str(served.boot())
    follows(second, "session.opened")
    subscriber.subscribed.clear()
    mosquitto.kill()
    mosquitto.start()
    assert subscriber.subscribed.wait(TIMEOUT_SECONDS)
    served.until_logged("broker connected", 2)
    assert command(subscriber, "session.close")["ok"]
    until(
        "the last event",
        lambda: sum(what == "session.closed" for run, _, what in printed() if run == second) == 2,
        output.read_text,
    )
    runs: dict[str, list[int]] = {}
    for boot, seq, _ in printed():
        runs.setdefault(boot, []).append(seq)
    assert list(runs) == [first, second]
    assert runs[first] == list(range(runs[first][0], runs[first][-1] + 1))
    assert runs[second] == list(range(1, len(runs[second]) + 1))
