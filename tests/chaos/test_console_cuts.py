"""Commands are given at a console whose connection to the broker is cut again and again: none is
followed twice, none is lost unnoticed, and no display shows an old number as current.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
import pytest

from tests.chaos.line import Display, Line, Shown
from tests.conftest import LONG
from tests.support.chaos.archive import events_of
from tests.support.chaos.report import tell
from tests.support.daemon.play import until_up
from tests.support.waiting import until
from tests.support.web.floor import ROULETTE, Floor
from tests.support.web.pit import PINS, Client

BOUND = 25.0
"""Seconds without the broker after which a number is no longer shown as current
(docs/technician/web.md).
"""
What = Literal["line", "away", "mute", "broker", "server", "silent"]
"""The line is cut around the touch, or before it, or swallows the answer; the broker is killed and
comes back empty; the web server is killed; the line stays, and nothing passes.
"""
SHARES: dict[What, int] = {"line": 70, "away": 8, "mute": 8, "broker": 7, "server": 7}
LONGEST = 125
"""Cuts of one part of the long form."""
SILENT = 125
"""One of this number of cuts in the long form is silent: it takes nearly as long as the bound."""
PARTS = 8 if LONG in os.environ else 1
"""Floors of the long form, each with its own schedule."""
AROUND = 0.1
"""Seconds after the touch within which the cut comes."""
EVENT = {"staff.on": "staff.arrived", "staff.off": "staff.left"}


class Cut(msgspec.Struct, frozen=True):
    what: What
    after: float
    number: int
    """The wheel's displays during the cut."""


def cuts(seed: int, count: int, silent: bool) -> list[Cut]:
    random = Random(seed)
    kinds = [*SHARES]
    first: list[What] = [*kinds]
    others = random.choices(kinds, [*SHARES.values()], k=count - len(first))
    drawn: list[What] = [*first, *others]
    if silent:
        drawn[20::SILENT] = ["silent"] * len(drawn[20::SILENT])
    return [Cut(what, random.uniform(0, AROUND), random.randrange(37)) for what in drawn]


class Touched(msgspec.Struct, frozen=True):
    """A touch and what the person learned of it."""

    number: str
    command: str
    person: str
    how: str
    """``lost``: the server did not answer."""
    followed: bool


class Play:
    """A floor whose web server has a separate line to the broker, with a signed-in person and a
    display.
    """

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.floor = Floor(folder, ending, idle=86_400.0, longest=86_400.0)
        self.line = Line(self.floor.broker.port)
        ending.callback(self.line.close)
        self._port: int | None = None
        self.floor.web.kill()
        self.serve()
        until_up(self.floor.subscriber, self.floor.daemon)
        self.floor.open()
        self.display = Display(self.floor.web.address, "r1")
        ending.callback(self.display.close)
        last = until("an event", lambda: self.floor.subscriber.events())[-1]
        self._newest = last["boot"], last["seq"]
        self.sent: Counter[str] = Counter()
        self.there: list[str] = []
        self.touched: list[Touched] = []
        self.longest = 0.0
        self._many = ThreadPoolExecutor(1)
        ending.callback(self._many.shutdown)
        self._round = 0

    def serve(self) -> None:
        """Start the web server at its address, and sign in."""
        more = {} if self._port is None else {"port": self._port}
        self.floor.serve(broker={"url": f"mqtt://127.0.0.1:{self.line.port}"}, **more)
        self._port = self.floor.web.port
        until("r1 is heard", self._healthy, self.floor.web.log)
        self.client = Client(self.floor.web.address)
        assert self.client.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]

    def _healthy(self) -> bool:
        return Client(self.floor.web.address).ask("GET", "/health")[0] == 200

    def harvest(self) -> Counter[str]:
        """Count the commands received by the broker, by number, and clear the received messages."""
        subscriber = self.floor.subscriber.messages
        taken = len(subscriber)
        for message in subscriber[:taken]:
            if "/command/staff-" in message.topic:
                self.sent[jti(message.payload)] += 1
            elif message.topic == f"{ROULETTE}/event":
                self._newest = message.body["boot"], message.body["seq"]
        del subscriber[:taken]
        return self.sent

    def spin(self, number: int) -> None:
        """The wheel plays a round, with or without the web server's connection."""
        results = len(self.floor.subscriber.events("round.result"))
        self._round += 1
        self.floor.spin(f"{number:>2}", self._round % 1000)
        until("the result", lambda: len(self.floor.subscriber.events("round.result")) > results)

    def touch(self, number: str, command: str, person: str) -> str:
        """The console's answers."""
        fields = {"person": person, "duty": "croupier"}
        try:
            status, body = self.client.command(number, "r1", command, fields=fields)
        except (OSError, http.client.HTTPException):
            return "lost"
        assert status == 200, body
        return str(body["how"])

    def truth(self, since: tuple[str, int]) -> list[str]:
        """What this person signed after an event, as the table says."""
        asked = {"table": "r1", "boot": since[0], "seq": since[1]}

        def told() -> list[list[str]]:
            token = {"X-Novamas-Token": self.client.page["token"]}
            found = self.client.ask("POST", "/pit/truth", asked, token)[1]["events"]
            return [] if found is None else [found]

        return list(until("the table says what was signed", told, self.floor.web.log)[0])

    def grey(self, since: float) -> Shown:
        """Wait until the display shows nothing as current."""

        def shown() -> list[Shown]:
            return [each for each in self.display.since(since) if not each.current][:1]

        first: Shown = until("nothing is current", shown, self.floor.web.log, BOUND)[0]
        return first

    def step(self, index: int, cut: Cut) -> None:
        """One touch, one cut, one round, and what everybody knows of them afterwards."""
        self.harvest()
        before = self._newest
        off = index % 2 == 1 and bool(self.there)
        command, person = ("staff.off", self.there[0]) if off else ("staff.on", f"T {index}")
        number = self.client.number(f"cut-number-{index}")
        if cut.what == "away":
            self._trouble(cut.what)
        elif cut.what in ("mute", "silent"):
            self.line.set("mute" if cut.what == "mute" else "silent")
        began = time.monotonic()
        given: Future[str] = self._many.submit(self.touch, number, command, person)
        if cut.what == "mute":
            until("it is sent", lambda: self.harvest()[number])
        elif cut.what != "away":
            time.sleep(cut.after)
        if cut.what not in ("away", "silent"):
            began = time.monotonic()
            self._trouble(cut.what)
        if cut.what not in ("broker", "server"):
            self.spin(cut.number)
        if cut.what != "server":
            grey = self.grey(began)
            self.longest = max(self.longest, grey.at - began)
            given.result()
            assert [each for each in self.display.since(grey.at) if each.current] == []
        how = given.result()
        mended = time.monotonic()
        self._mend(cut.what)
        if cut.what in ("broker", "server"):
            self.spin(cut.number)
        self.until_shown(cut, mended)
        self.learn(number, command, person, how, before)

    def _trouble(self, what: What) -> None:
        if what == "broker":
            self.floor.broker.kill()
        elif what == "server":
            self.floor.web.kill()
        else:
            self.line.set("cut")

    def _mend(self, what: What) -> None:
        if what == "broker":
            self.harvest()
            self.floor.broker.start()
            state = f"{ROULETTE}/state"
            until(
                "the table is back", lambda: self.floor.subscriber.on(state), self.floor.daemon.log
            )
            until("the server is subscribed", self._healthy, self.floor.web.log)
        elif what == "server":
            self.serve()
        else:
            self.line.mend()

    def until_shown(self, cut: Cut, mended: float) -> None:
        """The display shows the last number, and showed no older one as current since the end of
        the cut, if that was played during the cut.
        """
        wanted = (self._round, str(cut.number))

        def shown() -> bool:
            latest = self.display.latest
            return latest is not None and latest.current and latest.last == wanted

        until(f"{wanted} is shown", shown, lambda: f"{self.display.pictures[-3:]}")
        if cut.what not in ("broker", "server"):
            old = [
                each.last
                for each in self.display.since(mended)
                if each.current and each.last != wanted
            ]
            assert old == []
        del self.display.pictures[:-1]

    def learn(
        self, number: str, command: str, person: str, how: str, before: tuple[str, int]
    ) -> None:
        """Check what the person learns about the touch; the event was absent ``before`` it. It is
        asked for again, and sent no second time.
        """
        assert how in ("followed", "refused", "unsent", "unknown", "lost")
        if number == self.client.number(number.partition("-")[2]):  # it is the same server still
            again = self.touch(number, command, person)
            assert again == how or (how == "unknown" and again in ("followed", "refused"))
            how = again
        found = self.truth(before)
        followed = found == [EVENT[command]]
        assert followed or found == []
        assert how != "followed" or followed
        assert how not in ("refused", "unsent") or not followed
        if followed and command == "staff.on":
            self.there.append(person)
        elif followed:
            self.there.remove(person)
        self.harvest()
        assert self.sent[number] <= 1
        assert how != "unsent" or self.sent[number] == 0
        self.touched.append(Touched(number, command, person, how, followed))


def jti(signed: bytes) -> str:
    """The number of a signed command."""
    part = signed.split(b".")[1]
    return str(json.loads(base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4)))["jti"])


@pytest.fixture
def play(programs: None, tmp_path: Path) -> Iterator[Play]:
    with ExitStack() as ending:
        yield Play(tmp_path, ending)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_command_is_doubled_or_lost_unnoticed(
    play: Play, seed: int, long: bool, part: int
) -> None:
    given = cuts(seed * 10 + part, LONGEST if long else 10, silent=long)
    tell(f"seed {seed}, part {part}: {len(given)} cuts: {dict(Counter(cut.what for cut in given))}")
    for index, cut in enumerate(given):
        if long and index % 50 == 0:
            tell(f"{index:>4} {cut}; {dict(Counter(each.how for each in play.touched))}")
        play.step(index, cut)
    shown = play.display.latest
    assert shown is not None
    assert play.floor.daemon.stop() == 0
    events = events_of(play.floor.folder / "journal.sqlite3")
    done = Counter(
        (event["type"], event["person"]) for event in events if event["type"] in EVENT.values()
    )
    assert done == Counter((EVENT[t.command], t.person) for t in play.touched if t.followed)
    assert all(event["signed_by"] for event in events if event["type"] in EVENT.values())
    results = [
        (event["round"], str(event["outcome"]["number"]))
        for event in events
        if event["type"] == "round.result"
    ]
    assert [number for _, number in results] == [str(cut.number) for cut in given]
    assert shown.spins == results[::-1][: len(shown.spins)]
    hows = Counter(
        f"{each.how}, {'followed' if each.followed else 'not followed'}" for each in play.touched
    )
    tell(f"{len(play.touched)} touches: {dict(hows)}; 0 doubled, 0 lost unnoticed")
    tell(f"longest until nothing was current: {play.longest:.2f} s")
