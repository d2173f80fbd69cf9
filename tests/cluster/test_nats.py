"""A cluster of three, of which one is killed, frozen, cut off: what the others acknowledged stays,
and the one that is away acknowledges nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import nats
import nats.errors
import nats.js.errors
import pytest
from nats.js import JetStreamContext
from nats.js.api import Header, KeyValueConfig
from nats.js.kv import KeyValue

from tests.support.brokers.nats import Cluster
from tests.support.brokers.network import Network
from tests.support.waiting import TIMEOUT_SECONDS, until

SILENCE = 1.0
"""Seconds for which we listen to one that is away. Messages sent to it arrive when it is back, for
no connection was reset: they are then too late.
"""


@pytest.fixture(scope="module")
def cluster(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as stack:
        made = Cluster(tmp_path_factory.mktemp("nats"), stack, network=Network(stack))
        made.start()
        yield made


@contextlib.asynccontextmanager
async def client(cluster: Cluster, number: int) -> AsyncIterator[JetStreamContext]:
    """A client of that node alone."""
    made = await nats.connect(cluster.nodes[number].nats, connect_timeout=int(TIMEOUT_SECONDS))
    try:
        yield made.jetstream(timeout=TIMEOUT_SECONDS)
    finally:
        with contextlib.suppress(nats.errors.Error):
            await made.close()


async def bucket(cluster: Cluster, name: str) -> int:
    """Make a bucket that all three have, and give the number of its leader."""
    async with client(cluster, 0) as js:
        await js.create_key_value(KeyValueConfig(bucket=name, replicas=3))
    found: int = until("the bucket has a leader", lambda: _leader(cluster, name), cluster.log)
    return found - 1


def _leader(cluster: Cluster, name: str) -> int:
    """One more than its number, so that the first node is not taken for none."""
    found = cluster.stream_leader(f"KV_{name}")
    return 0 if found is None else found + 1


async def store(js: JetStreamContext, name: str) -> KeyValue:
    return await js.key_value(name)


async def held(js: JetStreamContext, name: str) -> KeyValue.Entry:
    """Read the value at a node that is back. While it has no leader it answers with an error."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            return await (await store(js, name)).get("table")
        except nats.js.errors.ServiceUnavailableError:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.2)


async def test_one_that_is_killed_has_everything_when_it_is_back(cluster: Cluster) -> None:
    away = (await bucket(cluster, "killed") + 1) % 3
    cluster.kill(away)
    async with client(cluster, (away + 1) % 3) as js:
        assert await (await store(js, "killed")).put("table", b"r1") == 1
    cluster.start(away)
    async with client(cluster, away) as js:
        assert (await held(js, "killed")).value == b"r1"


async def test_one_that_is_frozen_is_not_missed(cluster: Cluster) -> None:
    away = (await bucket(cluster, "frozen") + 1) % 3
    cluster.freeze(away)
    async with client(cluster, (away + 1) % 3) as js:
        assert await (await store(js, "frozen")).put("table", b"r1") == 1
    cluster.thaw(away)
    cluster.until_whole()


async def test_a_leader_that_is_cut_off_acknowledges_nothing(cluster: Cluster) -> None:
    away = await bucket(cluster, "cut")
    async with client(cluster, away) as js:
        first = await (await store(js, "cut")).put("table", b"before")
        expected = {Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(first)}
        cluster.partition(away)
        with pytest.raises(nats.errors.TimeoutError):
            await js.publish("$KV.cut.table", b"away", timeout=SILENCE, headers=expected)
        until(
            "the others have a leader of their own",
            lambda: _leader(cluster, "cut") not in (0, away + 1),
            cluster.log,
        )
        async with client(cluster, (away + 1) % 3) as others:
            second = await (await store(others, "cut")).update("table", b"after", last=first)
        cluster.heal(away)
        cluster.until_whole()
    async with client(cluster, away) as js:
        found = await held(js, "cut")
        assert (found.value, found.revision) == (b"after", second)
