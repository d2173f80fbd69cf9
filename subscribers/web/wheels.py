"""The routes of the pages of wheels and shoes, which read the archive of surveillance. They name
dealers, so they are open only to people who may see surveillance's page, limited as there to this
site and the tables at which the person is enrolled; and, without sign-in, to this machine.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from common.contract.messages.messages import ENGLISH, LANGUAGES
from subscribers.console.sessions import Session
from subscribers.statistics import pages
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import WheelReport
from subscribers.statistics.reading import StatisticsReader
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.web.files import static_files
from subscribers.web.parameters import parse_whole_number
from subscribers.web.pit import Pit
from subscribers.web.settings import WebSettings

VIEWER_ROLES = ("surveillance", "inspector", "director")
"""Roles that may see the pages."""
NO_STORE_HEADERS = {"cache-control": "no-store"}


class WheelPages:
    """The pages of wheel statistics. ``pit``: the console, where people sign in, or why it is
    unavailable. The archive is read on demand, from the last position.
    """

    def __init__(self, settings: WebSettings, pit: Pit | str) -> None:
        self._settings, self._pit = settings, pit
        self._reader: StatisticsReader | None = None
        self._reading = asyncio.Lock()

    @property
    def routes(self) -> list[Route | Mount]:
        """The routes of the pages."""
        return [
            static_files("/wheels/static", "subscribers.statistics"),
            Route("/wheels", self._all),
            Route("/wheels/{table}/{number}", self._wheel),
        ]

    async def _all(self, request: Request) -> Response:
        """``/wheels``: all wheels and all shoes."""
        language = self._language(request)
        reports = await self._reports(request)
        if isinstance(reports, Response):
            return reports
        return HTMLResponse(
            pages.all_wheels(*reports, language, self._settings.base), headers=NO_STORE_HEADERS
        )

    async def _wheel(self, request: Request) -> Response:
        """``/wheels/<table>/<number>``: one wheel."""
        table, language = request.path_params["table"], self._language(request)
        reports = await self._reports(request)
        if isinstance(reports, Response):
            return reports
        try:
            wheel = reports[0].get(parse_whole_number(request.path_params["number"]))
        except ValueError:
            wheel = None
        if wheel is None or wheel.table != table:
            return HTMLResponse(self._plain("none", language), 404, NO_STORE_HEADERS)
        return HTMLResponse(
            pages.one_wheel(
                wheel,
                language,
                self._settings.base,
                [
                    other
                    for other in reports[0].values()
                    if (other.site, other.table) == (wheel.site, wheel.table)
                ],
            ),
            headers=NO_STORE_HEADERS,
        )

    async def _reports(
        self, request: Request
    ) -> tuple[dict[int, WheelReport], list[ShoesReport]] | Response:
        """Return the archive's statistics for the requesting person, wheels by number, or the
        reason for a refusal.
        """
        language = self._language(request)
        if isinstance(self._pit, str):
            if not self._settings.local:
                return PlainTextResponse(f"{self._pit}\n", 503)
        else:
            session = self._pit.door.session(request)
            if session is None:
                return self._pit.sign_in(request)
            if not any(role in VIEWER_ROLES for role in session.person.roles):
                return HTMLResponse(self._plain("not_you", language), 403, NO_STORE_HEADERS)
        where = self._settings.archive
        if where is None:
            return HTMLResponse(self._plain("no_archive", language), 503, NO_STORE_HEADERS)
        try:
            async with self._reading:
                wheels, shoes = await asyncio.to_thread(self._read, where)
        except ArchiveError as error:
            self._reader = None
            return HTMLResponse(
                self._plain("trouble", language, reason=error), 503, NO_STORE_HEADERS
            )
        return (
            {
                number: wheel
                for number, wheel in enumerate(wheels)
                if self._may_see(request, wheel.table)
            },
            [shoe for shoe in shoes if self._may_see(request, shoe.table)],
        )

    def _plain(self, key: str, language: str, **fields: object) -> str:
        return pages.plain(key, language, self._settings.base, **fields)

    def _may_see(self, request: Request, table: str) -> bool:
        """Return True if the requesting person may see this table."""
        if isinstance(self._pit, str):
            return True
        session = self._pit.door.session(request)
        return session is not None and self._pit.door.admission.may_be_at(table, session.person)

    def _read(self, where: str) -> tuple[list[WheelReport], list[ShoesReport]]:
        if self._reader is None:
            sites = () if isinstance(self._pit, str) else (self._settings.site,)
            self._reader = StatisticsReader(open_archive(where, read_only=True), sites=sites)
        self._reader.read()
        return self._reader.statistics.wheels(), self._reader.statistics.shoes()

    def _language(self, request: Request) -> str:
        requested = request.query_params.get("lang")
        if requested in LANGUAGES:
            return requested
        session: Session | None = None
        if isinstance(self._pit, Pit):
            session = self._pit.door.session(request)
        return ENGLISH if session is None else session.language
