"""``novamas init``: what it writes is sound, and a daemon runs with it."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from controller.cli import init, main
from controller.configuration.file import load
from controller.rulebooks.chapters import decrees
from devices.drivers import DRIVERS, driver
from devices.links.ports import Holder, SerialPort
from devices.links.usb_devices import HidDevice
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.process import Daemon
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

ADAPTER = SerialPort(
    name='/dev/serial/by-id/usb-FTDI_"UART"-if00-port0',
    node="/dev/ttyUSB0",
    usb="0403:6001",
    product="USB\nUART",
    serial_number="A1",
    holders=(Holder(7, "minicom"),),
)
SECOND = SerialPort(
    name="/dev/serial/by-id/usb-FTDI-if00-port1", node="/dev/ttyUSB1", usb="0403:6001"
)
BUILT_IN_PORT = SerialPort(name="/dev/ttyS0", node="/dev/ttyS0")
CARD = SerialPort(
    name="/dev/serial/by-id/usb-modem", node="/dev/ttyACM0", usb="1199:9071", refused="wwan0"
)
READER = HidDevice(links=("usb://0c2e:0b61/S7",), usb="0c2e:0b61", location="1-1", product="Xenon")
SPEED = 20
"""Of the table and of its wheel: what comes faster than the table's clock allows is late."""
NATS = "nats://nats-1:4222"
NO_READER = ("barcode-hid",)


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """``plugged(ports, readers)``: what the machine has."""

    def plug(ports: list[SerialPort], readers: list[HidDevice]) -> None:
        monkeypatch.setattr("devices.links.ports.ports", lambda: ports)
        monkeypatch.setattr("devices.links.usb_devices.hid_devices", lambda: readers)
        monkeypatch.setattr(init, "is_listening", lambda _: False)

    return plug


DECREE = ("--decree", "ARA02")


def novamas(*words: str) -> list[str]:
    """The output of the program, run as a separate process."""
    program = [sys.executable, "-m", "controller.cli", *words]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_a_newcomer_has_a_table_with_what_it_prints(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    """The real program; only the ports are other ones, since the usual ones may be taken."""
    file = tmp_path / "first.toml"
    words = ["--simulated", "--broker", f"mqtt://127.0.0.1:{mosquitto.port}", "--decree", "EUS96"]
    told = novamas("init", str(file), *words)
    assert told[0] == f"{file}: written, with a simulated table"
    simulate, run, send, watch = (shlex.split(line)[1:] for line in told[2:])
    port = str(free_port())
    text = file.read_text().replace("4001", port)
    text = text.replace("simulated = true", f"simulated = true\nspeed = {SPEED}")
    text = text.replace("decree =", 'languages = ["gl", "es"]\ndecree =')
    wheel = [sys.executable, "-m", "controller.cli", *simulate[:-1], f"127.0.0.1:{port}"]
    wheel += ["--speed", str(SPEED)]
    ending.enter_context(running(wheel, stdout=subprocess.DEVNULL))
    subscriber = subscribe(mosquitto.port, "novamas-sim/v1/casino/+/+")
    made = daemon(text)
    assert run == ["run", str(file)]
    made.start()
    until("info", lambda: subscriber.on("mesa-1/info"), made.log)
    assert subscriber.latest("mesa-1/info")["about"]["languages"] == ["gl", "es"]
    assert subscriber.latest("mesa-1/info")["decree"] == "EUS96"
    made.until_logged("broker connected")
    novamas(*send[:-1], str(made.file))
    until(
        "a result", lambda: subscriber.events("round.result"), made.log, timeout=3 * TIMEOUT_SECONDS
    )
    assert novamas(watch[0], str(made.file), "--json", "--rounds", "1")
    assert made.stop() == 0


def test_each_adapter_is_a_table(
    tmp_path: Path, plugged: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    plugged([ADAPTER, SECOND, BUILT_IN_PORT, CARD], [READER])
    assert main(["init", str(file), *DECREE]) == 0
    assert capsys.readouterr().out.startswith(
        f"{file}: written, with 2 tables: each device that was found is taken for a cammegh-ss2\n"
    )
    assert main(["check", str(file)]) == 0
    tables = load(file).table
    assert [(table.id, table.device[0].link, table.simulated) for table in tables] == [
        ("mesa-1", f"serial://{ADAPTER.name}?baud=9600", False),
        ("mesa-2", f"serial://{SECOND.name}?baud=9600", False),
    ]
    text = file.read_text()
    assert "# on USB: USB?UART, A1\n# held by minicom (pid 7)\n[[table]]" in text
    assert "# A serial port of the machine: serial:///dev/ttyS0\n" in text
    assert "usb-modem was skipped, it is also a network card: wwan0\n" in text
    assert "driver barcode-hid, link usb://0c2e:0b61/S7\n" in text


def test_a_file_is_never_overwritten(
    tmp_path: Path, plugged: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    plugged([], [])
    file = tmp_path / "novamas.toml"
    file.write_text("of the site")
    assert main(["init", str(file), *DECREE]) == 1
    assert capsys.readouterr().err == f"novamas: {file} already exists; not overwritten\n"
    assert file.read_text() == "of the site"


@pytest.mark.parametrize("broker", ["embedded://127.0.0.1:1883", "mqtt://127.0.0.1:1883"])
@pytest.mark.parametrize("name", sorted({*DRIVERS} - {"profile"}))
def test_what_it_writes_is_sound_for_every_driver(
    name: str,
    broker: str,
    tmp_path: Path,
    plugged: Callable[..., None],
) -> None:
    """Plugged in or not, and where a broker answers or none."""
    key = "ab" * 32
    words = ["--driver", name, "--decree", "EUS96", "--broker", broker, "--surveillance", key]
    plugged([ADAPTER], [READER])
    assert main(["init", str(tmp_path / "there.toml"), *words]) == 0
    plugged([], [])
    status = main(["init", str(tmp_path / "none.toml"), *words])
    assert status == (1 if name in NO_READER else 0)
    for file in tmp_path.glob("*.toml"):
        [table] = load(file).table
        assert table.device[0].driver == name
        simulated = file.stem == "none" or driver(name).scheme == "mqtt"
        assert table.simulated == simulated


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (["--driver", "camegh"], 2, "no driver 'camegh'; did you mean `cammegh-ss2`?"),
        (["--decree", "EUS69"], 2, "not written: site.decree: no decree 'EUS69'"),
        (
            ["--site", "Casino Mayor"],
            2,
            "not written: site.id: expected 1 to 48 characters",
        ),
        (["--game", "boule"], 2, "the driver cammegh-ss2 is for"),
        (
            ["--driver", "profile"],
            2,
            "write its table by hand: docs/technician/profiles.md",
        ),
        (["--driver", "barcode-hid"], 1, "no USB reader for barcode-hid is plugged in"),
        (
            ["--standby", NATS],
            2,
            "--standby: give --broker too, one that both machines can reach",
        ),
        (
            ["--standby", NATS, "--broker", "embedded://127.0.0.1:1883"],
            2,
            "the other one of the pair cannot reach it; give the address of a separate ",
        ),
        (
            [
                *DECREE,
                "--standby",
                NATS,
                "--broker",
                "mqtt://broker:1883",
                "--driver",
                "barcode-hid",
            ],
            2,
            "--standby: a barcode-hid is plugged into one machine",
        ),
        (
            ["--standby", "http://nats-1", "--broker", "mqtt://broker:1883"],
            2,
            "not written: standby.servers[0]: expected nats://host:port or tls://host:port",
        ),
    ],
)
def test_a_write_error_is_reported(
    words: list[str],
    status: int,
    expected: str,
    tmp_path: Path,
    plugged: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plugged([], [])
    assert main(["init", str(tmp_path / "novamas.toml"), *DECREE, *words]) == status
    assert expected in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_no_decree_is_taken_for_granted(
    tmp_path: Path, plugged: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    plugged([], [])
    assert main(["init", str(tmp_path / "novamas.toml"), "--simulated"]) == 2
    question, *choices = capsys.readouterr().err.splitlines()
    assert question == "novamas: which decree do the tables play under?"
    assert [line.split()[:2] for line in choices] == [["--decree", decree] for decree in decrees()]
    assert list(tmp_path.iterdir()) == []


def test_a_pair_is_written_for_what_both_machines_reach(
    tmp_path: Path, plugged: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    words = ["init", str(file), *DECREE, "--broker", "mqtt://broker:1883"]
    words += ["--standby", NATS, "--standby", "tls://nats-2:4222"]
    plugged([ADAPTER], [])
    assert main(words) == 2
    assert (
        f"--standby: serial://{ADAPTER.name}?baud=9600 is plugged into one machine, so the other "
        "one of the pair cannot read it. Connect devices to a device server"
    ) in capsys.readouterr().err
    assert not file.exists()
    assert main([*words, "--simulated"]) == 0
    assert "the same file on the other machine" in capsys.readouterr().out
    assert main(["check", str(file)]) == 0
    standby = load(file).standby
    assert standby is not None
    assert standby.servers == (NATS, "tls://nats-2:4222")
    text = file.read_text()
    begun = text.index("[standby]")
    remarks = [line for line in text[begun:].split("\n\n")[0].splitlines() if line[0] == "#"]
    for line in remarks:  # each is valid without changes
        file.write_text(text.replace(line, line.removeprefix("# ")))
        assert main(["check", str(file)]) == 0, line


def test_a_shoe_with_face_down_cards_needs_the_key_of_surveillance(
    tmp_path: Path, plugged: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    plugged([ADAPTER], [])
    assert main(["init", str(tmp_path / "novamas.toml"), *DECREE, "--driver", "bee-tek"]) == 2
    assert "set surveillance.public_key (`novamas keygen` makes one)" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("full", ["novamas.toml", "first.toml"])
def test_a_full_disk_is_named_and_leaves_no_empty_file(
    plugged: Callable[..., None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    full: str,
) -> None:
    plugged([], [])
    truly, flush = Path.open, os.fsync

    def opened(path: Path, mode: str = "r", *rest: Any, **how: Any) -> Any:
        file = truly(path, mode, *rest, **how)
        if path.name != full or mode[0] not in "wx":
            return file
        file.close()
        return truly(Path("/dev/full"), "w")

    def flushed(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == f"{full}.part":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "open", opened)
    file = tmp_path / "first.toml"
    assert main(["init", str(file), *DECREE]) == 1
    output = capsys.readouterr().err
    assert f"{full}: {os.strerror(errno.ENOSPC)}" in output
    assert "standard output" not in output
    assert not file.exists()
