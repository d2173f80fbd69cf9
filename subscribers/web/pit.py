"""The routes of the pit console: its page, the stream of what waits, and the commands."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from common import clock
from common.contract.messages.messages import ENGLISH, LANGUAGES, first_of
from common.contract.topics import Topics
from subscribers.console import jackpot_work, pages
from subscribers.console.admission import Admission, Denied
from subscribers.console.evidence import TableEvidence, add_evidence
from subscribers.console.forms import PIN_COMMANDS, is_readable
from subscribers.console.jackpot_context import JackpotContext
from subscribers.console.jackpot_context import role_for as jackpot_role_for
from subscribers.console.outcomes import touch_outcome
from subscribers.console.rights import role_for
from subscribers.console.sending import TOUCH_NUMBER, CommandSender, Touch
from subscribers.console.sessions import Session
from subscribers.console.settings import PitSettings
from subscribers.console.view import ConsoleView, TableContext, TouchOutcome
from subscribers.console.words import console_text
from subscribers.console.work import console_view
from subscribers.display.rounds import PlayedRound
from subscribers.feed.floor import JACKPOT_PREFIX, Floor, change_of
from subscribers.feed.meter import silence
from subscribers.laws import read_laws
from subscribers.web.clips import ClipCutter, ConsoleClips
from subscribers.web.files import static_files
from subscribers.web.metrics import WebCounters
from subscribers.web.receipts import Receipts
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
    badge: str | None = None
    """Instead of the PIN, where the site allows that."""


class OutcomeQueryBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a query for the outcome of a touch whose page or server was interrupted."""

    table: str
    boot: str
    seq: int


class LanguageBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Body of a request to change the language."""

    language: str


class Pit:
    """The console. Raises ``SignInUnavailableError``. ``alive`` returns False once the server shuts
    down. ``rounds`` returns the latest rounds of a table, oldest first.
    """

    def __init__(
        self,
        settings: PitSettings,
        web: WebSettings,
        floor: Floor,
        alive: Callable[[], bool],
        rounds: Callable[[str], tuple[PlayedRound, ...]] = lambda _: (),
    ) -> None:
        self._rounds = rounds
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
        self._badge_signs = settings.badge_signs
        self.laws = read_laws(settings.laws)
        self.receipts = Receipts(
            settings, web.letterhead, self.door, self.require_table, lambda: _house_language(floor)
        )
        self.clips = ClipCutter(web)
        self._clips = ConsoleClips(self.clips, self.door, self.require_table, self._view)
        self._has_ledger = settings.ledger is not None
        self._has_printer = settings.receipt_printer is not None
        self._counts, self._send_timeout = WebCounters(), web.send_timeout
        self._in_progress: dict[str, asyncio.Event] = {}
        """Touches that are being checked or sent, by number."""
        floor.listeners.append(self._on_message)

    @property
    def routes(self) -> list[Route | Mount]:
        """The routes of the console, including sign-in."""
        return [
            *self.door.routes,
            Route("/pit", self._page),
            Route("/pit/stream", self._stream),
            Route("/pit/command", self._command, methods=["POST"]),
            Route("/pit/truth", self._query_outcome, methods=["POST"]),
            Route("/pit/language", self._language, methods=["POST"]),
            Route("/pit/here", self._keep_alive, methods=["POST"]),
            *self.receipts.routes,
            *self._clips.routes,
            static_files("/pit/static", "subscribers.console"),
        ]

    async def run(self) -> None:
        """Stay connected to the broker, for sending commands."""
        await self.sending.run()

    async def _page(self, request: Request) -> Response:
        session = self.door.session(request)
        if session is None:
            return self.sign_in(request)
        left = self.door.sessions.left(session)
        tables = self._tables(session)
        return pages.pit_page(
            self._site,
            session,
            tables,
            left,
            self.door.late,
            self.base,
            badge_signs=self._badge_signs,
            people=self.door.admission.people_at(tables),
            has_printer=self._has_printer,
            clips=self.clips.available,
        )

    def sign_in(self, request: Request) -> Response:
        """Return the sign-in page, which leads back to the requested page."""
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
            lambda table: msgspec.json.encode(self._view(session, table)),
            lambda: self._continues(session),
        )

    def streaming(
        self,
        request: Request,
        tables: tuple[str, ...],
        picture: Callable[[str], bytes],
        continues: Callable[[], bool],
    ) -> Response:
        """Return a stream of the tables' pictures. It ends when ``continues`` returns False."""
        return StreamResponse(
            PictureStream(
                self._floor,
                tables,
                picture,
                change_of(self._floor, request.headers.get("last-event-id")),
                lambda: self._alive() and continues(),
                self._counts,
                self._send_timeout,
            )
        )

    async def _command(self, request: Request) -> Response:
        """Send a command once, however often the page requests it: a known one is answered at any
        time, a new one is sent only if its touch is recent. So a page whose request is rejected as
        too late knows that nothing was sent, and that nothing will be.
        """
        session, body = await self.door.authorize(request, CommandBody)
        self.require_table(session, body.table)
        if not TOUCH_NUMBER.fullmatch(body.number) or not body.number.startswith(f"{session.tag}-"):
            raise HTTPException(400)
        async with self._exclusive(body.number):
            known = self.sending.touches.get(body.number)
            if known is None:
                sent = await self._send(request, session, body)
                if isinstance(sent, Denied):
                    return denied(sent, session.language)
                known = sent
        if (known.table, known.command, known.fields) != (body.table, body.command, body.fields):
            raise HTTPException(409)
        known = await self.sending.wait_for_reply(known.number)
        outcome = self._outcome(session, known)
        return Response(msgspec.json.encode(outcome), media_type="application/json")

    async def _send(self, request: Request, session: Session, body: CommandBody) -> Touch | Denied:
        """Check a new command and send it. Raises ``HTTPException``."""
        self.door.check_age(request)
        self.door.sessions.touch(session)
        if not is_readable(body.command, body.fields):
            raise HTTPException(400)
        reason = body.fields.get("reason")
        role = self._role(session, body.table, body.command, reason)
        if role is None:
            raise HTTPException(403)
        if body.command in PIN_COMMANDS:
            verified = await _verify(self.door.admission, session, body, self._badge_signs)
            if isinstance(verified, Denied):
                if verified.why in ("locked", "not_enrolled"):
                    self.door.sessions.end_of(session.person.id)
                return verified
            self.door.check_age(request, margin_seconds=SEND_MARGIN_SECONDS)
        if not session.alive:
            raise HTTPException(401)
        event = self._last_event(body.table)
        return await self.sending.send(
            session, body.number, body.table, body.command, body.fields, role, event
        )

    @contextlib.asynccontextmanager
    async def _exclusive(self, number: str) -> AsyncIterator[None]:
        """Allow one request at a time for the touch with this number."""
        while (before := self._in_progress.get(number)) is not None:
            await before.wait()
        self._in_progress[number] = asyncio.Event()
        try:
            yield
        finally:
            self._in_progress.pop(number).set()

    def _view(self, session: Session, name: str) -> ConsoleView:
        if name in self._floor.meters:
            return jackpot_work.jackpot_view(self.jackpot_context(session, name))
        return console_view(self.table_context(session, name))

    def _role(self, session: Session, name: str, command: str, reason: object) -> str | None:
        """Return the role in which this person gives a command there, or None."""
        if name in self._floor.meters:
            return jackpot_role_for(session.person, command)
        return role_for(self.table_context(session, name), command, reason)

    def _outcome(self, session: Session, touch: Touch) -> TouchOutcome:
        if touch.table in self._floor.meters:
            return jackpot_work.jackpot_outcome(self.jackpot_context(session, touch.table), touch)
        return touch_outcome(self.table_context(session, touch.table), touch)

    def _last_event(self, name: str) -> tuple[str, int]:
        """Return boot and number of the last known event; a jackpot has no events to recall."""
        known = self._floor.known.get(name)
        return (
            ("", 0) if known is None or known.state is None else (known.state.boot, known.state.seq)
        )

    async def _query_outcome(self, request: Request) -> Response:
        session, body = await self.door.authorize(request, OutcomeQueryBody)
        self.require_table(session, body.table)
        events = await self.sending.signed_events(session, body.table, body.boot, body.seq)
        return JSONResponse({"events": events})

    async def _language(self, request: Request) -> Response:
        session, body = await self.door.authorize_recent(request, LanguageBody)
        if body.language not in LANGUAGES:
            raise HTTPException(400)
        session.language = body.language
        return JSONResponse({"ok": True})

    async def _keep_alive(self, request: Request) -> Response:
        """Record a touch of the page, which extends the session."""
        session, _ = await self.door.authorize_recent(request, dict[str, Any])
        return JSONResponse({"left": self.door.sessions.left(session)})

    def _continues(self, session: Session) -> bool:
        """Return True while the session lasts. Called at every beat of its stream, so it also
        queries unknown outcomes.
        """
        if not self.door.is_valid(session):
            return False
        self.sending.query_outcomes([session])
        return True

    def _tables(self, session: Session) -> tuple[str, ...]:
        tables = [
            table
            for table in self._floor.known
            if self.door.admission.may_be_at(table, session.person)
        ]
        meters = [name for name in self._floor.meters if self._may_see_jackpot(session, name)]
        return (*tables, *meters)

    def _may_see_jackpot(self, session: Session, name: str) -> bool:
        """Return True if the person is enrolled for a table of this jackpot, as its controller
        requires; also while its tables are unknown.
        """
        state = self._floor.meters[name].state
        if state is None:
            return True
        authorised = () if state.authorisation is None else state.authorisation.tables
        tables = {*state.tables, *authorised}
        return any(self.door.admission.may_be_at(table, session.person) for table in tables)

    def require_table(self, session: Session, table: str) -> None:
        """Raise ``HTTPException`` unless this person may see the table or jackpot."""
        if table not in self._tables(session):
            raise HTTPException(404)

    def table_context(self, session: Session, table: str) -> TableContext:
        """Return a table as this person sees it."""
        return TableContext(
            known=self._floor.known[table],
            outdated=self._floor.outdated[table],
            evidence=self._evidence[table],
            person=session.person,
            language=session.language,
            touches=self.sending.touches_of(session, table),
            waits=self.sending.waiting_at(table),
            rounds=self._rounds(table),
            laws=self.laws,
            currency=self.currency,
        )

    def jackpot_context(self, session: Session, name: str) -> JackpotContext:
        """Return a jackpot as this person sees it."""
        floor, meter = self._floor, self._floor.meters[name]
        return JackpotContext(
            name=name,
            meter=meter,
            silent=silence(meter, floor.no_broker(meter.simulated), floor.now()),
            here=self._may_see_jackpot(session, name),
            others=tuple(
                other.jackpot
                for other in floor.meters.values()
                if other.simulated == meter.simulated and other.jackpot != meter.jackpot
            ),
            person=session.person,
            language=session.language,
            touches=self.sending.touches_of(session, name),
            waits=self.sending.waiting_at(name),
            has_ledger=self._has_ledger,
        )

    def _changed(self, table: str) -> None:
        self._floor.touch(table)

    def _on_message(self, table: str, leaf: str, body: bytes) -> None:
        self._evidence[table] = add_evidence(self._evidence[table], leaf, body)


async def _verify(
    admission: Admission, session: Session, body: CommandBody, badge_signs: bool
) -> Denied | None:
    """Check again who gives a grave command."""
    if body.badge is not None and badge_signs:
        return await admission.verify_badge(session.person, body.badge)
    return await admission.verify_pin(session.person, body.pin or "")


def _house_language(floor: Floor) -> str | None:
    """Return the language of the decrees of the tables; None while none is known."""
    infos = (known.info for known in floor.known.values() if known.info is not None)
    return next((first_of(info.about.languages) for info in infos), None)
