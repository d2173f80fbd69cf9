"""``novamas run`` with a simulated shoe on a pseudo-terminal: coups from the wire to a
subscriber.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said
from tests.support.daemon.process import Daemon, configuration
from tests.support.daemon.tables import mini_table
from tests.support.waiting import until

TABLE = "novamas-sim/v1/palma/b1"
SPEED = 20
BURN = "2h,Kc,Kd"
COUPS = "9h,2c,Kd,3s", "2h,Tc,3d,3s,7h,4h", "Kh,Qc,Jd,Ts,Ah,Ac"
WINNERS = ["player", "banker", "tie"]

Play = Callable[..., Subscriber]


class Shoe:
    """The simulator as a program, its power still off."""

    def __init__(self, link: Path, protocol: str, *words: str) -> None:
        command = [
            sys.executable,
            "-m",
            "simulators",
            "shoe",
            "--protocol",
            protocol,
            "--link",
            str(link),
            "--wait",
        ]
        cards = ",".join((BURN, *COUPS))
        pace = ["--cards", cards, "--speed", str(SPEED), "--games-per-hour", "3600"]
        self._program = subprocess.Popen(
            [*command, *pace, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._program.stdout is not None
        assert json.loads(self._program.stdout.readline())["port"] == str(link)

    def start(self) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(b"start\n")
        self._program.stdin.flush()

    def close(self) -> None:
        self._program.kill()
        self._program.communicate()


@pytest.fixture
def play(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> Play:
    """``play(protocol, *words)``: a small table without keys, cards face up, that deals from the
    shoe; returns a subscriber.
    """

    def begin(protocol: str, *words: str) -> Subscriber:
        shoe = Shoe(tmp_path / "shoe", protocol, *words)
        ending.callback(shoe.close)
        subscriber = subscribe(mosquitto.port)
        baud = {"angel-eye": 4800, "bee-tek": 9600}[protocol]
        link = f"serial://{tmp_path / 'shoe'}?baud={baud}"
        # this machine may keep bytes for longer than a hurried hand needs
        table = mini_table("b1", protocol, link, "min_draw = 0.0", f"speed = {SPEED}")
        made = daemon(configuration(mosquitto.port, table))
        made.start()
        until("the table", lambda: subscriber.latest("/status"), made.log)
        until_open(subscriber, made, "b1", "shoe")
        assert command(subscriber, "session.open", TABLE)["ok"]
        assert command(subscriber, "shoe.start", TABLE, shoe="S1")["ok"]
        shoe.start()
        return subscriber

    return begin


@pytest.mark.essential
@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"])
def test_coups_from_the_wire_to_a_subscriber(play: Play, protocol: str) -> None:
    subscriber = play(protocol)
    results = until_said(subscriber, "round.result", 3)
    assert [result["outcome"]["winner"] for result in results] == WINNERS
    assert [event["count"] for event in subscriber.events("cards.burned")] == [2]
    dealt = [
        event["card"]
        for event in subscriber.events("card.dealt")
        if event["to"] in ("player", "banker")
    ]
    assert dealt[:16] == ",".join(COUPS).split(",")
    assert [
        event["what"] for event in subscriber.events("irregularity") if event["round"] <= 3
    ] == []


def test_a_lost_report_leaves_its_coup_to_a_person(play: Play) -> None:
    subscriber = play("angel-eye", "--fault", "14.9:lost_report")
    assert [
        result["outcome"]["winner"] for result in until_said(subscriber, "round.result", 2)
    ] == WINNERS[1:]
    assert [(event["round"], event["why"]) for event in subscriber.events("round.unresolved")] == [
        (1, "silence")
    ]


def test_an_unread_card_stops_the_table_and_waits_for_a_decision(play: Play) -> None:
    subscriber = play("bee-tek", "--fault", "14.9:unread")

    def unread() -> dict[str, Any] | None:
        events = subscriber.events("irregularity")  # a stall may lead to others
        return next((event for event in events if event["what"] == "card_unread"), None)

    asked = until("the unread card", unread)
    assert "card.decide" in asked["asks"]
    assert subscriber.events("round.result") == []
