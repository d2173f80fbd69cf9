"""The units of systemd, where it runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding

RUNS = Path("/run/systemd/system")
"""Is there while systemd is in charge of the machine."""
ASKED = ("LoadState", "ActiveState", "SubState", "UnitFileState", "NRestarts")
PATIENCE = 10.0
"""Seconds for an answer."""


def look(configuration: Configuration) -> Iterator[Finding]:
    """The units that the configuration needs."""
    if not RUNS.is_dir():
        yield Finding(
            "note", "units", "systemd does not run here",
            "whatever starts the daemon must start it again when it ends",
        )  # fmt: skip
        return
    for unit in (
        "novamas.service",
        *(("novamas-carrousel.service",) if configuration.jackpot else ()),
        *(("novamas-sign.service",) if configuration.sign else ()),
    ):
        yield judged(unit, _asked(unit))


def _asked(unit: str) -> dict[str, str]:
    """What systemd says of a unit; nothing, if it does not answer."""
    words = ["systemctl", "show", unit, *(f"--property={each}" for each in ASKED)]
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed program
            words, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    pairs = (line.partition("=") for line in answer.stdout.splitlines())
    return {name: value for name, _, value in pairs}


def judged(unit: str, said: dict[str, str]) -> Finding:
    """What is to be thought of a unit."""
    about = f"unit {unit}"
    if not said:
        return Finding("note", about, "systemd does not answer", "look with `systemctl status`")
    if said.get("LoadState") == "not-found":
        return Finding(
            "warning", about, "it is not installed", "docs/technician/systemd.md says how"
        )
    state = f"{said.get('ActiveState', '?')} ({said.get('SubState', '?')})"
    if said.get("ActiveState") == "failed":
        return Finding("fault", about, state, f"journalctl --unit {unit} says why")
    if said.get("UnitFileState") not in ("enabled", "enabled-runtime"):
        return Finding(
            "warning", about, f"{state}; it does not start with the machine",
            f"systemctl enable {unit}",
        )  # fmt: skip
    restarts = said.get("NRestarts", "0")
    if restarts not in ("", "0"):
        return Finding(
            "warning", about, f"{state}; it was started again {restarts} times by itself",
            f"journalctl --unit {unit} says why",
        )  # fmt: skip
    return Finding("ok", about, f"{state}, and starts with the machine")
