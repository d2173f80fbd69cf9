"""``novamas run`` with a simulated Slingshot 2 on a pseudo-terminal that is asked about itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from controller.proof.audit import audit
from devices.wheel.cammegh_ss2_parameters import PARAMETERS
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, until_said, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.devices.asked_wheel import SimulatedWheel
from tests.support.waiting import TIMEOUT_SECONDS, until


def until_raised(subscriber: Subscriber, made: Daemon, alert: str) -> dict[str, Any]:
    found: dict[str, Any] = until(
        alert,
        lambda: subscriber.latest(f"{TABLE}/alert/{alert}"),
        made.log,
        timeout=2 * TIMEOUT_SECONDS,
    )
    return found


def test_a_parameter_that_somebody_set_while_the_daemon_was_down(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    wheel = SimulatedWheel(tmp_path / "wheel", ending)
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, wheel.table))
    made.start()
    until_up(subscriber, made)
    stated = until_said(subscriber, "device.parameter", len(PARAMETERS))
    assert {each["parameter"] for each in stated} == set(PARAMETERS)
    assert {each["parameter"]: each["value"] for each in stated}["m"] == "1.5"
    assert not subscriber.events("alert.raised")
    assert made.stop() == 0

    wheel.fault("parameter 20000")
    made.start()
    wrong = until_raised(subscriber, made, "wheel-parameters")
    assert (wrong["what"], wrong["severity"]) == ("device.parameter_wrong", "warning")
    assert wrong["detail"] == "m = 20000.0, expected 0 to 5"
    changed = until_raised(subscriber, made, "wheel-parameters-changed")
    assert (changed["what"], changed["detail"]) == (
        "device.parameter_changed",
        "m = 20000.0, before 1.5",
    )
    event = until_said(subscriber, "device.parameter", len(PARAMETERS) + 1)[-1]
    assert (event["value"], event["was"], event["expected"]) == ("20000.0", "1.5", "0 to 5")

    work = {"device": "wheel", "work": "adjusted", "note": "m set for a test"}
    assert command(subscriber, "device.service", **work)["ok"]
    until(
        "the change is settled",
        lambda: subscriber.latest(f"{TABLE}/alert/wheel-parameters-changed") is None,
        made.log,
    )
    assert subscriber.latest(f"{TABLE}/alert/wheel-parameters")  # the value is still nonsense
    assert made.stop() == 0
    assert audit(tmp_path / "journal.sqlite3").differences == []


def test_the_log_of_the_wheel_finds_the_spins_of_an_outage(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    """The daemon is down while the wheel plays: its log has the number, which is evidence only."""
    wheel = SimulatedWheel(tmp_path / "wheel", ending, "--tell-lines", "--numbers", "17,8,32")
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, wheel.table))
    made.start()
    until_up(subscriber, made)
    (first,) = until_said(subscriber, "wheel.unreconciled", 1)
    assert (first["why"], first["spins"]) == ("first", 0)

    def order(name: str) -> bool:
        fields = {"device": "wheel", "command": name}
        return bool(command(subscriber, "device.command", **fields)["ok"])

    assert command(subscriber, "session.open")["ok"]
    assert order("power_on")
    until_said(subscriber, "round.opened", 1)
    assert order("start")
    (result,) = until_said(subscriber, "round.result", 1)
    assert result["outcome"]["number"] == 17
    until_said(subscriber, "round.opened", 2)
    assert order("start")
    until_said(subscriber, "bets.closed", 2)
    assert made.stop() == 0
    wheel.until_line("*X;2;003; 8")
    made.start()
    until_up(subscriber, made)
    unresolved = until_said(subscriber, "round.unresolved", 1)
    assert unresolved[0]["round"] == 2
    assert order("power_off")
    found = until_said(subscriber, "wheel.difference", 1)[0]
    assert (found["what"], found["wheel"], found["rounds"]) == ("unresolved", [8], [2])
    assert len(subscriber.events("round.result")) == 1
    assert made.stop() == 0
    assert audit(tmp_path / "journal.sqlite3").differences == []
