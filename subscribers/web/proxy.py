"""Information accepted from a reverse proxy: the browser's address, whether the browser uses TLS,
and the prefix under which the proxy serves this server. Only the addresses of ``proxies`` are
trusted; the same headers from other addresses are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common import clock
from common.log import structlog

FORWARDED_FOR, FORWARDED_SCHEME = "x-forwarded-for", "x-forwarded-proto"
HOST_ADVICE = (
    "if the request came through a proxy, let it pass the browser's Host on unchanged; with nginx: "
    "proxy_set_header Host $http_host"
)
SCHEME_ADVICE = (
    "open the pages with https; if the browser used TLS to a proxy, write the proxy's address into "
    "`proxies` of [web] and let it name the scheme; with nginx: "
    "proxy_set_header X-Forwarded-Proto $scheme"
)
LOG_INTERVAL_SECONDS = 1.0
"""Minimum interval between log lines about unknown hosts, which any stranger can cause."""
MAX_LOGGED = 200
"""Maximum length of a header in the log, in characters."""


class Proxies:
    """The addresses and networks of the proxies. Raises ``ValueError``."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        self._networks: list[IPv4Network | IPv6Network] = [
            ip_network(address) for address in addresses
        ]

    def __contains__(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        return any(found in network for network in self._networks)

    def browser(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the address of a browser. ``peer``: the connection's peer; ``forwarded``: the
        values of ``X-Forwarded-For``. Each proxy appends its peer's address, so the last one that
        is not a proxy's is the browser's; earlier ones are only claimed by the browser.
        """
        addresses = [address.strip() for address in ",".join(forwarded).split(",")]
        while addresses and peer in self and _is_address(addresses[-1]):
            peer = addresses.pop()
        return peer


class BehindProxy:
    """Gives requests the address and the scheme of their browser, if a proxy names them.
    ``tls``: whether TLS ends at the proxy.
    """

    def __init__(self, app: ASGIApp, proxies: Proxies, tls: bool) -> None:
        self._app, self._proxies, self._tls = app, proxies, tls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = scope.get("client")
        if peer is not None and peer[0] in self._proxies:
            headers = Headers(scope=scope)
            address = self._proxies.browser(peer[0], headers.getlist(FORWARDED_FOR))
            scope = {**scope, "client": (address, peer[1])}
            scheme = headers.get(FORWARDED_SCHEME)
            if self._tls and scheme in ("http", "https"):
                scope["scheme"] = scheme
        await self._app(scope, receive, send)


class PathPrefix:
    """Serves everything below a prefix, and nothing else. ``base``: such as ``/novamas``."""

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app, self._base = app, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif path == self._base or path.startswith(f"{self._base}/"):
            path = f"{path}/" if path == self._base else path
            await self._app({**scope, "root_path": self._base, "path": path}, receive, send)
        else:
            body = (
                f"This server answers below {self._base}/ (`base` of [web]). A proxy must pass "
                "addresses on unchanged; with nginx: proxy_pass without a path.\n"
            )
            await PlainTextResponse(body, 404)(scope, receive, send)


class KnownHosts:
    """Answers only requests under these names, and logs the others."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self._app, self._names = app, names
        self._logged = -LOG_INTERVAL_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def answer(scope: Scope, receive: Receive, _: Send) -> None:
            await self._app(scope, receive, send)

        async def refuse(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._log(scope)
            await send(message)

        trusted = TrustedHostMiddleware(answer, self._names, www_redirect=False)
        await trusted(scope, receive, refuse)

    def _log(self, scope: Scope) -> None:
        if clock.monotonic() < self._logged + LOG_INTERVAL_SECONDS:
            return
        self._logged = clock.monotonic()
        headers = Headers(scope=scope)
        structlog.get_logger().warning(
            "a request under an unknown name was refused",
            path=quoted(scope["path"]),
            host=quoted(headers.get("host")),
            origin=quoted(headers.get("origin")),
            names=list(self._names),
            advice=f"write the name that browsers use into `names` of [web]; {HOST_ADVICE}",
        )


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def quoted(value: str | None) -> str | None:
    """Return a header or path for the log, shortened and with control characters escaped."""
    return None if value is None else ascii(value[:MAX_LOGGED])[1:-1]
