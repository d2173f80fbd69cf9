"""A connection to one server of NATS, by TLS where that is asked for, and the words for a person
when it does not come about.
"""

from __future__ import annotations

import logging
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from nats.aio.client import Client

from controller.broker.failures import certificate_problem, describe_tls_end
from controller.broker.login import certificate_date_problem
from controller.configuration.settings import StandbyConfig
from controller.standby.credentials import login
from controller.standby.errors import StoreUnreachableError

HARMLESS = "returning true from eof_received()"
"""What asyncio warns of whenever such a connection ends, for the library keeps its protocol when it
turns to TLS.
"""

logging.getLogger("asyncio").addFilter(lambda record: not str(record.msg).startswith(HARMLESS))

SERVER = "the server"


class Connection(Client):
    """To the server at ``url``, once."""

    def __init__(self, url: str, settings: StandbyConfig) -> None:
        super().__init__()
        self._url, self._standby = url, settings
        self._let_in = False
        self._told: Exception | None = None
        """What kept us from the last attempt: the library tries again until it is cancelled."""

    async def open(self, patience: int) -> None:
        """Connect, and log in. Raises :class:`StoreUnusableError`, and what the library does."""
        given = login(self._standby)
        options: dict[str, Any] = {} if given.context is None else {"tls": given.context}
        if given.signs is not None:
            options |= {"user_jwt_cb": lambda: given.jwt, "signature_cb": given.signs}
        await self.connect(
            servers=[self._url],
            name=f"novamas-standby {self._standby.instance or ''}".strip(),
            allow_reconnect=False,  # what was not sent in time is not sent at all
            connect_timeout=patience,
            ping_interval=patience,
            max_outstanding_pings=2,
            error_cb=self._hear,
            **options,
        )
        if not self.is_connected:  # the library takes an end for an answer
            raise ConnectionResetError("the server ended the connection")
        self._let_in = True

    @property
    def version(self) -> str:
        """The release of the server, as it says itself."""
        return str(self._server_info.get("version", ""))

    async def end(self) -> None:
        """Close it."""
        if self.is_connected:
            await self.close()
        elif self._transport:  # the library would wait for its end, of which nobody tells it
            self._transport.close()  # type: ignore[no-untyped-call] # the library's

    def why(self, error: Exception) -> str:
        """What a person is told of an error of this connection."""
        cause = self._told if isinstance(error, TimeoutError) and self._told else error
        host, settings = urlsplit(self._url).hostname, self._standby
        if words := certificate_problem(cause, host, settings.ca_file, SERVER, "servers"):
            return words
        by_tls = not self._let_in and self._server_info.get("tls_required")
        if by_tls and isinstance(cause, ssl.SSLError | ConnectionResetError | BrokenPipeError):
            dated = settings.cert_file and certificate_date_problem(settings.cert_file, time.time())
            also = f"; our own certificate {dated}" if dated else ""
            return f"{describe_tls_end(cause, SERVER)}{also}"
        if "Authorization Violation" in str(cause):
            if named := settings.creds_file or settings.creds_credential:
                return f"it does not take the user of {named}"
            return "it does not take us without a user; set creds_file or creds_credential"
        return f"{type(cause).__name__}: {cause}".rstrip(": ")

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        """Before anything is sent: the library would go on without TLS where none is offered."""
        settings = self._standby
        wanted = urlsplit(self._url).scheme == "tls" or settings.ca_file or settings.cert_file
        if initial_connection and wanted and not info.get("tls_required"):
            raise StoreUnreachableError(
                f"{self._url}: it does not speak TLS; let it ask for TLS, or write nats:// without "
                "ca_file and cert_file"
            )
        if initial_connection and info.get("tls_verify") and settings.cert_file is None:
            raise StoreUnreachableError(
                f"{self._url}: it asks for a certificate; set cert_file and key_file"
            )
        await super()._process_info(info, initial_connection)

    async def _hear(self, error: Exception) -> None:
        self._told = error
