"""The pair: whether the store of the lease answers, and who has the tables."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import partial

from controller.configuration.settings import Configuration, StandbyConfig
from controller.doctor.finding import Finding
from controller.standby.errors import StoreUnreachableError, StoreUnusableError
from controller.standby.record import LeaseRecord, read_record
from controller.standby.seal import StructSigner
from controller.standby.store import RecordStore, StoreEntry

PATIENCE = 5.0
"""Seconds for each answer."""
LEAST, LEAST_2_12 = (2, 10, 23), (2, 12, 3)
"""The first releases without known losses, and the first of the branch 2.12."""
SAFE = "2.10.23 or later, of the branch 2.12 at least 2.12.3"
_RELEASE = re.compile(r"v?([0-9]+)\.([0-9]+)\.([0-9]+)")


def look(configuration: Configuration) -> Iterator[Finding]:
    """The store of the lease; nothing is written there."""
    if configuration.standby is not None:
        site = configuration.site
        yield from asyncio.run(_asked(configuration.standby, site.id, site.node))


async def _asked(settings: StandbyConfig, site: str, node: str) -> list[Finding]:
    seal = StructSigner(f"{site}/{node}", lambda: None, settings.keys)
    store, about = RecordStore(settings, node, PATIENCE, partial(read_record, seal=seal)), "standby"
    found: list[Finding] = []
    try:
        for _ in settings.servers:  # each of them is to answer
            try:
                entry = await store.read()
            except StoreUnreachableError as error:
                do = "start the node, or correct [standby]"
                found.append(Finding("warning", about, f"no answer from {error}", do))
            else:
                found += judged(about, store.server or "", entry)
                found += of_release(about, store.server or "", store.version)
            await store.close()
        if any(each.level == "ok" for each in found):
            found += await _kept(settings, store, about)
    except StoreUnusableError as error:
        do = "run this as the unit does, or correct [standby]"
        found.append(Finding("fault", about, str(error), do))
    except StoreUnreachableError as error:
        found.append(Finding("warning", about, f"no answer from {error}", "look at the cluster"))
    finally:
        await store.close()
    if not any(each.level == "ok" for each in found):
        do = "start the cluster: while it does not answer, neither daemon serves"
        found.append(Finding("fault", about, "the store of the lease cannot be asked", do))
    return found


def judged(about: str, server: str, entry: StoreEntry[LeaseRecord]) -> list[Finding]:
    """What a server says of the lease."""
    record = entry.record
    if record is None:
        return [Finding("ok", about, f"{server} answers; nobody has had the tables yet")]
    who = f"{record.instance} {'gave the tables back' if record.released else 'has the tables'}"
    return [Finding("ok", about, f"{server} answers; {who}, term {record.term}")]


def of_release(about: str, server: str, version: str) -> list[Finding]:
    """Whether this release of nats-server is known to lose what it acknowledged, and what no client
    can ask it.
    """
    if (number := _number(version)) is None:
        what = f"{server}: nats-server {version or 'of no version'}"
        return [Finding("warning", about, what, f"use {SAFE}")]
    if number < LEAST or (number[:2] == LEAST_2_12[:2] and number < LEAST_2_12):
        what = f"{server}: nats-server {version} is known to lose what it acknowledged"
        return [Finding("warning", about, what, f"update it to {SAFE} (docs/integrator/scale.md)")]
    what = f"{server}: nats-server {version}; no client can ask its sync_interval"
    return [Finding("note", about, what, "see that it has `sync_interval: always`")]


def _number(version: str) -> tuple[int, ...] | None:
    """``2.12.3-RC.1`` as numbers."""
    found = _RELEASE.match(version)
    return None if found is None else tuple(map(int, found.groups()))


async def _kept(
    settings: StandbyConfig, store: RecordStore[LeaseRecord], about: str
) -> list[Finding]:
    try:
        kept, current = await store.replicas()
    except StoreUnreachableError:  # there is no bucket yet
        return []
    if kept < settings.replicas:
        do = f"`nats stream edit KV_{settings.bucket} --replicas {settings.replicas}`"
        return [Finding("warning", about, f"the lease is kept {kept} times", do)]
    if current < kept:
        what = f"{current} of the {kept} nodes that keep the lease are up to date"
        return [Finding("warning", about, what, "look at the cluster")]
    return []
