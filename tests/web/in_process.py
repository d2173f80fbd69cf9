"""The web server's application without a network: requests as uvicorn hands them over, thousands in
the time of one real connection. It also notes what each route looks at in a request.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

import msgspec
from nacl.public import PrivateKey
from starlette.datastructures import Headers, QueryParams
from starlette.routing import Mount, Route
from starlette.types import Message

from common.confidential.key_file import write_key_file
from common.new_file import create_private
from common.people import pin_key
from common.people.register import Person
from common.people.tokens import ApiToken, digest_of
from subscribers.api.settings import ApiSettings
from subscribers.console.sessions import Session
from subscribers.console.settings import PitSettings
from subscribers.display.round_store import RoundStore
from subscribers.feed.floor import Floor
from subscribers.feed.tables import BrokerLogin, ConnectionChange, FeedMessage
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.records import BadMessageError, records
from subscribers.web import sign_in
from subscribers.web.app import WebApplication, app
from subscribers.web.beat import beat
from subscribers.web.keypads import Keypads
from subscribers.web.pit import Pit
from subscribers.web.settings import WebJackpot, WebSettings, WebTable
from subscribers.web.surveillance import SurveillancePages
from subscribers.web.tables import Pictures
from tests.support.people.staff import KEY_OF, PERSONS, SITE, secret
from tests.support.subscribers.real import RealTable, spun
from tests.support.web.pit import LEAST_MEMORY_KIB, console

NOW = "2026-03-20T02:10:16.215319Z"
TABLE, JACKPOT = "ruleta-1", "linked"
NODE = b'{"status":"online","boot":"b1"}'
PEOPLE: Mapping[str, Person] = {person.id: person for person in PERSONS}


API_TOKEN = "novamas_token-of-the-tests"
API_HEADERS = [("authorization", f"Bearer {API_TOKEN}")]


def _tokens(path: Path) -> Path:
    """A file in which one program has a token."""
    token = ApiToken(name="shop-1", sha256=digest_of(API_TOKEN), made=NOW)
    create_private(path, msgspec.json.encode(token))
    return path


class Named(msgspec.Struct, frozen=True):
    """A route of the application: its path, as it is written there, and its methods."""

    path: str
    methods: tuple[str, ...] = ("GET", "HEAD")


class Answer(msgspec.Struct, frozen=True):
    """What came back."""

    status: int
    body: bytes


class Looks:
    """Where the routes read their requests: parameters of the address, headers, and the types of
    bodies, by the path of the route.
    """

    def __init__(self) -> None:
        self.query: defaultdict[str, set[str]] = defaultdict(set)
        self.headers: defaultdict[str, set[str]] = defaultdict(set)
        self.bodies: defaultdict[str, set[type[Any]]] = defaultdict(set)
        self._route = ""

    @contextmanager
    def at(self, route: str) -> Iterator[None]:
        """Note what is looked at by this route."""
        self._route = route
        found, listed, headed = QueryParams.__getitem__, QueryParams.getlist, Headers.__getitem__
        read, note = sign_in.read, self

        def finding(self: QueryParams, key: Any) -> str:
            note.query[route].add(str(key))
            return found(self, key)

        def listing(self: QueryParams, key: Any) -> list[str]:
            note.query[route].add(str(key))
            return listed(self, key)

        def heading(self: Headers, key: str) -> str:
            note.headers[route].add(key.lower())
            return headed(self, key)

        async def reading(request: Any, kind: type[Any]) -> Any:
            note.bodies[route].add(kind)
            return await read(request, kind)

        with (
            patch.object(QueryParams, "__getitem__", finding),
            patch.object(QueryParams, "getlist", listing),
            patch.object(Headers, "__getitem__", heading),
            patch.object(sign_in, "read", reading),
        ):
            yield


class InProcess:
    """A server of one roulette and one jackpot, with a console, keypads and an archive, or with
    none of these.
    """

    def __init__(
        self, folder: Path, with_console: bool = True, origins: tuple[str, ...] = ()
    ) -> None:
        folder.mkdir(exist_ok=True)
        archive = folder / "archive.sqlite3"
        key = folder / "cards.key"
        write_key_file(key, PrivateKey.generate().encode())
        self._table = spun([17, 0, 36])
        self._archive(archive, self._table)
        self.settings = WebSettings(
            site=SITE,
            broker=BrokerLogin(url="mqtt://127.0.0.1:1"),
            tables=(WebTable(TABLE),),
            jackpots=(WebJackpot(JACKPOT),),
            state=str(folder / "web"),
            archive=str(archive) if with_console else None,
            cards_key=str(key) if with_console else None,
            pit=PitSettings(**console(folder / "pit", SITE)) if with_console else None,
            api=ApiSettings(tokens=str(_tokens(folder / "tokens.jsonl")), origins=origins),
        )
        self.floor = Floor({TABLE: False}, lambda: NOW, {JACKPOT: False})
        self.web = WebApplication(
            self.settings, self.floor, Pictures(self.floor, RoundStore(Path(self.settings.state)))
        )
        if self.settings.pit is not None:
            with patch.object(pin_key, "ARGON2_MEMORY_KIB", LEAST_MEMORY_KIB):
                self.pit = Pit(self.settings.pit, self.settings, self.floor, lambda: self.web.alive)
            self.web.pit = self.pit
            self.web.keypads = Keypads(self.pit, self.floor, {})
            self.web.surveillance = SurveillancePages(
                self.pit, self.settings, lambda: self.web.alive
            )
        self.app = app(self.web, _no_lifespan)
        self._loop = asyncio.new_event_loop()
        self.hear()

    def hear(self) -> None:
        """Mark the table as received."""
        self.floor.on_message(False, ConnectionChange(True))
        self.floor.on_message(False, FeedMessage("node/node-1/status", NODE))
        for leaf, body in self._table.table.retained().items():
            if leaf in ("info", "state") and body is not None:  # its daemon adds its name
                body = msgspec.json.encode({**msgspec.json.decode(body), "node": "node-1"})
            self.floor.on_message(False, FeedMessage(leaf, body or b"", TABLE))

    def node(self, status: bytes) -> None:
        """The daemon's status."""
        self.floor.on_message(False, FeedMessage("node/node-1/status", status))

    def state(self, **fields: Any) -> None:
        """The table's state, with other values of these fields."""
        known = self.floor.known[TABLE].state
        assert known is not None
        changed = {**msgspec.to_builtins(known), **fields}
        self.floor.on_message(False, FeedMessage("state", msgspec.json.encode(changed), TABLE))

    def disconnect(self) -> None:
        """The broker is gone."""
        self.floor.on_message(False, ConnectionChange(False, "gone"))

    @staticmethod
    def _archive(path: Path, table: RealTable) -> None:
        with closing(open_archive(str(path))) as archive:
            for leaf, body in table.table.retained().items():
                try:
                    archive.store(records(SITE, f"{TABLE}/{leaf}", body or b"", NOW))
                except BadMessageError:
                    continue

    def close(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    @property
    def routes(self) -> list[Named]:
        """All of them, those within mounts too."""
        return list(_routes(self.app.routes))

    def sign_in(self, who: str) -> tuple[str, Session]:
        """A session of this person in place of the last one: its cookie and itself. Each request
        looks at all sessions, and a test signs in for each of thousands.
        """
        self.pit.door.sessions.end_of(who)
        key = secret(KEY_OF[who])
        return self.pit.door.sessions.begin(PEOPLE[who], key, "en")

    def ask(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        on_headers: Callable[[dict[str, str]], object] = lambda _: None,
    ) -> Answer:
        """The answer to a request. Raises whatever its route raises: a server would answer 500.
        ``on_headers`` gets the headers of the answer.
        """
        return self._loop.run_until_complete(
            asyncio.wait_for(self._ask(method, target, headers, body, on_headers), 60.0)
        )

    async def _ask(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        on_headers: Callable[[dict[str, str]], object],
    ) -> Answer:
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 50_000),
            "scheme": "http",
            "method": method,
            "root_path": "",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers],
            "state": {},
        }
        comes: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        status, told = 0, b""

        async def receive() -> Message:
            return comes.pop() if comes else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            nonlocal status, told
            status = message.get("status", status)
            if "headers" in message:
                on_headers({name.decode(): value.decode() for name, value in message["headers"]})
            told += message.get("body", b"")

        await self.app(scope, receive, send)
        return Answer(status, told)

    def looks(self) -> Looks:
        """What each route looks at, found by asking it as a page does, again with what was found
        until there is nothing new.
        """
        found, known = Looks(), -1
        while known != (known := _size(found)):
            for route in self.routes:
                self._look(found, route)
        return found

    def _look(self, looks: Looks, route: Named) -> None:
        query = "&".join(f"{name}=1" for name in sorted(looks.query[route.path]))
        path = route.path.replace("{table}", TABLE).replace("{jackpot}", JACKPOT)
        path = path.replace("{number}", "1").replace("{path:path}", "x")
        for who in ("m-lasa", "s-mora", None):
            headers = [("host", "127.0.0.1"), *API_HEADERS]
            if self.settings.pit is not None:
                cookie, session = self.sign_in(who or "m-lasa")
                headers += own_headers(cookie, session if who else None)
            for method in route.methods:
                bodies = [b"{}", *(_sample(each) for each in looks.bodies[route.path])]
                for body in bodies:
                    with looks.at(route.path):
                        self.ask(method, f"{path}?{query}", headers, body)


def own_headers(cookie: str, session: Session | None) -> list[tuple[str, str]]:
    """The headers of a page of this server; of the sign-in page where there is no session."""
    return [
        ("cookie", f"novamas={cookie}"),
        ("origin", "http://127.0.0.1"),
        ("content-type", "application/json"),
        ("x-novamas-touch", f"{json.loads(beat())[0]} 0"),
        ("x-novamas-token", "sign-in" if session is None else session.token),
    ]


def _sample(kind: type[Any]) -> bytes:
    """A body of this type, so that what comes after its decoding is reached."""
    if not issubclass(kind, msgspec.Struct):
        return b"{}"
    plain: dict[Any, Any] = {str: "1", int: 1, float: 1.0, bool: True}
    fields = msgspec.structs.fields(kind)
    return json.dumps({field.encode_name: plain.get(field.type) for field in fields}).encode()


def _size(looks: Looks) -> int:
    return sum(
        len(each) for all_ in (looks.query, looks.headers, looks.bodies) for each in all_.values()
    )


def _routes(routes: Sequence[Any], above: str = "") -> Iterator[Named]:
    for route in routes:
        if isinstance(route, Mount):
            yield Named(above + route.path + "/{path:path}")
            yield from _routes(route.routes, above + route.path)
        elif isinstance(route, Route):
            yield Named(above + route.path, tuple(sorted(route.methods or ())))


@asynccontextmanager
async def _no_lifespan(_: Any) -> Any:
    yield
