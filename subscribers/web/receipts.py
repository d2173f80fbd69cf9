"""Receipts of jackpots at the console: read from the ledger on this machine, as PDF or printed.

The ledger's own program reads it, in a process of its own, so that this server depends on nothing
of the controller. What is printed is what the ledger proves; a receipt can be printed again.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common.log import structlog
from subscribers.console.sessions import Session
from subscribers.console.settings import PitSettings
from subscribers.console.words import console_text
from subscribers.feed.floor import JACKPOT_PREFIX
from subscribers.web.sign_in import SignIn

PROGRAM = "subscribers.carrousel.bookkeeping"
READ_TIMEOUT_SECONDS = 20.0
NUMBER = re.compile(r"[0-9]{1,10}")
MAX_NUMBER = 10**9


class ReceiptBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request to print a receipt."""

    jackpot: str
    number: int


class ReceiptError(Exception):
    """The receipt could not be read or printed."""


class Receipts:
    """The routes of receipts. ``letterhead``: the lines at the head of papers; ``require``: raises
    ``HTTPException`` unless a person may see the jackpot; ``language``: returns that of the house,
    or None; then it is that of the person.
    """

    def __init__(
        self,
        settings: PitSettings,
        letterhead: Sequence[str],
        door: SignIn,
        require: Callable[[Session, str], None],
        language: Callable[[], str | None],
    ) -> None:
        self._settings, self._letterhead, self._door = settings, letterhead, door
        self._require, self._language = require, language
        self._log = structlog.get_logger()

    @property
    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/pit/receipt/{jackpot}/{number}", self._pdf),
            Route("/pit/receipt", self._print, methods=["POST"]),
        ]

    async def _pdf(self, request: Request) -> Response:
        session = self._door.session(request)
        if session is None:
            raise HTTPException(401)
        jackpot, text = request.path_params["jackpot"], request.path_params["number"]
        if not NUMBER.fullmatch(text):
            raise HTTPException(404)
        number = int(text)
        self._check(session, jackpot, number)
        try:
            data = await self._read(jackpot, number, "pdf", session)
        except ReceiptError as error:
            self._log.error("receipt not read", reason=str(error), jackpot=jackpot, number=number)
            raise HTTPException(404) from None
        headers = {
            "cache-control": "no-store",
            "content-disposition": f'inline; filename="{jackpot}-{number}.pdf"',
        }
        return Response(data, headers=headers, media_type="application/pdf")

    async def _print(self, request: Request) -> Response:
        """Print a receipt at the printer of this server."""
        session, body = await self._door.authorize_recent(request, ReceiptBody)
        self._check(session, body.jackpot, body.number)
        printer = self._settings.receipt_printer
        if printer is None:
            raise HTTPException(404)
        try:
            data = await self._read(body.jackpot, body.number, "escpos", session)
            await asyncio.to_thread(Path(printer).write_bytes, data)
        except (ReceiptError, OSError) as error:
            self._log.error("receipt not printed", reason=str(error), printer=printer)
            text = console_text("carrousel.not_printed", session.language)
            return JSONResponse({"ok": False, "text": text})
        self._log.info(
            "receipt printed",
            person=session.person.id,
            jackpot=body.jackpot,
            number=body.number,
        )
        return JSONResponse({"ok": True})

    def _check(self, session: Session, jackpot: str, number: int) -> None:
        self._require(session, JACKPOT_PREFIX + jackpot)
        if self._settings.ledger is None or not 0 < number <= MAX_NUMBER:
            raise HTTPException(404)

    async def _read(self, jackpot: str, number: int, form: str, session: Session) -> bytes:
        """Return a receipt in this form. Raises :class:`ReceiptError`."""
        house = [part for line in self._letterhead for part in ("--house", line)]
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", PROGRAM, "receipt", str(self._settings.ledger)),
            *("--jackpot", jackpot, "--number", str(number)),
            *("--format", form, "--language", self._language() or session.language),
            *house,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(READ_TIMEOUT_SECONDS):
                data, errors = await program.communicate()
        except TimeoutError:
            program.kill()
            await program.wait()
            raise ReceiptError("the ledger was not read in time") from None
        if program.returncode != 0:
            raise ReceiptError(errors.decode(errors="replace").strip())
        return data
