"""The lease store: a key-value bucket of NATS JetStream with compare-and-set on the revision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from common.errors import NovamasError
from common.standby.errors import OvertakenError, StoreUnusableError
from common.standby.session import StoreSession
from common.standby.settings import StoreSettings

if TYPE_CHECKING:
    from nats.js.kv import KeyValue

_Body = TypeVar("_Body")


class StoreEntry(msgspec.Struct, Generic[_Body], frozen=True):
    """A record and its ``revision``, which is 0 if the key does not exist."""

    revision: int
    record: _Body | None


class RecordStore(Generic[_Body]):
    """Reads and writes the record under ``key``.

    ``decode`` returns None for a body that is not a record. ``timeout``: maximum seconds for each
    reply. One server is used at a time, and the next one if it does not reply.
    """

    def __init__(
        self,
        settings: StoreSettings,
        key: str,
        timeout: float,
        decode: Callable[[bytes], _Body | None],
        encode: Callable[[_Body], bytes] = msgspec.json.encode,
    ) -> None:
        self._settings, self._key, self._timeout = settings, key, timeout
        self._decode, self._encode = decode, encode
        self._session = StoreSession(settings, timeout)
        self._values: KeyValue | None = None

    @property
    def server(self) -> str | None:
        """Return the URL of the server in use."""
        return self._session.server

    @property
    def version(self) -> str:
        """Return the release of the server in use; empty without a connection."""
        client = self._session.client
        return "" if client is None else client.version

    async def read(self) -> StoreEntry[_Body]:
        """Read it. Raises :class:`StoreUnreachableError` and :class:`StoreUnusableError`."""
        from nats.js.errors import KeyDeletedError, KeyNotFoundError

        try:
            async with asyncio.timeout(self._timeout):
                values = await self._connect()
                value = await values.get(self._key)
        except KeyDeletedError as error:
            return StoreEntry(int(error.entry.revision or 0), None)
        except KeyNotFoundError as error:
            deleted = getattr(error, "entry", None)
            return StoreEntry(0 if deleted is None else int(deleted.revision or 0), None)
        except Exception as error:
            raise await self._error_after(error) from None
        record = self._decode(value.value or b"")
        if record is None:
            raise StoreUnusableError(
                f"the key {self._key} of the bucket {self._settings.bucket} is not a lease of "
                "this release, or was not signed by a daemon of this pair: it is not accepted. "
                "Find out which program wrote it, and whether standby.keys has both keys; if no "
                "daemon of this node runs, delete the key"
            )
        return StoreEntry(int(value.revision or 0), record)

    async def write(self, record: _Body, last: int) -> int:
        """Replace the revision ``last`` and return the new revision. Raises
        :class:`OvertakenError`, :class:`StoreUnreachableError` and :class:`StoreUnusableError`.
        """
        from nats.js.errors import KeyWrongLastSequenceError, NoStreamResponseError

        body = self._encode(record)
        try:
            async with asyncio.timeout(self._timeout):
                values = await self._connect()
                return int(await values.update(self._key, body, last=last))
        except KeyWrongLastSequenceError:
            raise OvertakenError("another daemon has replaced the record") from None
        except NoStreamResponseError as error:
            if last == 0 and await self._create_bucket():
                raise OvertakenError("there was no bucket yet") from None
            raise await self._error_after(error) from None
        except Exception as error:
            raise await self._error_after(error) from None

    async def replicas(self) -> tuple[int, int]:
        """Return the number of replicas of the bucket, and how many are up to date. Raises the same
        errors as :meth:`read`.
        """
        try:
            async with asyncio.timeout(self._timeout):
                await self._connect()
                return await self._session.replicas(f"KV_{self._settings.bucket}")
        except Exception as error:
            raise await self._error_after(error) from None

    async def close(self) -> None:
        """Close the connection."""
        self._values = None
        await self._session.close()

    async def _connect(self) -> KeyValue:
        if self._values is not None and self._session.is_connected:
            return self._values
        self._values = None
        client = await self._session.open()
        from nats.js.kv import KeyValue

        bucket = self._settings.bucket
        self._values = KeyValue(
            name=bucket,
            stream=f"KV_{bucket}",
            pre=f"$KV.{bucket}.",
            js=client.jetstream(timeout=self._timeout),
            direct=False,
        )
        return self._values

    async def _create_bucket(self) -> bool:
        """Create the bucket if it does not exist. Return True if it exists now. Raises
        :class:`StoreUnusableError` if the servers refuse it for good.
        """
        from nats.js.api import KeyValueConfig, StorageType
        from nats.js.errors import APIError, ServiceUnavailableError

        client = self._session.client
        if client is None:
            return False
        config = KeyValueConfig(
            bucket=self._settings.bucket,
            description="Novamás: which service of a pair serves",
            history=1,
            replicas=self._settings.replicas,
            storage=StorageType.FILE,
        )
        try:
            await client.jetstream(timeout=CREATE_TIMEOUT_SECONDS).create_key_value(config)
        except ServiceUnavailableError:
            return False  # no leader at present; the caller retries
        except APIError as error:
            raise StoreUnusableError(
                f"the bucket {config.bucket} cannot be made with {config.replicas} replicas: "
                f"{error.description}. Give the cluster as many nodes with JetStream, or set "
                "standby.replicas"
            ) from None
        except Exception:  # no reply; the caller retries
            return False
        return True

    async def _error_after(self, error: Exception) -> NovamasError:
        self._values = None
        return await self._session.error_after(error)


CREATE_TIMEOUT_SECONDS = 5.0
"""Maximum time for creating the bucket."""
