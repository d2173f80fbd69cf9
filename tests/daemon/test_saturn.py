"""``novamas run`` with a simulated Saturn on a pseudo-terminal: asked, answered, fired."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from simulators.wheel.saturn import FIELDS
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

Make = Callable[[str], Daemon]
PHASES = ", ".join(f'{text} = "{phase}"' for text, phase in FIELDS["phases"].items())
NUMBERS = [17, 0, *range(1, 17), *range(18, 37)]
"""Each once, and more than it plays while anybody waits."""
PLACES = ", ".join(f"{name} = {list(FIELDS[name])}" for name in ("state", "number", "spin"))


def saturn(link: Path, ending: ExitStack, speed: float = 8) -> None:
    """The simulator as a program."""
    words = [
        "--protocol",
        "saturn",
        "--link",
        str(link),
        "--numbers",
        ",".join(map(str, NUMBERS)),
        "--speed",
        str(speed),
    ]
    command = [sys.executable, "-m", "simulators", "wheel", *words]
    program = ending.enter_context(running(command, stdout=subprocess.PIPE))
    assert program.stdout is not None
    assert json.loads(program.stdout.readline())["port"] == str(link)


def test_spins_of_a_polled_wheel_from_the_wire_to_a_subscriber(
    mosquitto: Mosquitto,
    daemon: Make,
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    saturn(tmp_path / "wheel", ending)
    subscriber = subscribe(mosquitto.port)
    made = daemon(
        configuration(
            mosquitto.port,
            f"""
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "saturn"
link = "serial://{tmp_path / "wheel"}?baud=9600"
commands = true
options = {{ poll = 0.1, fields = {{ {PLACES}, phases = {{ {PHASES} }} }} }}
""",
        )
    )
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]

    def two() -> list[dict[str, Any]]:
        return (
            subscriber.events("round.result") if len(subscriber.events("round.result")) > 1 else []
        )

    results = until("two results", two, made.log, timeout=3 * TIMEOUT_SECONDS)
    played = [NUMBERS.index(result["outcome"]["number"]) for result in results]
    assert played == sorted(
        set(played)
    )  # in their order; the first may have been before us, and a busy machine may miss one
    assert command(subscriber, "device.command", command="fire", device="wheel")["ok"]
    refused = command(subscriber, "device.command", command="fire", device="wheel")
    assert "less than 30 s ago" in refused["error"]
    assert subscriber.latest(f"{TABLE}/info")["about"]["devices"] == {"wheel": "saturn"}
    assert made.stop() == 0
