"""A camera reader over MQTT as the second witness of a roulette: daemon, simulator and broker are
real, and the journal is proved afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, spin, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.devices.described import FOLDER
from tests.support.programs import running
from tests.support.waiting import until

BASE = "studio/idp/ruleta-1"
WITHIN = 3.0
SEEN = 17
"""All that this camera ever sees."""


@pytest.fixture
def camera(mosquitto: Mosquitto, ending: ExitStack) -> str:
    """The simulator as a program; its address."""
    words = ["wheel", "--protocol", "idp-camera", "--speed", "20"]
    where = ["--mqtt", f"127.0.0.1:{mosquitto.port}/{BASE}", "--numbers", ",".join(["17"] * 2000)]
    line = [sys.executable, "-m", "simulators", *words, *where]
    program = ending.enter_context(running(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert program.stdout is not None
    address: str = json.loads(program.stdout.readline())["port"]
    return address


@pytest.mark.essential
def test_a_camera_beside_a_wheel(
    mosquitto: Mosquitto,
    camera: str,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    (tmp_path / "camera.toml").write_text((FOLDER / "idp-roulette.toml").read_text())
    witness = f"""
[[table.device]]
id = "camera"
driver = "profile"
link = "{camera}"
options = {{ file = "camera.toml" }}
commands = true
witness = true
answers_within = {WITHIN}
"""
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel), witness))
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    asked = 0

    def ask() -> None:
        nonlocal asked
        asked += 1
        words = {"device": "camera", "command": "detect", "argument": str(asked)}
        reply = command(subscriber, "device.command", **words)
        assert reply["ok"], reply

    def begin(count: int) -> None:
        """Play until bets are closed."""
        known = len(subscriber.events("bets.closed"))
        for state in (2, 3, 4):
            wheel.show(state, count, "  ")
        until_more(subscriber, "bets.closed", known)

    def until_reported(count: int) -> dict[str, Any]:
        def reported() -> list[dict[str, Any]]:
            ask()
            found = subscriber.events("witness.reported")
            return [event for event in found if event["round"] == count]

        found: list[dict[str, Any]] = until("the camera reports", reported, made.log)
        return found[0]

    begin(1)
    report = until_reported(1)
    assert (report["number"], report["device"], "agrees" in report) == (SEEN, "camera", False)
    assert not subscriber.events("round.result"), "a witness alone gives no result"
    wheel.show(5, 1, "17")
    (result,) = until_more(subscriber, "round.result", 0)
    assert result["witnesses"] == [{"device": "camera", "number": SEEN, "agrees": True}]

    begin(2)
    until_reported(2)
    wheel.show(5, 2, "20")
    (doubt,) = until_more(subscriber, "round.unresolved", 0)
    assert (doubt["why"], doubt["candidate"]) == ("witnesses_disagree", 20)
    assert doubt["witnesses"] == [{"device": "camera", "number": SEEN, "agrees": False}]
    assert command(subscriber, "round.confirm", round=2, number=20)["ok"]
    assert until_more(subscriber, "round.result", 1)[0]["confirmed_by"] == "M. Lasa (table_head)"

    rounds, played = 2, float("-inf")

    def contradicted() -> list[dict[str, Any]]:
        """Let the camera speak after a result, as often as it takes to be in time."""
        nonlocal rounds, played
        if time.monotonic() > played + 2 * WITHIN:
            rounds += 1
            result = spin(wheel, subscriber, "20", rounds)
            assert result["witnesses"] == [{"device": "camera"}], "it is silent unless it is asked"
            played = time.monotonic()
        ask()
        alerts = subscriber.events("alert.raised")
        return [event for event in alerts if event["what"] == "witness.disagrees"]

    alert = until("an alert", contradicted, made.log)[0]
    assert (alert["detail"], alert["rounds"]) == ("20; camera: 17", [rounds])
    assert command(subscriber, "alert.acknowledge", alert="camera-witness")["ok"]
    until("it is over", lambda: subscriber.is_cleared(f"{TABLE}/alert/camera-witness"), made.log)
    assert made.stop() == 0
    (tmp_path / "camera.toml").unlink()  # the journal knows what the readings were made by
    proved = audit(tmp_path / "journal.sqlite3")
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
