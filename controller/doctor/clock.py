"""Checks the machine's clock."""

from __future__ import annotations

from collections.abc import Iterator

from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.proof.clocks import ClockReading, read_clocks


def check(_: Configuration) -> Iterator[Finding]:
    """Check the clock of this machine now."""
    yield assess(read_clocks())


def assess(reading: ClockReading) -> Finding:
    """Assess a reading of the clock."""
    if reading.synchronised is None:
        return Finding(
            "note", "clock", "the kernel does not report whether it is synchronised",
            "check with `timedatectl` on the machine itself",
        )  # fmt: skip
    if not reading.synchronised:
        return Finding(
            "warning", "clock", "it is not synchronised",
            "install chrony, or let systemd-timesyncd run, with a source that the site trusts",
        )  # fmt: skip
    return Finding("ok", "clock", "it is synchronised")
