"""Static files of the pages, compressed, and where browsers may store them for good.

A page requests its files below :data:`subscribers.display.frames.FILES`, which contains the hash of
all of them: what is there never changes, so that a browser requests each file once. The same files
without that prefix are revalidated.
"""

from __future__ import annotations

import os

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import PathLike, StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from subscribers.display.frames import FILES

REVALIDATE_HEADERS = {"cache-control": "no-cache"}
"""A browser caches files, but revalidates them on each use: so after an update of the server no
stale file is used, and an unchanged file is not sent again.
"""
IMMUTABLE_HEADERS = {"cache-control": "public, max-age=31536000, immutable"}
COMPRESSED = (Middleware(GZipMiddleware, compresslevel=6),)
"""For files and for pages without secrets. Never for a response that contains a secret beside
something that a request can choose: its size would betray it.
"""
_IMMUTABLE = "novamas.immutable"
"""Key of the ASGI scope: the address contains the hash of the files."""


class Files(StaticFiles):
    """Static files that browsers revalidate, or store for good."""

    def file_response(
        self,
        full_path: PathLike,
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Return the file, or 304 if it has not changed."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers.update(IMMUTABLE_HEADERS if scope.get(_IMMUTABLE) else REVALIDATE_HEADERS)
        return answer


def static_files(path: str, package: str) -> Mount:
    """Return the route of the folder ``static`` of a package."""
    return Mount(path, Files(packages=[(package, "static")]), middleware=COMPRESSED)


class HashedFiles:
    """Answers addresses below :data:`FILES`; an address with the hash of another release does not
    exist. ``base``: the prefix of all addresses.
    """

    def __init__(self, app: ASGIApp, base: str) -> None:
        self._app, self._base, self._prefix = app, base, f"{base}{FILES}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(self._prefix):
            await self._app(scope, receive, send)
            return
        plain = path.removeprefix(f"{self._base}{FILES}")
        if "/static/" in plain or plain == "/theme.css":
            await self._app({**scope, "path": self._base + plain, _IMMUTABLE: True}, receive, send)
        else:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
