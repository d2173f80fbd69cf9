"""The alert about expiring certificates."""

from __future__ import annotations

from pathlib import Path

from common.contract.retained import Alert
from controller.configuration.file import load
from controller.service.certificates import ALERT_ID, CertificateWatch
from tests.support.daemon.process import configuration

DAY = 86_400.0
TABLE = """
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:1"
"""


def test_the_alert_of_certificates(tmp_path: Path) -> None:
    """From thirty days before expiry; a fault afterwards; cleared by the new certificate."""
    file = tmp_path / "novamas.toml"
    file.write_text(configuration(1, TABLE))
    alerts: dict[str, Alert] = {}
    changes: list[str] = []
    watch = CertificateWatch(
        configuration=load(file), alerts=alerts, changed=lambda: changes.append("changed")
    )
    found = []
    for ends in (31.5, 30.5, 29.5, 29.4, 1.5, 0.5, -0.5, 90.0):
        watch.ends = {"web.cert_file web.pem": 1000 * DAY + ends * DAY, "other": 2000 * DAY}
        watch.report(1000 * DAY)
        alert = alerts.get(ALERT_ID)
        found.append(None if alert is None else (alert.severity, alert.detail))
    said = "web.cert_file web.pem: it {}. Renew them and restart the services that use them"
    assert found == [
        None,
        None,
        ("warning", said.format("ends in 29 days, on 1972-10-26")),
        ("warning", said.format("ends in 29 days, on 1972-10-26")),
        ("warning", said.format("ends in 1 day, on 1972-09-28")),
        ("warning", said.format("ends today, on 1972-09-27")),
        ("fault", said.format("has expired on 1972-09-26")),
        None,
    ]
    assert len(changes) == 5
