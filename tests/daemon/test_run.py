"""``novamas run`` as a process, with a wheel on a pseudo-terminal and a real Mosquitto."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import NODE, TABLE, command, serve, spin, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import TIMEOUT_SECONDS, until

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]


@pytest.mark.essential
def test_a_spin_from_the_wire_to_a_subscriber(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    assert command(subscriber, "session.open")["ok"]
    result = spin(wheel, subscriber, "17", 2)
    assert (
        result["outcome"]["number"],
        result["session"],
        result["round"],
        result["frames"][-1]["device"],
    ) == (17, 1, 1, "wheel")
    assert "historical" not in result
    until("the result is retained", lambda: subscriber.number() == 17)
    assert made.stop() == 0
    until(
        "the farewell", lambda: subscriber.latest(f"{NODE}/status")["status"] == "offline", made.log
    )
    seqs = [
        event.body["seq"] for event in subscriber.on("/event")
    ]  # doubles too: there is no reason for one
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) >= result["seq"]


def test_a_late_subscriber_finds_everything_retained(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    early = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    until_up(early, made)
    command(early, "session.open")
    result = spin(wheel, early, "17", 2)
    until(
        "the result is retained",
        lambda: early.number() == 17,
        made.log,
    )
    until(
        "the history is",
        lambda: [r["outcome"]["number"] for r in early.latest("/history")["results"]] == [17],
        made.log,
    )
    late = subscribe(mosquitto.port)
    leaves = [f"{TABLE}/{leaf}" for leaf in ("info", "state", "result", "history")]
    topics = {*leaves, *(f"{NODE}/{leaf}" for leaf in ("status", "claim", "health", "checkpoint"))}
    until("all retained topics", lambda: topics <= {message.topic for message in late.messages})
    assert late.latest("/info")["about"]["devices"] == {"wheel": "cammegh-ss2"}
    assert late.latest("/result")["seq"] == result["seq"]
    assert late.latest("/history")["results"][-1]["outcome"]["number"] == 17
    assert late.latest("/status") == {"status": "online", "boot": result["boot"]}


def test_birth_comes_after_every_retained_topic(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    until("birth", lambda: subscriber.latest("/status"), made.log)
    topics = [h.topic.removeprefix(f"{TABLE}/") for h in subscriber.messages]
    assert {"info", "state", "result", "history"} <= set(topics[: topics.index(f"{NODE}/status")])
    assert "event" not in topics[: topics.index(f"{NODE}/status")]


@pytest.mark.essential
def test_a_killed_daemon_is_offline_by_its_will_and_resumes_after_a_restart(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    command(subscriber, "session.open")
    first = spin(wheel, subscriber, "17", 2)
    made.kill()
    until("the last will", lambda: subscriber.latest("/status")["status"] == "offline", made.log)
    made.start()
    until("birth", lambda: subscriber.latest("/status")["status"] == "online", made.log)
    until_up(subscriber, made)
    second = spin(wheel, subscriber, "32", 3, before="17")
    assert first["boot"] != second["boot"]
    assert (second["session"], second["round"]) == (1, 2)
    until(
        "both results",
        lambda: (
            [r["outcome"]["number"] for r in subscriber.latest("/history")["results"]] == [17, 32]
        ),
    )
    assert made.stop() == 0
    until("the farewell", lambda: subscriber.latest("/status")["status"] == "offline", made.log)
    later = [event["seq"] for event in subscriber.events() if event["boot"] == second["boot"]]
    assert later[-1] >= second["seq"]
    assert later == list(range(1, len(later) + 1))


@pytest.mark.essential
def test_an_unplugged_wheel_is_lost_with_an_alert_and_comes_back(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    wheel.unplug()
    raised = until_more(subscriber, "alert.raised", 0)[0]
    topic = f"/alert/{raised['alert']}"
    until("the alert is retained", lambda: subscriber.latest(topic), made.log)
    assert [e["state"] for e in subscriber.events("device.state")][-1] == "lost"
    until(
        "the table is stale",
        lambda: subscriber.latest(f"{TABLE}/state")["status"] == "stale",
        made.log,
    )
    until(
        "health says lost",
        lambda: subscriber.latest("/health")["tables"]["r1"]["devices"]["wheel"]["state"] == "lost",
        made.log,
    )
    wheel.plug()
    until_more(subscriber, "alert.cleared", 0)
    until("the alert is gone", lambda: subscriber.is_cleared(topic), made.log)
    until_up(subscriber, made)
    assert len(made.logged("device down")) == 1


def test_spins_with_only_late_lines_are_reported_as_unresolved(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel, stale_after=3.0, period=0.5)))
    made.start()
    until_up(subscriber, made)
    command(subscriber, "session.open")
    spin(wheel, subscriber, "17", 2)
    wheel.PERIOD = 0.5  # its own pace, which distinguishes late from live
    wheel.line = b""  # a line end alone is no frame
    until(
        "the table is stale",
        lambda: subscriber.latest(f"{TABLE}/state")["status"] == "stale",
        made.log,
    )
    cleared = len(subscriber.events("alert.cleared"))
    lines = [  # what had waited in a buffer, in one write
        f"*X;{state};{count:03d};17;0;200;0"
        for count in (3, 4, 5, 6)
        for state in (3, 4)
        for _ in (1, 2)
    ]
    wheel.send("\r\n".join(lines).encode())
    until_more(subscriber, "alert.cleared", cleared)
    wheel.unplug()
    until_more(subscriber, "alert.raised", 1)
    wheel.plug()
    known = len(subscriber.events("round.opened"))
    wheel.show(2, 12, "23")
    until_more(subscriber, "round.opened", known)
    events = subscriber.events("round.unresolved")
    assert {each["why"] for each in events} == {"silence"}
    assert [(each["spin"], each["candidate"]) for each in events] == [
        (3, 17),
        (4, 17),
        (5, 17),
        (6, None),
    ]
    assert [each["round"] for each in events] == [2, 3, 4, 5]
    assert len(subscriber.events("round.result")) == 1


def test_two_tables_of_one_daemon_one_of_them_simulated(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe, tmp_path: Path
) -> None:
    subscriber = subscribe(mosquitto.port)
    other = Wheel(tmp_path / "other")
    try:
        made = daemon(
            configuration(
                mosquitto.port,
                table("r1", wheel),
                table("r2", other, decree="BAL05", simulated=True),
            )
        )
        made.start()
        simulated = "novamas-sim/v1/palma/r2"
        until_up(subscriber, made)
        until_up(subscriber, made, simulated)
        assert subscriber.latest(f"{simulated}/state")["simulated"] is True
        assert command(subscriber, "session.open")["ok"]
        assert command(subscriber, "session.open", table=simulated)["ok"]
        spin(wheel, subscriber, "17", 2)
        spin(other, subscriber, " 4", 2)
        results = subscriber.events("round.result")
        assert [
            (r["table"], r["outcome"]["number"], r.get("simulated", False)) for r in results
        ] == [
            ("r1", 17, False),
            ("r2", 4, True),
        ]
        assert {h.topic for h in subscriber.on("/event") if h.body["table"] == "r2"} == {
            f"{simulated}/event"
        }
        assert made.stop() == 0
    finally:
        other.close()


@pytest.mark.essential
def test_a_hangup_ends_nothing_and_the_service_manager_is_notified(
    wheel: Wheel, daemon: Make, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(TIMEOUT_SECONDS)
        made = daemon(
            configuration(free_port(), table("r1", wheel))
        )  # no broker: the tables do not wait for one
        made.start(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="100000")
        assert manager.recv(1000).startswith(b"READY=1\nSTATUS=1 tables, 1 devices")
        made.signal(signal.SIGHUP)
        while (told := manager.recv(1000)) == b"WATCHDOG=1":
            pass
        assert told.startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        while (told := manager.recv(1000)) == b"WATCHDOG=1":
            pass
        assert told == b"READY=1\nSTATUS=1 tables, 1 devices"
        while not made.logged(
            "broker not reached"
        ):  # a manager that does not listen keeps the daemon waiting
            assert manager.recv(1000) == b"WATCHDOG=1"
        assert manager.recv(1000) == b"WATCHDOG=1"
        made.signal(signal.SIGTERM)
        while (told := manager.recv(1000)) != b"STOPPING=1":
            assert told == b"WATCHDOG=1"
    assert made.wait() == 0


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ("", "id"),
        (table("r1", None, decree="NOWHERE"), "NOWHERE"),
        (table("r1", None, game="snap"), "snap"),
    ],
)
def test_a_mistaken_configuration_ends_with_78(daemon: Make, wrong: str, expected: str) -> None:
    made = daemon(configuration(1883, wrong) if wrong else "[site]\n")
    made.start()
    assert made.wait() == 78
    assert expected in made.log()


def test_a_journal_in_use_is_named(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    text = configuration(mosquitto.port, table("r1", wheel))
    first, second = daemon(text), daemon(text)
    first.start()
    first.until_logged("daemon up")
    second.start()
    assert second.wait() == 1
    assert "another daemon uses this journal" in second.log()
    assert first.stop() == 0


def test_the_embedded_broker_serves_this_machine(
    wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    port = free_port()
    made = daemon(configuration(port, table("r1", wheel), scheme="embedded"))
    made.start()
    made.until_logged("broker connected")
    subscriber = subscribe(port, v5=False)
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    assert spin(wheel, subscriber, "17", 2)["outcome"]["number"] == 17
    assert made.stop() == 0
    assert "Traceback" not in made.log()


def test_an_open_session_of_another_game_is_not_thrown_away(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    assert command(subscriber, "session.open")["ok"]
    assert made.stop() == 0
    other = daemon(configuration(mosquitto.port, table("r1", wheel, decree="BAL05")))
    other.start()
    assert other.wait() == 78
    assert "roulette-french under ARA02" in other.log()
