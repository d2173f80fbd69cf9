"""Everything the daemon publishes conforms to the AsyncAPI document and the schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.brokers.mosquitto import Mosquitto, ReceivedMessage, Subscriber
from tests.support.contract import files
from tests.support.daemon.play import TABLE, command, serve, spin, until_more
from tests.support.daemon.process import Daemon, Wheel
from tests.support.waiting import until


@cache
def channels() -> dict[str, Any]:
    """The channels of the AsyncAPI document."""
    found: dict[str, Any] = json.loads(files()["asyncapi.json"])["channels"]
    return found


def channel_of(topic: str) -> tuple[str, dict[str, Any]]:
    """The one channel that has this topic."""
    found = [
        (name, channel)
        for name, channel in channels().items()
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(channel["address"])), topic)
    ]
    assert len(found) == 1, (topic, [name for name, _ in found])
    return found[0]


def check(message: ReceivedMessage) -> str:
    """Hold one message against its channel; gives the channel's name."""
    name, channel = channel_of(message.topic)
    if name == "command":  # from this project
        return name
    body = message.body
    if not message.payload:
        assert "cleared" in channel["messages"], name
        return name
    if body is None:
        assert channel["messages"]["no-result"]["payload"] == {"type": "null"}, name
        return name
    key = body.get("type", "") if name in ("event", "result") else name
    file, path = channel["messages"][key]["payload"]["$ref"].split("#")
    schema = json.loads(files()[file])
    Draft202012Validator(
        {"$schema": schema["$schema"], "$ref": f"#{path}", "$defs": schema["$defs"]}
    ).validate(body)
    return name


def test_every_message_of_a_session_fits(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    assert command(subscriber, "session.open")["ok"]
    assert not command(subscriber, "round.void", reason="no reason")["ok"]
    result = spin(wheel, subscriber, "17", 2)
    spin(wheel, subscriber, " 0", 3, before="17")
    subscriber.publish(
        f"{TABLE}/command/recall", {"boot": result["boot"], "from": 1, "client": "display"}
    )
    until("the recalled events", lambda: (subscriber.latest("/reply/display") or {}).get("events"))
    wheel.unplug()
    raised = until_more(subscriber, "alert.raised", 0)[0]
    assert command(subscriber, "alert.acknowledge", alert=raised["alert"])["ok"]
    assert made.stop() == 0
    until("the farewell", lambda: subscriber.latest("/status")["status"] == "offline")
    others = {each for each in channels() if each.startswith("jackpot-")}
    others.add("node-alert")  # the recorder of surveillance says these
    assert {check(message) for message in subscriber.messages} == set(channels()) - others - {
        "sealed",
        "shoe",
    }, "a wheel has no cards; a jackpot's controller publishes the jackpot"
