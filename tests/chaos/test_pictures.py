"""Bookmarks proved on real pictures: a wheel is filmed while a daemon plays it, and what is to be
seen in the picture of each bookmark is what the bookmark says.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.contract.times import parse_utc
from subscribers.surveillance.archive import Query
from subscribers.surveillance.open_archive import open_archive
from subscribers.video.clips import clip_of
from subscribers.video.delivery import BookmarkDelivery
from subscribers.video.recordings import picture_times
from subscribers.video.settings import VideoSettings
from tests.chaos.film import NOTHING, Camera, Picture, about, clock, milliseconds, read
from tests.daemon.conftest import daemon, mosquitto, subscribe, tell, wheel  # noqa: F401
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.chaos.report import tell as tell_of_run
from tests.support.daemon.play import command, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.surveillance.recorder import Recorder
from tests.support.video.sending import EVENTS, Receivers
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")

AWAY = "NOVAMAS_BROKER_AWAY"
"""Seconds for which the broker is away in the long form."""
ENDS = ("round.result", "round.void", "round.unresolved")
STATES = {"round.opened": 2, "bets.closed": 4, "round.result": 5}
"""The wheel's display at each kind of event."""


class Croupier:
    """Plays a wheel and shows the camera what it shows. Each thing for ``hold`` seconds: the film
    is in real time.
    """

    def __init__(self, camera: Camera, wheel: Wheel, hold: float) -> None:  # noqa: F811
        self._camera, self._wheel, self._hold = camera, wheel, hold
        self.spin = self.spins = self._direction = 0

    def play(self, *, skipped: bool = False, reversed_: bool = True) -> None:
        """A spin. ``skipped``: the wheel never says that the ball runs; ``reversed_``: the rotor
        turns the other way than before.
        """
        self.spin, self.spins = self.spin % 256 + 1, self.spins + 1
        self._direction ^= reversed_
        number = self.spin * 7 % 37
        for state in (2, 4, 5) if skipped else (2, 3, 4, 5):
            seen = f"{number:02d}" if state == 5 else NOTHING
            said = f"{number:2d}" if state == 5 else "  "
            self._camera.show(state, self.spin, seen)
            self._wheel.show(state, self.spin, said, direction=self._direction)
            time.sleep(self._hold)


def test_the_picture_of_each_bookmark_shows_its_event(
    mosquitto: Mosquitto,  # noqa: F811
    wheel: Wheel,  # noqa: F811
    daemon: Callable[[str], Daemon],  # noqa: F811
    subscribe: Callable[..., Subscriber],  # noqa: F811
    ending: ExitStack,
    tmp_path: Path,
    long: bool,
) -> None:
    # While other tests run, the daemon may read a line half a second after it was shown, and the
    # picture before a bookmark must be older than that: the short form has a picture a second.
    rounds, rate = (300, 10) if long else (3, 1)
    away = float(os.environ.get(AWAY, "600")) if long else 1.0
    subscriber = subscribe(mosquitto.port)
    run = daemon(configuration(mosquitto.port, table("r1", wheel)))
    folder = tmp_path / "surveillance"
    folder.mkdir()
    recorder = Recorder(Path(shutil.copy(run.file, folder)))
    ending.callback(recorder.kill)
    recorder.start()
    until("the archive is there", Path(recorder.where).exists, recorder.log)
    place = recorder.where
    run.start()
    until_up(subscriber, run)
    assert command(subscriber, "session.open")["ok"]
    camera = Camera(tmp_path / "recordings", rate, seconds=4 if long else 12)
    ending.callback(camera.close)
    croupier = Croupier(camera, wheel, hold=(4 if long else 2) / rate)
    archive = open_archive(place, read_only=True)
    ending.callback(archive.close)
    query = Query(kinds=("event",), types=EVENTS, order="number")
    over = Query(kinds=("event",), types=ENDS, order="number")

    def ended() -> bool:
        spun = [json.loads(row.record.body)["spin"] for row in archive.find(over)]
        return bool(spun) and spun[-1] == croupier.spin and archive.gaps("palma") == []

    croupier.play()  # the first bookmark needs pictures before it, and receivers begin after this
    until("the first round is archived", ended, recorder.log, 120)
    query = msgspec.structs.replace(query, after=[row.number for row in archive.find(query)][-1])
    receivers = Receivers(place, ending)

    for number in range(1, rounds + 1):
        gone = number == (rounds + 1) // 2
        if gone:
            mosquitto.kill()
            back = time.monotonic() + away
        croupier.play(skipped=number % 3 == 0, reversed_=number % 7 != 0)
        if gone:
            while time.monotonic() < back:
                croupier.play()
            mosquitto.start()  # it has forgotten everything

    def irregular() -> bool:
        """A daemon that was kept waiting may itself have missed a phase that the wheel skipped."""
        until("all rounds are archived", ended, recorder.log, 120)
        found = any(row.record.type == "irregularity" for row in archive.find(query))
        if not found:
            croupier.play(skipped=True)
        return found

    until("a skipped phase is an irregularity", irregular, recorder.log, 600)
    camera.show(6, 0, NOTHING)
    time.sleep(3 / rate)  # the last number is filmed
    camera.close()

    kept = [row.record for row in archive.find(query)]
    for kind, delivery in receivers.all.items():
        until(f"{kind} has all", partial(has, delivery, len(kept)))
    sent = [request.told for request in receivers.webhook.requests]
    assert [event["seq"] for event in sent] == [record.seq for record in kept]
    assert len(receivers.frigate.requests) == len(kept)
    assert receivers.pos.lines.count(b"BEGIN") == len(kept)
    assert len(receivers.milestone.lines) == len(kept)
    late = sum(each["late"] for each in sent)
    assert late > 0

    film = camera.pictures()
    for path in camera.recordings():  # the timestamps of recordings are the true time
        begin = picture_times(path)[0][0]
        assert abs(clock(path) - milliseconds(begin)) <= 1
    agree = [agrees(film, each) for each in sent]
    counted = Counter(record.type for record in kept)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counted.most_common())
    changed = f"{statistics.median(agree):.0f} ms (median; {min(agree):.0f} to {max(agree):.0f})"
    tell_of_run(
        f"{len(kept)} bookmarks of {croupier.spins} spins at {len(receivers.all)} receivers each: "
        f"{kinds}; {late} late; {len(film)} pictures, {rate} a second; from the time "
        f"of a bookmark to the first picture of it {changed}"
    )

    fallen = [(each.spin, int(each.number)) for each in changes(film) if each.state == 5][1:]
    # events recalled after the outage are archived behind later ones
    by_number = sorted(kept, key=lambda each: each.seq)
    ends = [json.loads(each.body) for each in by_number if each.type in ENDS]
    assert {spin for spin, _ in fallen} == {each["spin"] for each in ends}
    told = iter(fallen)
    for each in ends:
        if each["type"] == "round.result":
            assert (each["spin"], each["outcome"]["number"]) in told  # in this order
    assert len(ends) >= rounds

    shown = next(record for record in kept if record.type == "irregularity")
    clip = clip_of(
        archive,
        VideoSettings(
            folder=str(tmp_path / "recordings"),
            pattern="{camera}/%Y-%m-%d_%H-%M-%S.mkv",
            cameras={"r1": "cam-1"},
            margin=1 / rate,
        ),
        tmp_path / "clip.mp4",
        site="palma",
        table="r1",
        round=shown.round,
    )
    assert clip.missing == ()
    assert abs(clock(clip.path) - milliseconds(parse_utc(clip.begin))) <= 1
    spin = json.loads(shown.body)["spin"]
    assert {each.state for each in read(clip.path) if each.spin == spin} >= {2, 4, 5}


def has(delivery: BookmarkDelivery, count: int) -> bool:
    return delivery.progress.sent >= count


def agrees(film: list[Picture], mark: dict[str, Any]) -> float:
    """The pictures before, at and after a bookmark show the change that it speaks of. Gives the
    milliseconds from its time to the first picture that shows it.
    """
    before, at, after = about(film, parse_utc(mark["time"]))
    seen = [(each.state, each.spin, each.number) for each in (before, at, after)]
    assert seen[0] != seen[2], f"nothing changed in the picture at {mark}: {seen}"
    if mark["type"] in STATES:
        assert seen[2][0] == STATES[mark["type"]], f"{mark}: {seen}"
        assert seen[0][0] != STATES[mark["type"]], f"{mark}: {seen}"
    if mark["type"] == "round.result":
        assert mark["text"].split(": ")[1].split()[0] == str(int(after.number)), f"{mark}: {seen}"
    first = at if seen[1] == seen[2] else after
    return (first.at - parse_utc(mark["time"])) * 1000


def changes(film: list[Picture]) -> list[Picture]:
    """The first picture of each thing that the wheel showed."""
    return [
        now
        for before, now in pairwise(film)
        if (before.state, before.spin) != (now.state, now.spin)
    ]
