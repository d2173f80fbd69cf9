"""Datagrams to the service manager."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from controller.service import systemd_notify
from controller.service.systemd_notify import KEEP_ALIVE, notify, watchdog_interval
from tests.support.waiting import TIMEOUT_SECONDS


@pytest.mark.parametrize("abstract", [False, True])
def test_lines_go_out_as_one_datagram(
    abstract: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"@novamas-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address.replace("@", "\0"))
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify("READY=1", "STATUS=2 tables")
        assert manager.recv(100) == b"READY=1\nSTATUS=2 tables"


def test_a_manager_that_does_not_read_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        count = 2 + int(Path("/proc/sys/net/unix/max_dgram_qlen").read_text())
        for _ in range(count):
            notify(KEEP_ALIVE)
        with monkeypatch.context() as patch:
            patch.setattr(systemd_notify, "SEND_TIMEOUT_SECONDS", 0.01)
            notify("STATUS=1 tables")
        monkeypatch.setattr(systemd_notify, "SEND_TIMEOUT_SECONDS", TIMEOUT_SECONDS)
        sender = threading.Thread(target=notify, args=("STOPPING=1",))
        sender.start()
        said = [manager.recv(100)]
        while said[-1] == b"WATCHDOG=1":
            said.append(manager.recv(100))
        sender.join()
    assert said[-1] == b"STOPPING=1"
    assert len(said) <= count


def test_without_a_listener_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    notify("READY=1")


@pytest.mark.parametrize(
    ("usec", "pid", "interval"),
    [
        ("3000000", "", 1.5),
        ("3000000", "ours", 1.5),
        ("3000000", "1", None),
        ("", "", None),
        ("0", "", None),
        ("x", "", None),
    ],
)
def test_the_interval_is_half_of_the_units(
    usec: str, pid: str, interval: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", usec)
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()) if pid == "ours" else pid)
    assert watchdog_interval() == interval
