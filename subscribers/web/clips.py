"""Clips of rounds, cut from the recordings on this machine, each for one response."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from common.log import structlog
from subscribers.console.sessions import Session
from subscribers.console.view import ConsoleView
from subscribers.console.words import console_text
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.video.errors import ClipError
from subscribers.web.parameters import parse_whole_number
from subscribers.web.settings import WebSettings
from subscribers.web.sign_in import SignIn

NO_STORE_HEADERS = {"cache-control": "no-store"}
CUT_ERRORS = (ClipError, ArchiveError, OSError)


class ClipCutter:
    """Cuts one clip at a time."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._cutting = asyncio.Lock()

    @property
    def available(self) -> bool:
        """Whether this server has recordings, and the archive that says when a round was."""
        return self._settings.video is not None and self._settings.archive is not None

    async def response(self, table: str, session: int, number: int, language: str) -> FileResponse:
        """Return the clip of a round as MP4, which is deleted after the response. Raises
        ``CUT_ERRORS``.
        """
        folder = TemporaryDirectory(prefix="novamas-clip-")
        out = Path(folder.name, f"{table}-{session}-{number}.mp4")
        try:
            async with self._cutting:
                await asyncio.to_thread(_cut, self._settings, out, table, session, number, language)
        except BaseException:
            folder.cleanup()
            raise
        return FileResponse(
            out,
            filename=out.name,
            headers=NO_STORE_HEADERS,
            background=BackgroundTask(folder.cleanup),
        )


class ConsoleClips:
    """The clip of a round that waits for a person at the console: of no other round, and for no
    person who may not decide about it. ``require``: raises ``HTTPException`` unless a person may
    see the table; ``view``: returns the table as that person sees it.
    """

    def __init__(
        self,
        cutter: ClipCutter,
        door: SignIn,
        require: Callable[[Session, str], None],
        view: Callable[[Session, str], ConsoleView],
    ) -> None:
        self._cutter, self._door = cutter, door
        self._require, self._view = require, view
        self._log = structlog.get_logger()

    @property
    def routes(self) -> list[Route]:
        """The route."""
        return [Route("/pit/clip", self._clip)]

    async def _clip(self, request: Request) -> Response:
        session = self._door.session(request)
        if session is None:
            raise HTTPException(401)
        parameters = request.query_params
        table = parameters.get("table", "")
        try:
            of_session = parse_whole_number(parameters["session"])
            number = parse_whole_number(parameters["round"])
        except (KeyError, ValueError):
            raise HTTPException(400) from None
        self._require(session, table)
        view = self._view(session, table)
        waits = any(item.round == number and item.answers for item in view.items)
        if not self._cutter.available or view.session != of_session or not waits:
            raise HTTPException(404)
        try:
            return await self._cutter.response(table, of_session, number, session.language)
        except CUT_ERRORS as error:  # it names folders, which are not for the page
            self._log.error("no clip is cut", reason=str(error), table=table, round=number)
            text = console_text("pit.no_clip", session.language)
            return JSONResponse({"text": text}, headers=NO_STORE_HEADERS)


def _cut(
    settings: WebSettings, out: Path, table: str, session: int, number: int, language: str
) -> None:
    """Raises ``CUT_ERRORS``."""
    from subscribers.video.clips import clip_of
    from subscribers.video.settings import VideoSettings

    assert settings.archive is not None
    archive = open_archive(settings.archive, read_only=True)
    try:
        clip_of(
            archive,
            msgspec.convert(settings.video, VideoSettings),
            out,
            site=settings.site,
            table=table,
            session=session,
            round=number,
            language=language,
        )
    finally:
        archive.close()
