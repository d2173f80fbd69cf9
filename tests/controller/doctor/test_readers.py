"""The doctor's report on a serial port that several programs have open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.configuration.file import load
from controller.doctor import serial_lines
from tests.support.devices.parts import Pty
from tests.support.devices.readers import PLAIN, PYSERIAL, program


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    port = Pty(tmp_path)
    yield port
    port.unplug()


@pytest.mark.usefixtures("programs")
def test_the_doctor_reports_several_programs(pty: Pty, tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        '[site]\nid = "palma"\n[broker]\nurl = "mqtt://127.0.0.1:1883"\n[people]\nrequired = '
        '"accept-the-risk"\n[[table]]\nid = "r1"\ngame = "roulette-french"\ndecree = "BAL05"\n'
        f'[[table.device]]\nid = "wheel"\ndriver = "cammegh-ss2"\nlink = "{pty.url}"\n'
    )

    def look() -> list[tuple[str, str]]:
        found = serial_lines.check(load(file))
        return [(each.level, each.what) for each in found if "open in" in each.what]

    assert look() == []
    with program(PLAIN, str(pty.path)) as pid:
        [(level, what)] = look()
        assert level == "ok"
        assert f"(pid {pid})" in what
        with program(PYSERIAL, str(pty.path)) as second:
            [(level, what)] = look()
            assert level == "fault"
            assert f"(pid {pid})" in what
            assert f"(pid {second})" in what
