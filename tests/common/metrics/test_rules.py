"""The alert rules: promtool reads them, and each fires when it must and only then."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.metrics_page import EVERY

pytestmark = pytest.mark.usefixtures("programs")

MONITORING = Path(__file__).parents[3] / "docs" / "technician" / "monitoring"
RULES = MONITORING / "novamas.rules.yml"
TABLE = '{table="r1",simulated="false"}'
DEVICE = '{table="r1",simulated="false",device="wheel"}'
WEBHOOK = '{webhook="shop"}'
SITE, JACKPOT = '{site="palma"}', '{jackpot="linked"}'
CASES: Mapping[str, tuple[dict[str, str], dict[str, str]]] = {
    "NovamasDown": (
        {'up{job="novamas-web"}': "0x40"},
        {'up{job="novamas-web"}': "1x40", 'up{job="node"}': "0x40"},
    ),
    "NovamasTableOffline": (
        {f"novamas_table_online{TABLE}": "0x40", f"novamas_table_elsewhere{TABLE}": "0x40"},
        {f"novamas_table_online{TABLE}": "0x40", f"novamas_table_elsewhere{TABLE}": "1x40"},
    ),
    "NovamasDeviceSilent": (
        {f"novamas_device_up{DEVICE}": "0x40"},
        {f"novamas_device_up{DEVICE}": "1x40"},
    ),
    "NovamasReadingsLost": (
        {f"novamas_table_readings_lost_total{TABLE}": "0+1x40"},
        {f"novamas_table_readings_lost_total{TABLE}": "7x40"},
    ),
    "NovamasRoundUnresolved": (
        {f"novamas_table_unresolved_rounds{TABLE}": "1x40"},
        {f"novamas_table_unresolved_rounds{TABLE}": "0x40"},
    ),
    "NovamasJournalCannotWrite": (
        {"novamas_journal_writable": "0x40"},
        {"novamas_journal_writable": "1x40"},
    ),
    "NovamasDiskNearlyFull": (
        {
            "novamas_journal_disk_free_bytes": "4000000000x40",
            "novamas_journal_disk_size_bytes": "1000000000000x40",
        },
        {
            "novamas_journal_disk_free_bytes": "400000000000x40",
            "novamas_journal_disk_size_bytes": "1000000000000x40",
        },
    ),
    "NovamasJournalNotSealed": (
        {"novamas_journal_sealed_timestamp_seconds": "-90000x40"},
        {"novamas_journal_sealed_timestamp_seconds": "0x40"},
    ),
    "NovamasJournalNotVerified": (
        {"novamas_journal_verified_timestamp_seconds": "-90000x40"},
        {"novamas_journal_verified_timestamp_seconds": "0x40"},
    ),
    "NovamasBrokerAway": (
        {"novamas_broker_connected": "0x40", "novamas_outbox_oldest_seconds": "0+15x40"},
        {"novamas_broker_connected": "0x40", "novamas_outbox_oldest_seconds": "0x40"},
    ),
    "NovamasBrokerForbids": (
        {"novamas_broker_forbidden_topics": "2x40"},
        {"novamas_broker_forbidden_topics": "0x40"},
    ),
    "NovamasClockUnproved": (
        {'novamas_alerts{what="time.unproved"}': "1x40"},
        {'novamas_alerts{what="journal.room"}': "1x40"},
    ),
    "NovamasCertificateEnds": (
        {'novamas_certificate_end_timestamp_seconds{certificate="web.cert_file"}': "2500000x40"},
        {'novamas_certificate_end_timestamp_seconds{certificate="web.cert_file"}': "2700000x40"},
    ),
    "NovamasReloadRefused": (
        {"novamas_reload_refused": "1x40"},
        {"novamas_reload_refused": "1x8 0x32"},
    ),
    "NovamasJackpotOutOfPlay": (
        {f"novamas_carrousel_in_play{JACKPOT}": "0x40"},
        {f"novamas_carrousel_in_play{JACKPOT}": "1x40"},
    ),
    "NovamasJackpotStandbyUnready": (
        {"novamas_carrousel_standby_unready": "1x40", "novamas_carrousel_standby_unable": "0x40"},
        {"novamas_carrousel_standby_unready": "0x40", "novamas_carrousel_standby_unable": "0x40"},
    ),
    "NovamasRecorderBehind": (
        {f"novamas_surveillance_wanted_recalls{SITE}": "3x40"},
        {
            "novamas_surveillance_archive_up": "1x40",
            f"novamas_surveillance_broker_connected{SITE}": "1x40",
            f"novamas_surveillance_waiting_messages{SITE}": "20x40",
            f"novamas_surveillance_wanted_recalls{SITE}": "3 0 2 0x37",
        },
    ),
    "NovamasFindingOpen": (
        {f"novamas_surveillance_findings_open{SITE}": "1x40"},
        {f"novamas_surveillance_findings_open{SITE}": "0x40"},
    ),
    "NovamasWebhookWaits": (
        {f"novamas_webhooks_oldest_seconds{WEBHOOK}": "400x40"},
        {f"novamas_webhooks_oldest_seconds{WEBHOOK}": "30x40"},
    ),
    "NovamasWebhooksBehind": (
        {"novamas_webhooks_outbox_up": "0x40"},
        {"novamas_webhooks_outbox_up": "1x40", "novamas_webhooks_unheard_tables": "0x40"},
    ),
    "NovamasWebWithoutBroker": (
        {'novamas_web_broker_connected{simulated="false"}': "0x40"},
        {'novamas_web_broker_connected{simulated="false"}': "1x40"},
    ),
}
"""By alert: the series, one value every 15 seconds, with which it fires, and those with which it
does not.
"""


def promtool(*words: str) -> None:
    ran = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def names_in(path: Path) -> set[str]:
    """The metrics that a file names."""
    found = re.findall(r"\bnovamas_[a-z0-9_]+", path.read_text())
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}


def test_the_files_are_sound() -> None:
    promtool("check", "rules", str(RULES))
    promtool("check", "config", str(MONITORING / "prometheus.yml"))


def test_every_metric_of_the_files_exists() -> None:
    for path in MONITORING.iterdir():
        assert names_in(path) <= EVERY.keys(), path.name


def test_each_alert_fires_when_it_must(tmp_path: Path) -> None:
    """promtool evaluates ten minutes of each: silent when nothing is wrong, on time when it is."""
    named = re.findall(r"- alert: (\w+)", RULES.read_text())
    assert named == [*CASES]
    tests = [
        {
            "name": f"{name}, {'wrong' if fires else 'sound'}",
            "interval": "15s",
            "input_series": [{"series": s, "values": v} for s, v in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}}) or vector(0)',
                    "eval_time": "10m",
                    "exp_samples": [{"labels": "{}", "value": int(fires)}],
                }
            ],
        }
        for name, both in CASES.items()
        for fires, series in zip((True, False), both, strict=True)
    ]
    file = tmp_path / "test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "tests": tests}))
    promtool("test", "rules", str(file))
