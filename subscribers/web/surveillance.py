"""The routes of the page of surveillance: queries of the archive, and sealed cards for authorised
people.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from nacl.public import PrivateKey
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from common import clock
from common.confidential.key_file import KeyFileError
from common.contract.messages.messages import word
from common.contract.times import format_utc, parse_utc
from common.log import structlog
from subscribers.console.admission import Denied
from subscribers.console.sessions import Session
from subscribers.display.cards import card
from subscribers.laws import PrintedRule
from subscribers.surveillance import pages
from subscribers.surveillance.archive import ArchiveRow, Query, RecordArchive
from subscribers.surveillance.duty import DutySpan, find_during
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.items import ArchiveItem, item
from subscribers.surveillance.lookup import (
    duties_during,
    duties_of,
    find_records,
    missing_events,
    round_rows,
)
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.sealed import (
    AccessReason,
    NoCardsError,
    disclose_cards,
    may_see,
    private_key,
)
from subscribers.surveillance.timeline import TIMELINE_TYPES, timeline
from subscribers.surveillance.words import room_text
from subscribers.web.archive_access import (
    NO_STORE_HEADERS,
    ArchiveAccess,
    is_viewer,
    json_response,
)
from subscribers.web.beat import beat
from subscribers.web.clips import CUT_ERRORS
from subscribers.web.files import static_files
from subscribers.web.parameters import WholeNumber, parse_whole_number
from subscribers.web.pit import Pit
from subscribers.web.settings import WebSettings
from subscribers.web.sign_in import denied
from subscribers.web.stream import STREAM_HEADERS as STREAM
from subscribers.web.surveillance_export import SurveillanceExport
from subscribers.web.surveillance_people import SurveillancePeople
from subscribers.words import who

PAGE_RECORDS = 100
"""Records per response."""
MAX_TIMELINE_EVENTS = 6000
"""Maximum number of events in a timeline; with more, only notable ones are drawn."""
CHECK_INTERVAL_SECONDS = 1.0
"""Interval for checking for new records."""


class DisclosureBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request for the cards of a round."""

    table: str
    session: WholeNumber
    round: WholeNumber
    why: str
    pin: str


class SurveillancePages:
    """The page of surveillance."""

    def __init__(self, pit: Pit, settings: WebSettings, alive: Callable[[], bool]) -> None:
        self._pit, self._settings, self._alive = pit, settings, alive
        self._access = ArchiveAccess(pit, settings)
        self._log = structlog.get_logger()

    @property
    def routes(self) -> list[Route | Mount]:
        """The routes of the page."""
        return [
            static_files("/surveillance/static", "subscribers.surveillance"),
            Route("/surveillance", self._page),
            Route("/surveillance/records", self._records),
            Route("/surveillance/timeline", self._timeline),
            Route("/surveillance/round", self._round),
            Route("/surveillance/clip", self._clip),
            Route("/surveillance/stream", self._stream),
            Route("/surveillance/cards", self._cards, methods=["POST"]),
            *SurveillancePeople(self._access, self._settings).routes,
            *SurveillanceExport(self._pit.door, self._access, self._settings).routes,
        ]

    async def _page(self, request: Request) -> Response:
        session = self._pit.door.session(request)
        if session is None:
            return self._pit.sign_in(request)
        if not is_viewer(session.person):
            return pages.plain_page("page.not_you", session.language, 403, self._settings.base)
        if self._settings.archive is None:
            return pages.plain_page("page.no_archive", session.language, 503, self._settings.base)
        return pages.surveillance_page(
            self._settings.site,
            session,
            self._access.tables(session.person),
            self._pit.door.sessions.left(session),
            clock.wall() * 1000,
            self._settings.base,
            key=self._settings.cards_key is not None,
            clips=self._settings.video is not None,
        )

    async def _records(self, request: Request) -> Response:
        """Return a page of records, newest first; ``newest``, the number after which the stream
        continues; and ``through``, the number of the archive's newest record, after which none is
        listed on this page, on further ones or in an export.
        """
        session = self._access.session(request)
        all_records = self._all_records(session)
        search = self._access.search_request(request, session)
        beyond = request.query_params.get("beyond", "")
        until, _, last = beyond.rpartition(",")
        limit = request.query_params.get("through")
        try:
            stated = None if limit is None else parse_whole_number(limit)
        except ValueError:
            raise HTTPException(400) from None
        if beyond:
            try:
                number = parse_whole_number(last)
                search = msgspec.structs.replace(search, until=format_utc(parse_utc(until) + 1e-6))
            except ValueError:
                raise HTTPException(400) from None

        def query(archive: RecordArchive) -> tuple[int, int, list[ArchiveRow], bool]:
            newest = _last(all_records, archive)
            through = archive.newest_number() if stated is None else stated
            rows: list[ArchiveRow] = []
            for row in find_records(archive, search):
                if beyond and (row.record.time, row.number) >= (until, number):
                    continue
                if row.number > through:
                    continue
                if len(rows) == PAGE_RECORDS:
                    return newest, through, rows, True
                rows.append(row)
            return newest, through, rows, False

        newest, through, rows, has_more = await self._access.query(session, query)
        items = [item(row, session.language) for row in rows]
        return json_response(
            {"items": items, "more": has_more, "newest": newest, "through": through}
        )

    async def _timeline(self, request: Request) -> Response:
        """Return the rounds and the notable events and findings between two times."""
        session = self._access.session(request)
        search = self._access.search_request(request, session)
        if search.since is None:
            raise HTTPException(400)
        rounds = Query(
            sites=search.sites,
            tables=search.tables,
            kinds=("event",),
            types=TIMELINE_TYPES,
            since=search.since,
            until=search.until,
            limit=MAX_TIMELINE_EVENTS + 1,
        )
        findings = Query(
            sites=search.sites,
            tables=search.tables,
            kinds=("finding",),
            since=search.since,
            until=search.until,
            limit=MAX_TIMELINE_EVENTS,
        )

        def query(archive: RecordArchive) -> tuple[list[ArchiveRow], bool]:
            duties = duties_of(archive, search)
            rows = list(find_during(archive, rounds, duties))
            crowded = len(rows) > MAX_TIMELINE_EVENTS
            if crowded:
                types = tuple(
                    kind for kind in TIMELINE_TYPES if kind not in ("round.opened", "round.result")
                )
                notable = msgspec.structs.replace(
                    rounds, types=types, limit=MAX_TIMELINE_EVENTS, order="latest"
                )
                rows = list(find_during(archive, notable, duties))
            rows += [row for row in find_during(archive, findings, duties) if row.record.table]
            return rows, crowded

        rows, crowded = await self._access.query(session, query)
        return json_response({"timeline": timeline(rows), "crowded": crowded})

    async def _round(self, request: Request) -> Response:
        """Return the records of a round, with the articles of the decree that they name."""
        session = self._access.session(request)
        table, of_session, number = self._access.round_address(request, session)

        def query(archive: RecordArchive) -> tuple[list[ArchiveRow], list[Any], list[DutySpan]]:
            rows = round_rows(archive, self._settings.site, table, of_session, number)
            return rows, missing_events(archive, rows), duties_during(archive, rows)

        rows, gaps, duties = await self._access.query(session, query)
        items = [item(row, session.language) for row in rows]
        return json_response(
            {
                "items": items,
                "laws": self._law_texts(items),
                "on_duty": list(
                    dict.fromkeys(
                        f"{span.person} ({word('role', span.duty, session.language)})"
                        for span in duties
                    )
                ),
                "missing": [
                    room_text("page.missing", session.language, first=gap.first, last=gap.last)
                    for gap in gaps
                ],
            }
        )

    async def _clip(self, request: Request) -> Response:
        """Return the video of a round as MP4, made for this response and deleted after it."""
        session = self._access.session(request)
        table, of_session, number = self._access.round_address(request, session)
        if not self._pit.clips.available:
            raise HTTPException(404)
        try:
            return await self._pit.clips.response(table, of_session, number, session.language)
        except CUT_ERRORS as error:
            self._log.error("no clip is cut", reason=str(error), table=table, round=number)
            base = self._settings.base
            return pages.plain_page("page.no_clip", session.language, 404, base, why=error)

    async def _stream(self, request: Request) -> Response:
        """Stream notices of new records, with their tables. The stream begins after the newest
        record that the browser knows, so that a disconnected browser misses nothing; otherwise
        after the newest record of the archive, whose number it sends first.
        """
        session = self._access.session(request)
        known = request.headers.get("last-event-id") or request.query_params.get("after")
        try:
            last = parse_whole_number(known) if known else None
        except ValueError:
            raise HTTPException(400) from None
        return StreamingResponse(self._new_records(session, last), headers=_headers())

    async def _new_records(self, session: Session, last: int | None) -> AsyncIterator[str]:
        all_records = self._all_records(session)
        while self._alive() and self._pit.door.is_valid(session):
            query: Callable[[RecordArchive], int | list[ArchiveRow]] = (
                partial(_last, all_records) if last is None else _records_after(all_records, last)
            )
            querying = asyncio.create_task(self._access.query(session, query))
            try:
                while not querying.done():  # a query may take long; beats show that we are alive
                    yield f"event: beat\ndata: {beat().decode()}\n\n"
                    await asyncio.wait({querying}, timeout=CHECK_INTERVAL_SECONDS)
                found = await querying
            except HTTPException:
                yield "event: trouble\ndata:\n\n"
            else:
                if isinstance(found, int):
                    last = found
                    yield f"event: begin\nid: {last}\ndata: {last}\n\n"
                elif found:
                    last = found[-1].number
                    notice = {"count": len(found), "tables": _tables_of(found), "newest": last}
                    yield f"event: new\nid: {last}\ndata: {json.dumps(notice)}\n\n"
            finally:
                querying.cancel()
            await clock.sleep(CHECK_INTERVAL_SECONDS)

    async def _cards(self, request: Request) -> Response:
        """Return the sealed cards of a round to a person with the role who enters the PIN again.
        The access is recorded before the cards are returned.
        """
        session, body = await self._pit.door.authorize_recent(request, DisclosureBody)
        if not may_see(session.person):
            raise HTTPException(403)
        if self._settings.cards_key is None or self._settings.archive is None:
            raise HTTPException(404)
        self._access.require_table(session.person, body.table)
        why = body.why.strip()
        if not why or len(why) > 500:
            raise HTTPException(400)
        admitted = await self._pit.door.admission.prove(session.person, body.pin)
        if isinstance(admitted, Denied):
            if admitted.why in ("locked", "not_enrolled"):
                self._pit.door.sessions.end_of(session.person.id)
            return denied(admitted, session.language)
        person, _ = admitted  # as in the people file now
        if not may_see(person):
            raise HTTPException(403)
        self._access.require_table(person, body.table)
        origin = request.client.host if request.client is not None else "unknown"
        reason = AccessReason(person=person.id, name=person.name, origin=origin, why=why)
        where, path = self._settings.archive, Path(self._settings.cards_key)
        try:
            shown = await asyncio.to_thread(
                _disclose, where, self._settings.site, private_key(path), body, reason
            )
        except (NoCardsError, ArchiveError, KeyFileError) as error:
            self._log.error("no cards are shown", reason=str(error), person=person.id)
            text = room_text("page.cards_unrecorded", session.language, why=error)
            return JSONResponse({"ok": False, "text": text}, headers=NO_STORE_HEADERS)
        cards = [
            {
                **msgspec.to_builtins(shown_card),
                "label": card(shown_card.card, session.language).label,
                "place": None if shown_card.to is None else who(shown_card.to, session.language),
                "by": room_text(f"signed.{shown_card.signed}", session.language),
            }
            for shown_card in shown.cards
        ]
        return json_response({"ok": True, "cards": cards, "recorded": shown.look.time})

    def _all_records(self, session: Session) -> Query:
        """Return the query for all records that the person may see, in the order of storage."""
        tables = self._access.allowed(session.person)
        return Query(
            sites=(self._settings.site,), tables=tables, order="number", limit=PAGE_RECORDS
        )

    def _law_texts(self, items: list[ArchiveItem]) -> dict[str, PrintedRule]:
        laws = self._pit.laws
        return {record.law: laws[record.law] for record in items if record.law in laws}


def _disclose(
    where: str, site: str, key: PrivateKey, body: DisclosureBody, reason: AccessReason
) -> Any:
    archive = open_archive(where)
    try:
        rows = round_rows(archive, site, body.table, body.session, body.round)
        return disclose_cards(archive, rows, key, reason, clock.wall())
    finally:
        archive.close()


def _last(query: Query, archive: RecordArchive) -> int:
    """Return the highest number among the latest records by time. The archive may have a slightly
    higher one if records arrived out of order.
    """
    newest = archive.find(msgspec.structs.replace(query, order="latest"))
    return max((row.number for row in newest), default=0)


def _records_after(query: Query, after: int) -> Callable[[RecordArchive], list[ArchiveRow]]:
    later = msgspec.structs.replace(query, after=after)
    return lambda archive: list(archive.find(later))


def _tables_of(rows: list[ArchiveRow]) -> list[str]:
    return sorted({row.record.table for row in rows})


def _headers() -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in STREAM}
