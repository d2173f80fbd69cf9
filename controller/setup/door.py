"""Who may use setup in the browser: the first browser that has the key, on this machine."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common import clock, randomness

KEY_BYTES = 24
COOKIE = "novamas-setup"
MAX_BODY_BYTES = 8192
SAFE_HEADERS = {
    "content-security-policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Door:
    """Lets one browser in: the first that opens the address with the key gets a cookie, and the key
    is worth nothing from then on. Every other request is refused, as is one under another name or
    from another page.
    """

    def __init__(self, app: ASGIApp, port: Callable[[], int], key: str) -> None:
        self._app, self._port, self._key = app, port, key
        self._session: str | None = None
        self.last_request = clock.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SAFE_HEADERS)
            await send(message)

        request = Request(scope)
        answer = self._refusal(request) or self._entry(request)
        if answer is None and not self._is_inside(request):
            answer = PlainTextResponse("this is not the browser that setup was opened in\n", 403)
        if answer is not None:
            await answer(scope, receive, sending)
            return
        self.last_request = clock.monotonic()
        await self._app(scope, receive, sending)

    def _refusal(self, request: Request) -> Response | None:
        names = {f"{name}:{self._port()}" for name in ("127.0.0.1", "localhost")}
        headers = request.headers
        if headers.get("host") not in names:
            return PlainTextResponse("setup has another name\n", 400)
        if request.method != "GET" and not _same_page(headers, names):
            return PlainTextResponse("this comes from another page\n", 403)
        if int(headers.get("content-length") or 0) > MAX_BODY_BYTES:
            return PlainTextResponse("too long\n", 413)
        return None

    def _entry(self, request: Request) -> Response | None:
        """Return the answer to the address with the key; None for any other."""
        given = request.query_params.get("key")
        if given is None or request.url.path != "/":
            return None
        if self._session is not None or not hmac.compare_digest(given.encode(), self._key.encode()):
            if self._is_inside(request):
                return RedirectResponse("/", 303)
            return PlainTextResponse("this key is wrong, or was used already\n", 403)
        self._session = randomness.token_urlsafe(KEY_BYTES)
        answer = RedirectResponse("/", 303)  # without the key in the history
        answer.set_cookie(COOKIE, self._session, httponly=True, samesite="strict", path="/")
        return answer

    def _is_inside(self, request: Request) -> bool:
        given = request.cookies.get(COOKIE, "")
        return self._session is not None and hmac.compare_digest(
            given.encode(), self._session.encode()
        )


def _same_page(headers: Headers, names: set[str]) -> bool:
    origin, kind = headers.get("origin"), headers.get("content-type", "")
    return origin in {f"http://{name}" for name in names} and kind.startswith("application/json")
