"""Who may read: the bearer token of a request, and how many wrong ones an address may send.

A right token is always accepted. Guessing one is hopeless (256 random bits), and a lock that also
refused right tokens would let any program lock out the others behind the same address.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

from common.log import structlog
from common.people.tokens import MEMORY_FILE, ApiToken, TokenFile, TokensError
from subscribers.console.turns import Guesses
from subscribers.network import network

MAX_WRONG_TOKENS = 20
"""Wrong tokens of one address after which it gets status 429 for every further one."""
LOCK_SECONDS = 900.0
"""Seconds without a wrong token after which they are forgotten."""
NO_TOKEN = "send the header `Authorization: Bearer TOKEN`; `novamas token add` makes one"  # noqa: S105
WRONG_TOKEN = "the token is unknown, revoked or expired; `novamas token list` shows all"  # noqa: S105


class Bearers:
    """Checks tokens. ``state``: the folder of the server's data; ``now``: seconds since 1970;
    ``elapsed``: monotonic seconds.
    """

    def __init__(
        self, file: Path, state: Path, now: Callable[[], float], elapsed: Callable[[], float]
    ) -> None:
        self._file, self._now = TokenFile(file, state / MEMORY_FILE), now
        self._wrong = Guesses(elapsed, LOCK_SECONDS)
        self._logged_trouble: str | None = None
        self._log = structlog.get_logger()

    def admit(self, request: Request) -> ApiToken:
        """Return the token of a request. Raises ``HTTPException``."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise HTTPException(401, NO_TOKEN, {"www-authenticate": "Bearer"})
        try:
            found = self._file.find(token.strip(), self._now())
        except TokensError as error:
            self._log_trouble("no token is accepted", str(error))
            raise HTTPException(503, "the file of tokens cannot be read; see the log") from None
        self._log_trouble("the file of tokens is not in force", self._file.trouble)
        if found is None:
            self._count_wrong("" if request.client is None else network(request.client.host))
            raise HTTPException(
                401, WRONG_TOKEN, {"www-authenticate": 'Bearer error="invalid_token"'}
            )
        return found

    def is_valid(self, token: ApiToken) -> bool:
        """Return whether a token that was admitted still counts."""
        return self._file.is_valid(token, self._now())

    def _log_trouble(self, event: str, trouble: str | None) -> None:
        if trouble is not None and trouble != self._logged_trouble:
            self._log.error(event, reason=trouble)
        self._logged_trouble = trouble

    def _count_wrong(self, address: str) -> None:
        """Count a wrong token. Raises ``HTTPException`` if there were too many."""
        self._wrong.add(address)
        count = self._wrong.count(address)
        if count == MAX_WRONG_TOKENS:
            self._log.warning("too many wrong tokens", address=address)
        if count >= MAX_WRONG_TOKENS:
            headers = {"retry-after": str(int(LOCK_SECONDS))}
            raise HTTPException(
                429, "too many wrong tokens came from this address; wait, or correct it", headers
            )
