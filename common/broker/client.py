"""The MQTT client that connects with a :class:`Login`: aiomqtt, with some of paho replaced."""

from __future__ import annotations

import asyncio
import logging
import math
import ssl
import threading
from collections.abc import Awaitable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import DisconnectFlags
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from common.broker.address import addresses
from common.broker.bounded_client import BufferedClient
from common.broker.failures import Disconnected, EndedEarlyError
from common.broker.login import Login, password, tls

_Awaited = TypeVar("_Awaited")


class BrokerClient(aiomqtt.Client):
    """An ``aiomqtt.Client`` for the first node of ``login.url``, used with ``async with``.

    ``options`` are those of aiomqtt. Raises ``Disconnected``, or ``BrokerUnusableError`` if a file
    cannot be read.
    """

    def __init__(self, login: Login, **options: Any) -> None:
        address = urlsplit(addresses(login.url)[0])
        context: ssl.SSLContext | None = tls(login)
        self._thread = threading.get_ident()
        self._causes = _Causes()
        # prints nothing: errors are reported once, by failures.describe_error
        logger = logging.Logger("mqtt", logging.ERROR)
        logger.addHandler(self._causes)
        super().__init__(
            address.hostname or "127.0.0.1",
            address.port or (1883 if context is None else 8883),
            username=login.username,
            password=password(login),
            tls_context=context,
            logger=logger,
            **options,
        )
        # aiomqtt creates its own paho client and offers no way to pass one
        self._client.__class__ = BufferedClient

    def _on_disconnect(
        self,
        client: PahoClient,
        userdata: Any,
        flags: DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if not self._connected.done():  # aiomqtt would wait for its timeout
            self._connected.set_exception(EndedEarlyError(self._causes.last))
            # connect() may raise first: then nothing awaits it, and asyncio would log that
            self._connected.exception()
            return
        super()._on_disconnect(client, userdata, flags, reason_code, properties)

    def _on_socket_register_write(self, client: PahoClient, userdata: Any, sock: Any) -> None:  # noqa: ARG002 - the library's own signature
        # aiomqtt always uses call_soon_threadsafe, which runs too late if the socket was written or
        # closed meanwhile: it would watch a closed descriptor, or one that is always ready.
        if threading.get_ident() == self._thread:
            self._wait_to_write(sock)
        else:
            self._loop.call_soon_threadsafe(self._wait_to_write, sock)

    def _wait_to_write(self, sock: Any) -> None:
        if sock.fileno() >= 0:
            self._loop.add_writer(sock.fileno(), self._write)

    def _write(self) -> None:
        try:
            self._client.loop_write()
        except Exception as error:  # as in aiomqtt: after any error the connection is unusable
            if not self._disconnected.done():
                self._disconnected.set_exception(error)

    async def _wait_for(self, fut: Awaitable[_Awaited], timeout: float | None) -> _Awaited:  # noqa: ASYNC109 - the library's own signature
        # As in the library, but without asyncio.wait_for: in Python 3.11 it loses a cancellation
        # that arrives together with the result.
        seconds = self.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(None if seconds == math.inf else seconds):
                return await fut
        except TimeoutError:
            raise Disconnected("Operation timed out") from None


class _Causes(logging.Handler):
    """Stores the last exception that paho only logs."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Exception | None = None

    def emit(self, record: logging.LogRecord) -> None:
        for argument in record.args if isinstance(record.args, tuple) else ():
            if isinstance(argument, Exception):
                self.last = argument
