"""A connection to one NATS server, with or without TLS, and its errors explained to a person."""

from __future__ import annotations

import logging
import ssl
from typing import Any
from urllib.parse import urlsplit

from nats.aio.client import Client

from common import clock
from common.broker.failures import certificate_problem, describe_tls_end
from common.broker.login import certificate_date_problem
from common.standby.credentials import read_login
from common.standby.errors import StoreUnreachableError
from common.standby.settings import StoreSettings

HARMLESS_WARNING = "returning true from eof_received()"
"""asyncio logs this warning whenever a connection ends that nats-py upgraded to TLS."""

logging.getLogger("asyncio").addFilter(
    lambda record: not str(record.msg).startswith(HARMLESS_WARNING)
)

SERVER_NAME = "the server"


class StoreConnection(Client):
    """One connection to the server at ``url``, without reconnects."""

    def __init__(self, url: str, settings: StoreSettings) -> None:
        super().__init__()
        self._url, self._standby = url, settings
        self._logged_in = False
        self._last_error: Exception | None = None
        """The error of the last attempt; nats-py retries until it is cancelled."""

    async def open(self, timeout_seconds: int) -> None:
        """Connect and log in. Raises :class:`StoreUnusableError`, and the errors of nats-py."""
        store_login = read_login(self._standby)
        options: dict[str, Any] = (
            {} if store_login.context is None else {"tls": store_login.context}
        )
        if store_login.sign is not None:
            options |= {"user_jwt_cb": lambda: store_login.jwt, "signature_cb": store_login.sign}
        await self.connect(
            servers=[self._url],
            name=f"novamas-standby {self._standby.instance or ''}".strip(),
            allow_reconnect=False,  # a request that was not sent in time must not be sent later
            connect_timeout=timeout_seconds,
            ping_interval=timeout_seconds,
            max_outstanding_pings=2,
            error_cb=self._on_error,
            **options,
        )
        if not self.is_connected:  # nats-py returns normally if the server closes the connection
            raise ConnectionResetError("the server ended the connection")
        self._logged_in = True

    @property
    def version(self) -> str:
        """Return the release that the server reports."""
        return str(self._server_info.get("version", ""))

    async def end(self) -> None:
        """Close the connection."""
        if self.is_connected:
            await self.close()
        elif self._transport:  # close() would wait forever for its end
            self._transport.close()  # type: ignore[no-untyped-call] # the library's

    def describe_error(self, error: Exception) -> str:
        """Describe an error of this connection for a person."""
        cause = self._last_error if isinstance(error, TimeoutError) and self._last_error else error
        host, settings = urlsplit(self._url).hostname, self._standby
        if problem := certificate_problem(cause, host, settings.ca_file, SERVER_NAME, "servers"):
            return problem
        by_tls = not self._logged_in and self._server_info.get("tls_required")
        if by_tls and isinstance(cause, ssl.SSLError | ConnectionResetError | BrokenPipeError):
            date_problem = settings.cert_file and certificate_date_problem(
                settings.cert_file, clock.wall()
            )
            suffix = f"; our own certificate {date_problem}" if date_problem else ""
            return f"{describe_tls_end(cause, SERVER_NAME)}{suffix}"
        if "Authorization Violation" in str(cause):
            if credentials := settings.creds_file or settings.creds_credential:
                return f"it does not take the user of {credentials}"
            return "it does not take us without a user; set creds_file or creds_credential"
        return f"{type(cause).__name__}: {cause}".rstrip(": ")

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        """Check the server's TLS before anything is sent: nats-py would continue without TLS if the
        server does not offer it.
        """
        settings = self._standby
        wants_tls = urlsplit(self._url).scheme == "tls" or settings.ca_file or settings.cert_file
        if initial_connection and wants_tls and not info.get("tls_required"):
            raise StoreUnreachableError(
                f"{self._url}: it does not speak TLS; let it ask for TLS, or write nats:// without "
                "ca_file and cert_file"
            )
        if initial_connection and info.get("tls_verify") and settings.cert_file is None:
            raise StoreUnreachableError(
                f"{self._url}: it requires a certificate; set cert_file and key_file"
            )
        await super()._process_info(info, initial_connection)

    async def _on_error(self, error: Exception) -> None:
        self._last_error = error
