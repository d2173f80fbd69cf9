"""The route of surveillance's export: what the page lists, as a signed file."""

from __future__ import annotations

import asyncio
from base64 import b64encode

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common import clock
from common.contract.times import format_utc
from common.log import structlog
from subscribers.console.admission import Denied
from subscribers.surveillance.archive import ArchiveRow, RecordArchive
from subscribers.surveillance.export_statement import MAX_RECORDS, SignedHead, Statement, heads
from subscribers.surveillance.lookup import find_records
from subscribers.surveillance.words import room_text
from subscribers.web.archive_access import NO_STORE_HEADERS, ArchiveAccess, is_viewer, json_response
from subscribers.web.parameters import WholeNumber
from subscribers.web.settings import WebSettings
from subscribers.web.sign_in import SignIn, denied

QUERY_NAMES = ("table", "from", "to", "what", "article", "person", "on_duty")
"""The parameters of a search that a statement names."""


class ExportBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request to export the records of the search in the address."""

    through: WholeNumber
    """The number of the newest record when the page listed them."""
    pin: str


class SurveillanceExport:
    """The route of the export."""

    def __init__(self, door: SignIn, access: ArchiveAccess, settings: WebSettings) -> None:
        self._door, self._access, self._site = door, access, settings.site
        self._log = structlog.get_logger()

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [Route("/surveillance/export", self._export, methods=["POST"])]

    async def _export(self, request: Request) -> Response:
        """Return the records of a search as a ZIP file, signed with the key of the person who gives
        the PIN again.
        """
        session, body = await self._door.authorize_recent(request, ExportBody)
        self._access.session(request)  # whether this person may see the page
        search = self._access.search_request(request, session)
        admitted = await self._door.admission.prove(session.person, body.pin)
        if isinstance(admitted, Denied):
            if admitted.why in ("locked", "not_enrolled"):
                self._door.sessions.end_of(session.person.id)
            return denied(admitted, session.language)
        person, key = admitted  # as in the people file now
        if not is_viewer(person):
            return JSONResponse({"ok": False}, 403)
        for table in search.tables:
            self._access.require_table(person, table)

        def query(archive: RecordArchive) -> tuple[list[ArchiveRow], tuple[SignedHead, ...]]:
            rows = []
            for row in find_records(archive, search):
                if row.number > body.through:
                    continue
                rows.append(row)
                if len(rows) > MAX_RECORDS:
                    break
            return rows, heads(archive, self._site)

        rows, checkpoints = await self._access.query(session, query)
        if not rows or len(rows) > MAX_RECORDS:
            key_ = "page.export_many" if rows else "page.nothing"
            text = room_text(key_, session.language, count=MAX_RECORDS)
            return JSONResponse({"ok": False, "text": text}, headers=NO_STORE_HEADERS)
        now = format_utc(clock.wall())
        statement = Statement(
            site=self._site,
            person=person.id,
            name=person.name,
            time=now,
            query={
                name: values[0] if len(values) == 1 else values
                for name in QUERY_NAMES
                if (values := request.query_params.getlist(name))
            },
            records=len(rows),
            through=body.through,
            checkpoints=checkpoints,
        )
        data = await asyncio.to_thread(_signed, rows, statement, key, session.language)
        self._log.info("records exported", person=person.id, records=len(rows))
        name = f"{self._site}-{now[:19].replace(':', '').replace('-', '')}Z.zip"
        return json_response(
            {"ok": True, "records": len(rows), "name": name, "data": b64encode(data).decode()}
        )


def _signed(rows: list[ArchiveRow], statement: Statement, key: bytes, language: str) -> bytes:
    from subscribers.surveillance.signed_export import signed_export  # loads PDF and signatures

    return signed_export(rows, statement, key, language)
