"""Responses of the metrics endpoint."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing, suppress
from http import HTTPStatus

import pytest
from structlog.testing import capture_logs

from common.metrics import endpoint
from common.metrics.endpoint import MAX_REQUEST_BYTES, HttpResponse, response, serve
from tests.support.waiting import TIMEOUT_SECONDS, until_async


async def page() -> HttpResponse:
    return HttpResponse(b"x\n")


async def ill() -> HttpResponse:
    return HttpResponse(b"ill", status=HTTPStatus.SERVICE_UNAVAILABLE)


async def defect() -> HttpResponse:
    raise ValueError("the ace of spades")


PAGES = {b"/metrics": page, b"/health": ill, b"/defect": defect}


@pytest.mark.parametrize(
    ("asked", "status", "body"),
    [
        (b"GET /metrics HTTP/1.1\r\n\r\n", b"200", b"x\n"),
        (b"GET /metrics?a=b HTTP/1.1\r\n\r\n", b"200", b"x\n"),
        (b"GET /health HTTP/1.1\r\n\r\n", b"503", b"ill"),
        (b"GET /other HTTP/1.1\r\n\r\n", b"404", b"write /metrics or /health or /defect\n"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"405", b"GET alone\n"),
        (b"\xff\x00\r\n\r\n", b"404", b"write /metrics or /health or /defect\n"),
    ],
)
async def test_each_path_has_its_answer(asked: bytes, status: bytes, body: bytes) -> None:
    head, _, told = (await response(asked, PAGES)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status + b" ")
    assert told == body
    assert b"Content-Length: %d" % len(body) in head


async def test_an_exception_is_logged_without_its_text() -> None:
    with capture_logs() as logs:
        answer = await response(b"GET /defect HTTP/1.1\r\n\r\n", PAGES)
    assert answer.startswith(b"HTTP/1.1 500 ")
    [line] = logs
    assert line["error"] == "ValueError"
    assert "spades" not in f"{answer!r} {line}"


async def test_a_port_in_use_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "LISTEN_RETRY_SECONDS", 0.01)
    with capture_logs() as logs, closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        serving = asyncio.create_task(serve(("127.0.0.1", port), PAGES))
        await until_async(lambda: logs)
        assert logs[0]["event"] == "no metrics"
        taken.close()
        await until_async(lambda: logs[-1]["event"] == "metrics")
    assert len(logs) == 2, "each is said once"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"x" * 2 * MAX_REQUEST_BYTES)  # no request
    other, asks = await asyncio.open_connection("127.0.0.1", port)
    asks.write(b"GET /metrics HTTP/1.1\r\n\r\n")
    async with asyncio.timeout(TIMEOUT_SECONDS):
        assert (await other.read()).endswith(b"\r\n\r\nx\n")
        with suppress(ConnectionError):
            assert await reader.read() == b""
    for each in (writer, asks):
        each.close()
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
