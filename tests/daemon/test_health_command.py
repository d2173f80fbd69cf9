"""``novamas health``: well as long as the daemon serves its tables, and not a moment longer."""

from __future__ import annotations

import json
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from common.contract.times import parse_utc
from controller.cli import main
from controller.cli.health import unhealthy
from tests.daemon.conftest import Shared
from tests.support.brokers.mosquitto import Mosquitto, free_port
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until


def health(config: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Its exit status, and what it printed."""
    status = main(["health", str(config)])
    printed = capsys.readouterr()
    return status, printed.out + printed.err


@pytest.mark.parametrize("embedded", [False, True], ids=["mosquitto", "embedded"])
def test_it_is_well_while_the_daemon_runs_and_its_broker_too(
    mosquitto: Mosquitto,
    wheel: Wheel,
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
    embedded: bool,
) -> None:
    text = configuration(mosquitto.port, table("r1", wheel))
    if embedded:
        text = text.replace(
            f"mqtt://127.0.0.1:{mosquitto.port}", f"embedded://127.0.0.1:{free_port()}"
        )
    daemon = Daemon(tmp_path, text)
    ending.callback(daemon.kill)
    status, printed = health(daemon.file, capsys)
    assert status == 1
    assert "start" in printed
    daemon.start()
    until("healthy", lambda: health(daemon.file, capsys)[0] == 0, daemon.log)
    assert health(daemon.file, capsys)[1].startswith("ok: node ")
    daemon.signal(signal.SIGKILL)
    daemon.wait()
    until("unhealthy", lambda: health(daemon.file, capsys)[0] == 1)
    mosquitto.kill()
    status, printed = health(daemon.file, capsys)
    assert status == 1
    assert printed.startswith("novamas: broker ")


def test_what_a_daemon_reports_decides(shared_daemon: Shared) -> None:
    reported = until(
        "health", lambda: shared_daemon.subscriber.latest("/health"), shared_daemon.running.log
    )
    journal, now = reported["journal"], parse_utc(reported["time"])
    online = {"status": "online", "boot": reported["boot"]}
    stuck = {**reported, "journal": {**journal, "state": "failed", "trouble": "No space left"}}
    cases: dict[str, tuple[Any, Any, float]] = {
        "published nothing": (None, reported, now),
        "has published nothing": (online, None, now),
        "is offline; its log": ({**online, "status": "offline"}, reported, now),
        "just started": ({**online, "boot": "another"}, reported, now),
        "reported nothing for 76 s; restart it": (online, reported, now + 76),
        "cannot be written: No space left": (online, stuck, now),
        "not a daemon's": (online, [1], now),
    }
    for wrong, (status, state, moment) in cases.items():
        assert wrong in str(unhealthy(encoded(status), encoded(state), moment)), wrong
    assert unhealthy(encoded(online), encoded(reported), now + 74) is None


def encoded(message: Any) -> bytes | None:
    return None if message is None else json.dumps(message).encode()
