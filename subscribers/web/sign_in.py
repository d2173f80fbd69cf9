"""Signing in and out, and the checks of every request of a signed-in browser.

A request changes something only with the session's cookie, the session's token in a header, and an
``Origin`` that is this server; and only if its touch is recent. Signing out is always accepted. The
cookie is hidden from scripts (HttpOnly) and other sites (SameSite=Strict) and, with TLS, from
eavesdroppers (Secure, ``__Host-``; below a prefix ``__Secure-``, and it is not sent to other
services of that host).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common import clock
from common.contract.messages.messages import ENGLISH, LANGUAGES
from common.log import structlog
from subscribers.console.admission import Admission, Caller, Denied
from subscribers.console.browsers import COOKIE_SECONDS
from subscribers.console.sessions import Session, SessionLimits, Sessions, same_secret
from subscribers.console.settings import PitSettings
from subscribers.console.words import console_text
from subscribers.network import network
from subscribers.web.beat import HEADER, age
from subscribers.web.proxy import HOST_ADVICE, SCHEME_ADVICE, quoted

T = TypeVar("T")
TOKEN_HEADER = "x-novamas-token"  # noqa: S105 - the name of a header
MAX_BODY_BYTES = 16_384
"""Maximum size of a request body."""
TOO_LATE_STATUS = 412
"""Status of a request whose touch is too old: nothing was done, and nothing will be."""
ANONYMOUS = "sign-in"
"""Token before signing in: it only proves that no plain form of another site sent the request."""


class SignInBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a sign-in request."""

    who: str
    pin: str
    language: str = ENGLISH


class SignIn:
    """Sign-in, sign-out and the authorization of requests. ``tls``: whether browsers use TLS, to
    this server or to a proxy in front of it. ``base``: the prefix of all addresses.
    """

    def __init__(self, admission: Admission, settings: PitSettings, tls: bool, base: str) -> None:
        self.admission = admission
        self._occupied = None if settings.occupied is None else Path(settings.occupied)
        limits = SessionLimits(settings.idle, settings.longest)
        self.sessions = Sessions(limits, clock.monotonic, self._on_session_count)
        self._tls = tls
        self.late = settings.late
        self._path = base or "/"
        prefix = "" if not tls else "__Secure-" if base else "__Host-"
        self.cookie = f"{prefix}novamas"
        self._browser_cookie = f"{prefix}novamas-browser"
        self._log = structlog.get_logger()

    @property
    def routes(self) -> list[Route]:
        """The routes for signing in and out."""
        return [
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        ]

    def session(self, request: Request) -> Session | None:
        """Return the session of a request that only reads, or None."""
        return self.sessions.find(request.cookies.get(self.cookie))

    def is_valid(self, session: Session) -> bool:
        """Return whether a session has not ended."""
        self.sessions.sweep()
        return session.alive

    async def authorize_recent(self, request: Request, kind: type[T]) -> tuple[Session, T]:
        """Return the session and the body of a request that changes something. Raise
        ``HTTPException`` if it does not come from this server's page, or if its touch is too old.
        """
        session, body = await self.authorize(request, kind)
        self.check_age(request)
        self.sessions.touch(session)
        return session, body

    async def authorize(self, request: Request, kind: type[T]) -> tuple[Session, T]:
        """Like :meth:`authorize_recent`, for a request that may arrive at any time."""
        session = self.session(request)
        if session is None:
            raise HTTPException(401)
        self._check_origin(request, session.token)
        return session, await read(request, kind)

    def check_age(self, request: Request, margin_seconds: float = 0.0) -> None:
        """Raise ``HTTPException`` if the touch of a request is too old. ``margin_seconds``:
        additional time.
        """
        seconds = age(request.headers.get(HEADER))
        if seconds > self.late + margin_seconds:
            self._log.warning("a touch came too late", path=request.url.path, seconds=seconds)
            raise HTTPException(TOO_LATE_STATUS)

    def _check_origin(self, request: Request, token: str) -> None:
        """Raise ``HTTPException`` unless a page of this server sent the request."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        schemes = ("https",) if self._tls else ("http", "https")
        own_origins = [f"{scheme}://{host}" for scheme in schemes]
        site = request.headers.get("sec-fetch-site", "same-origin")
        if (
            origin in own_origins
            and site == "same-origin"
            and same_secret(request.headers.get(TOKEN_HEADER), token)
        ):
            return
        advice = None
        if origin == f"http://{host}" and self._tls:
            advice = SCHEME_ADVICE
        elif origin not in own_origins:
            advice = HOST_ADVICE
        self._log.warning(
            "a request from elsewhere was refused",
            path=request.url.path,
            origin=quoted(origin),
            host=quoted(host),
            advice=advice,
        )
        raise HTTPException(403)

    def came_in_clear(self, request: Request) -> bool:
        """Return True if a browser that should use TLS did not: no PIN may be typed there."""
        if not self._tls or request.url.scheme == "https":
            return False
        self._log.warning(
            "no sign-in without TLS", host=quoted(request.headers.get("host")), advice=SCHEME_ADVICE
        )
        return True

    def _on_session_count(self, sessions: int) -> None:
        if self._occupied is not None and sessions:
            self._occupied.touch()
        elif self._occupied is not None:
            self._occupied.unlink(missing_ok=True)

    async def _sign_in(self, request: Request) -> Response:
        self._check_origin(request, ANONYMOUS)
        body = await read(request, SignInBody)
        self.check_age(request)
        language = body.language if body.language in LANGUAGES else ENGLISH
        caller = self._caller(request)
        admitted = await self.admission.admit(body.who, body.pin, caller)
        if isinstance(admitted, Denied):
            return denied(admitted, language)
        person, key = admitted
        self.sessions.end(request.cookies.get(self.cookie))
        cookie, _ = self.sessions.begin(person, key, language)
        self._log.info("signed in", person=person.id)
        answer = JSONResponse({"ok": True})
        answer.set_cookie(
            self.cookie, cookie, path=self._path, httponly=True, samesite="strict", secure=self._tls
        )
        answer.set_cookie(
            self._browser_cookie,
            self.admission.browser_cookie(person, caller),
            max_age=COOKIE_SECONDS,
            path=self._path,
            httponly=True,
            samesite="strict",
            secure=self._tls,
        )
        return answer

    def _caller(self, request: Request) -> Caller:
        address = "" if request.client is None else network(request.client.host)
        return Caller(address, request.cookies.get(self._browser_cookie))

    async def _sign_out(self, request: Request) -> Response:
        session, _ = await self.authorize(request, dict[str, Any])
        self.sessions.end(request.cookies.get(self.cookie))
        self._log.info("signed out", person=session.person.id)
        answer = JSONResponse({"ok": True})
        answer.delete_cookie(
            self.cookie, path=self._path, httponly=True, samesite="strict", secure=self._tls
        )
        return answer


def denied(why: Denied, language: str) -> Response:
    """Return the response to a denied PIN. Its status is 200: the request itself was valid."""
    minutes = -(-why.seconds // 60)
    text = console_text(f"denied.{why.why}", language, minutes=minutes)
    return JSONResponse({"ok": False, "denied": why.why, "text": text})


async def read(request: Request, kind: type[T]) -> T:
    """Return the decoded JSON body. Raises ``HTTPException``."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise HTTPException(415)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413)
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
