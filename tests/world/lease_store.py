"""The store of a pair's lease in a simulated world: a bucket that can be out of reach."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest import mock

import msgspec
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError

from common import clock
from common.standby.log import LogBounds, RecordLog
from common.standby.store import RecordStore
from tests.support.carrousel.log import MemoryStream
from tests.world.process import PROCESS, Machine

USUAL_STORE_SECONDS = 0.005
"""Half of the time that a request takes."""


class Value(msgspec.Struct, frozen=True):
    """A value of the bucket, as the library gives it."""

    value: bytes
    revision: int


class Bucket:
    """The values by key. ``unheard``: the machines whose requests do not reach it; ``deaf``: those
    which its replies do not reach; ``delay``: the seconds that each takes. ``on_claim``: what
    happens when a machine has taken the lease.
    """

    def __init__(self, random: Random) -> None:
        self.values: dict[str, Value] = {}
        self.unheard: set[Machine] = set()
        self.deaf: set[Machine] = set()
        self.delay = USUAL_STORE_SECONDS
        self.on_claim: dict[Machine, Callable[[], object]] = {}
        self.streams: dict[str, MemoryStream] = {}
        """The logs, by name."""
        self._random = random
        self._revision = 0

    async def get(self, key: str) -> Value:
        """Return a value. Raises ``KeyNotFoundError``."""
        await self.travel(self.unheard)
        value = self.values.get(key)
        await self.travel(self.deaf)
        if value is None:
            raise KeyNotFoundError
        return value

    async def update(self, key: str, body: bytes, last: int) -> int:
        """Replace the revision ``last``. Raises ``KeyWrongLastSequenceError``."""
        await self.travel(self.unheard)
        before = self.values.get(key)
        if (0 if before is None else before.revision) != last:
            await self.travel(self.deaf)
            raise KeyWrongLastSequenceError
        self._revision += 1
        revision = self._revision
        self.values[key] = Value(body, revision)
        self._note_claim(before, body)
        await self.travel(self.deaf)  # the answer may be lost: then it is written all the same
        return revision

    def _note_claim(self, before: Value | None, body: bytes) -> None:
        process = PROCESS.get()
        assert process is not None
        if (on_claim := self.on_claim.get(process.machine)) is None:
            return
        term = msgspec.json.decode(body).get("term")
        if term is not None and (
            before is None or msgspec.json.decode(before.value)["term"] < term
        ):
            on_claim()

    async def travel(self, cut_off: set[Machine]) -> None:
        """Let a request or a reply of the running program travel."""
        process = PROCESS.get()
        assert process is not None
        if process.machine in cut_off:
            await clock.sleep(3600.0)  # its own timeout ends the wait
        await clock.sleep(self._random.uniform(0.5, 1.5) * self.delay)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let every store of records lead to this bucket. The library's connection is what is
        replaced; what is asked of it and how answers are judged is the program's.
        """

        async def connect(_: RecordStore[Any]) -> Bucket:
            return self

        async def connect_log(log: RecordLog[Any]) -> WorldStream:
            return WorldStream(self, self.streams.setdefault(log.name, MemoryStream()))

        with (
            mock.patch.object(RecordStore, "_connect", connect),
            mock.patch.object(RecordLog, "_connect", connect_log),
        ):
            yield


class WorldStream:
    """A log, which can be out of reach as its bucket can."""

    def __init__(self, bucket: Bucket, stream: MemoryStream) -> None:
        self._bucket, self._stream = bucket, stream

    async def bounds(self) -> LogBounds | None:
        """See :class:`common.standby.log.LogStream`."""
        await self._bucket.travel(self._bucket.unheard)
        bounds = await self._stream.bounds()
        await self._bucket.travel(self._bucket.deaf)
        return bounds

    async def get(self, sequence: int) -> bytes | None:
        """See :class:`common.standby.log.LogStream`."""
        await self._bucket.travel(self._bucket.unheard)
        body = await self._stream.get(sequence)
        await self._bucket.travel(self._bucket.deaf)
        return body

    async def append(self, body: bytes, last: int) -> int:
        """See :class:`common.standby.log.LogStream`."""
        await self._bucket.travel(self._bucket.unheard)
        try:
            return await self._stream.append(body, last)
        finally:
            await self._bucket.travel(self._bucket.deaf)  # the reply may be lost

    async def create(self) -> None:
        """See :class:`common.standby.log.LogStream`."""
        await self._bucket.travel(self._bucket.unheard)
        await self._stream.create()
        await self._bucket.travel(self._bucket.deaf)


class WorldFence:
    """The fence as a timer of the loop: it kills its process when the lease is over."""

    def __init__(self, drain: Callable[[], None] = lambda: None) -> None:
        del drain
        process = PROCESS.get()
        assert process is not None
        self._process = process
        self._until: float | None = None
        self._timer: Any = None

    def extend(self, until: float) -> None:
        """See :class:`common.standby.fence.Fence`."""
        self._until = until
        self._watch()

    def lift(self) -> None:
        """See :class:`common.standby.fence.Fence`."""
        self._until = None

    def check(self) -> None:
        """See :class:`common.standby.fence.Fence`."""
        if self._until is None or clock.boottime() >= self._until:
            self.end("the lease is over")

    def end(self, why: str) -> None:
        """See :class:`common.standby.fence.Fence`."""
        self._process.end(why)
        raise ProcessEndedError(why)

    def _watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._until is None:
            return
        left = self._until - clock.boottime()
        if left <= 0:
            self._process.end("the lease could not be renewed in time")
            return
        self._timer = asyncio.get_running_loop().call_later(min(left, CHECK_SECONDS), self._watch)


CHECK_SECONDS = 0.5
"""How often the fence looks at the clock that counts suspensions."""


class ProcessEndedError(BaseException):
    """Unwinds the code of a process that has just ended itself."""
