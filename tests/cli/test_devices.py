"""``novamas devices``: ports, their names and holders, and the drivers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from controller.cli import main
from controller.cli.devices import _json, _text
from devices.drivers import DRIVERS, driver
from devices.links import check_link
from devices.links.ports import Holder, Port, holders, names

PORT = Port(
    name="/dev/serial/by-id/usb-FTDI-if00",
    node="/dev/ttyUSB0",
    names=("/dev/serial/by-id/usb-FTDI-if00", "/dev/serial/by-path/pci-1"),
    usb="0403:6001",
    product="USB UART",
    holders=(Holder(7, "minicom"),),
)


def test_every_driver_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["name"] for row in told if row["type"] == "driver"] == sorted(DRIVERS)
    assert main(["devices"]) == 0
    assert all(name in capsys.readouterr().out for name in DRIVERS)


def test_a_port_is_told_with_the_address_to_write() -> None:
    known = [driver(name) for name in DRIVERS]
    [row, *_] = [json.loads(line) for line in _json([PORT], known)]
    assert row["usb"] == "0403:6001"
    assert row["holders"] == [{"pid": 7, "name": "minicom"}]
    assert set(row["links"]) == set(DRIVERS)
    assert [check_link(link) for link in row["links"].values()] == [None] * len(DRIVERS)
    text = "\n".join(_text([PORT], known))
    assert "held by  minicom (pid 7)" in text
    assert "serial:///dev/serial/by-id/usb-FTDI-if00?baud=9600  for cammegh-ss2" in text


def test_names_lead_to_the_node_best_first(tmp_path: Path) -> None:
    node = tmp_path / "ttyUSB0"
    node.touch()
    for name in ("serial/by-path/b", "serial/by-id/a", "novamas/wheel", "serial/by-id/other"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(tmp_path / ("elsewhere" if "other" in name else "ttyUSB0"))
    assert names(str(node), str(tmp_path)) == tuple(
        str(tmp_path / name) for name in ("novamas/wheel", "serial/by-id/a", "serial/by-path/b")
    )


def test_a_holder_is_found() -> None:
    ours, theirs = os.openpty()
    try:
        assert os.getpid() in {holder.pid for holder in holders(os.ttyname(theirs))}
    finally:
        os.close(ours)
        os.close(theirs)
