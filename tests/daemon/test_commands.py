"""Commands over MQTT: what a person says, and what is answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from common.contract.topics import level
from controller.cli import main
from controller.proof.audit import audit
from tests.daemon.conftest import Shared
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import HEAD, TABLE, command, spin, until_more, until_said, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until


@pytest.fixture
def running(mosquitto: Mosquitto, wheel: Wheel, daemon: Callable[[str], Daemon]) -> Daemon:
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    made.until_logged("broker connected")
    return made


@pytest.fixture
def subscriber(
    mosquitto: Mosquitto, running: Daemon, subscribe: Callable[..., Subscriber]
) -> Subscriber:
    made = subscribe(mosquitto.port)
    until_up(made, running)
    return made


def test_a_command_is_followed_answered_and_published(subscriber: Subscriber) -> None:
    assert command(subscriber, "session.open") == {"id": 0, "ok": True}
    opened = until_more(subscriber, "session.opened", 0)[0]
    assert (opened["by"], opened["role"], opened["session"]) == ("M. Lasa", "table_head", 1)


def test_a_command_that_cannot_be_followed_is_refused_with_the_reason(
    subscriber: Subscriber,
) -> None:
    reply = command(subscriber, "session.close")
    assert (reply["ok"], bool(reply["error"])) == (False, True)
    assert command(subscriber, "session.open")["ok"]
    until_more(subscriber, "session.opened", 0)
    assert not subscriber.events("session.closed")


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("session.open", {"by": "M. Lasa", "role": "emperor"}, "emperor"),
        ("session.open", {"role": "table_head"}, "key by"),
        ("session.open", {**HEAD, "extra": 1}, "extra"),
        ("session.open", {**HEAD, "at": 1.0}, "at: leave out of the body"),
        ("bets.steal", HEAD, "no command 'bets-steal'; docs/integrator/commands.md lists them"),
        ("session.opn", HEAD, "no command 'session-opn'; send session-open"),
        ("wheel.number", {**HEAD, "number": 17}, "no command 'wheel-number'"),
        ("session.open", {**HEAD, "note": "x" * 20_000}, None),
        (
            "device.command",
            {**HEAD, "command": "power_on", "device": "shoe"},
            "this table has no device shoe; devices: wheel",
        ),
        ("device.command", {**HEAD, "command": "power_on", "device": "wheel"}, "commands"),
        ("recall", {"boot": "x", "from": 0}, "from"),
    ],
)
def test_a_bad_command_is_answered_and_play_continues(
    shared_daemon: Shared, name: str, body: dict[str, Any], expected: str | None
) -> None:
    subscriber, running = shared_daemon
    refused, count = len(running.logged("command refused")) + 1, len(subscriber.on("/reply/t"))
    subscriber.publish(f"{TABLE}/command/{level(name)}", {**body, "client": "t", "id": "x"})
    if expected is None:  # too long to be read, so the sender is unknown
        assert "at most" in running.until_logged("command refused", refused)["reason"]
    else:
        reply = until("a reply", lambda: subscriber.on("/reply/t")[count:], running.log)[0].body
        assert (reply["id"], reply["ok"]) == ("x", False)
        assert expected in reply["error"]
    assert running.until_logged("command refused", refused)["command"] == level(name)
    assert command(subscriber, "session.open")["ok"]
    assert command(subscriber, "session.close")["ok"]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[]", b'"x"', b"null"])
def test_invalid_json_is_reported_to_the_sender_of_a_response_topic(
    shared_daemon: Shared, body: bytes
) -> None:
    subscriber, running = shared_daemon
    count = len(subscriber.on("/reply/desk/7"))
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call] # paho's constructor has no annotations
    properties.ResponseTopic = f"{TABLE}/reply/desk/7"
    properties.CorrelationData = b"\x01\x02"
    subscriber.publish(f"{TABLE}/command/session-open", body, properties=properties)
    reply = until("a reply", lambda: subscriber.on("/reply/desk/7")[count:], running.log)[0]
    assert reply.properties.CorrelationData == b"\x01\x02"
    assert "not a JSON object" in reply.body["error"]


def test_no_client_makes_the_daemon_write_into_its_own_topics(
    subscriber: Subscriber, running: Daemon
) -> None:
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call] # paho's constructor has no annotations
    properties.ResponseTopic = f"{TABLE}/result"
    known = len(subscriber.on(f"{TABLE}/result"))
    subscriber.publish(f"{TABLE}/command/bets-steal", HEAD, properties=properties)
    running.until_logged("command refused")
    assert command(subscriber, "session.open")["ok"]
    assert all("error" not in (h.body or {}) for h in subscriber.on(f"{TABLE}/result")[known:])


def test_a_retained_command_is_refused(subscriber: Subscriber, running: Daemon) -> None:
    subscriber.publish(
        f"{TABLE}/command/session-open", {**HEAD, "client": "t", "id": 1}, retain=True
    )
    reply = until("a reply", lambda: subscriber.on("/reply/t"), running.log)[0].body
    assert "retained command would be followed again" in reply["error"]
    assert not command(subscriber, "session.close")["ok"], "no session is open"
    assert command(subscriber, "session.open", by="another")["ok"]
    assert [event["by"] for event in until_more(subscriber, "session.opened", 0)] == ["another"]


def test_a_device_is_commanded_where_the_site_allows_it(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    made = daemon(configuration(mosquitto.port, table("r1", wheel, commands=True)))
    made.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, made)
    assert command(subscriber, "device.command", command="power_on", device="wheel")["ok"]
    until("the command is on the wire", lambda: b"*P 1" in wheel.received(), made.log)
    assert (
        "no command"
        in command(subscriber, "device.command", command="fly", device="wheel")["error"]
    )


def test_a_command_to_a_device_requires_a_role_and_is_in_the_journal(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = daemon(configuration(mosquitto.port, table("r1", wheel, commands=True)))
    made.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, made)
    refused = command(
        subscriber,
        "device.command",
        command="power_off",
        device="wheel",
        by="J. Soler",
        role="croupier",
    )
    assert "role croupier is not allowed to do this" in refused["error"]
    assert command(
        subscriber,
        "device.command",
        command="start",
        device="wheel",
        by="J. Soler",
        role="croupier",
    )["ok"]
    assert command(
        subscriber,
        "device.command",
        command="power_off",
        device="wheel",
        by="A. Riera",
        role="technician",
    )["ok"]
    until("the commands are on the wire", lambda: b"*P 0" in wheel.received(), made.log)
    said = [
        (event["command"], event["by"], event["role"])
        for event in until_said(subscriber, "device.commanded", 2)
    ]
    assert said == [("start", "J. Soler", "croupier"), ("power_off", "A. Riera", "technician")]
    assert made.stop() == 0
    journal = made.folder / "journal.sqlite3"
    proved = audit(journal)
    assert proved.differences == []
    assert (proved.commands, proved.proved_events) == (2, proved.events)
    assert main(["export", str(journal), "--table", "r1"]) == 0
    bodies = [json.loads(line)["body"] for line in capsys.readouterr().out.splitlines()]
    exported = [
        (body["type"], body["by"])
        for body in bodies
        if str(body.get("type")).startswith("device.command")
    ]
    assert exported == [
        (kind, by)
        for by in ("J. Soler", "A. Riera")
        for kind in ("device.command", "device.commanded")
    ]


def test_a_gap_is_filled_by_a_recall(subscriber: Subscriber, running: Daemon, wheel: Wheel) -> None:
    command(subscriber, "session.open")
    result = spin(wheel, subscriber, "17", 2)
    subscriber.publish(
        f"{TABLE}/command/recall",
        {"client": "t", "id": 9, "boot": result["boot"], "from": 2, "limit": 3},
    )
    reply = until(
        "the recalled",
        lambda: [h.body for h in subscriber.on("/reply/t") if h.body["id"] == 9],
        running.log,
    )[0]
    assert [event["seq"] for event in reply["events"]] == [2, 3, 4]
    live = {event["seq"]: event for event in subscriber.events()}
    assert all(
        event == {**live[event["seq"]], "historical": True}
        for event in reply["events"]
        if event["seq"] in live
    )
    subscriber.publish(
        f"{TABLE}/command/recall",
        {"client": "t", "id": 10, "boot": "before", "from": 6, "onward": True},
    )
    reply = until(
        "the recalled",
        lambda: [h.body for h in subscriber.on("/reply/t") if h.body["id"] == 10],
        running.log,
    )[0]
    assert [event["seq"] for event in reply["events"]] == list(range(1, result["seq"] + 1))
