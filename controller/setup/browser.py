"""Setup in the browser: the same interview, plan and files as on the terminal.

The server runs in a thread and belongs to one browser; the program's own thread waits for the
answers, carries out the plan, and reports its progress.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from common import clock, randomness
from common.contract.messages.messages import ENGLISH, LANGUAGES
from controller.setup.change import SetupError
from controller.setup.door import KEY_BYTES, Door
from controller.setup.facts import Facts, FoundDevice
from controller.setup.interview import Interview, Question
from controller.setup.live import DeviceView, LiveDevice
from controller.setup.model import WrongAnswerError
from controller.setup.plan import SetupPlan, described, make_plan
from controller.setup.table_questions import device_of
from controller.setup.words import say

IDLE_SECONDS = 900.0
"""Time without a request after which setup leaves: an open page of another day is a risk."""
POLL_SECONDS = 0.1
BEAT_SECONDS = 2.0
"""Interval of comments in the stream, by which a browser that has left is noticed."""
FAREWELL_SECONDS = 10.0
"""Maximum time for the browser to fetch the last state."""
STATIC = {"/setup.js": "text/javascript", "/setup.css": "text/css"}


class BrowserFront:
    """Asks in the browser. ``listen``: finds devices, which takes seconds."""

    def __init__(self, facts: Facts, listen: Callable[[], Sequence[FoundDevice]]) -> None:
        self._facts, self._listen = facts, listen
        self._interview = Interview(facts)
        self._lock = asyncio.Lock()
        self._listening: asyncio.Task[None] | None = None
        self._plan: SetupPlan | None = None
        self._problem: SetupError | None = None
        self._agreed = threading.Event()
        self._messages: list[tuple[str, dict[str, object]]] = []
        self._addresses: list[str] | None = None
        self._failure: str | None = None
        self._told_last = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._key = randomness.token_urlsafe(KEY_BYTES)
        self._door = Door(self._routes(), lambda: self.port, self._key)
        config = uvicorn.Config(self._door, log_config=None, access_log=False, ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self._socket.getsockname()[1])

    @property
    def address(self) -> str:
        """The address to open, with the key."""
        return f"http://127.0.0.1:{self.port}/?key={self._key}"

    def start(self) -> None:
        """Answer requests from now on."""
        self._thread.start()

    def wait(self) -> SetupPlan | None:
        """Return the plan to which the person has agreed; None if nothing was asked for long."""
        while not self._agreed.wait(POLL_SECONDS):
            if clock.monotonic() > self._door.last_request + IDLE_SECONDS:
                return None
        return self._plan

    def report(self, key: str, **fields: object) -> None:
        """Show a message below the others."""
        self._messages.append((key, fields))

    def finish(self, addresses: list[str], failure: str | None = None) -> None:
        """Show the addresses to open, or why setup failed, and leave once the browser knows."""
        self._failure, self._addresses = failure, addresses
        self._told_last.wait(FAREWELL_SECONDS)
        self.close()

    def close(self) -> None:
        """Leave."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(FAREWELL_SECONDS)
        self._socket.close()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def _routes(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/", self._page),
                *(Route(path, self._static) for path in STATIC),
                Route("/state", self._state),
                Route("/live", self._live),
                Route("/answer", self._answer, methods=["POST"]),
                Route("/back", self._back, methods=["POST"]),
                Route("/listen", self._listen_again, methods=["POST"]),
                Route("/write", self._write, methods=["POST"]),
            ]
        )

    async def _page(self, request: Request) -> Response:
        language = language_of(request)
        page = _file("page.html").format(
            language=language, title=say("say.title", language), gone=say("say.gone", language)
        )
        return Response(page, media_type="text/html")

    async def _static(self, request: Request) -> Response:
        path = request.url.path
        return Response(_file(path.lstrip("/")), media_type=STATIC[path])

    async def _state(self, request: Request) -> Response:
        async with self._lock:
            return JSONResponse(await self._shown(language_of(request)))

    async def _answer(self, request: Request) -> Response:
        language = language_of(request)
        try:
            body = await request.json()
            place, text = body["id"], body["text"]
        except (ValueError, KeyError, TypeError):
            return PlainTextResponse("expected id and text\n", 400)
        if not isinstance(place, str) or not isinstance(text, str):
            return PlainTextResponse("expected id and text\n", 400)
        async with self._lock:
            question, error = self._interview.question, None
            if question is not None and question.id == place:  # else the page is an old one
                try:
                    await run_in_threadpool(self._interview.answer, text)
                except WrongAnswerError as wrong:
                    error = wrong.text(language)
            return JSONResponse({**await self._shown(language), "error": error})

    async def _back(self, request: Request) -> Response:
        async with self._lock:
            if not self._agreed.is_set():
                self._plan = self._problem = None
                self._interview.back()
            return JSONResponse(await self._shown(language_of(request)))

    async def _listen_again(self, request: Request) -> Response:
        async with self._lock:
            self._listening = None
            return JSONResponse(await self._shown(language_of(request)))

    async def _write(self, request: Request) -> Response:
        async with self._lock:
            if self._plan is not None:
                self._agreed.set()
            return JSONResponse(await self._shown(language_of(request)))

    async def _shown(self, language: str) -> dict[str, Any]:
        """Return what the page shows now."""
        if self._agreed.is_set():
            return self._progress(language)
        question = self._interview.question
        if question is None:
            return await self._planned(language)
        if question.kind == "device" and not self._has_listened():
            return {"kind": "working", "text": say("say.listening", language)}
        return {**_as_json(question, language), "back": bool(self._interview.given),
                "words": _words(language)}  # fmt: skip

    def _has_listened(self) -> bool:
        if self._listening is None:
            self._listening = asyncio.create_task(self._find())
        return self._listening.done()

    async def _find(self) -> None:
        self._facts.found = tuple(await run_in_threadpool(self._listen))

    async def _planned(self, language: str) -> dict[str, Any]:
        if self._plan is None and self._problem is None:
            try:
                self._plan = await run_in_threadpool(
                    make_plan, dict(self._interview.given), self._facts
                )
            except SetupError as error:
                self._problem = error
        words = _words(language)
        if self._plan is None:
            return {"kind": "plan", "text": str(self._problem), "files": [], "steps": [],
                    "words": words, "possible": False}  # fmt: skip
        changes = [
            {"path": str(change.path), "text": text}
            for change, text in described(self._plan.changes)
        ]
        text = say("say.plan" if changes else "say.unchanged", language)
        steps = [" ".join(step.words) for step in self._plan.steps]
        return {"kind": "plan", "text": text, "files": changes, "steps": steps, "words": words,
                "possible": True}  # fmt: skip

    def _progress(self, language: str) -> dict[str, Any]:
        addresses, failure = self._addresses, self._failure
        lines = [say(f"say.{key}", language, **fields) for key, fields in list(self._messages)]
        if addresses is not None:
            self._told_last.set()
            return {"kind": "done", "lines": lines, "addresses": addresses, "failure": failure,
                    "text": failure or say("say.finished", language)}  # fmt: skip
        return {"kind": "working", "lines": lines, "text": say("say.working", language)}

    async def _live(self, request: Request) -> Response:
        question = self._interview.question
        if question is None or question.kind != "live":
            return PlainTextResponse("no device is shown now\n", 404)
        device = device_of(self._interview.answers_of(question))
        assert device is not None
        stream = _device_stream(device, language_of(request), lambda: self._question_is(question))
        return StreamingResponse(stream, media_type="text/event-stream")

    def _question_is(self, question: Question) -> bool:
        now = self._interview.question
        return not self._server.should_exit and now is not None and now.id == question.id


async def _device_stream(
    device: FoundDevice, language: str, continues: Callable[[], bool]
) -> AsyncIterator[str]:
    """Yield what a device shows, as Server-Sent Events."""
    loop, views = asyncio.get_running_loop(), asyncio.Queue[DeviceView]()

    def on_change(view: DeviceView) -> None:
        with suppress(RuntimeError):  # setup has left meanwhile
            loop.call_soon_threadsafe(views.put_nowait, view)

    live = LiveDevice(device, on_change)
    try:
        yield f"data: {DeviceView().text(language)}\n\n"
        beaten = clock.monotonic()
        while continues():
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    view = await views.get()
                yield f"data: {view.text(language)}\n\n"
            except TimeoutError:
                if clock.monotonic() > beaten + BEAT_SECONDS:
                    beaten = clock.monotonic()
                    yield ":\n\n"
    finally:
        live.close()  # at once: the stream is cancelled here, and the daemon needs the port


def _as_json(question: Question, language: str) -> dict[str, Any]:
    return {
        "kind": "question",
        "id": question.id,
        "type": question.kind,
        "text": question.text(language),
        "default": question.default,
        "choices": [
            {"value": choice.value, "label": choice.text(language)} for choice in question.choices
        ],
    }


def _words(language: str) -> dict[str, str]:
    names = ("next", "back", "rescan", "other", "again", "none_found")
    return {name: say(f"say.{name}", language) for name in names} | {
        "confirm": say("ask.confirm", language),
        "yes": say("choice.yes", language),
        "differ": say("wrong.again", language),
    }


def _file(name: str) -> str:
    return files("controller.setup").joinpath("static", name).read_text(encoding="utf-8")


def language_of(request: Request) -> str:
    """Return the browser's first language that has texts, or English."""
    wanted = request.headers.get("accept-language", "").split(",")
    return next((code for each in wanted if (code := each.strip()[:2]) in LANGUAGES), ENGLISH)
