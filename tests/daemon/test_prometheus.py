"""A real Prometheus asks a daemon, a web server, a controller of jackpots, a recorder and webhooks:
every expression of the rules and dashboards is answered, and with numbers where the floor has any.
"""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from tests.common.metrics.test_rules import MONITORING, RULES
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.carrousel.floor import Controller, terms
from tests.support.daemon.play import command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.metrics_page import EVERY
from tests.support.surveillance.recorder import Recorder
from tests.support.video.receivers import HTTPReceiver
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.server import WebServer
from tests.support.webhooks.program import Webhooks, secret

NOT_HERE = {
    "novamas_alerts",
    "novamas_certificate_end_timestamp_seconds",
    "novamas_carrousel_alerts_total",
    "novamas_carrousel_orders_refused_total",
    "novamas_carrousel_standby_term",
    "novamas_carrousel_standby_unable",
    "novamas_carrousel_standby_unready",
    "novamas_clock_bound_seconds",
    "novamas_clock_error_seconds",
    "novamas_clock_offset_seconds",
    "novamas_clock_synchronised",
    "novamas_people_enrolled",
    "novamas_people_file_number",
    "novamas_people_file_refused",
    "novamas_people_file_timestamp_seconds",
    "novamas_reload_refused",
    "novamas_reload_timestamp_seconds",
    "novamas_reload_waiting_tables",
    "novamas_standby_term",
    "novamas_standby_unable",
    "novamas_standby_waiting",
    "novamas_table_alerts",
    "novamas_table_irregularities_total",
    "novamas_table_witness_rounds_total",
    "novamas_web_api_gaps_total",
    "novamas_web_api_storing",
    "novamas_web_api_streams",
    "novamas_web_api_streams_behind_total",
    "novamas_web_api_streams_refused_total",
}
"""What this floor does not have, or may not: alerts, certificates, refused orders, a source of
time, people, a reload, a second daemon or controller, a second witness of a round, an HTTP API."""


class Prometheus:
    """It asks once a second."""

    def __init__(self, folder: Path, **jobs: int) -> None:
        folder.mkdir()
        self.port = free_port()
        (folder / "novamas.rules.yml").write_text(RULES.read_text())
        given = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["novamas.rules.yml"],
            "scrape_configs": [
                {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                for name, port in jobs.items()
            ],
        }
        (folder / "prometheus.yml").write_text(json.dumps(given))
        self._log = folder / "prometheus.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self.port}",
                ],
                stderr=log,
            )

    def ask(self, path: str, **query: str) -> Any:
        """What its API answers; None while it does not yet."""
        words = urllib.parse.urlencode(query)
        address = f"http://127.0.0.1:{self.port}/api/v1/{path}?{words}"
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            if refused.code == 503:  # it is still starting
                return None
            raise AssertionError(f"{query}: {refused.read().decode()}") from None
        except urllib.error.URLError:
            assert self.process.poll() is None, self.log()
            return None

    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def panels() -> Iterator[tuple[str, str]]:
    """Each expression of the dashboards with its place, as Grafana queries it."""
    for path in sorted(MONITORING.glob("dashboard-*.json")):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                asked = target["expr"].replace("$__rate_interval", "1m").replace("$table", ".+")
                assert "$" not in asked
                yield f"{path.name}: {panel['title']}", asked


def test_a_real_prometheus_is_answered(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tell: Callable[[str, Callable[[], str]], None],
    ending: ExitStack,
    tmp_path: Path,
) -> None:
    subscriber = subscribe(mosquitto.port)
    own, jackpots, archive, hooks = (free_port() for _ in range(4))
    run = daemon(
        f"{configuration(mosquitto.port, table('r1', wheel))}\n"
        f'[metrics]\nlisten = "127.0.0.1:{own}"\n'
        f'[archive]\npath = "archive.sqlite3"\nlisten = "127.0.0.1:{archive}"\n'
    )
    run.start()
    recorder = Recorder(run.file)
    ending.callback(recorder.kill)
    recorder.start()
    carrousel = Controller(
        tmp_path / "carrousel", mosquitto.port, terms("p1"), listen=("127.0.0.1", jackpots)
    )
    ending.callback(carrousel.kill)
    carrousel.start()
    sent = tmp_path / "webhooks"
    sent.mkdir()
    receiver = HTTPReceiver()
    ending.callback(receiver.stop)
    webhooks = Webhooks(
        sent,
        f"""{configuration(mosquitto.port)}
[webhooks]
listen = "127.0.0.1:{hooks}"
[[webhook]]
id = "shop"
address = "{receiver.address}"
secret_file = "{secret(sent)}"
""",
    )
    ending.callback(webhooks.kill)
    webhooks.start()
    web = WebServer(tmp_path / "web", mosquitto.port, [("r1", False)], site="palma")
    ending.callback(web.kill)
    made = Prometheus(
        tmp_path / "prometheus",
        **{
            "novamas": own,
            "novamas-carrousel": jackpots,
            "novamas-surveillance": archive,
            "novamas-web": web.port,
            "novamas-webhooks": hooks,
        },
    )
    ending.callback(tell, "log of Prometheus", made.log)
    ending.callback(made.kill)
    until_up(subscriber, run)
    command(subscriber, "session.open")
    command(subscriber, "round.confirm")  # refused: the port has no listener
    spin(wheel, subscriber, "17", 2)

    def found(expression: str) -> list[Any]:
        told = made.ask("query", query=expression)
        return [] if told is None else list(told["result"])

    until("all are asked", lambda: len(found("up == 1")) == 5, lambda: f"{found('up == 0')}")
    for name, family in EVERY.items():
        suffix = "_count" * (family.kind == "histogram")
        if name not in NOT_HERE:
            until(f"numbers of {name}", partial(found, name + suffix), made.log)
    for place, asked in panels():
        if not any(name in asked for name in NOT_HERE):
            until(f"numbers for {place}: {asked}", partial(found, asked), made.log)
        else:
            found(asked)
    [group] = made.ask("rules")["groups"]
    assert [rule["name"] for rule in group["rules"] if rule["health"] == "err"] == []
    for rule in group["rules"]:
        found(rule["query"])
    at_once = {each["metric"]["alertname"] for each in found('ALERTS{alertstate="firing"}')}
    assert at_once <= {"NovamasDiskNearlyFull"}, "nothing is wrong here but perhaps the disk"
