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
from typing import Any, NamedTuple

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


class Camera(NamedTuple):
    """The simulator as a program."""

    address: str
    program: subprocess.Popen[bytes]

    def say(self, line: bytes) -> None:
        """Write a line on its standard input."""
        assert self.program.stdin is not None
        self.program.stdin.write(line)
        self.program.stdin.flush()


@pytest.fixture
def camera(mosquitto: Mosquitto, ending: ExitStack) -> Camera:
    words = ["wheel", "--protocol", "idp-camera", "--speed", "20"]
    where = ["--mqtt", f"127.0.0.1:{mosquitto.port}/{BASE}", "--numbers", ",".join(["17"] * 2000)]
    line = [sys.executable, "-m", "simulators", *words, *where]
    program = ending.enter_context(running(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert program.stdout is not None
    address: str = json.loads(program.stdout.readline())["port"]
    return Camera(address, program)


@pytest.mark.essential
def test_a_camera_beside_a_wheel(
    mosquitto: Mosquitto,
    camera: Camera,
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
link = "{camera.address}"
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

    def ask(count: int) -> None:
        words = {"device": "camera", "command": "detect", "argument": str(count)}
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
            ask(count)
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
        ask(rounds)
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


def test_a_camera_that_the_daemon_asks_about_each_round(
    mosquitto: Mosquitto,
    camera: Camera,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    profile = (FOLDER / "idp-roulette.toml").read_text()
    times = {"after = 15.0": "after = 0.1", "every = 5.0": "every = 0.5", "times = 4": "times = 20"}
    for before, after in times.items():
        assert before in profile
        profile = profile.replace(before, after)
    (tmp_path / "camera.toml").write_text(profile)
    witness = f"""
[[table.device]]
id = "camera"
driver = "profile"
link = "{camera.address}"
options = {{ file = "camera.toml" }}
commands = true
witness = true
answers_within = 60.0
"""
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel), witness))
    made.start()
    until_up(subscriber, made)
    camera.say(b"not_sure 1000000\n")
    assert command(subscriber, "session.open")["ok"]
    for state in (2, 3, 4):
        wheel.show(state, 1, "  ")
    until_more(subscriber, "bets.closed", 0)
    until(
        "the camera is asked again and sees nothing",
        lambda: len(subscriber.on(f"{BASE}/response")) > 2,
        made.log,
    )
    assert {m.body["arg"]["round_id"] for m in subscriber.on(f"{BASE}/response")} == {1}
    wheel.show(5, 1, "17")
    (result,) = until_more(subscriber, "round.result", 0)
    assert result["witnesses"] == [{"device": "camera"}], "nothing waits for the camera"
    camera.say(b"not_sure 0\n")
    (report,) = until_more(subscriber, "witness.reported", 0)
    assert (report["round"], report["number"], report["agrees"]) == (1, SEEN, True)

    wheel.show(6, 1, "17")
    for state in (2, 3, 4):
        wheel.show(state, 2, "  ")
    until_more(subscriber, "bets.closed", 1)
    report = until_more(subscriber, "witness.reported", 1)[-1]
    assert (report["round"], report["number"]) == (2, SEEN), "it names the round, at any time"
    assert made.stop() == 0
    proved = audit(tmp_path / "journal.sqlite3")
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0


@pytest.mark.essential
def test_a_croupier_beside_a_wheel(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    """What he types before a restart is evidence after it, and the audit derives it again."""
    subscriber = subscribe(mosquitto.port)
    keypad = "\n[table.witness_keypad]\nanswers_within = 0.1\n"
    made = daemon(configuration(mosquitto.port, table("r1", wheel), keypad))
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    for state in (2, 3, 4):
        wheel.show(state, 1, "  ")
    until_more(subscriber, "bets.closed", 0)
    other = command(subscriber, "witness.report", round=2, number=20)
    assert other["refusal"]["key"] == "witness_round_other"

    def accepted() -> bool:
        """Type it until it cannot be about a round of before."""
        return bool(command(subscriber, "witness.report", round=1, number=20)["ok"])

    until("the report counts", accepted, made.log)
    (report,) = until_more(subscriber, "witness.reported", 0)
    assert (report["device"], report["number"], report["by"]) == ("keypad", 20, "M. Lasa")
    doubled = command(subscriber, "witness.report", round=1, number=20)
    assert doubled["refusal"]["key"] == "witness_same"
    assert made.stop() == 0
    made.start()
    until_up(subscriber, made)
    wheel.show(5, 1, "17")
    (doubt,) = until_more(subscriber, "round.unresolved", 0)
    assert doubt["witnesses"][0]["number"] == 20, "it outlives the restart"
    assert not subscriber.events("round.result"), "a person at the keypad gives no result"
    assert command(subscriber, "round.confirm", round=1, number=20)["ok"]
    (result,) = until_more(subscriber, "round.result", 0)
    assert result["witnesses"] == [{"device": "keypad", "number": 20, "agrees": True}]
    assert made.stop() == 0
    proved = audit(tmp_path / "journal.sqlite3")
    assert proved.differences == []
