"""The store of the lease: a key-value bucket of NATS JetStream, in which a record is replaced only
by whoever knows its revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from controller.configuration.settings import StandbyConfig
from controller.standby.errors import (
    OvertakenError,
    StoreUnreachableError,
    StoreUnusableError,
)
from devices.errors import NovamasError

if TYPE_CHECKING:
    from nats.js.kv import KeyValue

    from controller.standby.connection import Connection


_Body = TypeVar("_Body")


class Entry(msgspec.Struct, Generic[_Body], frozen=True):
    """A record and its ``revision``; 0: there is none."""

    revision: int
    record: _Body | None


class Store(Generic[_Body]):
    """The record ``key``, which ``decode`` reads; None: it is not one. ``patience``: seconds for
    each answer. One server is asked at a time; the next one where it does not answer.
    """

    def __init__(
        self,
        settings: StandbyConfig,
        key: str,
        patience: float,
        decode: Callable[[bytes], _Body | None],
        encode: Callable[[_Body], bytes] = msgspec.json.encode,
    ) -> None:
        self._settings, self._key, self._patience = settings, key, patience
        self._decode, self._encode = decode, encode
        self._client: Connection | None = None
        self._values: KeyValue | None = None
        self._next = 0
        self.server: str | None = None
        """The one that is asked."""

    @property
    def version(self) -> str:
        """The release of the server that is asked; empty without a connection."""
        return "" if self._client is None else self._client.version

    async def read(self) -> Entry[_Body]:
        """The record. Raises :class:`StoreUnreachableError` and :class:`StoreUnusableError`."""
        from nats.js.errors import KeyDeletedError, KeyNotFoundError

        try:
            async with asyncio.timeout(self._patience):
                values = await self._reached()
                found = await values.get(self._key)
        except KeyDeletedError as error:
            return Entry(int(error.entry.revision or 0), None)
        except KeyNotFoundError as error:
            deleted = getattr(error, "entry", None)
            return Entry(0 if deleted is None else int(deleted.revision or 0), None)
        except Exception as error:
            raise await self._lost(error) from None
        record = self._decode(found.value or b"")
        if record is None:
            raise StoreUnusableError(
                f"the key {self._key} of the bucket {self._settings.bucket} is no lease of this "
                "release, or no daemon that is believed signed it: nobody takes it. Find out who "
                "wrote it, and whether standby.keys has both keys; if no daemon of this node "
                "runs, delete the key"
            )
        return Entry(int(found.revision or 0), record)

    async def write(self, record: _Body, last: int) -> int:
        """Put the record in place of the revision ``last``, and give its own. Raises
        :class:`OvertakenError`, :class:`StoreUnreachableError` and :class:`StoreUnusableError`.
        """
        from nats.js.errors import KeyWrongLastSequenceError, NoStreamResponseError

        body = self._encode(record)
        try:
            async with asyncio.timeout(self._patience):
                values = await self._reached()
                return int(await values.update(self._key, body, last=last))
        except KeyWrongLastSequenceError:
            raise OvertakenError("another daemon has replaced the record") from None
        except NoStreamResponseError as error:
            if last == 0 and await self._make():
                raise OvertakenError("there was no bucket yet") from None
            raise await self._lost(error) from None
        except Exception as error:
            raise await self._lost(error) from None

    async def replicas(self) -> tuple[int, int]:
        """How many replicas the bucket has, and how many of them are up to date. Raises as
        :meth:`read`.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self._reached()
                assert self._client is not None
                told = await self._client.jetstream().stream_info(f"KV_{self._settings.bucket}")
        except Exception as error:
            raise await self._lost(error) from None
        cluster = told.cluster
        others = [] if cluster is None else cluster.replicas or []
        return told.config.num_replicas or 1, 1 + sum(bool(each.current) for each in others)

    async def close(self) -> None:
        """End the connection."""
        client, self._client, self._values = self._client, None, None
        if client is not None:
            with suppress(Exception):
                async with asyncio.timeout(self._patience):
                    await client.end()

    async def _reached(self) -> KeyValue:
        if self._values is not None and self._client is not None and self._client.is_connected:
            return self._values
        await self.close()
        from nats.js.kv import KeyValue

        from controller.standby.connection import Connection

        servers = self._settings.servers
        self.server = servers[self._next % len(servers)]
        self._next += 1  # also if the attempt is cancelled: the next one asks another
        self._client = Connection(self.server, self._settings)
        await self._client.open(max(1, int(self._patience)))
        script = self._client.jetstream(timeout=self._patience)
        bucket = self._settings.bucket
        self._values = KeyValue(
            name=bucket, stream=f"KV_{bucket}", pre=f"$KV.{bucket}.", js=script, direct=False
        )
        return self._values

    async def _make(self) -> bool:
        """Make the bucket, if it is not there. Returns whether it is there now. Raises
        :class:`StoreUnusableError` if the servers refuse it for good.
        """
        from nats.js.api import KeyValueConfig, StorageType
        from nats.js.errors import APIError, ServiceUnavailableError

        client = self._client
        if client is None:
            return False
        wanted = KeyValueConfig(
            bucket=self._settings.bucket,
            description="Novamás: which daemon of a pair serves its tables",
            history=1,
            replicas=self._settings.replicas,
            storage=StorageType.FILE,
        )
        try:
            await client.jetstream(timeout=MAKING).create_key_value(wanted)
        except ServiceUnavailableError:
            return False  # no leader now: tried again
        except APIError as error:
            raise StoreUnusableError(
                f"the bucket {wanted.bucket} cannot be made with {wanted.replicas} replicas: "
                f"{error.description}. Give the cluster as many nodes with JetStream, or set "
                "standby.replicas"
            ) from None
        except Exception:  # nobody answered: tried again
            return False
        return True

    async def _lost(self, error: Exception) -> NovamasError:
        """What to raise after an answer that did not come: the next question goes to another
        server.
        """
        if isinstance(error, NovamasError):
            await self.close()
            return error
        why = str(error) if self._client is None else self._client.why(error)
        await self.close()
        return StoreUnreachableError(f"{self.server}: {why}")


MAKING = 5.0
"""Seconds to make the bucket."""
