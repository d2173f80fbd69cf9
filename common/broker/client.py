"""The MQTT client that connects with a :class:`Login`."""

from __future__ import annotations

import logging
import ssl
from typing import Any, TypeVar
from urllib.parse import urlsplit

from common.broker.address import addresses
from common.broker.failures import EndedEarlyError
from common.broker.library import LibraryClient
from common.broker.login import Login, password, tls

_Awaited = TypeVar("_Awaited")


class BrokerClient(LibraryClient):
    """An ``aiomqtt.Client`` for the first node of ``login.url``, used with ``async with``.

    ``options`` are those of ``LibraryClient``. Raises ``Disconnected``, or
    ``BrokerUnusableError`` if a file cannot be read.
    """

    def __init__(self, login: Login, **options: Any) -> None:
        address = urlsplit(addresses(login.url)[0])
        context: ssl.SSLContext | None = tls(login)
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

    def early_end(self) -> Exception:
        """Return why the connection ended before the broker has replied."""
        return EndedEarlyError(self._causes.last)


class _Causes(logging.Handler):
    """Stores the last exception that paho only logs."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Exception | None = None

    def emit(self, record: logging.LogRecord) -> None:
        for argument in record.args if isinstance(record.args, tuple) else ():
            if isinstance(argument, Exception):
                self.last = argument
