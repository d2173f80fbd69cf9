"""Streams of events at a real daemon and broker: whatever ends, each event comes once."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from common import clock
from common.people.tokens import add_token
from tests.conftest import cases
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, serve, until_up
from tests.support.daemon.process import Daemon, Wheel
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.server import WebServer

SITE = "palma"
Message = tuple[str, str, Any]
"""Name, id and data."""


class ReconnectingReader:
    """Reads a stream as an ``EventSource`` does: after each end again, with the last id."""

    def __init__(self, path: str, token: str, address: Callable[[], str]) -> None:
        self.messages: list[Message] = []
        self._path, self._token, self._address = path, token, address
        self._last = "0"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def events(self) -> list[Any]:
        return [data for name, _, data in [*self.messages] if name == "message"]

    @property
    def gaps(self) -> list[Any]:
        return [data for name, _, data in [*self.messages] if name == "gap"]

    def _run(self) -> None:
        while not self._over.wait(0.05):
            with suppress(OSError):
                headers = {"authorization": f"Bearer {self._token}", "last-event-id": self._last}
                request = urllib.request.Request(self._address() + self._path, headers=headers)
                with urllib.request.urlopen(request, timeout=20) as answer:
                    self._read(answer)

    def _read(self, lines: Any) -> None:
        name, number, data = "message", "", ""
        for raw in lines:
            key, _, value = raw.decode().rstrip("\n").partition(": ")
            if key == "event":
                name = value
            elif key == "id":
                number = value
            elif key == "data":
                data = value
            elif not key:
                self._last = number or self._last
                if data:
                    self.messages.append((name, number, json.loads(data)))
                name, number, data = "message", "", ""
            if self._over.is_set():
                return

    def close(self) -> None:
        self._over.set()
        self._thread.join(TIMEOUT_SECONDS)


class Site:
    """A daemon with a table, a web server with the API, and readers of both streams."""

    def __init__(
        self, folder: Path, broker: Mosquitto, served: Daemon, subscriber: Subscriber
    ) -> None:
        self.folder, self.broker, self.daemon, self.subscriber = folder, broker, served, subscriber
        _, self.token = add_token(folder / "tokens.jsonl", "shop", [], None, clock.wall())
        self.server = self._serve()
        self.readers = [
            ReconnectingReader(path, self.token, lambda: self.server.address)
            for path in ("/v1/events", "/v1/tables/r1/events")
        ]
        self.is_open = False
        until("the server follows the table", self._is_followed, lambda: self.server.log())

    def _is_followed(self) -> bool:
        """Whether the server knows where the table begins: what came before, it need not have."""
        with closing(sqlite3.connect(self.folder / "web" / "events.sqlite3")) as log:
            return bool(log.execute("SELECT count(*) FROM followed").fetchone()[0])

    def _serve(self) -> WebServer:
        return WebServer(
            self.folder / "web",
            self.broker.port,
            [("r1", False)],
            site=SITE,
            api={"tokens": str(self.folder / "tokens.jsonl")},
        )

    def play(self) -> None:
        """An event of the table."""
        self.is_open = not self.is_open
        wanted = "session.open" if self.is_open else "session.close"
        assert command(self.subscriber, wanted)["ok"]

    def kill_server(self) -> None:
        self.server.kill()
        self.server = self._serve()

    def kill_daemon(self) -> None:
        self.daemon.kill()
        self.daemon.start()
        until_up(self.subscriber, self.daemon)
        self.is_open = self.subscriber.latest("novamas/v1/palma/r1/state")["status"] != "closed"

    def kill_broker(self) -> None:
        self.subscriber.subscribed.clear()
        connected = self.daemon.log().count("broker connected")
        self.broker.kill()
        self.broker.start()
        assert self.subscriber.subscribed.wait(TIMEOUT_SECONDS)
        self.daemon.until_logged("broker connected", connected + 1)

    def caught_up(self) -> bool:
        """Whether both readers have the last event of the table."""
        state = self.subscriber.latest("novamas/v1/palma/r1/state")
        return all(
            any((each["boot"], each["seq"]) == (state["boot"], state["seq"]) for each in found)
            for found in (reader.events for reader in self.readers)
        )

    def close(self) -> None:
        self.server.kill()  # first: the readers wait for it
        for reader in self.readers:
            reader.close()


@pytest.fixture
def site(
    tmp_path: Path,
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> Iterator[Site]:
    with ExitStack() as stack:
        served, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
        made = Site(tmp_path / "shop", mosquitto, served, subscriber)
        stack.callback(made.close)
        yield made


def check(site: Site) -> None:
    """Each event of each run came once and in order, at both readers, and nothing is missing."""
    for reader in site.readers:
        runs: dict[str, list[int]] = {}
        for event in reader.events:
            runs.setdefault(event["boot"], []).append(event["seq"])
        for seqs in runs.values():
            assert seqs == [*range(seqs[0], seqs[0] + len(seqs))]
        assert all(seqs[0] == 1 for seqs in [*runs.values()][1:])
        assert reader.gaps == []


@pytest.mark.essential
def test_no_kill_hides_an_event(site: Site) -> None:
    """Kills of the server, the daemon and the broker, in any order, with events between."""
    chance = random.Random(1)
    site.play()
    until("the first event", site.caught_up)
    kills = (site.kill_server, site.kill_daemon, site.kill_broker)
    for number in range(cases(6, 100)):
        if chance.random() < 0.5:
            site.play()
        kills[number % 3]() if number < 3 else chance.choice(kills)()
        site.play()
    until("the last event", site.caught_up, lambda: f"{site.readers[0].messages[-5:]}")
    check(site)


def test_a_revoked_token_ends_its_streams(site: Site) -> None:
    site.play()
    until("the first event", site.caught_up)
    (site.folder / "tokens.jsonl").write_text("")
    for reader in site.readers:
        until("the end", lambda r=reader: r.messages[-1][0] == "end")  # type: ignore[misc]
        assert reader.messages[-1][2] == {"why": "token"}


def test_a_server_that_stops_says_so_to_its_streams(site: Site) -> None:
    site.play()
    until("the first event", site.caught_up)
    assert site.server.stop() == 0
    for reader in site.readers:
        until("the end", lambda r=reader: r.messages[-1][0] == "end")  # type: ignore[misc]
        assert reader.messages[-1][2] == {"why": "shutdown"}
