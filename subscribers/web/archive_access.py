"""Access of the pages of surveillance to the archive: who may see what, and queries in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from common.contract.times import format_utc, parse_utc
from common.log import structlog
from common.people.register import ALL_TABLES, Person
from subscribers.console.sessions import Session
from subscribers.surveillance import pages
from subscribers.surveillance.archive import RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.search_request import SearchRequest, SearchRequestError
from subscribers.surveillance.words import room_text
from subscribers.web.parameters import parse_whole_number
from subscribers.web.pit import Pit
from subscribers.web.settings import WebSettings

MAX_WORD_LENGTH = 128
"""Maximum length of a search word, in characters."""
NO_STORE_HEADERS = {"cache-control": "no-store"}
T = TypeVar("T")


class ArchiveAccess:
    """The archive as a signed-in person may see it. It is opened at the first query, and after an
    error.
    """

    def __init__(self, pit: Pit, settings: WebSettings) -> None:
        self._pit, self._settings = pit, settings
        self._archive: RecordArchive | None = None
        self._querying = asyncio.Lock()
        self._log = structlog.get_logger()

    def session(self, request: Request) -> Session:
        session = self._pit.door.session(request)
        if session is None:
            raise HTTPException(401)
        if not is_viewer(session.person):
            raise HTTPException(403)
        if self._settings.archive is None:
            raise HTTPException(404)
        return session

    def search_request(self, request: Request, session: Session) -> SearchRequest:
        """Return the filters of a request. Raises ``HTTPException``."""
        parameters = request.query_params
        tables = tuple(filter(None, parameters.getlist("table")))
        for table in tables:
            self.require_table(session.person, table)
        names = ("article", "person", "on_duty")
        typed = {name: parameters.get(name, "").strip() for name in names}
        if any(len(text) > MAX_WORD_LENGTH for text in typed.values()):
            raise HTTPException(400)
        try:
            return SearchRequest(
                sites=(self._settings.site,),
                tables=tables or self.allowed(session.person),
                since=_time(parameters.get("from")),
                until=_time(parameters.get("to")),
                what=tuple(filter(None, parameters.getlist("what"))),
                words=tuple(filter(None, (typed["article"], typed["person"]))),
                on_duty=typed["on_duty"] or None,
                latest=True,
            )
        except ValueError:
            raise HTTPException(400) from None

    def round_address(self, request: Request, session: Session) -> tuple[str, int, int]:
        """Return the table, session and round that a request names."""
        parameters = request.query_params
        table = parameters.get("table", "")
        self.require_table(session.person, table)
        try:
            of_session = parse_whole_number(parameters["session"])
            number = parse_whole_number(parameters["round"])
        except (KeyError, ValueError):
            raise HTTPException(400) from None
        return table, of_session, number

    def tables(self, person: Person) -> tuple[str, ...]:
        """Return the configured tables at which the person is enrolled."""
        may_be_at = self._pit.door.admission.may_be_at
        return tuple(table.id for table in self._settings.tables if may_be_at(table.id, person))

    def allowed(self, person: Person) -> tuple[str, ...]:
        """Return the tables to search if a request names none; empty: all tables."""
        if ALL_TABLES in person.tables:
            return ()
        # a person without a table here sees nothing: "/" names no table
        return self.tables(person) or ("/",)

    def require_table(self, person: Person, table: str) -> None:
        if not self._pit.door.admission.may_be_at(table, person):
            raise HTTPException(404)

    async def query(self, session: Session, query: Callable[[RecordArchive], T]) -> T:
        """Query the archive in a thread. Raises ``HTTPException``."""
        async with self._querying:
            try:
                return await asyncio.to_thread(self._query_archive, query)
            except SearchRequestError:
                raise HTTPException(400) from None
            except ArchiveError as error:
                self._log.error("the archive cannot be read", reason=str(error))
                detail = room_text("page.trouble", session.language, why=error)
                raise HTTPException(503, detail) from None

    def _query_archive(self, query: Callable[[RecordArchive], T]) -> T:
        assert self._settings.archive is not None
        if self._archive is None:
            self._archive = open_archive(self._settings.archive, read_only=True)
        try:
            return query(self._archive)
        except ArchiveError:
            self._archive.close()
            self._archive = None
            raise


def is_viewer(person: Person) -> bool:
    """Return True if the person's roles permit seeing the pages."""
    return any(role in pages.VIEWER_ROLES for role in person.roles)


def json_response(content: Any) -> Response:
    """Return content as JSON that no browser stores."""
    return Response(
        msgspec.json.encode(content), media_type="application/json", headers=NO_STORE_HEADERS
    )


def _time(text: str | None) -> str | None:
    return format_utc(parse_utc(text)) if text else None
