"""Requests for streams: what is refused, how many there may be, and who may read from a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common import clock
from common.people.tokens import add_token
from tests.web.in_process import API_HEADERS, TABLE, InProcess

STREAMS = ("/v1/events", f"/v1/tables/{TABLE}/events")
HOST = ("host", "127.0.0.1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    with closing(InProcess(tmp_path_factory.mktemp("server"), with_console=False)) as made:
        yield made


@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize(
    ("query", "last", "word"),
    [
        ("type=round.results", None, "round.result"),
        ("format=xml", None, "format"),
        ("", "nonsense", "Last-Event-ID"),
        ("", "-1", "Last-Event-ID"),
        ("", "1.b1.1.1", "Last-Event-ID"),
        ("", "b1." + "9" * 40, "Last-Event-ID"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    server: InProcess, path: str, query: str, last: str | None, word: str
) -> None:
    headers = [HOST, *API_HEADERS, *([] if last is None else [("last-event-id", last)])]
    answer = server.ask("GET", f"{path}?{query}", headers)
    assert answer.status == 400
    assert word in json.loads(answer.body)["detail"]


def test_the_ids_of_the_two_streams_differ(server: InProcess) -> None:
    for path, last in zip(STREAMS, ("b1.1", "1.b1.1"), strict=True):
        answer = server.ask("GET", path, [HOST, *API_HEADERS, ("last-event-id", last)])
        assert answer.status == 400, path


def test_a_table_that_may_not_be_read_is_unknown(server: InProcess) -> None:
    assert server.settings.api is not None
    _, token = add_token(Path(server.settings.api.tokens), "other", ["another"], None, clock.wall())
    for path in (STREAMS[1], f"/v1/events?table={TABLE}", "/v1/events?table=none"):
        answer = server.ask("GET", path, [HOST, ("authorization", f"Bearer {token}")])
        assert answer.status == 404, path


def test_streams_are_limited_for_each_token_and_in_all(server: InProcess) -> None:
    api = server.web.api
    assert api is not None
    for own, status in ((True, 429), (False, 503)):
        [token] = [each for each in api._bearers._file.tokens() if each.name == "shop-1"]
        other = msgspec.structs.replace(token, name="other")
        api._open[token if own else other] = 100 if own else 1000
        answer = server.ask("GET", STREAMS[0], [HOST, *API_HEADERS])
        assert answer.status == status
        api._open.clear()
    assert api.counts.refused == 2
    assert server.ask("GET", STREAMS[0], [HOST, *API_HEADERS]).status == 200
    assert api.counts.streams == 0
    assert not api._open
    assert not api._streams


def test_a_head_opens_no_stream(server: InProcess) -> None:
    answer = server.ask("HEAD", STREAMS[0], [HOST, *API_HEADERS])
    assert (answer.status, answer.body) == (200, b"")


def test_no_stream_begins_while_events_cannot_be_stored(server: InProcess) -> None:
    api = server.web.api
    assert api is not None
    assert api.events is not None
    api.events.trouble = "the disk is full"
    assert server.ask("GET", STREAMS[0], [HOST, *API_HEADERS]).status == 503
    assert b"novamas_web_api_storing 0.0" in server.ask("GET", "/metrics", [HOST]).body
    api.events.trouble = None
    assert b"novamas_web_api_storing 1.0" in server.ask("GET", "/metrics", [HOST]).body


def test_pages_of_the_named_origins_may_read(tmp_path: Path) -> None:
    def allowed(server: InProcess, origin: str) -> list[Any]:
        headers: dict[str, str] = {}
        more = [("origin", origin), ("access-control-request-method", "GET")]
        answer = server.ask(
            "OPTIONS",
            STREAMS[0],
            [HOST, *more, ("access-control-request-headers", "authorization")],
            on_headers=headers.update,
        )
        return [answer.status, headers.get("access-control-allow-origin")]

    with closing(InProcess(tmp_path / "closed", with_console=False)) as server:
        assert allowed(server, "https://shop.example") == [405, None]
    origins = ("https://shop.example",)
    with closing(InProcess(tmp_path / "open", with_console=False, origins=origins)) as server:
        assert allowed(server, "https://shop.example") == [200, "https://shop.example"]
        assert allowed(server, "https://evil.example") == [400, None]
