"""``novamas run`` serves Prometheus metrics, and loads no module for them unless configured."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from controller.service.metric_families import FAMILIES
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import TIMEOUT_SECONDS, until

Told = dict[tuple[str, frozenset[tuple[str, str]]], float]


def told_at(port: int) -> Told:
    """Every number, by its name and labels."""
    with urllib.request.urlopen(
        f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_SECONDS
    ) as answer:
        families = [*text_string_to_metric_families(answer.read().decode())]
    said = {each.name + "_total" * (each.type == "counter") for each in families}
    assert said == {each.name for each in FAMILIES}
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for each in families
        for sample in each.samples
    }


def test_a_daemon_reports_its_metrics(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    subscriber, port = subscribe(mosquitto.port), free_port()
    text = configuration(mosquitto.port, table("r1", wheel))
    run = daemon(f'{text}\n[metrics]\nlisten = "127.0.0.1:{port}"\n')
    run.start()
    until_up(subscriber, run)
    command(subscriber, "session.open")
    refused = command(subscriber, "round.confirm")
    assert not refused["ok"]
    spin(wheel, subscriber, "17", 2)
    wheel.show(5, 2, "18")  # another number than was published
    until("the irregularity", lambda: subscriber.events("irregularity"))

    def value(name: str, **labels: str) -> float | None:
        return told_at(port).get((f"novamas_{name}", frozenset(labels.items())))

    of = {"table": "r1", "simulated": "false"}
    what = subscriber.events("irregularity")[0]["what"]
    until("it is counted", lambda: value("table_irregularities_total", what=what, **of))
    assert value("table_online", **of) == 1
    assert value("table_results_total", **of) == 1
    assert value("table_voids_total", **of) == 0

    def as_published() -> bool:
        """The retained state may be of before."""
        return value("table_status", status=subscriber.latest("/r1/state")["status"], **of) == 1

    until("the status", as_published, subscriber.transcript)
    assert value("device_up", device="wheel", **of) == 1
    assert (value("device_frames_total", device="wheel", **of) or 0) > 4
    assert value("commands_followed_total") == 1
    assert value("commands_refused_total", reason=refused["refusal"]["key"]) == 1
    assert (value("journal_entries") or 0) > 4
    assert (value("stage_seconds_count", stage="committed") or 0) > 3
    assert (value("journal_commit_seconds_count") or 0) > 3
    assert (value("journal_disk_free_bytes") or 0) > 0
    assert value("broker_connected") == 1
    assert value("reload_refused") is None
    right = run.file.read_text()
    run.file.write_text("[site]")
    run.signal(signal.SIGHUP)
    until("it is refused", lambda: value("reload_refused") == 1, run.log)
    run.file.write_text(right)
    run.signal(signal.SIGHUP)
    until("it is taken over", lambda: value("reload_refused") == 0, run.log)
    assert value("reload_waiting_tables") == 0
    assert (value("reload_timestamp_seconds") or 0) > 1e9
    mosquitto.kill()
    until("the broker is away", lambda: value("table_online", **of) == 0)
    assert value("broker_connected") == 0
    wheel.unplug()
    until("the wheel is lost", lambda: value("table_alerts", what="link.lost", **of) == 1)
    assert value("device_up", device="wheel", **of) == 0
    until("events wait", lambda: value("outbox_events"))


@pytest.mark.usefixtures("programs")
def test_the_library_is_not_loaded_where_not_configured() -> None:
    program = (
        "import sys, controller.service.daemon;"
        "sys.exit(any(each.startswith(('prometheus_client', 'controller.service.metrics'))"
        " for each in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
