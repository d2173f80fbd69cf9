"""Whatever anybody asks of any route, with or without a session: never a failure of the server.

The routes are those of the application, and what each looks at in a request is found by asking it:
a new route, parameter, header or body is tried without a word here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, get_args
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subscribers.console import attempts
from tests.conftest import cases
from tests.support.web.pit import PINS
from tests.web.in_process import JACKPOT, TABLE, InProcess, Looks, Named, own_headers

DOCUMENTED_503 = {
    "/health": "deaf",
    "/pit": "this server has no console",
    "/surveillance": "this server has no console",
    "/wheels": "",
    "/wheels/{table}/{number}": "",
}
"""Routes that answer with 503 (docs/technician/web.md, docs/technician/console.md)."""
USUAL: Mapping[str, Any] = {
    "table": TABLE,
    "jackpot": JACKPOT,
    "day": "2026-03-20",
    "command": "session.open",
    "from": "2026-03-20T00:00:00Z",
    "to": "2026-03-21T00:00:00Z",
    "what": "notable",
    "fields": {},
}
"""The values of a page for these names, in an address or a body; for any other, ``1``."""
TIMES = (
    "2026-03-20T02:10:16.215319Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "2026-03-20T02:10:16+00:00",
    "2026-02-30T00:00:00Z",
)
DAYS = ("2026-03-20", "0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31", "20260320")
WHOLE = (0, 1, -1, 2**31, 2**63 - 1, 2**63, 2**64, 10**30)
NUMBERS = (*map(str, WHOLE), "1e400", "nan", "²", "٣", "1_0", "+1", "9" * 5000)
WORDS = ("", " ", "\0", "é", "🂡", "../..", "a" * 300, "%", "\ud800", "round.void", "enter", "X")
JOINED = (
    *(f"{time},{number}" for time in TIMES[:3] for number in ("0", str(2**63))),
    *(f"{day}.{form}" for day in DAYS for form in ("csv", "pdf", "x")),
    f"jackpot/{JACKPOT}",
)
VALUES = (*TIMES, *DAYS, *NUMBERS, *WORDS, *JOINED)
ODD_FIELDS: Sequence[Any] = (*VALUES, *WHOLE, -1.5, True, None, [], {}, {"x": [2**64]})
HEADERS = (
    *("http://[::1", "http://[", "http://", "null", "://", "http://\xff", "http://127.0.0.1:x"),
    *("127.0.0.1:x", "[::1", "[::1]:80", "evil.example", "bytes=0-", "bytes=9-1,-,5-"),
    *("", " ", ",", ";", '"', "=", "\xff", "-1", "9" * 5000, "x" * 5000, "application/json"),
)
COMMON_HEADERS = (
    *("host", "cookie", "origin", "content-type", "x-novamas-token"),
    *("range", "if-none-match", "if-modified-since", "accept-encoding"),
)
"""Headers that the application or its files look at before a route does."""
IN_PATH = re.compile(r"{(\w+)(?::\w+)?}")


class Asked(msgspec.Struct, kw_only=True):
    """A request, in parts of which each can be replaced."""

    method: str
    path: str
    """Of the route."""
    named: dict[str, str]
    """In the path and the query."""
    headers: dict[str, str]
    body: Any
    """Sent as JSON; bytes: as they are."""
    safe: str = ""
    twice: bool = False
    """The query comes twice."""

    def sent(self) -> tuple[str, str, list[tuple[str, str]], bytes]:
        quoted = {
            name: quote(value.encode("utf-8", "surrogatepass"), safe=self.safe)
            for name, value in self.named.items()
        }
        path = IN_PATH.sub(lambda found: quoted.pop(found[1]), self.path)
        query = [f"{name}={value}" for name, value in quoted.items()] * (1 + self.twice)
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return self.method, f"{path}?{'&'.join(query)}", [*self.headers.items()], body


class Route:
    """A route, and requests for it."""

    def __init__(self, server: InProcess, looks: Looks, named: Named) -> None:
        self.path, self.methods, self._server = named.path, named.methods, server
        self.names = [*IN_PATH.findall(named.path), *sorted(looks.query[named.path])]
        self.headers = sorted({*looks.headers[named.path], *COMMON_HEADERS})
        self.bodies = sorted(looks.bodies[named.path], key=str)

    def usual(self, who: str | None, method: str | None = None) -> Asked:
        """As a page of this person sends it; None: without a session."""
        headers = {"host": "127.0.0.1"}
        own = {**USUAL, "who": who or "m-lasa", "pin": PINS[who or "m-lasa"]}
        if self._server.settings.pit is not None:
            cookie, session = self._server.sign_in(who or "m-lasa")
            headers |= dict(own_headers(cookie, session if who else None))
            own["number"] = f"{session.tag}-12345678"
        fields = [msgspec.structs.fields(kind) for kind in self.bodies if _is_struct(kind)]
        return Asked(
            method=method or self.methods[0],
            path=self.path,
            named={name: USUAL.get(name, "1") for name in self.names},
            headers=headers,
            body={
                each.encode_name: 1
                if int in (each.type, *get_args(each.type))
                else own.get(each.encode_name, "12345678")
                for each in (fields[0] if fields else ())
                if each.required or each.encode_name in own
            },
        )

    def one_odd(self) -> Iterator[Asked]:
        """Requests in which each part in turn is all that it should not be."""
        for who in (*SIGNED_IN_NAMES, None):
            for method in (*self.methods, "GET", "POST", "HEAD", "OPTIONS"):
                yield self.usual(who, method)
        for who in SIGNED_IN_NAMES:
            for name in self.names:
                for value in VALUES:
                    asked = self.usual(who)
                    asked.named[name] = value
                    yield asked
            for name in self.usual(who).body:
                for odd in ODD_FIELDS:
                    asked = self.usual(who)
                    asked.body[name] = odd
                    yield asked
        for name in self.headers:
            for value in HEADERS:
                asked = self.usual(SIGNED_IN_NAMES[0])
                asked.headers[name] = value
                yield asked


SIGNED_IN_NAMES = ("t-vidal", "s-mora")
"""Persons who together may do everything."""
often = st.integers(0, 4).map(bool)
texts = st.one_of(st.sampled_from(VALUES), st.text(max_size=12))
plain = st.one_of(
    texts, st.sampled_from(WHOLE), st.integers(), st.floats(), st.booleans(), st.none()
)
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
headings = st.one_of(
    st.sampled_from(HEADERS),
    st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f")),
)


@st.composite
def requests(draw: Callable[..., Any], route: Route) -> Asked:
    """Requests in which any number of parts are odd at once."""
    asked = route.usual(draw(st.sampled_from([*sorted(PINS), None])))
    asked.method = draw(st.sampled_from([*route.methods, "GET", "POST"]))
    for name in route.names:
        if not draw(often):
            asked.named[name] = draw(texts)
        elif name not in IN_PATH.findall(route.path) and not draw(often):
            del asked.named[name]
    for name in draw(st.lists(st.sampled_from(route.headers), max_size=2)):
        asked.headers[name] = draw(headings)
    for name in list(asked.body):
        if not draw(often):
            asked.body[name] = draw(anything)
    if not draw(often):
        asked.body = draw(st.one_of(anything, st.binary(max_size=20)))
    asked.safe, asked.twice = draw(st.sampled_from(("", "/"))), draw(st.booleans())
    return asked


@pytest.fixture(scope="module", params=[True, False], ids=["console", "displays"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InProcess]:
    with closing(InProcess(tmp_path_factory.mktemp("web"), request.param)) as made:
        yield made


@pytest.fixture
def routes(server: InProcess, monkeypatch: pytest.MonkeyPatch) -> list[Route]:
    monkeypatch.setattr(attempts, "FIRST_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(attempts, "MAX_WRONG_PINS", 1 << 30)
    looks = server.looks()
    return [Route(server, looks, route) for route in server.routes]


def failed(server: InProcess, asked: Asked) -> str | None:
    """Why the answer to a request is a failure of the server, or None."""
    sent = asked.sent()
    try:
        answer = server.ask(*sent)
    except Exception as error:
        return f"{error!r}: {sent}"
    if answer.status == 503 and asked.path in DOCUMENTED_503:
        return None if DOCUMENTED_503[asked.path] in answer.body.decode() else f"{answer}: {sent}"
    return None if 200 <= answer.status < 500 else f"{answer}: {sent}"


def test_no_part_of_a_request_makes_the_server_fail(server: InProcess, routes: list[Route]) -> None:
    found: dict[tuple[str, str], str] = {}
    for route in routes:
        for asked in route.one_odd():
            if (why := failed(server, asked)) is not None:
                found.setdefault((route.path, why.partition(":")[0]), why)
    assert not found, "\n".join(found.values())


def test_no_request_at_all_makes_the_server_fail(server: InProcess, routes: list[Route]) -> None:
    for route in routes:

        @settings(max_examples=cases(40, 4000), database=None)
        @given(requests(route))
        def ask(asked: Asked) -> None:
            assert failed(server, asked) is None

        ask()


def _is_struct(kind: type[Any]) -> bool:
    return issubclass(kind, msgspec.Struct)
