"""The HTTP server of a service: ``GET /metrics`` and the other pages of the same port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from http import HTTPStatus
from typing import NamedTuple

from common import clock
from common.log import structlog

REQUEST_TIMEOUT_SECONDS = 5.0
"""Maximum time for a client to send its request and read the response."""
MAX_REQUEST_BYTES = 8192
"""Maximum size of a request head."""
LISTEN_RETRY_SECONDS = 10.0
"""Delay before listening again after a failure."""


class HttpResponse(NamedTuple):
    """A response: body, content type and status."""

    body: bytes
    kind: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK


Pages = Mapping[bytes, Callable[[], Awaitable[HttpResponse]]]
"""The handler of each path."""


async def serve(listen: tuple[str, int], pages: Pages) -> None:
    """Serve ``pages`` until cancelled. If the address cannot be used, log that once and keep
    trying: the service itself must keep running.
    """
    log, logged = structlog.get_logger().bind(host=listen[0], port=listen[1]), False
    while True:
        try:
            async with await asyncio.start_server(
                _handler(pages), *listen, limit=MAX_REQUEST_BYTES
            ) as server:
                log.info("metrics")
                await server.serve_forever()
        except (OSError, ValueError) as error:  # ValueError: not a host name
            if not logged:
                log.error("no metrics", reason=str(error))
            logged = True
        await clock.sleep(LISTEN_RETRY_SECONDS)


def _handler(
    pages: Pages,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                writer.write(await response(await reader.readuntil(b"\r\n\r\n"), pages))
                await writer.drain()

    return handle


async def response(request: bytes, pages: Pages) -> bytes:
    """Return the complete HTTP response. Only the request line is read; headers are ignored."""
    method, _, rest = request.partition(b"\r\n")[0].partition(b" ")
    page = pages.get(rest.partition(b" ")[0].partition(b"?")[0])
    if page is None:
        paths = b" or ".join(pages)
        answer = HttpResponse(b"write %b\n" % paths, status=HTTPStatus.NOT_FOUND)
    elif method != b"GET":
        answer = HttpResponse(b"GET alone\n", status=HTTPStatus.METHOD_NOT_ALLOWED)
    else:
        try:
            answer = await page()
        except Exception as error:  # a bug; its text may hold confidential data, so log the type
            structlog.get_logger().error("defect in the metrics", error=type(error).__name__)
            answer = HttpResponse(b"see the log\n", status=HTTPStatus.INTERNAL_SERVER_ERROR)
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\nContent-Type: {answer.kind}\r\n"
        f"Content-Length: {len(answer.body)}\r\nCache-Control: no-store\r\nConnection: close\r\n"
        "\r\n"
    )
    return head.encode() + answer.body
