"""The routes of the web server, and the security headers of every response."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime, time
from typing import Literal

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common.contract.messages.messages import ENGLISH, LANGUAGES, first_of, text
from common.days import bounds, day_of, on_wire
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from subscribers.api.routes import Api
from subscribers.api.settings import ApiPlace
from subscribers.display import pages
from subscribers.display.permanency import (
    Permanency,
    as_csv,
    count_covered,
    entries,
)
from subscribers.display.permanency_page import day_page, days_page
from subscribers.display.picture import decree_text
from subscribers.display.start import SCRIPT_SOURCE
from subscribers.feed.floor import JACKPOT_PREFIX, Floor, change_of
from subscribers.web.beat import beat
from subscribers.web.files import COMPRESSED, REVALIDATE_HEADERS, HashedFiles, static_files
from subscribers.web.house import HousePages
from subscribers.web.keypads import Keypads
from subscribers.web.metrics import FAMILIES, WebCounters, metric_values
from subscribers.web.motion import Motions
from subscribers.web.pit import Pit
from subscribers.web.proxy import BehindProxy, KnownHosts, PathPrefix, Proxies
from subscribers.web.settings import WebSettings, on_loopback
from subscribers.web.sign_in import SignIn
from subscribers.web.stream import STREAM_HEADERS as STREAM
from subscribers.web.stream import PictureStream, StreamResponse
from subscribers.web.surveillance import SurveillancePages
from subscribers.web.tables import Pictures
from subscribers.web.wheels import WheelPages

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        f"script-src 'self' {SCRIPT_SOURCE}",
        "style-src 'self'",
        "img-src 'self' data:",
        "media-src blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""Content security policy: only this server's resources, no inline script but the start script, no
framing.
"""
SAFE_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)

NO_STORE_HEADERS = {"cache-control": "no-store"}
"""Cache headers of responses that are only valid now."""
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


class WebApplication:
    """State shared by the routes. ``alive`` is False once the server shuts down. ``pit``: the
    console, or why it is unavailable.
    """

    def __init__(self, settings: WebSettings, floor: Floor, pictures: Pictures) -> None:
        self.settings, self.floor, self.pictures = settings, floor, pictures
        self.house = HousePages(settings)
        self.alive = True
        self.motions = Motions(floor)
        self.counts = WebCounters()
        self.pit: Pit | str = "this server has no console"
        place = ApiPlace(settings.site, settings.broker, settings.state, settings.send_timeout)
        self.api = (
            None if settings.api is None else Api(settings.api, place, floor, lambda: self.alive)
        )
        self.keypads: Keypads | None = None
        self.surveillance: SurveillancePages | None = None

    def end(self) -> None:
        """End all streams: the server shuts down."""
        self.alive = False
        self.floor.wake()
        if self.api is not None:
            self.api.end()

    async def stream(self, request: Request) -> Response:
        """``/stream?table=a&table=b&jackpot=c&lang=es``: pictures as they change."""
        requested = {
            *request.query_params.getlist("table"),
            *(JACKPOT_PREFIX + name for name in request.query_params.getlist("jackpot")),
        }
        tables = [name for name in self.floor.changed if not requested or name in requested]
        if requested and not tables:
            return PlainTextResponse(text("trouble.no_table", self.own()), 404)
        if request.method == "HEAD":
            return Response(headers={name.decode(): value.decode() for name, value in STREAM})
        if self.counts.streams >= self.settings.streams:
            self.counts.refused += 1
            return PlainTextResponse(text("display.full", self.own()), 503, {"retry-after": "5"})
        language = language_of(request)
        last = request.headers.get("last-event-id")
        return StreamResponse(
            PictureStream(
                self.floor,
                tables,
                self.pictures.for_language(language),
                change_of(self.floor, last),
                self._continues(request),
                self.counts,
                self.settings.send_timeout,
                self.motions,
            )
        )

    def _continues(self, request: Request) -> Callable[[], bool]:
        """Return a condition that holds until the server shuts down or the session ends."""
        if not isinstance(self.pit, Pit) or not self.settings.signed_in:
            return lambda: self.alive
        door, session = self.pit.door, self.pit.door.session(request)
        return lambda: self.alive and session is not None and door.is_valid(session)

    async def health(self, _: Request) -> Response:
        """``/health``: whether every table and jackpot is connected."""
        deaf = [table for table, why in self.floor.outdated.items() if why is not None]
        deaf += [name for name in self.floor.meters if self.floor.silent(name)]
        body = f"deaf {' '.join(deaf)}\n" if deaf else "ok\n"
        return PlainTextResponse(body, 503 if deaf else 200, NO_STORE_HEADERS)

    async def metrics(self, _: Request) -> Response:
        """``/metrics``: the server's metrics, for Prometheus."""
        body = await exposition(FAMILIES, metric_values(self.counts, self.floor, self.api))
        return Response(body, headers=NO_STORE_HEADERS, media_type=TEXT_CONTENT_TYPE)

    async def days_page(self, request: Request) -> Response:
        """``/table/<id>/days``: the days that have a permanency."""
        table = request.path_params["table"]
        if table not in self.floor.known:
            return pages.not_found_page(language_of(request) or self.own())
        begins = time.fromisoformat(self.settings.day_begins)
        days = {
            day_of(datetime.fromisoformat(moment), begins)
            for moment in self.pictures.store.times(table)
        }
        language = self._language(table, request)
        title = self._title(table, language)
        return HTMLResponse(days_page(table, title, [*days], language, self.settings.base))

    async def day(self, request: Request) -> Response:
        """``/table/<id>/day/<day>``: a permanency as page, ``.csv`` or ``.pdf``."""
        table, (name, _, form) = (
            request.path_params["table"],
            request.path_params["day"].partition("."),
        )
        try:
            day = date.fromisoformat(name)
            begin, end = bounds(day, time.fromisoformat(self.settings.day_begins))
        except ValueError:
            return pages.not_found_page(language_of(request) or self.own())
        if table not in self.floor.known or form not in ("", "csv", "pdf"):
            return pages.not_found_page(language_of(request) or self.own())
        made = self._permanency(table, day, begin, end, self._language(table, request))
        headers = {"content-disposition": f'attachment; filename="{table}-{name}.{form}"'}
        if form == "csv":
            return Response(as_csv(made), headers=headers, media_type="text/csv; charset=utf-8")
        if form == "pdf":
            data = await asyncio.to_thread(_pdf, made, self.settings.letterhead)
            return Response(data, headers=headers, media_type="application/pdf")
        settings, trouble = self.settings, self.pictures.store.trouble
        return HTMLResponse(day_page(made, trouble, settings.base, settings.letterhead))

    def _permanency(
        self, table: str, day: date, begin: datetime, end: datetime, language: str
    ) -> Permanency:
        rounds = self.pictures.store.between(table, on_wire(begin), on_wire(end))
        checkpoint = self.floor.checkpoint(table)
        return Permanency(
            table=table,
            title=self._title(table, language),
            day=day,
            begin=begin,
            end=end,
            language=language,
            simulated=self.floor.known[table].simulated,
            entries=entries(rounds, language),
            checkpoint=checkpoint,
            covered=count_covered(rounds, checkpoint),
        )

    def _language(self, table: str, request: Request) -> str:
        """Return the requested language, or that of the table's decree."""
        info = self.floor.known[table].info
        return language_of(request) or first_of(() if info is None else info.about.languages)

    def _title(self, table: str, language: str) -> str:
        info = self.floor.known[table].info
        found = decree_text({} if info is None else info.about.title, language)
        return table if found is None else found.text

    async def theme(self, _: Request) -> Response:
        """``/theme.css``: the site's style sheet, if there is one."""
        path = self.settings.theme
        if path is None:
            return Response(media_type="text/css", headers=REVALIDATE_HEADERS)
        return FileResponse(path, media_type="text/css", headers=REVALIDATE_HEADERS)

    async def no_pit(self, _: Request) -> Response:
        """``/pit`` and ``/surveillance`` while signing in is unavailable: the reason."""
        return PlainTextResponse(f"{self.pit}\n", 503)

    async def home(self, _: Request) -> Response:
        """``/``: redirects to all tables."""
        return RedirectResponse(f"{self.settings.base}/floor")

    async def floor_page(self, request: Request) -> Response:
        """``/floor`` and ``/wall``: all tables and jackpots."""
        kind: Literal["floor", "wall"] = "wall" if request.url.path.endswith("/wall") else "floor"
        shown = tuple(self.floor.known), self.jackpots()
        return pages.floor_page(kind, *shown, language_of(request), self.own(), self.settings.base)

    async def table_page(self, request: Request) -> Response:
        """``/table/<id>``."""
        table = request.path_params["table"]
        if table not in self.floor.known:
            return pages.not_found_page(language_of(request) or self.own())
        simulated = self.floor.known[table].simulated
        shown = table, self.jackpots(simulated)
        language, house = language_of(request), self.house.house()
        return pages.table_page(*shown, language, self.own(), self.settings.base, house)

    async def jackpot_page(self, request: Request) -> Response:
        """``/jackpot/<id>``."""
        jackpot = request.path_params["jackpot"]
        if JACKPOT_PREFIX + jackpot not in self.floor.meters:
            return pages.not_found_page(language_of(request) or self.own(), "trouble.no_jackpot")
        others = [other for other in self.jackpots() if other != jackpot]
        shown = (jackpot, *others)
        language, house = language_of(request), self.house.house()
        return pages.jackpot_page(shown, language, self.own(), self.settings.base, house)

    def jackpots(self, simulated: bool | None = None) -> tuple[str, ...]:
        """Return the ids of the jackpots: all, or only those of real or of simulated tables."""
        return tuple(
            meter.jackpot
            for meter in self.floor.meters.values()
            if simulated in (None, meter.simulated)
        )

    def own(self) -> str:
        """Return the language of texts that belong to no table: that of the first table's
        decree.
        """
        infos = (known.info for known in self.floor.known.values() if known.info is not None)
        return next((first_of(info.about.languages) for info in infos), ENGLISH)


class SignedInOnly:
    """Restricts the displays to signed-in people."""

    def __init__(self, app: ASGIApp, door: SignIn, base: str) -> None:
        self._app, self._door, self._base = app, door, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, or redirect the browser to the sign-in."""
        path = scope.get("path", "").removeprefix(self._base)
        shown = path in ("/floor", "/wall", "/stream") or path.startswith(("/table/", "/jackpot/"))
        if scope["type"] != "http" or not shown or self._door.session(Request(scope)) is not None:
            await self._app(scope, receive, send)
        elif path == "/stream":
            await PlainTextResponse("sign in", 401)(scope, receive, send)
        else:
            await RedirectResponse(f"{self._base}/pit", 303)(scope, receive, send)


class SafeHeaders:
    """Adds :data:`SAFE_HEADERS` to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *SAFE_HEADERS]
            await send(message)

        await self._app(scope, receive, sending if scope["type"] == "http" else send)


def _pdf(made: Permanency, letterhead: Sequence[str]) -> bytes:
    # importing the PDF library takes as long as starting the rest of the server
    from subscribers.display.permanency_pdf import as_pdf

    return as_pdf(made, letterhead)


def language_of(request: Request) -> str | None:
    """Return the language in a page's address; None for that of each table's decree."""
    requested = request.query_params.get("lang")
    return requested if requested in LANGUAGES else None


def app(web: WebApplication, lifespan: Lifespan) -> Starlette:
    """Return the application with its routes and middleware."""
    settings = web.settings
    names = [*settings.names, settings.host]
    if on_loopback(settings.host):
        names += ["localhost", "127.0.0.1", "[::1]"]
    door = (
        [Middleware(SignedInOnly, door=web.pit.door, base=settings.base)]
        if isinstance(web.pit, Pit) and settings.signed_in
        else []
    )
    return Starlette(
        routes=[
            Route("/", web.home),
            Route("/floor", web.floor_page, middleware=COMPRESSED),
            Route("/wall", web.floor_page, middleware=COMPRESSED),
            Route("/jackpot/{jackpot}", web.jackpot_page, middleware=COMPRESSED),
            Route("/table/{table}", web.table_page, middleware=COMPRESSED),
            Route("/table/{table}/days", web.days_page),
            Route("/table/{table}/day/{day}", web.day),
            Route("/stream", web.stream),
            Route("/beat", _beat),
            Route("/health", web.health),
            Route("/metrics", web.metrics),
            Route("/theme.css", web.theme),
            *web.house.routes,
            *(web.api.routes if web.api is not None else []),
            *(web.pit.routes if isinstance(web.pit, Pit) else [Route("/pit", web.no_pit)]),
            *(web.keypads.routes if web.keypads is not None else []),
            *WheelPages(web.settings, web.pit).routes,
            *(
                web.surveillance.routes
                if web.surveillance is not None
                else [Route("/surveillance", web.no_pit)]
            ),
            static_files("/static", "subscribers.display"),
        ],
        middleware=[
            Middleware(SafeHeaders),
            Middleware(BehindProxy, proxies=Proxies(settings.proxies), tls=settings.tls == "proxy"),
            Middleware(KnownHosts, names=names),
            *([Middleware(PathPrefix, base=settings.base)] if settings.base else []),
            Middleware(HashedFiles, base=settings.base),
            *door,
        ],
        lifespan=lifespan,
    )


async def _beat(_: Request) -> Response:
    """``/beat``: a beat for a page without a stream, such as the sign-in page."""
    return Response(beat(), headers=NO_STORE_HEADERS, media_type="application/json")
