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

from controller.contract.messages.messages import ENGLISH, LANGUAGES
from devices import clock
from devices.log import structlog
from subscribers.console.admission import Admission, Caller, Denied
from subscribers.console.browsers import COOKIE_SECONDS
from subscribers.console.sessions import Session, SessionLimits, Sessions, same_secret
from subscribers.console.settings import PitSettings
from subscribers.console.words import console_text
from subscribers.web.beat import HEADER, age
from subscribers.web.connections import network
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
    """The body of a sign-in."""

    who: str
    pin: str
    language: str = ENGLISH


class SignIn:
    """The door. ``tls``: whether browsers come over TLS, to this server or to a proxy before it.
    ``base``: the prefix of all addresses.
    """

    def __init__(self, admission: Admission, settings: PitSettings, tls: bool, base: str) -> None:
        self.admission = admission
        self._occupied = None if settings.occupied is None else Path(settings.occupied)
        limits = SessionLimits(settings.idle, settings.longest)
        self.sessions = Sessions(limits, clock.monotonic, self._counted)
        self._tls = tls
        self.late = settings.late
        self._path = base or "/"
        prefix = "" if not tls else "__Secure-" if base else "__Host-"
        self.cookie = f"{prefix}novamas"
        self.remembers = f"{prefix}novamas-browser"
        self._log = structlog.get_logger()

    @property
    def routes(self) -> list[Route]:
        """Where people sign in and out."""
        return [
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        ]

    def session(self, request: Request) -> Session | None:
        """Whose browser it is, for a request that only reads."""
        return self.sessions.find(request.cookies.get(self.cookie))

    def goes_on(self, session: Session) -> bool:
        """Whether a session is not over."""
        self.sessions.sweep()
        return session.alive

    async def acting(self, request: Request, kind: type[T]) -> tuple[Session, T]:
        """Return the session and the body of a request that changes something. Raise
        ``HTTPException`` if it does not come from this server's page, or if its touch is too old.
        """
        session, body = await self.asking(request, kind)
        self.in_time(request)
        self.sessions.touch(session)
        return session, body

    async def asking(self, request: Request, kind: type[T]) -> tuple[Session, T]:
        """Like :meth:`acting`, for a request that may arrive at any time."""
        session = self.session(request)
        if session is None:
            raise HTTPException(401)
        self._ours(request, session.token)
        return session, await read(request, kind)

    def in_time(self, request: Request, more: float = 0.0) -> None:
        """Raise ``HTTPException`` if the touch of a request is too long ago. ``more``: seconds that
        are granted besides.
        """
        seconds = age(request.headers.get(HEADER))
        if seconds > self.late + more:
            self._log.warning("a touch came too late", path=request.url.path, seconds=seconds)
            raise HTTPException(TOO_LATE_STATUS)

    def _ours(self, request: Request, token: str) -> None:
        """Raise unless a page of this server sent it."""
        host, origin = request.headers.get("host"), request.headers.get("origin")
        ours = [f"{scheme}://{host}" for scheme in (("https",) if self._tls else ("http", "https"))]
        site = request.headers.get("sec-fetch-site", "same-origin")
        if (
            origin in ours
            and site == "same-origin"
            and same_secret(request.headers.get(TOKEN_HEADER), token)
        ):
            return
        advice = None
        if origin == f"http://{host}" and self._tls:
            advice = SCHEME_ADVICE
        elif origin not in ours:
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

    def _counted(self, sessions: int) -> None:
        if self._occupied is not None and sessions:
            self._occupied.touch()
        elif self._occupied is not None:
            self._occupied.unlink(missing_ok=True)

    async def _sign_in(self, request: Request) -> Response:
        self._ours(request, ANONYMOUS)
        given = await read(request, SignInBody)
        self.in_time(request)
        language = given.language if given.language in LANGUAGES else ENGLISH
        caller = self._caller(request)
        found = await self.admission.admit(given.who, given.pin, caller)
        if isinstance(found, Denied):
            return denied(found, language)
        person, key = found
        self.sessions.end(request.cookies.get(self.cookie))
        cookie, _ = self.sessions.begin(person, key, language)
        self._log.info("signed in", person=person.id)
        answer = JSONResponse({"ok": True})
        answer.set_cookie(
            self.cookie, cookie, path=self._path, httponly=True, samesite="strict", secure=self._tls
        )
        answer.set_cookie(
            self.remembers,
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
        return Caller(address, request.cookies.get(self.remembers))

    async def _sign_out(self, request: Request) -> Response:
        session, _ = await self.asking(request, dict[str, Any])
        self.sessions.end(request.cookies.get(self.cookie))
        self._log.info("signed out", person=session.person.id)
        answer = JSONResponse({"ok": True})
        answer.delete_cookie(
            self.cookie, path=self._path, httponly=True, samesite="strict", secure=self._tls
        )
        return answer


def denied(why: Denied, language: str) -> Response:
    """The answer to a PIN that does not open. The status says nothing: the page has asked well."""
    minutes = -(-why.seconds // 60)
    text = console_text(f"denied.{why.why}", language, minutes=minutes)
    return JSONResponse({"ok": False, "denied": why.why, "text": text})


async def read(request: Request, kind: type[T]) -> T:
    """The JSON body. Raises ``HTTPException``."""
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
