"""A recorded shoe of each family through the started daemon: its bytes on a pseudo-terminal, its
golden events at a subscriber.

The golden events are what ``novamas replay`` makes of the same recording, without what differs from
run to run; a test of their own holds them, so that a change of the rules shows there first.
"""

from __future__ import annotations

import json
import os
import time
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from devices.recording import read_recording
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.waiting import until

RECORDINGS = Path(__file__).resolve().parents[1] / "recordings"
SHOES = {"angel-eye-punto-banca": "angel-eye", "bee-tek-punto-banca": "bee-tek"}
TABLE = "novamas-sim/v1/palma/b1"
SPEED = 20
SETTINGS = {
    "table": "mini",
    "rounds": "shoe",
    "dealt": "face_up",
    "third_card": "face_up",
    "turn": "when_complete",
}
PLAY_EVENTS = (
    "shoe.started",
    "cards.burned",
    "round.",
    "bets.closed",
    "card.",
    "hand.decided",
    "irregularity",
)
RUN_FIELDS = (
    "site",
    "table",
    "boot",
    "seq",
    "time",
    "mono_ns",
    "simulated",
    "historical",
    "by",
    "role",
)


def told(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs from run to run."""
    return {name: field for name, field in event.items() if name not in RUN_FIELDS}


def of_play(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [told(event) for event in events if event["type"].startswith(PLAY_EVENTS)]


def golden(name: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (RECORDINGS / f"{name}.events.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@pytest.mark.parametrize(("name", "driver"), SHOES.items())
def test_the_golden_events_are_what_a_replay_gives(
    name: str, driver: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [word for setting in SETTINGS.items() for word in ("--set", "=".join(setting))]
    words = [
        "replay",
        str(RECORDINGS / f"{name}.txt"),
        "--driver",
        driver,
        "--game",
        "punto-banca",
        "--decree",
        "GAL07",
    ]
    assert main([*words, *settings, "--option", "min_draw=0.0", "--shoe", "S1"]) == 0
    assert of_play([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == golden(
        name
    )


@pytest.mark.parametrize(("name", "driver"), SHOES.items())
def test_a_recorded_shoe_gives_its_golden_events(
    name: str,
    driver: str,
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    line, port = os.openpty()
    tty.setraw(port)
    settings = ", ".join(f'{setting} = "{value}"' for setting, value in SETTINGS.items())
    made = daemon(
        configuration(
            mosquitto.port,
            f"""
[[table]]
id = "b1"
game = "punto-banca"
decree = "GAL07"
simulated = true
speed = {SPEED}
settings = {{ {settings} }}

[[table.device]]
id = "shoe"
driver = "{driver}"
link = "serial://{os.ttyname(port)}?baud=9600"
options = {{ min_draw = 0.0 }} # this machine may keep bytes for longer than a hurried hand needs
""",
        )
    )
    subscriber = subscribe(mosquitto.port)
    made.start()
    until("the table", lambda: subscriber.latest("/status"), made.log)
    until_open(subscriber, made, "b1", "shoe")
    assert command(subscriber, "session.open", TABLE)["ok"]
    assert command(subscriber, "shoe.start", TABLE, shoe="S1")["ok"]
    began = 0.0
    for chunk in read_recording(RECORDINGS / f"{name}.txt"):
        time.sleep((chunk.at - began) / SPEED)
        began = chunk.at
        os.write(line, chunk.data)
    expected = golden(name)
    heard_of_play = until(
        "the golden events",
        lambda: found if len(found := of_play(subscriber.events())) >= len(expected) else [],
        lambda: "\n".join(map(str, subscriber.events())),
    )
    assert (
        made.stop() == 0
    )  # before the port is closed: the next terminal that anybody makes may have the same number
    os.close(line)
    os.close(port)
    assert [without_device(event) for event in heard_of_play] == [
        without_device(event) for event in expected
    ]


def without_device(event: dict[str, Any]) -> dict[str, Any]:
    """A replay calls its device by another name."""
    return {name: field for name, field in event.items() if name != "device"}
