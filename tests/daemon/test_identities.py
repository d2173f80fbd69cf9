"""The devices at a table of a running daemon: configured and reported identities, and the
maintenance log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from controller.proof.audit import audit
from tests.daemon.test_barcode import Usb
from tests.daemon.test_profiles import Rota
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, until_said, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.devices.described import FOLDER
from tests.support.people.signing import LASA, RIERA, SIGNED, enrol, give
from tests.support.waiting import until

SERIAL_PROFILE = """
[[message]]
name = "serial number"
length = 7

[message.fields]
letter = { at = 2, width = 1, is = "I" }
serial = { at = 3, width = 4 }

[[message.say]]
reading = "device.report"
with = { report = "serial", value = "{serial}" }

[[message]]
name = "whatever else has a right check"
"""


@pytest.fixture
def rota(tmp_path: Path) -> Iterator[Rota]:
    made = Rota(tmp_path / "rota")
    yield made
    made.close()


def the_wheel(rota: Rota, serial: str) -> str:
    return f"""
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "profile"
link = "serial://{rota.link}?baud=19200"
maker = "Acme"
model = "Rota"
serial = "{serial}"
options = {{ file = "rota.toml" }}
stale_after = 60.0
"""


def told(event: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(event.get(name) for name in names)


def alert(subscriber: Subscriber, table: str, device: str) -> Any:
    return subscriber.latest(f"{table}/alert/{device}-identity")


def test_a_wheel_that_was_replaced_without_a_word(
    mosquitto: Mosquitto,
    rota: Rota,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The wheel reports its own serial number; a person who signs records the maintenance."""
    text = (FOLDER / "acme-rota.toml").read_text().replace("period = 0.5", "period = 60.0")
    before, mark, after = text.partition(
        '\n[[message]]\nname = "whatever else has a right check"\n'
    )
    assert mark
    (tmp_path / "rota.toml").write_text(before + SERIAL_PROFILE + after)
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, the_wheel(rota, "A117"), people=SIGNED))
    enrol(made.folder)
    made.start()
    until_up(subscriber, made)
    assert subscriber.latest(f"{TABLE}/info")["about"]["identities"] == {
        "wheel": {"maker": "Acme", "model": "Rota", "serial": "A117"}
    }
    rota.say(b"IA117")
    found = until_said(subscriber, "device.identified", 2)
    names = ("device", "source", "serial", "maker", "was")
    assert [told(each, *names) for each in found] == [
        ("wheel", "configured", "A117", "Acme", None),
        ("wheel", "device", "A117", None, None),
    ]
    assert alert(subscriber, TABLE, "wheel") is None
    rota.say(b"IB200")
    raised = until_said(subscriber, "alert.raised", 1)[0]
    assert told(raised, "alert", "what", "device", "severity") == (
        "wheel-identity",
        "device.replaced",
        "wheel",
        "warning",
    )
    assert raised["detail"] == "the device tells serial number B200; before: serial number A117"
    until("the alert", lambda: alert(subscriber, TABLE, "wheel"), made.log)
    assert "device.service" in subscriber.latest(f"{TABLE}/state")["takes"]

    refused = give(subscriber, RIERA, "device.service", "croupier", device="wheel", work="replaced")
    assert refused["refusal"]["key"] == "role_not_allowed"
    refused = give(subscriber, LASA, "device.service", device="whel", work="replaced")
    assert refused["refusal"]["key"] == "device_unknown"
    work = {"device": "wheel", "work": "replaced", "serial": "B200", "note": "bearing worn"}
    assert give(subscriber, LASA, "device.service", **work)["ok"]
    serviced = until_said(subscriber, "device.serviced", 1)[0]
    assert {name: serviced[name] for name in work} == work
    assert serviced["signed_by"] == [{"id": "m-lasa", "name": "M. Lasa", "role": "table_head"}]
    assert told(until_said(subscriber, "alert.cleared", 1)[0], "alert") == ("wheel-identity",)
    until("no alert", lambda: alert(subscriber, TABLE, "wheel") is None, made.log)
    rota.say(b"IB200")  # no longer news

    assert made.stop() == 0
    made.file.write_text(configuration(mosquitto.port, the_wheel(rota, "B200"), people=SIGNED))
    made.start()
    until_up(subscriber, made)
    again = until_said(subscriber, "device.identified", 4)[3]
    assert told(again, *names) == ("wheel", "configured", "B200", "Acme", "A117")
    rota.say(b"IB200")
    assert told(until_said(subscriber, "device.identified", 5)[4], "source", "serial") == (
        "device",
        "B200",
    )
    assert len(subscriber.events("alert.raised")) == 1
    assert made.stop() == 0

    assert main(["export", str(tmp_path / "journal.sqlite3"), "--table", "r1"]) == 0
    kept = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    events = [record["body"] for record in kept if record["kind"] == "event"]
    assert [event["work"] for event in events if event["type"] == "device.serviced"] == ["replaced"]
    proved = audit(tmp_path / "journal.sqlite3")
    assert proved.differences == []


def test_another_scanner_in_the_same_socket(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    """USB reports the serial number of a reader; at this table cards lie face down."""
    scanner = Usb(tmp_path)
    table = """
[[table]]
id = "b1"
game = "punto-banca"
decree = "ARA02"
simulated = true

[[table.device]]
id = "shoe"
driver = "barcode-hid"
link = "usb://0c2e:0b61?timeout=0.2"
serial = "17"
"""
    topic = "novamas-sim/v1/palma/b1"
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table))
    try:
        scanner.begin(made)
        right = until_said(subscriber, "device.identified", 2)[1]
        names = ("source", "serial", "maker", "model", "usb")
        assert told(right, *names) == ("usb", "17", "Acme", "Scanner", "0c2e:0b61")
        scanner.unplug()
        scanner.ask("plug 18")
        other = until_said(subscriber, "device.identified", 3)[2]
        assert told(other, "serial", "was") == ("18", "17")
        until("the alert", lambda: alert(subscriber, topic, "shoe"), made.log)
        assert alert(subscriber, topic, "shoe")["detail"] == (
            "USB tells serial number 18 (0c2e:0b61); before: serial number 17 (0c2e:0b61)"
        )
        scanner.unplug()
        scanner.ask("plug 17")
        until("the old one is back", lambda: alert(subscriber, topic, "shoe") is None, made.log)
        scanner.unplug()
        until(
            "it is unplugged",
            lambda: subscriber.latest(f"{topic}/state")["devices"]["shoe"]["state"] == "lost",
            made.log,
        )
        fields = {"device": "shoe", "work": "replaced", "serial": "19"}
        assert command(subscriber, "device.service", topic, **fields)["ok"]
        scanner.ask("plug 19")  # announced
        assert told(until_said(subscriber, "device.identified", 5)[4], "serial") == ("19",)
        assert alert(subscriber, topic, "shoe") is None
        assert made.stop() == 0
    finally:
        scanner.close()
