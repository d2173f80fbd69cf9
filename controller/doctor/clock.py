"""Checks the machine's clock and time zone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from common import clock
from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.proof.clocks import ClockReading, read_clocks

POSIX_ZONE = re.compile(r":?(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)[+-]?\d.*")
"""A ``TZ`` that states its offset itself, as ``CET-1CEST`` (POSIX.1-2017, 8.3)."""


def check(_: Configuration) -> Iterator[Finding]:
    """Check the clock and the time zone of this machine now."""
    yield assess(read_clocks())
    yield assess_zone(os.environ.get("TZ"))


def assess_zone(name: str | None) -> Finding:
    """Assess ``TZ``, or the zone of the machine if it is not set. The C library takes a zone that
    does not exist for UTC without a word.
    """
    if name and not POSIX_ZONE.fullmatch(name):
        try:
            ZoneInfo(name.removeprefix(":"))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return Finding(
                "warning", "time zone", f"local time is UTC: TZ={name!r} names no time zone",
                "correct TZ, as Europe/Madrid, or unset it to use the machine's zone; "
                "`timedatectl list-timezones` lists the names, the package tzdata has them",
            )  # fmt: skip
    return Finding("ok", "time zone", f"local time is {clock.now().astimezone():%H:%M %Z (%z)}")


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
