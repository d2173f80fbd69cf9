"""The examples do what they say: the subscribers at a real broker, the profile on its recording,
the ten tables in a daemon.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.process import UNSIGNED, Daemon
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, next_line, until

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TABLE = "novamas/v1/palma/r1"
BOOT = "1f63d146"


def event(seq: int, boot: str = BOOT) -> dict[str, Any]:
    """One of the events of a table, as far as a subscriber has to look at it."""
    return {"type": "data.late", "table": "r1", "boot": boot, "seq": seq}


def state(seq: int, boot: str = BOOT) -> dict[str, Any]:
    """The state of the table after an event, likewise."""
    return {"table": "r1", "boot": boot, "seq": seq}


@pytest.fixture(params=["subscriber.py", "subscriber.mjs"])
def example(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The command that starts a subscriber."""
    if request.param.endswith(".py"):
        return [sys.executable, str(EXAMPLES / request.param)]
    shutil.copy(EXAMPLES / request.param, tmp_path)  # Node looks for packages beside the program
    (tmp_path / "node_modules").symlink_to(ROOT / "tests" / "npm" / "node_modules")
    return ["node", str(tmp_path / request.param)]


@pytest.fixture
def listening(example: list[str], mosquitto: Mosquitto) -> Iterator[subprocess.Popen[str]]:
    """A subscriber that ends after five events."""
    words = ["--port", str(mosquitto.port), "--site", "palma", "--count", "5"]
    with running([*example, *words], stdout=subprocess.PIPE, text=True) as process:
        yield process


def test_a_subscriber_drops_doubles_and_fills_a_gap(
    listening: subprocess.Popen[str], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    """The table is played by the test, so that exactly one event is lost on the way."""
    table = subscribe(mosquitto.port)

    def say(seq: int) -> None:
        table.publish(f"{TABLE}/event", event(seq))

    table.publish(f"{TABLE}/state", state(0), retain=True)
    # The subscriber may not be subscribed yet: the first event is repeated until it is received,
    # and each double is dropped.
    first = next_line(listening, lambda: say(1))
    assert first.rstrip("\n") == f"r1 {BOOT} 1 data.late"
    say(1)
    say(2)
    say(5)
    (asked,) = until("a recall", lambda: table.on("/command/recall"), table.transcript)
    order = asked.body
    assert {name: order[name] for name in ("boot", "from", "to")} == {
        "boot": BOOT,
        "from": 3,
        "to": 4,
    }
    table.publish(
        f"{TABLE}/reply/{order['client']}", {"id": None, "ok": True, "events": [event(3), event(4)]}
    )
    rest, _ = listening.communicate(timeout=TIMEOUT_SECONDS)
    assert rest.splitlines() == [f"r1 {BOOT} {seq} data.late" for seq in (2, 3, 4, 5)]
    assert listening.returncode == 0


def test_a_subscriber_prints_what_overtakes_the_first_event_in_its_place(
    listening: subprocess.Popen[str], mosquitto: Mosquitto, subscribe: Callable[..., Subscriber]
) -> None:
    """In a run that it comes upon, and in one that begins while it listens."""
    table = subscribe(mosquitto.port)
    table.publish(f"{TABLE}/state", state(3), retain=True)

    def asked() -> list[Any]:
        table.publish(f"{TABLE}/event", event(5))
        return table.on("/command/recall")

    first = until("a recall", asked, table.transcript)[0]
    assert (first.body["from"], first.body["to"]) == (4, 4)
    table.publish(f"{TABLE}/event", event(4))
    for told in (event(2, "2a"), event(3, "2a")):
        table.publish(f"{TABLE}/event", told)
    table.publish(f"{TABLE}/state", state(3, "2a"), retain=True)
    table.publish(f"{TABLE}/event", event(1, "2a"))
    printed, _ = listening.communicate(timeout=TIMEOUT_SECONDS)
    runs = [(BOOT, 4), (BOOT, 5), ("2a", 1), ("2a", 2), ("2a", 3)]
    assert printed.splitlines() == [f"r1 {boot} {seq} data.late" for boot, seq in runs]
    assert listening.returncode == 0


def test_the_profile_makes_three_results_of_its_recording(
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = [str(EXAMPLES / f"wheel-profile.{end}") for end in ("toml", "txt")]
    assert main(["profile", "test", *files]) == 0
    output = capsys.readouterr()
    readings = [json.loads(line) for line in output.out.splitlines()]
    assert [
        (reading["number"], reading["spin"])
        for reading in readings
        if reading["type"] == "wheel.number"
    ] == [(17, 1), (0, 2), (32, 3)]
    assert "75 frames, 1 damaged, 0 unknown" in output.err


def test_ten_tables_are_served(
    mosquitto: Mosquitto, daemon: Callable[[str], Daemon], subscribe: Callable[..., Subscriber]
) -> None:
    """The example's own file; the broker is that of the test, and no device is there."""
    assert main(["check", str(EXAMPLES / "ten-tables.toml")]) == 0
    text = (EXAMPLES / "ten-tables.toml").read_text()
    broker = f'[broker]\nurl = "mqtt://127.0.0.1:{mosquitto.port}"\n{UNSIGNED}\n[[table]]'
    head, _, rest = text.partition("[broker]")
    made = daemon(
        (head + broker + rest.partition("[[table]]")[2]).replace("tcp://10.20.0.", "tcp://127.0.0.")
    )
    shutil.copy(EXAMPLES / "wheel-profile.toml", made.folder)
    subscriber = subscribe(mosquitto.port)
    made.start()

    def lost() -> bool:
        states = {message.topic: message.body for message in subscriber.on("/state")}
        devices = [
            [device["state"] for device in state["devices"].values()] for state in states.values()
        ]
        return len(states) == 10 and all(each and set(each) == {"lost"} for each in devices)

    until("ten tables that say that their devices are not there", lost, subscriber.transcript)
    assert made.stop() == 0
