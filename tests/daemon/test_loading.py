"""A daemon loads what its tables need at its start, and nothing else; and nothing once it serves
them, when loading would delay what a device says.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from common.contract.topics import level
from controller.cli import main
from controller.games.games import GAMES
from devices.drivers import DRIVERS
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.loading import announced, loaded
from tests.support.daemon.play import TABLE, command, spin, until_open, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.daemon.tables import poker_table
from tests.support.devices.parts import Pty
from tests.support.people.signing import LASA, SIGNED, answer, claims, enrol, token
from tests.support.waiting import until

OTHERS = {
    "amqtt": "the embedded broker",
    "controller.cli.check": "another subcommand",
    "common.metrics.endpoint": "metrics",
    "controller.rulebooks.numbered": "`novamas rules`",
    "controller.service.pair": "the standby",
    "common.standby": "the standby",
    "cryptography": "certificates and signed commands",
    "devices.links.http": "another link",
    "devices.links.mqtt": "another link",
    "devices.links.tcp": "another link",
    "devices.links.usb": "another link",
    "devices.profiles.language": "profiles",
    "evdev": "USB keypads",
    "fpdf": "protocols of a commissioning",
    "h11": "devices that post",
    "importlib.metadata": "the packages that are installed",
    "importlib.resources": "files of packages",
    "jwt": "signed commands",
    "nats": "the standby",
    "prometheus_client": "metrics",
    "rich": "pictures on a terminal",
    "simulators": "simulators",
    "starlette": "the web server",
    "subscribers": "subscribers",
    "usb": "another link",
    "uvicorn": "the web server",
}
"""Modules that a daemon with one wheel does not need, and what needs them."""


def test_a_daemon_with_one_wheel_loads_nothing_that_only_others_need(
    mosquitto: Mosquitto, daemon: Callable[[str], Daemon], wheel: Wheel
) -> None:
    run = announced(daemon(configuration(mosquitto.port, table("r1", wheel))))
    run.start()
    run.until_logged("broker connected")
    modules, _ = loaded(run)
    assert modules & OTHERS.keys() == frozenset()
    games = {path.partition(":")[0] for paths in GAMES.values() for path in paths} & modules
    assert games == {"controller.games.roulette.game", "controller.games.roulette.settings"}
    drivers = {path.partition(":")[0] for path in DRIVERS.values()} & modules
    assert drivers == {"devices.wheel.cammegh_ss2_driver"}


def test_nothing_is_loaded_while_a_wheel_is_played(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    wheel: Wheel,
) -> None:
    subscriber = subscribe(mosquitto.port)
    run = announced(daemon(configuration(mosquitto.port, table("r1", wheel))))
    run.start()
    run.until_logged("broker connected")
    until_up(subscriber, run)
    assert command(subscriber, "session.open")["ok"]
    spin(wheel, subscriber, "17", 2)
    assert not command(subscriber, "session.open")["ok"]
    assert not command(subscriber, "round.vodi")["ok"]
    wheel.send(b"\xff\xfe no line of a wheel")
    wheel.unplug()
    until("the wheel is lost", lambda: _state(subscriber) == "lost", run.log)
    wheel.plug()
    until_up(subscriber, run)
    assert loaded(run)[1] == []


def _state(subscriber: Subscriber) -> str:
    return str(subscriber.latest(f"{TABLE}/state")["devices"]["wheel"]["state"])


def test_nothing_is_loaded_while_sealed_cards_are_dealt_and_commands_are_signed(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["keygen", str(tmp_path / "surveillance.key")]) == 0
    surveillance = capsys.readouterr().out
    port = Pty(tmp_path)
    ending.callback(port.unplug)
    subscriber = subscribe(mosquitto.port)
    poker = poker_table(port.url)
    topic = "novamas/v1/palma/p1"
    run = announced(daemon(configuration(mosquitto.port, poker, people=SIGNED) + surveillance))
    enrol(run.folder)
    run.start()
    run.until_logged("broker connected")
    until_open(subscriber, run, "p1", "reader")

    def say(name: str, **fields: object) -> str:
        """The key of the refusal, or nothing if the command is followed."""
        given = claims(LASA, name, aud=topic, fields=fields)
        subscriber.publish(f"{topic}/command/{level(name)}", token(given))
        reply = answer(subscriber, given)
        return "" if reply["ok"] else reply["refusal"]["key"]

    port.say(b"[Game]<Shown 9H>\r\n")  # so that the reader is up
    until("the line is sealed", lambda: subscriber.on(f"{topic}/sealed"), run.log)
    assert say("session.open") == ""
    assert say("deck.check", cards=52) == ""
    assert say("bets.open") == ""
    assert say("boxes.set", boxes=[1]) == ""
    assert say("bets.close") == ""
    port.say(b"[Game]<Card:AH>\r\n")
    until("a card is dealt", lambda: subscriber.events("card.dealt"), run.log)
    assert say("session.open") == "session_already_open"
    assert loaded(run)[1] == []
