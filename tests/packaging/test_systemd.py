"""The unit and the udev rules, as systemd itself judges them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from common.standby.record import MAX_LEASE_SECONDS
from common.standby.right import MAX_CHECK_INTERVAL_SECONDS, reply_timeout
from tests.support.for_each import for_each

pytestmark = pytest.mark.usefixtures("programs")

SYSTEMD = Path(__file__).parents[2] / "systemd"
UNIT = SYSTEMD / "novamas.service"
WEB = SYSTEMD / "novamas-web.service"
CARROUSEL = SYSTEMD / "novamas-carrousel.service"
SIGN = SYSTEMD / "novamas-sign.service"
OUTPUT = SYSTEMD / "novamas-output.service"
LIGHTS = SYSTEMD / "novamas-lights.service"
VERIFY = SYSTEMD / "novamas-carrousel-verify.service"
RECORDER = SYSTEMD / "novamas-surveillance.service"
WEBHOOKS = SYSTEMD / "novamas-webhooks.service"
UNITS = [UNIT, WEB, CARROUSEL, SIGN, OUTPUT, LIGHTS, VERIFY, RECORDER, WEBHOOKS]
EXPOSURE = 1.4
"""The most that ``systemd-analyze security`` may find exposed, from 0 (nothing) to 10."""


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_the_unit_is_sound(tmp_path: Path, path: Path) -> None:
    """With the programs that are installed here in the place of those it will start."""
    unit = tmp_path / path.name
    text = path.read_text()
    started = [line for line in text.splitlines() if line.startswith("Exec")]
    assert text.count("/opt/novamas/bin/novamas ") == len(started) >= 1
    unit.write_text(
        text.replace("/opt/novamas/bin/novamas ", f"{Path(sys.executable).with_name('novamas')} ")
    )
    checked = run("systemd-analyze", "verify", "--man=no", unit)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_the_sandbox_is_tight(path: Path) -> None:
    judged = run(
        "systemd-analyze",
        "security",
        "--offline=true",
        f"--threshold={EXPOSURE * 10:.0f}",
        "--no-pager",
        path,
    )
    assert judged.returncode == 0, judged.stdout[-300:] + judged.stderr


def test_the_timer_starts_the_verification() -> None:
    timer = VERIFY.with_suffix(".timer")
    (when,) = [
        line.removeprefix("OnCalendar=")
        for line in timer.read_text().splitlines()
        if line.startswith("OnCalendar=")
    ]
    assert run("systemd-analyze", "calendar", when).returncode == 0


@for_each(
    "line",
    [
        "Type=notify",
        "NotifyAccess=main",
        "ExecReload=/opt/novamas/bin/novamas reload /etc/novamas/novamas.toml",
        "Restart=always",
        "StartLimitIntervalSec=0",
        "RestartPreventExitStatus=78",
        "LimitCORE=0",
        "DynamicUser=yes",
        "StateDirectory=novamas",
        "SupplementaryGroups=dialout",
    ],
)
def test_the_unit_keeps_what_the_daemon_relies_on(line: str) -> None:
    assert line in UNIT.read_text().splitlines()


def test_a_daemon_that_waits_for_its_lease_answers_the_watchdog_in_time() -> None:
    [watchdog] = [
        float(line.partition("=")[2])
        for line in UNIT.read_text().splitlines()
        if line.startswith("WatchdogSec=")
    ]
    between = (
        2 * reply_timeout(MAX_LEASE_SECONDS) + MAX_CHECK_INTERVAL_SECONDS
    )  # an answer, the connection's end, and a pause
    assert between < watchdog / 2


def test_every_udev_rule_has_a_match_and_an_action() -> None:
    """The rules and, taken as rules, the commented examples. ``udevadm verify`` says it too, where
    it is new enough.
    """
    rules = [
        line.removeprefix("#")
        for line in (SYSTEMD / "70-novamas.rules").read_text().splitlines()
        if "=" in line and not line.startswith("# ")
    ]
    assert len(rules) >= 5
    for rule in rules:
        parts = rule.split(", ")
        assert any("==" in part or "!=" in part for part in parts) or rule.startswith("LABEL"), rule
        assert all(part.count('"') == 2 for part in parts), rule
        if "SYMLINK" in rule:
            assert '"novamas/' in rule
            assert 'TAG+="systemd"' in rule
    udevadm = shutil.which("udevadm")
    if udevadm and "verify" in run(udevadm, "--help").stdout:
        assert run(udevadm, "verify", SYSTEMD / "70-novamas.rules").returncode == 0
