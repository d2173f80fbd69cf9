"""``novamas health``: whether the daemon of a configuration is online at its broker, for the
healthcheck of a container.
"""

from __future__ import annotations

import argparse
import asyncio

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at

MAX_AGE_SECONDS = 75.0
"""Age at which the daemon's health message counts as stale. It is published every 30 seconds."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG]."""
    config_argument(parser)
    parser.epilog = "exit status: 0 the daemon is online and stores what it reads, 1 it is not"


def run(arguments: argparse.Namespace) -> int:
    """Print the daemon's state in one line. Raises :class:`CommandLineError` if it is not well."""
    from common import clock
    from common.contract.topics import Topics
    from controller.doctor.retained import UnreachableError, retained

    configuration = configuration_at(arguments.config)
    site = configuration.site
    node = Topics(site.id, simulated=all(table.simulated for table in configuration.table))
    status, health = (node.node(site.node, leaf) for leaf in ("status", "health"))
    try:
        found = asyncio.run(retained(configuration, (status, health), "health"))
    except UnreachableError as error:
        raise CommandLineError(
            f"broker {configuration.broker.url}: {error}; start the broker, or the daemon that it "
            "is a part of"
        ) from None
    trouble = unhealthy(found.get(status), found.get(health), clock.wall())
    if trouble is not None:
        raise CommandLineError(f"node {site.node} of {site.id}: {trouble}")
    print(f"ok: node {site.node} of {site.id} is online")
    return 0


def unhealthy(status: bytes | None, health: bytes | None, now: float) -> str | None:
    """Return what is wrong with a daemon, and what to do, by its two retained messages; None if it
    is online, reported its health recently, and can store what it reads. ``now``: Unix time.
    """
    import msgspec

    from common.contract.node import Health, NodeStatus
    from common.contract.times import parse_utc

    if status is None or health is None:
        return "the daemon has published nothing; start it, or correct [site] and [broker]"
    try:
        present = msgspec.json.decode(status, type=NodeStatus)
        state = msgspec.json.decode(health, type=Health)
        age = now - parse_utc(state.time)
    except (ValueError, RecursionError):
        return "its messages are not a daemon's; let only the daemon write them: `novamas acl`"
    if present.status != "online":
        return f"the daemon is {present.status}; its log says why"
    if state.boot != present.boot:
        return "the daemon has just started, and has not reported its health yet; try again"
    if age > MAX_AGE_SECONDS:
        return f"the daemon has reported nothing for {age:.0f} s; restart it"
    if state.journal.state != "ok":
        return f"the journal cannot be written: {state.journal.trouble}"
    return None
