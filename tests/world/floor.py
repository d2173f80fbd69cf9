"""The part ``floor``: the web server below HTTP, and a screen that shows its stream of pictures.

A screen shows a table as current only while that is what the table published last, and its daemon
is there; otherwise it is grey within the times of ``docs/technician/web.md``.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable
from contextvars import Context
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from starlette.types import Message as Sent

from common.chain.schema import Entry
from subscribers.display.round_store import RoundStore
from subscribers.feed.floor import Floor, change_of
from subscribers.feed.tables import BrokerLogin
from subscribers.feed.worlds import now
from subscribers.web.app import WebApplication
from subscribers.web.receive import receivers
from subscribers.web.settings import WebSettings, WebTable
from subscribers.web.stream import RETRY_MILLISECONDS, PictureStream
from subscribers.web.tables import Pictures
from tests.world.broker.packets import Publish
from tests.world.checkers import Final, require
from tests.world.process import PROCESS, Machine, Process, context_of
from tests.world.program import Program

if TYPE_CHECKING:
    from tests.world.world import World

MACHINE = "web"
SILENCE_SECONDS = 6.0
"""As ``SILENCE_MS`` of the pages: without a beat for so long, nothing is drawn as current."""
ON_THE_WAY_SECONDS = 20.0
"""What messages may be late by: the faults that delay them take at most fifteen seconds."""
LOST_BROKER_SECONDS = 25.0
"""Within this time the server notices that its connection with the broker is dead."""
LOST_DAEMON_SECONDS = 15.0
"""Within this time the broker notices it of a daemon, and publishes its will."""
SILENT_DAEMON_SECONDS = 80.0
"""Within this time the server notices that nothing comes, though the broker does not say so: it was
restarted, or it does not deliver.
"""

View = tuple[Any, ...]
"""What a person sees of a table: status, phase, session, round and last number."""


class WebServer:
    """The web server without HTTP. ``web``: what serves the streams; None while it does not."""

    def __init__(self, world: World) -> None:
        self._state = world.folder / MACHINE
        self._world = world
        self.web: WebApplication | None = None
        self.program = Program(world.loop, MACHINE, Machine(MACHINE), self._serve, world.note)

    async def _serve(self, stop: asyncio.Event) -> None:
        tables = tuple(WebTable(table) for table in self._world.wheels)
        login = BrokerLogin(url="mqtt://broker.world:1883")
        settings = WebSettings(site="palma", broker=login, tables=tables, state=str(self._state))
        floor = Floor({table.id: table.simulated for table in tables}, now)
        store = RoundStore(Path(settings.state))
        process = PROCESS.get()
        assert process is not None
        process.on_kill(store.close)
        self.web = web = WebApplication(settings, floor, Pictures(floor, store))
        async with asyncio.TaskGroup() as group:
            working = [group.create_task(work, name=name) for name, work in receivers(web)]
            await stop.wait()
            web.alive = False
            floor.wake()
            for task in working:
                task.cancel()


class Screen:
    """A browser with all tables. ``pictures``: the last one of each table."""

    def __init__(self, world: World, server: WebServer) -> None:
        self.pictures: dict[str, dict[str, Any]] = {}
        self.cut_off = False
        """Whether its network is down."""
        self._loop, self._server = world.loop, server
        self._sign = self._beat = -SILENCE_SECONDS
        """When it has last received something, and a beat."""
        self._last_id: str | None = None
        self._closed: asyncio.Event | None = None
        self._process: Process | None = None
        self._mended = asyncio.Event()

    @property
    def is_live(self) -> bool:
        """Whether it draws pictures as current: the server has been heard, and a beat after the
        last silence.
        """
        return self._loop.now - self._sign < SILENCE_SECONDS and self._beat >= 0.0

    def look(self) -> None:
        """Open the stream, or again when it has ended or is silent; and look again in a while."""
        if not self.is_live:
            self._beat = -SILENCE_SECONDS
        program = self._server.program
        is_served = program.process is not None and program.process.alive
        is_open = self._closed is not None and program.process is self._process and is_served
        if not is_open or self._loop.now - self._sign >= SILENCE_SECONDS:
            self._open()
        self._loop.call_later(RETRY_MILLISECONDS / 1000, self.look, context=Context())

    def cut(self) -> Callable[[], object]:
        """Cut its network; returns what mends it."""
        self.cut_off = True

        def mend() -> None:
            self.cut_off = False
            self._mended.set()
            self._mended = asyncio.Event()

        return mend

    def _open(self) -> None:
        if self._closed is not None:
            self._closed.set()
            self._closed = None
        process, web = self._server.program.process, self._server.web
        if self.cut_off or process is None or not process.alive or web is None or not web.alive:
            return
        if web.floor.run not in str(self._last_id):
            self._last_id = None
        self._closed, self._process = asyncio.Event(), process
        stream = PictureStream(
            web.floor,
            list(web.floor.changed),
            web.pictures.for_language(None),
            change_of(web.floor, self._last_id),
            lambda: web.alive,
            web.counts,
            web.settings.send_timeout,
        )
        task: asyncio.Task[None] = self._loop.create_task(
            self._receive(stream, self._closed), context=context_of(process)
        )
        process.kept.append(task)

    async def _receive(self, stream: PictureStream, closed: asyncio.Event) -> None:
        async def receive() -> Sent:
            await closed.wait()
            return {"type": "http.disconnect"}

        async def send(message: Sent) -> None:
            while self.cut_off:
                await self._mended.wait()
            if closed is self._closed:
                self._on_data(message.get("body", b""))

        await stream({}, receive, send)
        if closed is self._closed:
            self._closed = None

    def _on_data(self, data: bytes) -> None:
        fields = dict(line.split(": ", 1) for line in data.decode().splitlines() if ": " in line)
        self._last_id = fields.get("id", self._last_id)
        if "event" in fields:
            self._sign = self._loop.now
        if fields.get("event") == "beat":
            self._beat = self._loop.now
        elif fields.get("event") == "picture":
            picture = json.loads(fields["data"])
            self.pictures[picture["table"]] = picture


class ShowsPictures(Protocol):
    """A screen that is judged. ``pictures``: what it shows of each table."""

    pictures: dict[str, dict[str, Any]]

    @property
    def is_live(self) -> bool:
        """Whether it shows its pictures as current where they say so."""


class NothingStale(Final):
    """A screen shows as current only what the table published last, by a daemon that is there.
    ``lag``: seconds after which a screen that is live shows what is new.
    """

    def __init__(self, world: World, screen: ShowsPictures, lag: float = 0.0) -> None:
        self._world, self._screen, self._lag = world, screen, lag
        self._fresh: dict[str, dict[View, float]] = defaultdict(dict)
        """By table: when each view was last what the table had published last."""
        self._boots: dict[str, tuple[str, Process | None]] = {}
        """By boot: the machine of the daemon, and its process."""
        self._in_touch = 0.0
        """When a daemon last ran and had reached the broker."""
        self._kills = 0
        self._trouble = 0.0
        """When the broker last failed."""
        self._grey: dict[str, float] = defaultdict(float)
        """By table, when it was last not shown as current."""

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.boot not in self._boots:
                process = next(each for each in self._world.programs if each.name == owner).process
                self._boots[entry.boot] = owner, process

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        table, _, leaf = message.topic.removeprefix("novamas/v1/palma/").rpartition("/")
        if leaf == "state" and message.payload:
            self._fresh[table][view_of_state(message.payload)] = self._world.loop.now

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        for table in self._world.wheels:
            retained = self._world.broker.retained.get(f"novamas/v1/palma/{table}/state")
            if retained is not None:
                self._fresh[table][view_of_state(retained.payload)] = now
        broker = self._world.broker
        if broker.faults.active or broker.kills != self._kills:
            self._kills, self._trouble = broker.kills, now
        heard: dict[str, float] = {}
        for each in broker.connections:
            heard[each.peer] = max(heard.get(each.peer, 0.0), each.last_received)
        for machine, process in self._boots.values():
            if process is not None and process.alive and process.frozen_until <= now:
                self._in_touch = max(self._in_touch, heard.get(machine, 0.0))
        for table, picture in self._screen.pictures.items():
            if picture["current"] and self._screen.is_live:
                self._check(table, picture, now)
            else:
                self._grey[table] = now

    def _check(self, table: str, picture: dict[str, Any], now: float) -> None:
        view = view_of_picture(picture)
        fresh = self._fresh[table].get(view)
        require(fresh is not None, "shown and never published", table, view)
        assert fresh is not None
        for since, noticed, problem in (
            (fresh, LOST_BROKER_SECONDS, "an old state is shown as current"),
            (self._in_touch, LOST_BROKER_SECONDS + LOST_DAEMON_SECONDS, "shown without a daemon"),
        ):
            if self._trouble >= since:
                noticed = max(noticed, SILENT_DAEMON_SECONDS)
            since = max(since, self._grey[table])
            limit = noticed + SILENCE_SECONDS + ON_THE_WAY_SECONDS
            require(now - since <= limit, problem, table, now - since, view)

    def on_end(self) -> None:
        """See :class:`Checker`."""
        require(self._screen.is_live, "the screen has not become live")
        for table in self._world.wheels:
            retained = self._world.broker.retained[f"novamas/v1/palma/{table}/state"]
            picture = self._screen.pictures.get(table)
            require(picture is not None, "never shown", table)
            assert picture is not None
            shown, state = view_of_picture(picture), view_of_state(retained.payload)
            seen = self._fresh[table].get(shown, -inf)  # as of the last tick before it was replaced
            is_new = self._world.loop.now - seen < self._lag
            require(shown == state or is_new, "the screen shows another state", table, shown, state)
            why = (picture["trouble"] or {}).get("why")
            gone = {"no_broker", "no_daemon", "daemon_offline", "no_table", "unreadable"}
            require(why not in gone, "grey at the end", table, why)


def view_of_state(payload: bytes) -> View:
    """Return what a person should see of a state."""
    state = json.loads(payload)
    shown = state["shown"] or {}
    number = shown.get("last_number")
    last = None if number is None else str(number)
    return state["status"], shown.get("phase"), shown.get("session"), shown.get("round"), last


def view_of_picture(picture: dict[str, Any]) -> View:
    """Return what a person sees."""
    last = (picture["body"] or {}).get("last") or {}
    phase = picture["phase"]["id"]
    return (
        picture["status"]["id"],
        None if phase == "unknown" else phase,
        picture["session"],
        picture["round"],
        last.get("number"),
    )


SCREENS: list[Screen] = []
"""The screen of the world that runs."""


def join(world: World) -> None:
    """Let a web server and a screen take part."""
    server = WebServer(world)
    screen = Screen(world, server)
    SCREENS[:] = [screen]
    world.programs.append(server.program)
    world.checkers.append(NothingStale(world, screen))
    world.loop.call_later(1.0, screen.look, context=Context())


def cut_screen(world: World, random: Random) -> Callable[[], object]:
    """The network between the web server and the screen is down."""
    del world, random
    return SCREENS[0].cut()
