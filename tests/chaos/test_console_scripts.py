"""The scripts of every game are played at the console: a device says their readings, people touch
their commands, and each round ends in the journal as the script's expected events say.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from common.contract.commands import Command, tag_of
from common.contract.refusals import RejectedError
from common.readings import LinkLost, LinkUp, Reading
from controller.configuration.table_checks import CARD_DEVICES, DEVICES_BY_GAME
from controller.games.games import make_game
from controller.tables.card_secrecy import is_counted
from tests.chaos import device_profile, fingers
from tests.conftest import LONG
from tests.support.chaos.archive import events_of
from tests.support.chaos.report import tell
from tests.support.daemon.play import until_open
from tests.support.devices.parts import Pty
from tests.support.games.scripts import Script, expected, read, scripts
from tests.support.waiting import until
from tests.support.web.floor import Floor
from tests.support.web.pit import confirm, sign_in
from tests.web.conftest import browser

pytestmark = pytest.mark.usefixtures("programs")

__all__ = ["browser"]  # the fixture

TIMED = frozenset({"late", "link.stale"})
"""Timers, which are not touched on a screen."""
SHORT = ("chemin-de-fer/card-face-up",)
Outcome = tuple[str, Any]


def playable(name: str) -> bool:
    """Whether people and a device that speaks at once can play it."""
    readings = [each for each in read(name).inputs if isinstance(each, Reading)]
    wheels = {reading.device for reading in readings if _tag(reading).startswith("wheel.")}
    timed = any(getattr(reading, "late", False) or _tag(reading) in TIMED for reading in readings)
    return not timed and len(wheels) <= 1


def _tag(given: msgspec.Struct) -> str:
    return str(given.__struct_config__.tag)


def floors() -> list[tuple[str, ...]]:
    """The scripts in play, one floor per group."""
    if LONG not in os.environ:
        return [SHORT]
    found = sorted(filter(playable, scripts()))
    folders = dict.fromkeys(name.partition("/")[0] for name in found)
    return [tuple(name for name in found if name.startswith(f"{folder}/")) for folder in folders]


class Step(msgspec.Struct, frozen=True):
    """One input of a script, and what the game says of it."""

    given: Any
    says: Counter[str]


def steps(script: Script) -> list[Step]:
    """The events that the script's game produces for each input, except for refused inputs: those
    are not touched.
    """
    game = make_game(script.game, script.decree, script.settings)
    state, found, count = game.begin(), [], 0
    for each in script.inputs:
        given: Any = each
        if game.face_down and is_counted(each):  # as its table does
            count += 1
            given = replace(each, reading=count)
        with suppress(RejectedError):
            state, events = game.step(state, given)
            found.append(Step(each, Counter(_tag(event) for event in events)))
    return found


def came_to(events: list[dict[str, Any]]) -> dict[tuple[int, int], Outcome]:
    """What each round of each session came to."""
    found: dict[tuple[int, int], Outcome] = {}
    for event in events:
        kind, place = event.get("type"), (event.get("session", 0), event.get("round", 0))
        if kind in ("round.result", "result.corrected"):
            found[place] = "result", event["outcome"]
        elif kind == "round.void":
            found[place] = "void", event["reason"]
        elif kind == "round.unresolved":
            found[place] = "unresolved", event["candidate"]
    return found


class Table:
    """A table of a script, its devices and its received events."""

    def __init__(self, name: str, folder: Path, ending: ExitStack) -> None:
        self.name, self.id = name, name.partition("/")[2]
        self.script = read(name)
        self.said: Counter[str] = Counter()
        self.events: list[dict[str, Any]] = []
        self._says: dict[str, list[dict[str, Any]]] = {}
        for each in self.script.inputs:
            if isinstance(each, Reading) and not isinstance(each, LinkLost | LinkUp):
                told = self._says.setdefault(each.device, [])
                if device_profile.content(each) not in told:
                    told.append(device_profile.content(each))
        if not self._says:  # all input comes from people; a table still needs a device
            self._says["silent"] = []
        self.ports: dict[str, Pty] = {}
        self._folder = folder / self.id
        for device in self._says:
            (self._folder / device).mkdir(parents=True)
            self.ports[device] = Pty(self._folder / device)
            ending.callback(self.ports[device].unplug)

    def configuration(self) -> str:
        """Its part of the daemon's."""
        settings = "".join(
            f"settings.{name} = {json.dumps(value)}\n"
            for name, value in self.script.settings.items()
        )
        head = f'\n[[table]]\nid = "{self.id}"\ngame = "{self.script.game}"\n'
        text = f'{head}decree = "{self.script.decree}"\nsimulated = true\n{settings}'
        for device, said in self._says.items():
            file = self._folder / device / "profile.toml"
            usual = DEVICES_BY_GAME.get(self.script.game, CARD_DEVICES)[0]
            file.write_text(device_profile.profile(said, usual))
            text += f'\n[[table.device]]\nid = "{device}"\ndriver = "profile"\n'
            text += f'link = "{self.ports[device].url}"\noptions = {{ file = "{file}" }}\n'
        return text

    def say(self, given: Reading) -> None:
        """A device says it."""
        self.ports[given.device].say(device_profile.line(self._says[given.device], given).encode())


class Play:
    """A floor of tables, and the people at their screens."""

    def __init__(
        self, folder: Path, ending: ExitStack, browser: Browser, names: tuple[str, ...]
    ) -> None:
        self.tables = [Table(name, folder / "tables", ending) for name in names]
        others = {table.id: table.configuration() for table in self.tables}
        self.floor = Floor(folder, ending, others=others, idle=86_400.0, longest=86_400.0)
        for table in self.tables:
            for device in table.ports:
                until_open(self.floor.subscriber, self.floor.daemon, table.id, device)
        self.pages = {who: self._screen(ending, browser, who) for who in (HEAD, CROUPIER, SECOND)}

    def _screen(self, ending: ExitStack, browser: Browser, who: str) -> Page:
        size: Any = {"width": 1280, "height": 900}
        page = ending.enter_context(browser.new_context(viewport=size)).new_page()
        page.set_default_timeout(20_000)
        sign_in(page, self.floor.web.address, who)
        return page

    def play(self, table: Table) -> None:
        """Every input of its script."""
        for port in table.ports.values():
            port.say(device_profile.HELLO)
        wanted: Counter[str] = Counter()
        for step in steps(table.script):
            wanted += step.says
            if isinstance(step.given, Reading):
                self._say(table, step.given)
            else:
                self._touch(table, step.given)
            self._until_said(table, wanted, step)

    def _until_said(self, table: Table, wanted: Counter[str], step: Step) -> None:
        def said() -> bool:
            self._hear()
            self._second(table)
            return wanted <= table.said

        until(f"{step}", said, lambda: f"{wanted - table.said}\n{_told(table.events)}")

    def _hear(self) -> None:
        subscriber = self.floor.subscriber.messages
        taken = subscriber[:]
        del subscriber[: len(taken)]
        by_id = {table.id: table for table in self.tables}
        for message in taken:
            if message.topic.endswith("/event") and message.body["table"] in by_id:
                by_id[message.body["table"]].said[message.body["type"]] += 1
                by_id[message.body["table"]].events.append(message.body)

    def _say(self, table: Table, given: Reading) -> None:
        """A device says it, or goes, or comes back; the journal holds that before anything else
        happens.
        """
        known, port = self._stored(table), table.ports[given.device]
        if isinstance(given, LinkLost):
            port.unplug()
        elif isinstance(given, LinkUp):
            self._plug(table, port)
        else:
            if not port.path.exists():
                self._plug(table, port)
            table.say(given)
        until(f"{given} is stored", lambda: self._stored(table) > known, self.floor.daemon.log)

    def _plug(self, table: Table, port: Pty) -> None:
        port.plug()
        self._hear()
        known = table.said["device.state"]

        def opened() -> bool:
            self._hear()
            return table.said["device.state"] > known

        until("the port is open", opened, self.floor.daemon.log)
        port.say(device_profile.HELLO)

    def _stored(self, table: Table) -> int:
        """Readings and commands of the table in the journal."""
        file = f"file:{self.floor.folder / 'journal.sqlite3'}?mode=ro"
        with closing(sqlite3.connect(file, uri=True)) as journal:
            asked = "SELECT count(*) FROM entry WHERE table_id = ? AND kind = 'input'"
            return int(journal.execute(asked, (table.id,)).fetchone()[0])

    # What fingers do

    def _touch(self, table: Table, given: Command) -> None:
        who = CROUPIER if given.role == "croupier" else HEAD
        fields, page = said(given), self.pages[who]
        if fields.pop("valid", True):
            refusal = fingers.give(page, who, table.id, tag_of(type(given)), fields)
        else:
            refusal = fingers.take_back(page, table.id, fields["who"])
        assert refusal is None, (table.name, given, refusal)

    def _second(self, table: Table) -> None:
        """Where the command waits for a second person, that person says the same."""
        item = self.pages[SECOND].locator(f".item.second[data-table='{table.id}'] button.main")
        if item.count():
            item.click()
            confirm(self.pages[SECOND], SECOND)
            expect(item).to_have_count(0)


def _told(events: list[dict[str, Any]]) -> str:
    """The latest events of a table, for a person who wonders why a test failed."""
    dull = {"site", "table", "game", "decree", "boot", "time", "mono_ns", "simulated", "signed_by"}
    return "\n".join(
        json.dumps({name: value for name, value in event.items() if name not in dull})
        for event in events[-8:]
    )


HEAD, CROUPIER, SECOND = "m-lasa", "a-riera", "t-vidal"


def said(given: Command) -> dict[str, Any]:
    """A command without its sender."""
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(given))
    left_out = {"type", "at", "by", "role", "note", "signed"}
    defaults = {
        field.name: msgspec.to_builtins(field.default)
        for field in msgspec.structs.fields(type(given))
        if field.default is not msgspec.NODEFAULT
    }
    return {
        name: value
        for name, value in body.items()
        if name not in left_out and (name not in defaults or value != defaults[name])
    }


@pytest.mark.parametrize("names", floors(), ids=lambda names: names[0].partition("/")[0])
def test_every_round_ends_as_the_script_of_its_game(
    tmp_path: Path, browser: Browser, names: tuple[str, ...]
) -> None:
    with ExitStack() as ending:
        play = Play(tmp_path, ending, browser, names)
        for table in play.tables:
            tell(f"{table.name}: {len(table.script.inputs)} inputs")
            play.play(table)
        assert play.floor.daemon.stop() == 0
        events = events_of(tmp_path / "journal.sqlite3")
    rounds = 0
    for table in play.tables:
        mine = [event for event in events if event["table"] == table.id]
        wanted = came_to(expected(table.name))
        assert came_to(mine) == wanted, table.name
        rounds += len(wanted)
    tell(f"{rounds} rounds in the journal as scripted, of {len(names)} scripts")
