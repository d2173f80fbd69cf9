"""``GET /metrics`` of a service over HTTP, and what else it answers there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import NamedTuple

from devices.log import structlog

PATIENCE = 5.0
"""Seconds that a client has to ask and to take the answer."""
LARGEST = 8192
"""Bytes of a request."""
AGAIN = 10.0
"""Seconds until the next try where nothing can listen."""


class Answer(NamedTuple):
    """What is answered to a request."""

    body: bytes
    kind: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK


Pages = Mapping[bytes, Callable[[], Awaitable[Answer]]]
"""By path, what makes its answer."""


async def serve(listen: tuple[str, int], pages: Pages) -> None:
    """Answer until cancelled. Where nothing can listen, the log says so, and it is tried again:
    the service goes on.
    """
    log, told = structlog.get_logger().bind(host=listen[0], port=listen[1]), False
    while True:
        try:
            async with await asyncio.start_server(_answers(pages), *listen, limit=LARGEST) as made:
                log.info("metrics")
                await made.serve_forever()
        except (OSError, ValueError) as error:  # a name may be none
            if not told:
                log.error("no metrics", reason=str(error))
            told = True
        await asyncio.sleep(AGAIN)


def _answers(
    pages: Pages,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            async with asyncio.timeout(PATIENCE):
                writer.write(await response(await reader.readuntil(b"\r\n\r\n"), pages))
                await writer.drain()
        writer.close()

    return answer


async def response(asked: bytes, pages: Pages) -> bytes:
    """The answer to a request, whose first line alone counts."""
    method, _, rest = asked.partition(b"\r\n")[0].partition(b" ")
    page = pages.get(rest.partition(b" ")[0].partition(b"?")[0])
    if page is None:
        known = b" or ".join(pages)
        answer = Answer(b"write %b\n" % known, status=HTTPStatus.NOT_FOUND)
    elif method != b"GET":
        answer = Answer(b"GET alone\n", status=HTTPStatus.METHOD_NOT_ALLOWED)
    else:
        try:
            answer = await page()
        except Exception as error:  # a defect; its text may hold what nobody may read here
            structlog.get_logger().error("defect in the metrics", error=type(error).__name__)
            answer = Answer(b"see the log\n", status=HTTPStatus.INTERNAL_SERVER_ERROR)
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\nContent-Type: {answer.kind}\r\n"
        f"Content-Length: {len(answer.body)}\r\nCache-Control: no-store\r\nConnection: close\r\n"
        "\r\n"
    )
    return head.encode() + answer.body
