"""The routes of the API, and its errors."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from common import clock
from common.contract.http_bodies import EndReason, HttpProblem, JackpotsBody, TablesBody
from common.contract.openapi import openapi
from common.contract.schemas import EVENT_NAMES, to_bytes
from common.contract.topics import Topics
from common.log import structlog
from common.people.private_key import PrivateKeyError
from common.people.tokens import ApiToken
from common.suggestions import unknown_word
from subscribers.api.bearers import Bearers
from subscribers.api.bodies import history_body, jackpot_body, state_headers, table_body
from subscribers.api.event_service import EventService
from subscribers.api.frames import START, StreamFormat, parse_merged_id, parse_table_id
from subscribers.api.settings import ApiPlace, ApiSettings
from subscribers.api.stream import STREAM_HEADERS, EventStream, StreamFilter
from subscribers.feed.floor import Floor

EVENT_TYPES = tuple(EVENT_NAMES.values())
STREAM_CHECK_INTERVAL_SECONDS = 5.0
"""Interval for looking whether readers read, whether tokens still count, and for beats."""
RETRY_HEADERS = {"retry-after": "5"}
NO_STORE_HEADERS = {"cache-control": "no-store"}
"""Cache headers of every answer: it is only valid now."""


class ApiCounters(msgspec.Struct):
    """Event counters."""

    streams: int = 0
    """Open streams of events."""
    refused: int = 0
    """Streams refused because there were too many."""
    left_behind: int = 0
    """Streams ended because the reader was too slow."""


class Api:
    """The API of one server. ``floor``: what is known of its tables; ``alive``: returns False once
    the server shuts down.
    """

    def __init__(
        self, settings: ApiSettings, place: ApiPlace, floor: Floor, alive: Callable[[], bool]
    ) -> None:
        self._settings, self._place, self._floor, self._alive = settings, place, floor, alive
        self._bearers = Bearers(
            Path(settings.tokens), Path(place.state), clock.wall, clock.monotonic
        )
        self._document: bytes | None = None
        self.counts = ApiCounters()
        self._open: Counter[ApiToken] = Counter()
        """Open streams by token."""
        self._streams: set[EventStream] = set()
        self.events = self._event_service()

    def _event_service(self) -> EventService | None:
        topics = {
            table: Topics(self._place.site, known.simulated)
            for table, known in self._floor.known.items()
        }
        try:
            return EventService(self._settings, self._place.broker, topics, Path(self._place.state))
        except (sqlite3.Error, OSError, PrivateKeyError) as error:
            structlog.get_logger().error("no streams of events", reason=str(error))
            return None

    @property
    def routes(self) -> list[Mount]:
        """Everything below ``/v1``."""
        cors = Middleware(
            CORSMiddleware,
            allow_origins=self._settings.origins,
            allow_methods=["GET"],
            allow_headers=["authorization", "last-event-id"],
        )
        inner = Starlette(
            routes=[
                Route("/tables", self._tables),
                Route("/tables/{table}", self._table),
                Route("/tables/{table}/history", self._history),
                Route("/tables/{table}/events", self._table_events),
                Route("/jackpots", self._jackpots),
                Route("/events", self._all_events),
                Route("/openapi.json", self._openapi),
            ],
            middleware=[cors] if self._settings.origins else [],
            exception_handlers={HTTPException: problem},
        )
        return [Mount("/v1", app=inner)]

    async def run(self) -> None:
        """Receive events until cancelled, and look after the streams."""
        if self.events is None:
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self.events.run())
            while True:
                self.wake()  # for their beats, and because a token may have ended
                blocked_before = clock.monotonic() - self._place.send_timeout
                for stream in [*self._streams]:
                    stream.expire(blocked_before)
                await clock.sleep(STREAM_CHECK_INTERVAL_SECONDS)

    def end(self) -> None:
        """End all streams: the server shuts down."""
        if self.events is not None:
            self.events.end()
        self.wake()

    def wake(self) -> None:
        """Wake all streams: their token or the server may end."""
        if self.events is not None:
            self.events.log.wake_all()

    async def _all_events(self, request: Request) -> Response:
        token = self._bearers.admit(request)
        requested = request.query_params.getlist("table")
        for table in requested:
            self._require_table(token, table)
        tables = [table for table in requested or self._floor.known if token.may_read(table)]
        return self._stream(request, token, tables, None)

    async def _table_events(self, request: Request) -> Response:
        token = self._bearers.admit(request)
        table: str = request.path_params["table"]
        self._require_table(token, table)
        return self._stream(request, token, [table], table)

    def _stream(
        self, request: Request, token: ApiToken, tables: Iterable[str], table: str | None
    ) -> Response:
        """Return a stream. Raises ``HTTPException``."""
        types, form = request.query_params.getlist("type"), _format(request)
        for name in types:
            if name not in EVENT_TYPES:
                raise HTTPException(400, unknown_word("type", name, EVENT_TYPES))
        last = request.headers.get("last-event-id")
        parse = parse_merged_id if table is None else parse_table_id
        if last is not None and last != START and parse(last) is None:
            raise HTTPException(400, "Last-Event-ID is not an id of this stream; leave it out")
        events = self.events
        if events is None or events.trouble is not None or not self._alive():
            raise HTTPException(503, "events cannot be stored now; see the log", RETRY_HEADERS)
        if request.method == "HEAD":
            return Response(headers={k.decode(): v.decode() for k, v in STREAM_HEADERS})
        if self._open[token] >= self._settings.token_streams:
            self.counts.refused += 1
            raise HTTPException(429, "this token has too many streams; close some", RETRY_HEADERS)
        if self._open.total() >= self._settings.streams:
            self.counts.refused += 1
            raise HTTPException(503, "the server has too many streams; try again", RETRY_HEADERS)
        self._open[token] += 1
        self.counts.streams += 1
        wanted = StreamFilter({name: events.topics[name] for name in tables}, table, set(types))
        made = EventStream(
            events.log,
            wanted,
            form,
            last,
            ended=lambda: self._end_reason(token),
            on_end=lambda stream, slow: self._on_end(token, stream, slow=slow),
        )
        self._streams.add(made)
        return made

    def _end_reason(self, token: ApiToken) -> EndReason | None:
        if not self._alive():
            return "shutdown"
        if self.events is None or self.events.trouble is not None:
            return "log"
        return None if self._bearers.is_valid(token) else "token"

    def _on_end(self, token: ApiToken, stream: EventStream, *, slow: bool) -> None:
        self._streams.discard(stream)
        self.counts.streams -= 1
        self.counts.left_behind += slow
        self._open[token] -= 1
        if not self._open[token]:
            del self._open[token]

    async def _tables(self, request: Request) -> Response:
        token = self._bearers.admit(request)
        tables = [table for table in self._floor.known if token.may_read(table)]
        return _answer(TablesBody(tuple(table_body(self._floor, table) for table in tables)))

    async def _table(self, request: Request) -> Response:
        table = self._admitted_table(request)
        headers = state_headers(self._place.site, self._floor.known[table])
        return _answer(table_body(self._floor, table), headers)

    async def _history(self, request: Request) -> Response:
        return _answer(history_body(self._floor, self._admitted_table(request)))

    async def _jackpots(self, request: Request) -> Response:
        if self._bearers.admit(request).tables:
            raise HTTPException(403, "this token may read some tables only, and no jackpot")
        meters = self._floor.meters
        return _answer(JackpotsBody(tuple(jackpot_body(self._floor, name) for name in meters)))

    async def _openapi(self, request: Request) -> Response:
        self._bearers.admit(request)
        if self._document is None:
            self._document = await asyncio.to_thread(lambda: to_bytes(openapi()))
        return Response(self._document, 200, NO_STORE_HEADERS, "application/json")

    def _admitted_table(self, request: Request) -> str:
        """Return the table of a request that may read it. Raises ``HTTPException``."""
        token = self._bearers.admit(request)
        table: str = request.path_params["table"]
        self._require_table(token, table)
        return table

    def _require_table(self, token: ApiToken, table: str) -> None:
        if table not in self._floor.known or not token.may_read(table):
            raise HTTPException(404, "there is no such table, or the token may not read it")


def _format(request: Request) -> StreamFormat:
    """Return the format of a stream. Raises ``HTTPException``."""
    form = request.query_params.get("format", "json")
    for known in get_args(StreamFormat):
        if form == known:
            return cast("StreamFormat", known)
    raise HTTPException(400, unknown_word("format", form, get_args(StreamFormat)))


def _answer(body: msgspec.Struct, headers: dict[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(body), 200, NO_STORE_HEADERS | (headers or {}), "application/json"
    )


async def problem(_: Request, error: Exception) -> Response:
    """Return an error as RFC 9457 has it."""
    assert isinstance(error, HTTPException)
    title = HTTPStatus(error.status_code).phrase
    body = HttpProblem(title=title, status=error.status_code, detail=error.detail)
    headers: dict[str, Any] = NO_STORE_HEADERS | {**(error.headers or {})}
    return Response(
        msgspec.json.encode(body), error.status_code, headers, "application/problem+json"
    )
