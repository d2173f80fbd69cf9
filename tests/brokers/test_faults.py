"""A node of the cluster is killed, frozen or cut off while tables play and an archive listens:
every event arrives once, in order, without being asked for, and none is wrong.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from controller.journal.reader import JournalReader
from tests.brokers.faults import FAULTS, Fault, Strike, strikes
from tests.conftest import cases
from tests.support.brokers.engines import OfNats
from tests.support.brokers.mosquitto import Subscriber
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.chaos.report import tell
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")

UNDO: dict[Fault, str] = {"kill": "launch", "freeze": "thaw", "partition": "heal"}
KEEPALIVE = 4
"""Seconds after which a daemon gives a node up. An election of NATS takes four to nine."""
HEAL_TIMEOUT_SECONDS = 180.0
"""Upper bound in seconds for a cluster to heal and all clients to catch up."""


class Trial:
    """A floor at a cluster, and how long each fault kept its events from the archive."""

    def __init__(self, folder: Path, stack: ExitStack, seed: int) -> None:
        self.engine = OfNats(folder / "nats", stack, apart=True)
        self.floor = Floor(
            folder / "floor",
            tables=cases(1, 3),
            seed=seed,
            broker=self.engine,
            url=self.engine.url,
            settings=self.engine.settings,
            hears={**self.engine.hears, "session": "archive"},
            keepalive=KEEPALIVE,
        )
        stack.callback(self.floor.close)
        self.floor.start()
        self._last = self._counted = 0
        self.silences: dict[str, list[float]] = {fault: [] for fault in FAULTS}

    def stored(self) -> int:
        """How many events the journal holds."""
        with closing(JournalReader(self.floor.journal)) as journal:
            while found := journal.events_after(self._last, 1000):
                self._counted += sum(each.kind == "event" for each in found)
                self._last = found[-1].position
        return self._counted

    def received(self) -> int:
        assert self.floor.archive is not None
        return self.floor.archive.take()

    def node(self, strike: Strike) -> int:
        """The number of the node that is meant."""
        if isinstance(strike.node, int):
            return strike.node
        client = {"daemon": f"novamas-{self.floor.site}-pit-1", "archive": "archive"}[strike.node]
        asked = [node.asks(f"connz?mqtt_client={client}") for node in self.engine.cluster.nodes]
        has = (number for number, told in enumerate(asked) if (told or {}).get("connections"))
        return next(has, 0)

    def suffer(self, strike: Strike) -> None:
        """One fault, from its beginning until the cluster has recovered completely."""
        cluster, wanted = self.engine.cluster, self.received() + strike.events
        until("events", lambda: self.received() >= wanted, self.diagnosis, HEAL_TIMEOUT_SECONDS)
        time.sleep(strike.offset)
        number = self.node(strike)
        known, begun = self.stored(), time.monotonic()
        getattr(cluster, strike.fault)(number)
        until("a later event", lambda: self.stored() > known, self.diagnosis, HEAL_TIMEOUT_SECONDS)
        until("it is heard", lambda: self.received() > known, self.diagnosis, HEAL_TIMEOUT_SECONDS)
        self.silences[strike.fault].append(time.monotonic() - begun)
        until(
            "more",
            lambda: self.stored() >= known + strike.lasts,
            self.diagnosis,
            HEAL_TIMEOUT_SECONDS,
        )
        getattr(cluster, UNDO[strike.fault])(number)
        cluster.until_whole()
        known = self.stored()
        until("all of it", lambda: self.received() >= known, self.diagnosis, HEAL_TIMEOUT_SECONDS)

    def diagnosis(self) -> str:
        return f"{self.floor.daemon.log()[-6000:]}\n{self.engine.log()[-6000:]}"


def test_faults_of_a_cluster(tmp_path: Path, seed: int, request: pytest.FixtureRequest) -> None:
    with ExitStack() as stack:
        trial = Trial(tmp_path, stack, seed)
        daemon = trial.floor.daemon
        stack.callback(lambda: request.node.add_report_section("teardown", "log", daemon.log()))
        for number, strike in enumerate(strikes(seed, cases(3, 100), 3), 1):
            begun = time.monotonic()
            trial.suffer(strike)
            silence = trial.silences[strike.fault][-1]
            tell(
                f"{number:>4} {strike.fault:<9} {strike.node}: silent for {silence:.1f} s, "
                f"over after {time.monotonic() - begun:.1f} s"
            )
        truth_is_retained(trial)
        events, verdict = sound(trial.floor, recall=False)
        assert trial.floor.archive is not None
        tally = trial.floor.archive.tally
        types = Counter(event["type"] for event in events)
        tell(
            f"{len(events)} events, {types['round.result']} results: {len(verdict.lost)} lost, "
            f"{len(verdict.misordered)} out of order, {tally.doubled} doubles dropped"
        )
        for fault, silences in trial.silences.items():
            shown = sorted(silences)
            tell(
                f"{fault}: {len(shown)} times, silent for {shown[len(shown) // 2]:.1f} s (median), "
                f"{shown[-1]:.1f} s at most"
            )


def truth_is_retained(trial: Trial) -> None:
    """Stale messages of a node that came back have not replaced newer retained ones."""
    floor = trial.floor
    assert floor.archive is not None
    for number in range(len(trial.engine.nodes)):
        late = Subscriber(0, f"{floor.root}/#", nodes=trial.engine.nodes[number:], v5=False)
        boot = {"status": "online", "boot": floor.daemon.boot()}
        until("online", partial(_is, late, "/status", boot), late.transcript)
        for table in floor.tables:
            until("the state", partial(_follows, floor, late, table), late.transcript)
        late.close()


def _is(late: Subscriber, ending: str, body: object) -> bool:
    return bool(late.latest(ending) == body)


def _follows(floor: Floor, late: Subscriber, table: str) -> bool:
    """Whether the retained state has come as far as the events that the archive has."""
    assert floor.archive is not None
    floor.archive.take()
    newest = max(key[2] for key in floor.archive.held if key[0] == table)
    state = late.latest(f"/{table}/state")
    return state is not None and state["seq"] >= newest - 2
