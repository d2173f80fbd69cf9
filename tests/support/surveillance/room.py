"""A table that plays, its daemon, its broker and a recorder; what the daemon has stored against
what the recorder has kept.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.findings import open_findings
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import until_up
from tests.support.daemon.process import UNSIGNED, Daemon, Wheel, configuration, table
from tests.support.surveillance.recorder import Recorder
from tests.support.waiting import TIMEOUT_SECONDS, until

RECORDER_TIMEOUT_SECONDS = 2 * TIMEOUT_SECONDS
"""Seconds: a checkpoint may come half a minute later, and what is missing is asked for again and
again.
"""


def told(journal: Path) -> dict[tuple[str, str, int], bytes]:
    """The events of a journal, by table, run and number."""
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as file:
        rows = file.execute(
            "SELECT table_id, boot, seq, CAST(body AS BLOB) FROM entry WHERE kind = 'event'"
        )
        return {(table, boot, seq): body for table, boot, seq, body in rows}


def until_kept(daemon: Daemon, recorder: Recorder) -> None:
    """Wait until the archive has what the journal has, and nothing else, with the same bytes apart
    from ``historical``.
    """

    def same() -> bool:
        kept = recorder.events()
        return bool(kept) and {
            key: body.replace(b',"historical":true', b"") for key, body in kept.items()
        } == told(daemon.folder / "journal.sqlite3")

    until(
        "everything is kept", same, lambda: recorder.log() + daemon.log(), RECORDER_TIMEOUT_SECONDS
    )


def edit(journal: Path, change: str) -> None:
    """An edit of a journal."""
    with closing(sqlite3.connect(journal)) as file:
        file.execute(change)
        file.commit()


def signed(recorder: Recorder) -> dict[str, Any] | None:
    """The last checkpoint that was kept."""
    found = recorder.found(kinds=("checkpoint",), order="latest", limit=1)
    return json.loads(found[0].body) if found else None


def has_last_checkpoint(recorder: Recorder, subscriber: Subscriber) -> bool:
    """Whether the archive has a checkpoint of what the last one signs. A checkpoint of the same
    position and hash as the one before is not stored again.
    """
    kept, last = signed(recorder), subscriber.latest("/checkpoint")
    return kept is not None and all(
        kept[name] == last[name] for name in ("journal", "position", "hash")
    )


def surveilled(recorder: Recorder, action: str, *options: str) -> subprocess.CompletedProcess[str]:
    """``novamas surveillance ACTION`` with a recorder's configuration."""
    return subprocess.run(
        [sys.executable, "-m", "controller.cli", "surveillance", action,
         str(recorder.file), *options],
        capture_output=True,
        text=True,
        env={**os.environ, "STATE_DIRECTORY": str(recorder.folder)},
    )  # fmt: skip


class Room:
    """A table that plays, its daemon, its broker and a recorder."""

    def __init__(
        self,
        mosquitto: Mosquitto,
        wheel: Wheel,
        daemon: Daemon,
        subscriber: Subscriber,
        recorder: Recorder,
        port: int,
    ) -> None:
        self.mosquitto, self.wheel, self.daemon = mosquitto, wheel, daemon
        self.subscriber, self.recorder = subscriber, recorder
        self.port = port

    @property
    def journal(self) -> Path:
        return self.daemon.folder / "journal.sqlite3"

    def until_kept(self) -> None:
        """Wait until the archive has what the journal has."""
        until_kept(self.daemon, self.recorder)

    def ran(self, action: str, *options: str) -> subprocess.CompletedProcess[str]:
        """``novamas surveillance ACTION`` with the recorder's configuration."""
        return surveilled(self.recorder, action, *options)

    def open_findings(self) -> list[tuple[int, ArchiveRecord]]:
        """The open findings, with their numbers."""
        with self.recorder.archive() as archive:
            return open_findings(archive)

    def health(self) -> dict[str, Any]:
        """The recorder's health, once it responds."""
        until("it can be asked", self._listens, self.recorder.log)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health") as answer:
                body: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return {**json.load(refused), "status": refused.code}
        return body

    def _listens(self) -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", self.port)) == 0

    def alert(self, name: str) -> dict[str, Any] | None:
        """The recorder's active alert with that prefix."""
        topic = "novamas/v1/palma/node/surveillance/alert/"
        stands: dict[str, Any] = {}
        for message in list(self.subscriber.messages):
            if message.topic.startswith(f"{topic}{name}"):
                stands[message.topic] = json.loads(message.payload) if message.payload else None
        return next((each for each in stands.values() if each), None)


@pytest.fixture
def rooms(
    programs: None,
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tell: Callable[[str, Callable[[], str]], None],
    ending: ExitStack,
) -> Callable[..., Room]:
    """``rooms(archive)``: a room whose recorder is not started yet. ``archive``: lines of that
    section; ``where``: its archive, where it is not the usual file; ``people``: that section.
    """

    def make(
        archive: str = 'path = "archive.sqlite3"', where: str | None = None, people: str = UNSIGNED
    ) -> Room:
        subscriber = subscribe(mosquitto.port)
        port = free_port()
        text = configuration(mosquitto.port, table("r1", wheel), people=people)
        made = daemon(f'{text}\n[archive]\nlisten = "127.0.0.1:{port}"\n{archive}\n')
        recorder = Recorder(made.file, where)
        ending.callback(tell, "log of the recorder", recorder.log)
        ending.callback(recorder.kill)
        made.start()
        until_up(subscriber, made)
        return Room(mosquitto, wheel, made, subscriber, recorder, port)

    return make


@pytest.fixture
def room(rooms: Callable[..., Room]) -> Room:
    return rooms()
