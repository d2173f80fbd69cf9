"""The routes of the pit console: its page, the stream of what waits, and the commands."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from controller.contract.messages.messages import ENGLISH, LANGUAGES
from controller.contract.topics import Topics
from devices import clock
from subscribers.console import jackpot_work, pages
from subscribers.console.admission import Admission, Denied
from subscribers.console.evidence import TableEvidence, add_evidence
from subscribers.console.forms import PIN_COMMANDS, is_readable
from subscribers.console.jackpot_work import JackpotContext
from subscribers.console.sending import TOUCH_NUMBER, CommandSender, Touch
from subscribers.console.sessions import Session
from subscribers.console.settings import PitSettings
from subscribers.console.words import console_text
from subscribers.console.work import (
    ConsoleView,
    TableContext,
    TouchOutcome,
    console_view,
    role_for,
    touch_outcome,
)
from subscribers.meter import silence
from subscribers.web.files import Files
from subscribers.web.floor import JACKPOT_PREFIX, Floor, change_of
from subscribers.web.metrics import WebCounters
from subscribers.web.settings import WebSettings
from subscribers.web.sign_in import SignIn, denied
from subscribers.web.stream import PictureStream, StreamResponse

SEND_MARGIN_SECONDS = 10.0
"""Additional time for checking a PIN and sending the command."""


class CommandBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request to send a command."""

    number: str
    table: str
    command: str
    fields: dict[str, Any] = {}
    pin: str | None = None


class OutcomeQueryBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a query for the outcome of a touch whose page or server was interrupted."""

    table: str
    boot: str
    seq: int


class LanguageBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request to change the language."""

    language: str


class Pit:
    """The console. Raise ``SignInUnavailableError``. ``alive``: False once the server
    shuts down.
    """

    def __init__(
        self,
        settings: PitSettings,
        web: WebSettings,
        floor: Floor,
        alive: Callable[[], bool],
    ) -> None:
        self._site, self._floor, self._alive = web.site, floor, alive
        self.base = web.base
        self.door = SignIn(
            Admission(settings, web.site, Path(web.state), clock.wall, clock.monotonic),
            settings,
            web.secure,
            web.base,
        )
        topics = {table.id: Topics(web.site, table.simulated) for table in web.tables}
        self._evidence = dict.fromkeys(topics, TableEvidence())
        jackpots = {
            JACKPOT_PREFIX + jackpot.id: Topics(web.site, jackpot.simulated)
            for jackpot in web.jackpots
        }
        self.sending = CommandSender(
            web.broker, topics | jackpots, self._changed, clock.wall, mute=jackpots
        )
        self.currency = settings.currency
        self.laws: Mapping[str, str] = (
            {} if settings.laws is None else json.loads(Path(settings.laws).read_bytes())
        )
        self._counts, self._patience = WebCounters(), web.patience
        self._giving: dict[str, asyncio.Event] = {}
        """Touches that are being judged or sent, by number."""
        floor.listeners.append(self._hear)

    @property
    def routes(self) -> list[Route | Mount]:
        """All of them, with those of the door."""
        return [
            *self.door.routes,
            Route("/pit", self._page),
            Route("/pit/stream", self._stream),
            Route("/pit/command", self._command, methods=["POST"]),
            Route("/pit/truth", self._truth, methods=["POST"]),
            Route("/pit/language", self._language, methods=["POST"]),
            Route("/pit/here", self._here, methods=["POST"]),
            Mount("/pit/static", Files(packages=[("subscribers.console", "static")])),
        ]

    async def run(self) -> None:
        """Stay connected for commands."""
        await self.sending.run()

    async def _page(self, request: Request) -> Response:
        session = self.door.session(request)
        if session is None:
            return self.sign_in(request)
        left = self.door.sessions.left(session)
        return pages.pit_page(
            self._site, session, self._tables(session), left, self.door.late, self.base
        )

    def sign_in(self, request: Request) -> Response:
        """Where a person signs in; the browser comes back to the page that it asked for."""
        language, path = request.query_params.get("lang"), request.url.path
        if self.door.came_in_clear(request):
            chosen = language if language in LANGUAGES else ENGLISH
            return PlainTextResponse(console_text("denied.not_over_tls", chosen), 403)
        return pages.sign_in_page(self._site, language, path, self.base)

    async def _stream(self, request: Request) -> Response:
        session = self.door.session(request)
        # a page of another session of this browser is loaded again
        if session is None or request.query_params.get("of", session.tag) != session.tag:
            raise HTTPException(401)
        return self.streaming(
            request,
            self._tables(session),
            lambda table: msgspec.json.encode(self._place(session, table)),
            lambda: self._still(session),
        )

    def streaming(
        self,
        request: Request,
        tables: tuple[str, ...],
        picture: Callable[[str], bytes],
        goes_on: Callable[[], bool],
    ) -> Response:
        """Stream what the tables show."""
        return StreamResponse(
            PictureStream(
                self._floor,
                tables,
                picture,
                change_of(self._floor, request.headers.get("last-event-id")),
                lambda: self._alive() and goes_on(),
                self._counts,
                self._patience,
            )
        )

    async def _command(self, request: Request) -> Response:
        """Send a command once, however often the page requests it: a known one is answered at any
        time, an unknown one is sent only in time. So a page that is too late knows that nothing was
        sent, and that nothing will be.
        """
        session, given = await self.door.asking(request, CommandBody)
        self.at(session, given.table)
        if not TOUCH_NUMBER.fullmatch(given.number) or not given.number.startswith(
            f"{session.tag}-"
        ):
            raise HTTPException(400)
        async with self._one_of(given.number):
            known = self.sending.touches.get(given.number)
            if known is None:
                found = await self._given(request, session, given)
                if isinstance(found, Denied):
                    return denied(found, session.language)
                known = found
        if (known.table, known.command, known.fields) != (given.table, given.command, given.fields):
            raise HTTPException(409)
        known = await self.sending.wait_for_reply(known.number)
        told = self._done(session, known)
        return Response(msgspec.json.encode(told), media_type="application/json")

    async def _given(
        self, request: Request, session: Session, given: CommandBody
    ) -> Touch | Denied:
        """A command that is sent now. Raises ``HTTPException``."""
        self.door.in_time(request)
        self.door.sessions.touch(session)
        if not is_readable(given.command, given.fields):
            raise HTTPException(400)
        reason = given.fields.get("reason")
        role = self._role(session, given.table, given.command, reason)
        if role is None:
            raise HTTPException(403)
        if given.command in PIN_COMMANDS:
            found = await self.door.admission.verify_pin(session.person, given.pin or "")
            if isinstance(found, Denied):
                if found.why in ("locked", "not_enrolled"):
                    self.door.sessions.end_of(session.person.id)
                return found
            self.door.in_time(request, more=SEND_MARGIN_SECONDS)
        if not session.alive:
            raise HTTPException(401)
        event = self._known_to(given.table)
        return await self.sending.send(
            session, given.number, given.table, given.command, given.fields, role, event
        )

    @contextlib.asynccontextmanager
    async def _one_of(self, number: str) -> AsyncIterator[None]:
        """One request at a time for the touch of this number."""
        while (before := self._giving.get(number)) is not None:
            await before.wait()
        self._giving[number] = asyncio.Event()
        try:
            yield
        finally:
            self._giving.pop(number).set()

    def _place(self, session: Session, name: str) -> ConsoleView:
        """What this person sees of a table, or of a jackpot."""
        if name in self._floor.meters:
            return jackpot_work.jackpot_view(self.seen_jackpot(session, name))
        return console_view(self.seen(session, name))

    def _role(self, session: Session, name: str, command: str, reason: object) -> str | None:
        """The role in which this person gives a command there, or None."""
        if name in self._floor.meters:
            return jackpot_work.role_for(session.person, command)
        return role_for(self.seen(session, name), command, reason)

    def _done(self, session: Session, touch: Touch) -> TouchOutcome:
        if touch.table in self._floor.meters:
            return jackpot_work.jackpot_outcome(self.seen_jackpot(session, touch.table), touch)
        return touch_outcome(self.seen(session, touch.table), touch)

    def _known_to(self, name: str) -> tuple[str, int]:
        """Return boot and number of the last known event; a jackpot has no events to recall."""
        known = self._floor.known.get(name)
        return (
            ("", 0) if known is None or known.state is None else (known.state.boot, known.state.seq)
        )

    async def _truth(self, request: Request) -> Response:
        session, asked = await self.door.asking(request, OutcomeQueryBody)
        self.at(session, asked.table)
        found = await self.sending.signed_events(session, asked.table, asked.boot, asked.seq)
        return JSONResponse({"events": found})

    async def _language(self, request: Request) -> Response:
        session, chosen = await self.door.acting(request, LanguageBody)
        if chosen.language not in LANGUAGES:
            raise HTTPException(400)
        session.language = chosen.language
        return JSONResponse({"ok": True})

    async def _here(self, request: Request) -> Response:
        """Record a touch of the page, which keeps the session alive."""
        session, _ = await self.door.acting(request, dict[str, Any])
        return JSONResponse({"left": self.door.sessions.left(session)})

    def _still(self, session: Session) -> bool:
        """Return True while the session lasts. Called at every beat of its stream, so it also
        queries unknown outcomes.
        """
        if not self.door.goes_on(session):
            return False
        self.sending.query_outcomes([session])
        return True

    def _tables(self, session: Session) -> tuple[str, ...]:
        here = [
            table
            for table in self._floor.known
            if self.door.admission.may_be_at(table, session.person)
        ]
        return (*here, *(name for name in self._floor.meters if self._here_at(session, name)))

    def _here_at(self, session: Session, name: str) -> bool:
        """Return True if the person is enrolled for a table of this jackpot, as its controller
        requires; False while its tables are unknown.
        """
        state = self._floor.meters[name].state
        if state is None:
            return True
        authorised = () if state.authorisation is None else state.authorisation.tables
        tables = {*state.tables, *authorised}
        return any(self.door.admission.may_be_at(table, session.person) for table in tables)

    def at(self, session: Session, table: str) -> None:
        """Raise ``HTTPException`` if there is no such table for this person."""
        if table not in self._tables(session):
            raise HTTPException(404)

    def seen(self, session: Session, table: str) -> TableContext:
        """What this person sees of a table."""
        return TableContext(
            known=self._floor.known[table],
            outdated=self._floor.outdated[table],
            evidence=self._evidence[table],
            person=session.person,
            language=session.language,
            touches=self.sending.touches_of(session, table),
            waits=self.sending.waiting_at(table),
            laws=self.laws,
            currency=self.currency,
        )

    def seen_jackpot(self, session: Session, name: str) -> JackpotContext:
        """What this person sees of a jackpot."""
        floor, meter = self._floor, self._floor.meters[name]
        same = (each.jackpot for each in floor.meters.values() if each.simulated == meter.simulated)
        return JackpotContext(
            name=name,
            meter=meter,
            silent=silence(meter, floor.no_broker(meter.simulated), floor.now()),
            here=self._here_at(session, name),
            others=tuple(each for each in same if each != meter.jackpot),
            person=session.person,
            language=session.language,
            touches=self.sending.touches_of(session, name),
            waits=self.sending.waiting_at(name),
        )

    def _changed(self, table: str) -> None:
        self._floor.touch(table)

    def _hear(self, table: str, leaf: str, body: bytes) -> None:
        self._evidence[table] = add_evidence(self._evidence[table], leaf, body)
