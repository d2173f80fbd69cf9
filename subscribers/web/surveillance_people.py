"""The routes of surveillance's filters: people to choose from, and periods that end now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from common import clock
from common.contract.messages.messages import word
from common.contract.times import format_utc
from common.days import bounds, day_of, on_wire
from subscribers.surveillance.archive import RecordArchive
from subscribers.surveillance.duty import (
    LOOK_BACK,
    DutySpan,
    SessionSpan,
    Spans,
    authors,
    spans,
)
from subscribers.web.archive_access import MAX_WORD_LENGTH, ArchiveAccess, json_response
from subscribers.web.settings import WebSettings


class Period(msgspec.Struct, frozen=True):
    """A period, as times of the wire."""

    since: str
    until: str | None
    """None: until now."""


class SurveillancePeople:
    """The routes of people and periods."""

    def __init__(self, access: ArchiveAccess, settings: WebSettings) -> None:
        self._access, self._site = access, settings.site
        self._day_begins = time.fromisoformat(settings.day_begins)

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/surveillance/people", self._people),
            Route("/surveillance/periods", self._periods),
        ]

    async def _people(self, request: Request) -> Response:
        """Return the people whom the archive knows at these tables, from the begin of the gaming
        day in which the period begins: who was on duty, and who gave or signed something.
        """
        session = self._access.session(request)
        search = self._access.search_request(request, session)
        since = self._day_of(search.since)

        def query(archive: RecordArchive) -> tuple[Spans, list[str]]:
            among = (search.sites, search.tables, since, search.until)
            return spans(archive, *among), authors(archive, *among)

        (duties, _), names = await self._access.query(session, query)
        on_duty: dict[str, list[str]] = {}
        for span in duties:
            held = on_duty.setdefault(span.person, [])
            duty = word("role", span.duty, session.language)
            if duty not in held:
                held.append(duty)
        people = [
            {"name": name, "duty": ", ".join(on_duty[name])}
            for name in sorted(on_duty, key=str.casefold)
            if 0 < len(name) <= MAX_WORD_LENGTH
        ]
        known = [name for name in names if len(name) <= MAX_WORD_LENGTH]
        return json_response({"on_duty": people, "authors": known})

    async def _periods(self, request: Request) -> Response:
        """Return since when the shift, the session and the gaming day have lasted."""
        session = self._access.session(request)
        search = self._access.search_request(request, session)
        now = clock.wall()

        def query(archive: RecordArchive) -> Spans:
            since = format_utc(now - LOOK_BACK.total_seconds())
            return spans(archive, search.sites, search.tables, since)

        duties, sessions = await self._access.query(session, query)
        if search.on_duty is None:
            shifts = [span for span in duties if span.duty == "croupier"]
        else:
            shifts = [span for span in duties if span.person == search.on_duty]
        return json_response(
            {
                "shift": current(shifts) or current(sessions),
                "session": current(sessions),
                "day": Period(self._day_of(None), None),
            }
        )

    def _day_of(self, moment: str | None) -> str:
        """Return the begin of the gaming day of a moment; without one, of now."""
        moment = moment or format_utc(clock.wall())
        try:
            day = day_of(datetime.fromisoformat(moment), self._day_begins)
            return on_wire(bounds(day, self._day_begins)[0])
        except (ValueError, OverflowError):  # the first or last day that a date can be
            return moment


def current(found: Sequence[DutySpan] | Sequence[SessionSpan]) -> Period | None:
    """Return the period of those that are not over, since the first of them began; else of the last
    one.
    """
    running = [span.since for span in found if span.until is None]
    if running:
        return Period(min(running), None)
    last = max(found, key=lambda span: span.since, default=None)
    return None if last is None else Period(last.since, last.until)
