"""Checks the pair: whether the store of the lease replies, and who has the tables."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import partial

from common.standby.errors import StoreUnreachableError, StoreUnusableError
from common.standby.record import LeaseRecord, read_record
from common.standby.seal import StructSigner
from common.standby.store import RecordStore, StoreEntry
from controller.configuration.settings import Configuration, StandbyConfig
from controller.doctor import ledger_log
from controller.doctor.finding import Finding
from controller.doctor.replicas import too_few_replicas

TABLES = "the tables"
REPLY_TIMEOUT_SECONDS = 5.0
"""Maximum seconds to wait for each reply."""
MIN_RELEASE, MIN_RELEASE_2_12 = (2, 10, 23), (2, 12, 3)
"""The first releases without known data loss: in general, and in the branch 2.12."""
SAFE_RELEASES = "2.10.23 or later, of the branch 2.12 at least 2.12.3"
_RELEASE = re.compile(r"v?([0-9]+)\.([0-9]+)\.([0-9]+)")


def check(configuration: Configuration) -> Iterator[Finding]:
    """Check the store of the lease, without writing to it."""
    settings, site, carrousel = configuration.standby, configuration.site, configuration.carrousel
    if settings is None:
        return
    if configuration.table:
        seal = StructSigner(f"{site.id}/{site.node}", lambda: None, settings.keys)
        yield from asyncio.run(_check(settings, site.node, seal, "standby", TABLES))
    if carrousel.standby:
        seal = StructSigner(f"{site.id}/{carrousel.node}", lambda: None, carrousel.standby_keys)
        yield from asyncio.run(_check(settings, carrousel.node, seal, "jackpots", "the ledger"))
        yield from asyncio.run(ledger_log.check(settings, configuration))


async def _check(
    settings: StandbyConfig, node: str, seal: StructSigner, about: str, right: str
) -> list[Finding]:
    store = RecordStore(settings, node, REPLY_TIMEOUT_SECONDS, partial(read_record, seal=seal))
    findings: list[Finding] = []
    try:
        for _ in settings.servers:  # each must reply
            try:
                entry = await store.read()
            except StoreUnreachableError as error:
                do = "start the node, or correct [standby]"
                findings.append(Finding("warning", about, f"no answer from {error}", do))
            else:
                findings += assess(about, store.server or "", entry, right)
                findings += check_release(about, store.server or "", store.version)
            await store.close()
        if any(finding.level == "ok" for finding in findings):
            findings += await _check_replicas(settings, store, about)
    except StoreUnusableError as error:
        do = "run this as the unit does, or correct [standby]"
        findings.append(Finding("fault", about, str(error), do))
    except StoreUnreachableError as error:
        findings.append(Finding("warning", about, f"no answer from {error}", "look at the cluster"))
    finally:
        await store.close()
    if not any(finding.level == "ok" for finding in findings):
        do = "start the cluster: while it does not answer, neither machine serves"
        findings.append(Finding("fault", about, "the store of the lease cannot be read", do))
    return findings


def assess(
    about: str, server: str, entry: StoreEntry[LeaseRecord], right: str = TABLES
) -> list[Finding]:
    """Assess the lease that a server returned. ``right``: what its holder has."""
    record = entry.record
    if record is None:
        return [Finding("ok", about, f"{server} answers; no machine has had {right} yet")]
    holder = f"{record.instance} {f'gave {right} back' if record.released else f'has {right}'}"
    return [Finding("ok", about, f"{server} answers; {holder}, term {record.term}")]


def check_release(about: str, server: str, version: str) -> list[Finding]:
    """Check whether this release of nats-server is known to lose acknowledged data, and mention the
    setting that a client cannot read.
    """
    if (number := _number(version)) is None:
        result = f"{server}: nats-server {version or 'of no version'}"
        return [Finding("warning", about, result, f"use {SAFE_RELEASES}")]
    if number < MIN_RELEASE or (number[:2] == MIN_RELEASE_2_12[:2] and number < MIN_RELEASE_2_12):
        result = f"{server}: nats-server {version} is known to lose acknowledged data"
        return [
            Finding(
                "warning",
                about,
                result,
                f"update it to {SAFE_RELEASES} (docs/integrator/scale.md#set-up-nats)",
            )
        ]
    result = f"{server}: nats-server {version}; its sync_interval cannot be read by a client"
    return [Finding("note", about, result, "make sure that it has `sync_interval: always`")]


def _number(version: str) -> tuple[int, ...] | None:
    """Parse ``2.12.3-RC.1`` as numbers."""
    match = _RELEASE.match(version)
    return None if match is None else tuple(map(int, match.groups()))


async def _check_replicas(
    settings: StandbyConfig, store: RecordStore[LeaseRecord], about: str
) -> list[Finding]:
    try:
        replicas, current = await store.replicas()
    except StoreUnreachableError:  # there is no bucket yet
        return []
    stream = f"KV_{settings.bucket}"
    return too_few_replicas(about, "lease", stream, settings.replicas, replicas, current)
