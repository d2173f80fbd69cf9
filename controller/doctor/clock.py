"""The machine's clock."""

from __future__ import annotations

from collections.abc import Iterator

from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.proof.clocks import ClockReading, read_clocks


def look(_: Configuration) -> Iterator[Finding]:
    """The clock of this machine, now."""
    yield judged(read_clocks())


def judged(reading: ClockReading) -> Finding:
    """What the kernel says of it."""
    if reading.synchronised is None:
        return Finding(
            "note", "clock", "the kernel does not say whether it is synchronised",
            "look with `timedatectl` on the machine itself",
        )  # fmt: skip
    if not reading.synchronised:
        return Finding(
            "warning", "clock", "nothing keeps it right",
            "install chrony, or let systemd-timesyncd run, with a source that the site trusts",
        )  # fmt: skip
    return Finding("ok", "clock", "it is synchronised")
