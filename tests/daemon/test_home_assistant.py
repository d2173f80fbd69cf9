"""Home Assistant's view of the tables: each value is derived as it would derive it, and compared
with the daemon's.
"""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tests.support import contract
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import NODE, TABLE, command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import running
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "home_assistant.py"
PROGRAM = [sys.executable, str(EXAMPLE), "--site", "palma"]
home_assistant = SimpleNamespace(**runpy.run_path(str(EXAMPLE)))
JINJA = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
DISPLAY = ("event", "info", "state", "result", "history", "shoe", "alert/+")
REQUIRED = {"platform", "unique_id", "state_topic"}
ALLOWED = {
    *REQUIRED,
    *("name", "qos", "value_template", "availability", "availability_mode", "device_class"),
    *("json_attributes_topic", "json_attributes_template"),
}
"""Of an MQTT sensor or binary sensor in Home Assistant's documentation, those that we have."""


def rendered(template: str, payload: bytes) -> str:
    """As Home Assistant renders a ``value_template``: sandboxed, with the payload and its JSON."""
    text = payload.decode()
    return JINJA.from_string(template).render(value=text, value_json=json.loads(text)).strip()


def values(subscriber: Subscriber) -> dict[str, str]:
    """The state of each entity, by device and key, from what is retained."""
    retained = {message.topic: message.payload for message in list(subscriber.messages)}
    found = {}
    for topic, payload in retained.items():
        if not topic.startswith("homeassistant/device/") or not payload:
            continue
        for key, entity in json.loads(payload)["components"].items():
            name = f"{topic.split('/')[2]}.{key}"
            found[name] = _state(entity, retained)
    return found


def _state(entity: dict[str, Any], retained: dict[str, bytes]) -> str:
    assert entity.get("availability_mode", "all") == "all"
    for each in entity.get("availability", ()):
        payload = retained.get(each["topic"])
        if not payload or rendered(each["value_template"], payload) != "online":
            return "unavailable"
    payload = retained.get(entity["state_topic"])
    if not payload:
        return "unknown"
    told = rendered(entity["value_template"], payload)
    assert len(told) <= 255
    return {"None": "unknown", "ON": "on", "OFF": "off"}.get(told, told)


@pytest.fixture
def guarded(programs: None, tmp_path: Path, ending: ExitStack) -> Mosquitto:
    """A broker with the rules of the page."""
    rules = re.search(
        r"```acl\n(.*?)```", (contract.INTEGRATOR / "integrations.md").read_text(), re.DOTALL
    )
    assert rules is not None
    file = tmp_path / "acl"
    file.write_text("topic readwrite #\n" + rules[1].replace("casino-mayor", "palma"))
    broker = Mosquitto(
        tmp_path / "mosquitto", "allow_anonymous true", f"acl_file {file}", "log_type debug"
    )
    ending.callback(broker.kill)
    broker.start()
    return broker


@pytest.fixture
def discovery(programs: None, ending: ExitStack) -> Callable[..., subprocess.Popen[str]]:
    def start(port: int, *words: str) -> subprocess.Popen[str]:
        given = [*PROGRAM, "--port", str(port), "--username", "discovery", *words]
        return ending.enter_context(running(given, stdout=subprocess.DEVNULL, text=True))

    return start


def test_every_entity_shows_the_daemons_value(
    guarded: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    discovery: Callable[..., subprocess.Popen[str]],
) -> None:
    made = daemon(configuration(guarded.port, table("r1", wheel, stale_after=15.0)))
    floor, seen = subscribe(guarded.port), subscribe(guarded.port, username="home-assistant")
    made.start()
    until_up(floor, made)
    process = discovery(guarded.port)
    name, node = "novamas-v1-palma-r1", "novamas-v1-palma-node-pit-1"

    def shows(**expected: str) -> None:
        wanted = {f"{name}.{key}": value for key, value in expected.items()}

        def so() -> bool:
            state, result = floor.latest(f"{TABLE}/state"), floor.latest(f"{TABLE}/result")
            said = {
                "status": state["status"],
                "phase": state["shown"]["phase"],
                "result": result and str(result["outcome"]["number"]),
            }
            told = values(seen)
            return wanted.items() <= told.items() and all(
                told[f"{name}.{key}"] in (value, "unavailable") for key, value in said.items()
            )

        until(str(wanted), so, lambda: str(values(seen)))

    shows(status="closed", phase="closed", result="unavailable", problem="off")
    assert values(seen)[f"{node}.online"] == "on"
    config = seen.latest(f"homeassistant/device/{name}/config")
    assert config["components"].keys() == {"status", "phase", "result", "problem"}
    command(floor, "session.open")
    shows(status="open", phase="waiting", result="unavailable")
    spin(wheel, floor, "17", 2)
    shows(status="open", result="17")
    wheel.show(2, 3, "17")
    shows(phase="bets_open", result="17")
    wheel.show(4, 3, "17")
    shows(phase="bets_closed", result="17")
    wheel.show(5, 3, "0")
    shows(result="0")
    attributes = config["components"]["result"]["json_attributes_template"]
    last = floor.on(f"{TABLE}/result")[-1]
    assert json.loads(rendered(attributes, last.payload)) == {
        key: last.body[key] for key in ("session", "round", "time", "outcome")
    }
    wheel.unplug()
    shows(problem="on", phase="unavailable", result="unavailable")
    attributes = config["components"]["problem"]["json_attributes_template"]
    assert "wheel-link" in rendered(attributes, floor.on(f"{TABLE}/state")[-1].payload)
    wheel.plug()
    shows(problem="off", result="0")
    made.kill()
    unavailable = dict.fromkeys(("status", "phase", "result", "problem"), "unavailable")
    shows(**unavailable)
    assert values(seen)[f"{node}.online"] == "off"
    made.start()
    until_up(floor, made)
    shows(problem="off", result="0")

    # read-only: it subscribes only to topics that a display may read, and no topic of the daemon
    # was written
    assert process.poll() is None
    assert "Denied" not in guarded.log()
    said = {message.topic for message in floor.messages}
    assert {topic for topic in said if topic.startswith("homeassistant/")} == {
        f"homeassistant/device/{each}/config" for each in (name, node)
    }
    text = json.dumps(
        [message.body for message in floor.messages if message.topic.startswith("homeassistant")]
    )
    assert "command" not in text
    assert "sealed" not in text


def test_a_table_that_is_gone_is_gone_there_too_and_comes_back(
    mosquitto: Mosquitto,
    subscribe: Callable[..., Subscriber],
    discovery: Callable[..., subprocess.Popen[str]],
) -> None:
    """With each form of the messages. The floor is played by the test."""
    info = {"game": "boule", "boot": "1f", "about": {"title": {"es": "boule"}}, "node": "pit-2"}
    seen = subscribe(mosquitto.port)
    for root, words, topic in (
        ("novamas/v1", (), "homeassistant/device/novamas-v1-palma-b1/config"),
        (
            "novamas-sim/v1",
            ("--single", "--simulated"),
            "homeassistant/sensor/novamas-sim-v1-palma-b1/phase/config",
        ),
    ):
        seen.publish(
            f"{root}/palma/node/pit-2/status", {"status": "online", "boot": "1f"}, retain=True
        )
        seen.publish(f"{root}/palma/b1/info", info, retain=True)
        discovery(mosquitto.port, *words)
        until("the table", lambda: seen.on(topic), seen.transcript)  # noqa: B023
        seen.publish(f"{root}/palma/b1/info", b"", retain=True)
        until("no table", lambda: seen.on(topic)[-1].payload == b"", seen.transcript)  # noqa: B023
        seen.publish(
            f"{root}/palma/node/pit-3/status", {"status": "online", "boot": "2a"}, retain=True
        )
        seen.publish(f"{root}/palma/b1/info", {**info, "boot": "2a", "node": "pit-3"}, retain=True)
        until("another daemon", lambda: b"pit-3" in seen.on(topic)[-1].payload, seen.transcript)  # noqa: B023


def devices() -> list[dict[str, Any]]:
    info = {"game": "boule", "about": {"title": {"es": "boule"}, "software": "novamas 1"}}
    root = "novamas/v1/palma"
    return [
        home_assistant.table_device(root, "b1", "pit-1", info),
        home_assistant.node_device(root, "pit-1"),
    ]


@pytest.mark.parametrize("device", devices())
def test_messages_have_what_the_documentation_requires(device: dict[str, Any]) -> None:
    """https://www.home-assistant.io/integrations/mqtt, device discovery and single components."""
    assert device.keys() == {"device", "origin", "components"}
    assert device["device"]["identifiers"]
    assert device["origin"]["name"]
    for entity in device["components"].values():
        assert entity.keys() >= REQUIRED
        assert entity.keys() <= ALLOWED
        assert entity["platform"] in ("sensor", "binary_sensor")
        assert not any("command" in key for key in entity)
    unique = [entity["unique_id"] for entity in device["components"].values()]
    assert len(set(unique)) == len(unique)
    ((topic, whole),) = home_assistant.messages("homeassistant", device, single=False)
    assert re.fullmatch(r"homeassistant/device/[a-zA-Z0-9_-]+/config", topic)
    assert whole == device
    for topic, entity in home_assistant.messages("homeassistant", device, single=True):
        assert re.fullmatch(r"homeassistant/\w+/[a-zA-Z0-9_-]+/[a-zA-Z0-9_-]+/config", topic)
        assert entity.keys() >= {"device", "origin", "unique_id", "state_topic"}
        assert entity.keys() <= ALLOWED | {"device", "origin"}


def topics() -> set[str]:
    """Every topic that the messages name."""
    return set(re.findall(r'"(novamas/[^"]*)"', json.dumps(devices())))


def test_only_topics_that_a_display_may_read_are_named() -> None:
    leaves = {topic.removeprefix("novamas/v1/palma/b1/") for topic in topics()}
    assert leaves <= {*DISPLAY, "novamas/v1/palma/node/pit-1/status"}
    assert NODE.startswith("novamas/v1/palma/node/")


def results() -> list[dict[str, Any]]:
    """One result of each game that the scripts play, of each shape of outcome."""
    found = {}
    for file in sorted((ROOT / "tests" / "scripts").glob("*/*.events")):
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event.get("type") in ("round.result", "result.corrected"):
                outcome = event["outcome"]
                shape = (event.get("game", file.parent.name), outcome.get("winner", ""))
                found[*shape, bool(outcome.get("hands"))] = event
    return list(found.values())


def test_a_result_of_each_game_is_one_line() -> None:
    families = set()
    for event in results():
        said = rendered(home_assistant.RESULT, json.dumps(event).encode())
        outcome = event["outcome"]
        families.add(outcome["family"])
        assert 0 < len(said) <= 255
        assert "\n" not in said
        if outcome["family"] in ("roulette", "boule", "fortune-wheel"):
            assert said == str(outcome["number"])
        elif outcome["family"] == "craps":
            assert said == "{} + {}".format(*outcome["dice"])
        elif outcome.get("winner"):
            assert said == outcome["winner"]
        elif outcome["hands"]:
            assert said.startswith(f"{outcome['hands'][0]['who']} ")
            assert said.count(",") == len(outcome["hands"]) - 1
        else:
            assert said == "nobody"
    assert families == {
        *("roulette", "boule", "fortune-wheel", "craps", "baccarat", "trente-et-quarante"),
        *("blackjack", "circle-poker", "house-poker"),
    }
    assert rendered(home_assistant.RESULT, b"null") == "None"
