"""Checks the systemd units."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding

SYSTEMD_MARKER = Path("/run/systemd/system")
"""Exists while systemd manages the machine."""
PROPERTIES = ("LoadState", "ActiveState", "SubState", "UnitFileState", "NRestarts")
SYSTEMCTL_TIMEOUT_SECONDS = 10.0
"""Maximum seconds to wait for systemctl."""


def check(configuration: Configuration) -> Iterator[Finding]:
    """Check the units that the configuration needs."""
    if not SYSTEMD_MARKER.is_dir():
        yield Finding(
            "note", "units", "systemd does not run here",
            "the program that starts the daemon must restart it when it ends",
        )  # fmt: skip
        return
    for unit in (
        "novamas.service",
        *(("novamas-carrousel.service",) if configuration.jackpot else ()),
        *(("novamas-sign.service",) if configuration.sign else ()),
        *(("novamas-output.service",) if configuration.output else ()),
        *(("novamas-webhooks.service",) if configuration.webhook else ()),
        *(("novamas-lights.service",) if configuration.light else ()),
    ):
        yield assess(unit, _properties(unit))


def _properties(unit: str) -> dict[str, str]:
    """Return the properties of a unit; empty if systemctl does not reply."""
    words = [
        "systemctl",
        "show",
        unit,
        *(f"--property={name_of_property}" for name_of_property in PROPERTIES),
    ]
    try:
        completed = subprocess.run(  # noqa: S603 - a fixed program
            words, capture_output=True, text=True, check=True, timeout=SYSTEMCTL_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    pairs = (line.partition("=") for line in completed.stdout.splitlines())
    return {name: value for name, _, value in pairs}


def assess(unit: str, properties: dict[str, str]) -> Finding:
    """Assess the properties of a unit."""
    about = f"unit {unit}"
    if not properties:
        return Finding("note", about, "systemd does not answer", "look with `systemctl status`")
    if properties.get("LoadState") == "not-found":
        return Finding(
            "warning", about, "it is not installed", "docs/technician/systemd.md#install says how"
        )
    state = f"{properties.get('ActiveState', '?')} ({properties.get('SubState', '?')})"
    if properties.get("ActiveState") == "failed":
        return Finding("fault", about, state, f"journalctl --unit {unit} says why")
    if properties.get("UnitFileState") not in ("enabled", "enabled-runtime"):
        return Finding(
            "warning", about, f"{state}; it does not start with the machine",
            f"systemctl enable {unit}",
        )  # fmt: skip
    restarts = properties.get("NRestarts", "0")
    if restarts not in ("", "0"):
        return Finding(
            "warning", about, f"{state}; it was restarted {restarts} times automatically",
            f"journalctl --unit {unit} says why",
        )  # fmt: skip
    return Finding("ok", about, f"{state}, and starts with the machine")
