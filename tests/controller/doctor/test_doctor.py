"""``novamas doctor``: each fault that a machine can have is reported, with what to do."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import paho.mqtt.publish as publish
import pytest

from controller.cli import main
from controller.configuration.file import load
from controller.doctor import broker, clock, disk, keys, serial_lines, units
from controller.doctor.standby import check_release
from controller.proof.clocks import ClockReading
from tests.support.brokers.mosquitto import Mosquitto, free_port
from tests.support.daemon.certificates import Authority
from tests.support.for_each import for_each

PACKET_LIMIT = "max_packet_size 20000"


@dataclass
class Machine:
    """A configuration, and the devices of its only table."""

    file: Path
    broker: Mosquitto

    def configure(self, link: str, port: int | None = None) -> None:
        """Configure the wheel at this address."""
        self.file.write_text(
            f'[site]\nid = "palma"\n[broker]\nurl = "mqtt://127.0.0.1:{port or self.broker.port}"\n'
            '[people]\nrequired = "accept-the-risk"\n'
            '[[table]]\nid = "r1"\ngame = "roulette-french"\ndecree = "ARA02"\n'
            f'[[table.device]]\nid = "wheel"\ndriver = "cammegh-ss2"\nlink = "{link}"\n'
        )


@pytest.fixture
def machine(programs: None, tmp_path: Path) -> Iterator[Machine]:
    made = Mosquitto(tmp_path / "mosquitto", "allow_anonymous true", PACKET_LIMIT)
    made.start()
    try:
        yield Machine(tmp_path / "novamas.toml", made)
    finally:
        made.kill()


@pytest.fixture
def port() -> Iterator[str]:
    ours, theirs = pty.openpty()
    yield os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def test_everything_is_checked(
    machine: Machine, port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.configure(f"serial://{port}")
    main(["doctor", str(machine.file), "--json"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rooms = {each["about"].partition(" ")[0] for each in found}
    assert {"serial", "disk", "clock", "broker", "key"} <= rooms
    assert any(each["about"] == "serial r1/wheel" and each["level"] == "ok" for each in found)
    told = [each for each in found if each["about"].startswith("broker")]
    assert [each["level"] for each in told] == ["ok", "warning"]
    assert "mosquitto version 2" in told[0]["what"]
    assert "20000" in told[1]["what"]


def test_what_is_missing_is_a_fault_with_advice(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.configure("serial:///dev/serial/by-id/none", port=free_port())
    assert main(["doctor", str(machine.file)]) == 1
    output = capsys.readouterr().out
    assert "fault     serial r1/wheel: /dev/serial/by-id/none: No such file or directory" in output
    assert "\n          plug it in" in output
    assert "\n          novamas explain broker-unreachable\n" in output
    assert "fault     broker mqtt://127.0.0.1:" in output


def test_a_daemon_of_this_name_is_reported(machine: Machine, port: str) -> None:
    machine.configure(f"serial://{port}")
    publish.single(
        "novamas/v1/palma/node/node-1/status",
        '{"status":"online","boot":"1f63d146"}',
        qos=1,
        retain=True,
        port=machine.broker.port,
    )
    said = [each.what for each in broker.check(load(machine.file)) if "node-1" in each.about]
    assert said == ["a daemon of this name is online at the broker"]
    [nonsense] = broker.check_status("node-1", b"[" * 100_000)
    assert nonsense.level == "warning"


def test_what_a_broker_may_refuse() -> None:
    assert broker.check_limits("b", {}) == []
    lacks = {"RetainAvailable": 0, "MaximumQoS": 0, "WildcardSubscriptionAvailable": 0}
    assert [each.level for each in broker.check_limits("b", lacks)] == ["fault"] * 3


def test_a_name_that_changes_and_an_adapter_that_waits(machine: Machine, tmp_path: Path) -> None:
    """The test provides the system's folders: no adapter is plugged in."""
    machine.configure("serial:///dev/null")
    timer = tmp_path / "tty" / "null" / "device" / "latency_timer"
    timer.parent.mkdir(parents=True)
    timer.write_text("16\n")
    found = [*serial_lines.check(load(machine.file), tmp_path / "tty")]
    assert [each.level for each in found] == ["ok", "warning"]
    assert "16 ms" in found[1].what
    timer.write_text("1\n")
    assert {each.level for each in serial_lines.check(load(machine.file), tmp_path / "tty")} == {
        "ok"
    }
    timer.write_text("no number")
    assert len([*serial_lines.check(load(machine.file), tmp_path / "tty")]) == 1


@pytest.mark.parametrize(
    ("kind", "wanted"), [("nfs4", "fault"), ("tmpfs", "fault"), ("ext4", "ok")]
)
def test_a_disk_that_keeps_no_promise(
    machine: Machine, tmp_path: Path, kind: str, wanted: str
) -> None:
    machine.configure("serial:///dev/null")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {tmp_path} {kind} rw 0 0\n")
    found = [*disk.check(load(machine.file), mounts)]
    kinds = [each for each in found if "network" in each.what or "memory" in each.what]
    assert [each.level for each in kinds] == ([wanted] if wanted == "fault" else [])
    assert any("written bytes are durable after" in each.what for each in found)


@pytest.mark.parametrize(
    ("synchronised", "level"), [(True, "ok"), (False, "warning"), (None, "note")]
)
def test_the_clock(synchronised: bool | None, level: str) -> None:
    assert clock.assess(ClockReading(0.0, 0.0, 0.0, synchronised)).level == level


@for_each(
    ("zone", "level"),
    [
        (None, "ok"),
        ("", "ok"),
        ("Europe/Madrid", "ok"),
        (":Europe/Madrid", "ok"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "ok"),
        ("<+01>-1", "ok"),
        ("Nowhere/Foo", "warning"),
        ("../../etc/passwd", "warning"),
    ],
)
def test_a_time_zone_that_does_not_exist_is_named(zone: str | None, level: str) -> None:
    finding = clock.assess_zone(zone)
    assert finding.level == level
    assert level == "ok" or repr(zone) in finding.what


def test_keys_that_cannot_be_used(machine: Machine, tmp_path: Path) -> None:
    machine.configure("serial:///dev/null")
    key = tmp_path / "journal.sqlite3.key"
    assert [each.what for each in keys.check(load(machine.file))] == [
        "it is created at the first start"
    ]
    key.write_text("00" * 32)
    key.chmod(0o600)
    assert [each.level for each in keys.check(load(machine.file))] == ["ok"]
    key.write_text("no key")
    assert [each.level for each in keys.check(load(machine.file))] == ["fault"]


def test_certificates_that_end(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    soon, _ = authority.sign("soon", ends=2)
    over, _ = authority.sign("over", expired=3)
    now = soon.stat().st_mtime
    assert keys.check_certificate("web.cert_file", soon, now).level == "warning"
    assert keys.check_certificate("web.cert_file", soon, now).what.startswith(
        "it ends in 1 day, on 2"
    )
    assert "has expired" in keys.check_certificate("web.cert_file", over, now).what
    over.write_bytes(b"none")
    assert keys.check_certificate("web.cert_file", over, now).level == "fault"


@for_each(
    ("said", "level"),
    [
        ({}, "note"),
        ({"LoadState": "not-found"}, "warning"),
        ({"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed"}, "fault"),
        ({"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "disabled"}, "warning"),
        (
            {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled",
             "NRestarts": "4"},
            "warning",
        ),
        (
            {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled",
             "NRestarts": "0"},
            "ok",
        ),
    ],
)  # fmt: skip
def test_units(said: dict[str, str], level: str) -> None:
    found = units.assess("novamas.service", said)
    assert found.level == level
    assert (found.do == "") == (level == "ok")


def test_a_configuration_mistake_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(tmp_path / "none.toml")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_releases_of_nats_that_lose_what_they_acknowledged() -> None:
    for version in ("2.9.25", "2.10.22", "2.12.0", "2.12.2", "v2.12.2-RC.1", "", "new"):
        (found,) = check_release("standby", "nats-1", version)
        assert (found.level, "2.10.23 or later" in found.do) == ("warning", True), version
    for version in ("2.10.23", "2.11.0", "2.12.3", "2.12.10", "2.15.1", "3.0.0"):
        (found,) = check_release("standby", "nats-1", version)
        assert (found.level, "sync_interval: always" in found.do) == ("note", True), version
