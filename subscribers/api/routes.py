"""The routes of the API, and its errors."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from common import clock
from common.contract.http_bodies import HttpProblem, JackpotsBody, TablesBody
from common.contract.openapi import openapi
from common.contract.schemas import to_bytes
from common.people.tokens import ApiToken
from subscribers.api.bearers import Bearers
from subscribers.api.bodies import history_body, jackpot_body, state_event, table_body
from subscribers.api.settings import ApiSettings
from subscribers.feed.floor import Floor

NO_STORE_HEADERS = {"cache-control": "no-store"}
"""Cache headers of every answer: it is only valid now."""


class Api:
    """The API of one server. ``site``: the site's id; ``floor``: what is known of its tables."""

    def __init__(self, settings: ApiSettings, site: str, floor: Floor) -> None:
        self._settings, self._site, self._floor = settings, site, floor
        self._bearers = Bearers(Path(settings.tokens), clock.wall, clock.monotonic)
        self._document: bytes | None = None

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
                Route("/jackpots", self._jackpots),
                Route("/openapi.json", self._openapi),
            ],
            middleware=[cors] if self._settings.origins else [],
            exception_handlers={HTTPException: problem},
        )
        return [Mount("/v1", app=inner)]

    async def _tables(self, request: Request) -> Response:
        token = self._bearers.admit(request)
        tables = [table for table in self._floor.known if token.may_read(table)]
        return _answer(TablesBody(tuple(table_body(self._floor, table) for table in tables)))

    async def _table(self, request: Request) -> Response:
        table = self._admitted_table(request)
        event = state_event(self._site, self._floor.known[table])
        return _answer(table_body(self._floor, table), {} if event is None else event.headers())

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
