"""A log that two services share: a stream of NATS JetStream. Each entry names the one that it must
follow, and the store refuses it after any other.

Two writers can never both append after the same entry, whatever their clocks show, and however long
a request was under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from common.errors import NovamasError
from common.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from common.standby.session import StoreSession
from common.standby.settings import StoreSettings

if TYPE_CHECKING:
    from common.standby.connection import StoreConnection

_Body = TypeVar("_Body")

MAX_LOG_BYTES = 512 * 1024 * 1024
"""Size of a log; beyond it the oldest entries are removed."""
CREATE_TIMEOUT_SECONDS = 5.0
"""Maximum time for creating the stream."""
WRONG_LAST_SEQUENCE = 10071
"""Code of the error of JetStream for an entry that does not follow the last one."""


class MissingLogError(NovamasError):
    """The stream does not exist yet."""


class LogBounds(NamedTuple):
    """The sequences of the first and the last entry; ``last`` is 0 if there was never one."""

    first: int
    last: int


class LogStream(Protocol):
    """The stream behind a log."""

    async def bounds(self) -> LogBounds | None:
        """Return its bounds; None if it does not exist."""

    async def get(self, sequence: int) -> bytes | None:
        """Return an entry; None if no entry has this sequence."""

    async def append(self, body: bytes, last: int) -> int:
        """Append an entry after ``last``. Return its sequence. Raises :class:`OvertakenError`,
        and :class:`MissingLogError` if the stream does not exist.
        """

    async def create(self) -> None:
        """Create it. Raises :class:`StoreUnusableError` if the servers refuse that for good."""


class RecordLog(Generic[_Body]):
    """Reads the log ``name`` and appends to it. ``decode`` returns None for a body that is not an
    entry; ``timeout``: maximum seconds for each reply.
    """

    def __init__(
        self,
        settings: StoreSettings,
        name: str,
        timeout: float,
        decode: Callable[[bytes], _Body | None],
        encode: Callable[[_Body], bytes],
    ) -> None:
        self._settings, self.name, self._timeout = settings, name, timeout
        self._decode, self._encode = decode, encode
        self._session = StoreSession(settings, timeout)
        self._stream: LogStream | None = None

    async def bounds(self) -> LogBounds:
        """Return its bounds. Raises :class:`StoreUnreachableError`."""
        try:
            async with asyncio.timeout(self._timeout):
                stream = await self._connect()
                return await stream.bounds() or LogBounds(1, 0)
        except Exception as error:
            raise await self._error_after(error) from None

    async def read(self, sequence: int) -> _Body | None:
        """Return an entry; None if no entry has this sequence. Raises
        :class:`StoreUnreachableError` and :class:`StoreUnusableError`.
        """
        try:
            async with asyncio.timeout(self._timeout):
                stream = await self._connect()
                body = await stream.get(sequence)
        except Exception as error:
            raise await self._error_after(error) from None
        if body is None:
            return None
        if (entry := self._decode(body)) is None:
            raise StoreUnusableError(
                f"entry {sequence} of the stream {self.name} is not of this release, or was not "
                "signed by a machine of this pair: it is not accepted. Find out which program "
                "wrote it, and whether the trusted keys include those of both machines"
            )
        return entry

    async def append(self, entry: _Body, last: int) -> int:
        """Append an entry after ``last``. Return its sequence, also if an earlier attempt had
        appended this very entry and its reply was lost. Raises :class:`OvertakenError` if another
        entry follows ``last``, :class:`StoreUnreachableError` and :class:`StoreUnusableError`.
        """
        body = self._encode(entry)
        try:
            async with asyncio.timeout(self._timeout):
                stream = await self._connect()
                try:
                    return await stream.append(body, last)
                except OvertakenError:
                    if await stream.get(last + 1) == body:
                        return last + 1
                    raise
        except MissingLogError as error:
            if last == 0:
                await (await self._connect()).create()
            raise StoreUnreachableError(f"{self._session.server}: {error}") from None
        except Exception as error:
            raise await self._error_after(error) from None

    async def replicas(self) -> tuple[int, int]:
        """Return how many nodes have to store it, and how many are up to date. Raises
        :class:`StoreUnreachableError`.
        """
        try:
            async with asyncio.timeout(self._timeout):
                await self._connect()
                return await self._session.replicas(self.name)
        except Exception as error:
            raise await self._error_after(error) from None

    async def close(self) -> None:
        """Close the connection."""
        self._stream = None
        await self._session.close()

    async def _connect(self) -> LogStream:
        if self._stream is not None and self._session.is_connected:
            return self._stream
        self._stream = None
        client = await self._session.open()
        self._stream = _JetStream(client, self.name, self._settings.replicas, self._timeout)
        return self._stream

    async def _error_after(self, error: Exception) -> NovamasError:
        if isinstance(error, OvertakenError):
            return error
        self._stream = None
        return await self._session.error_after(error)


class _JetStream:
    """A stream of NATS JetStream with one subject, both called ``name``."""

    def __init__(self, client: StoreConnection, name: str, replicas: int, timeout: float) -> None:
        self._name, self._replicas, self._timeout = name, replicas, timeout
        self._client = client
        self._requests = client.jetstream(timeout=timeout)

    async def bounds(self) -> LogBounds | None:
        """Return its bounds; None if it does not exist."""
        from nats.js.errors import NotFoundError

        try:
            state = (await self._requests.stream_info(self._name)).state
        except NotFoundError:
            return None
        return LogBounds(state.first_seq, state.last_seq)

    async def get(self, sequence: int) -> bytes | None:
        """Return an entry; None if no entry has this sequence."""
        from nats.js.errors import NotFoundError

        try:
            message = await self._requests.get_msg(self._name, sequence)
        except NotFoundError:
            return None
        return message.data or b""

    async def append(self, body: bytes, last: int) -> int:
        """Append an entry after ``last``; see :class:`LogStream`."""
        from nats.js.api import Header
        from nats.js.errors import APIError, NoStreamResponseError

        headers: dict[str, Any] = {
            Header.EXPECTED_LAST_SEQUENCE: str(last),
            Header.EXPECTED_STREAM: self._name,
        }
        try:
            receipt = await self._requests.publish(self._name, body, headers=headers)
        except NoStreamResponseError:
            raise MissingLogError(f"there is no stream {self._name} yet") from None
        except APIError as error:
            if error.err_code == WRONG_LAST_SEQUENCE:
                raise OvertakenError("another machine has appended an entry") from None
            raise StoreUnusableError(
                f"the stream {self._name} does not accept an entry: {error.description}"
            ) from None
        return receipt.seq

    async def create(self) -> None:
        """Create the stream; the caller retries."""
        from nats.js.api import DiscardPolicy, StorageType, StreamConfig
        from nats.js.errors import APIError, ServiceUnavailableError

        config = StreamConfig(
            name=self._name,
            description="Novamás: the ledger that a pair of controllers share",
            subjects=[self._name],
            max_bytes=MAX_LOG_BYTES,
            discard=DiscardPolicy.OLD,
            storage=StorageType.FILE,
            num_replicas=self._replicas,
            deny_delete=True,
        )
        try:
            await self._client.jetstream(timeout=CREATE_TIMEOUT_SECONDS).add_stream(config)
        except (ServiceUnavailableError, TimeoutError):
            pass  # no leader at present, or no reply
        except APIError as error:
            raise StoreUnusableError(
                f"the stream {self._name} cannot be made with {self._replicas} replicas and "
                f"{MAX_LOG_BYTES >> 20} MiB: {error.description}. Give the cluster as many nodes "
                "with JetStream and as much room, or set standby.replicas"
            ) from None
