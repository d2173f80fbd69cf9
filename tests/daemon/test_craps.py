"""``novamas run`` with simulated dice on a pseudo-terminal: a series from the wire to a
subscriber.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.programs import running
from tests.support.waiting import until

TABLE = "novamas-sim/v1/palma/d1"
SPEED = 3
"""The first throw comes three seconds after the start: by then bets must be open."""
SERIALS = ["A4101", "A4102", "A4103", "A4104", "A4105", "A4106"]

Play = Callable[..., tuple[Subscriber, Daemon]]


@pytest.fixture
def play(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> Play:
    """``play(*words)``: a table where the moving dice close the bets; returns a subscriber and the
    daemon.
    """

    def begin(*words: str) -> tuple[Subscriber, Daemon]:
        link = tmp_path / "dice"
        program = [
            sys.executable,
            "-m",
            "simulators",
            "dice",
            "--protocol",
            "dice-board",
            "--link",
            str(link),
            "--wait",
        ]
        pace = ["--speed", str(SPEED), "--games-per-hour", "240"]
        dice = ending.enter_context(
            running([*program, *pace, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        )
        assert dice.stdout is not None
        assert dice.stdin is not None
        assert json.loads(dice.stdout.readline())["port"] == str(link)
        subscriber = subscribe(mosquitto.port)
        made = daemon(
            configuration(
                mosquitto.port,
                f"""
[[table]]
id = "d1"
game = "craps"
decree = "GAL07"
simulated = true
speed = {SPEED}
settings = {{ rounds = "dice", shooter = "unwatched" }}

[[table.device]]
id = "dice"
driver = "dice-board"
link = "serial://{link}?baud=115200"
stale_after = 1000.0
options = {{ late_after = 1000.0 }} # this machine may keep bytes for longer than hurried dice need
""",
            )
        )
        made.start()
        until("the table", lambda: subscriber.latest("/status"), made.log)
        until_open(subscriber, made, "d1", "dice")
        dice.stdin.write(b"start\n")
        dice.stdin.flush()
        until_up(subscriber, made, TABLE, "dice")  # else a throw may have come before its report
        assert command(subscriber, "session.open", TABLE)["ok"]
        assert command(subscriber, "dice.set", TABLE, serials=SERIALS, side=200)["ok"]
        assert command(subscriber, "dice.choose", TABLE, serials=SERIALS[:2])["ok"]
        return subscriber, made

    return begin


def test_a_series_from_the_wire_to_a_subscriber(play: Play) -> None:
    subscriber, _ = play("--throws", "35,66,34,56")
    results = until_said(subscriber, "round.result", 4)
    assert [
        tuple(result["outcome"][name] for name in ("dice", "total", "point")) for result in results
    ] == [
        ([3, 5], 8, None),
        ([6, 6], 12, 8),
        ([3, 4], 7, 8),
        ([5, 6], 11, None),
    ]
    assert [event["point"] for event in until_said(subscriber, "point.set", 2)] == [8, None]
    assert {own["bet"]: own["outcome"] for own in results[2]["bets"]}["win"] == "lose"
    assert subscriber.events("irregularity") == []
    assert "$NB" in results[0]["frames"][-1]["frame"]


def test_a_cocked_die_waits_for_the_croupier(play: Play) -> None:
    subscriber, _ = play(
        "--throws", "35", "--fault", "2:cocked", "--games-per-hour", "12"
    )  # the next throw waits for the croupier
    (asked,) = until_said(subscriber, "irregularity", 1)
    assert (asked["what"], asked["asks"]) == (
        "die_cocked",
        ["dice.tell", "round.confirm", "round.void"],
    )
    assert command(subscriber, "dice.tell", TABLE, values=[3, 5])["ok"]
    (result,) = until_said(subscriber, "round.result", 1)
    assert (result["outcome"]["dice"], result["confirmed_by"]) == ([3, 5], "M. Lasa (table_head)")


def test_a_series_is_resumed_after_a_kill_and_derived_again(play: Play) -> None:
    subscriber, made = play("--throws", "35" + ",66" * 60)
    assert until_said(subscriber, "point.set", 1)[0]["point"] == 8
    boots = {event["boot"] for event in subscriber.events()}
    made.kill()
    made.start()

    def again() -> bool:
        state = subscriber.latest(f"{TABLE}/state")
        return state["boot"] not in boots and state["devices"]["dice"]["state"] == "up"

    until("the dice in another boot", again, made.log)
    assert subscriber.latest(f"{TABLE}/state")["shown"]["point"] == 8
    assert made.stop() == 0
    proved = audit(made.folder / "journal.sqlite3")
    assert proved.differences == []
    assert proved.proved_events == proved.events > 0
    assert proved.proved_readings == proved.readings > 0
