"""One of two daemons is killed, frozen, cut off, or loses its node of the cluster: one writes,
always, and the other takes over.
"""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from common.contract.times import parse_utc
from tests.chaos.pair_floor import AGAIN, Listener, Machine, PairFloor
from tests.support.brokers.network import Program
from tests.support.chaos.report import tell
from tests.support.daemon.spins import shown
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")

LEASE = 2.0
SHORT = ("reload", "kill", "freeze long", "cut off")
ALWAYS_REACHED = ("kill", "freeze long", "cut off", "stop")
"""What befalls one daemon alone, and the other can reach the store all the while."""
RELOADED = "configuration taken over"
ENDING = ("kill", "freeze long", "stop")
"""After which the same run of the daemon never serves again."""


def _more(floor: PairFloor, terms: int) -> bool:
    return len(floor.taken()) > terms


def _kill(floor: PairFloor, one: Machine) -> None:
    one.send(signal.SIGKILL)


def _freeze(floor: PairFloor, one: Machine, leases: float) -> None:
    one.send(signal.SIGSTOP)
    time.sleep(leases * floor.lease)
    one.send(signal.SIGCONT)


def _cut_off(floor: PairFloor, one: Machine) -> None:
    """From the cluster, the broker, the wheel and everybody else."""
    floor.network.cut_off(one.host.name)
    time.sleep(floor.random.uniform(0.3, 3.0) * floor.lease)
    floor.network.join(one.host.name)


def _cut_node(floor: PairFloor, one: Machine) -> None:
    """A node of the cluster is alone with the daemon that publishes there, or without anybody."""
    number = floor.random.randrange(3)
    with_it = [m.host.name for n, m in enumerate(floor.machines) if n == number]
    names = [floor.cluster.nodes[number].name, *with_it * floor.random.randrange(2)]
    floor.network.cut_off(*names)
    time.sleep(floor.random.uniform(0.5, 4.0) * floor.lease)
    floor.network.join(*names)


def _freeze_node(floor: PairFloor, one: Machine) -> None:
    number = floor.random.randrange(3)
    floor.cluster.freeze(number)
    time.sleep(floor.random.uniform(0.3, 2.0) * floor.lease)
    floor.cluster.thaw(number)


def _reload(floor: PairFloor, _: Machine) -> None:
    """Both take another file over. The one that serves leaves the table, whose session is open; one
    that ends itself meanwhile, since the store does not answer, reads the file when it starts
    again.
    """
    runs = [machine.program for machine in floor.machines]
    for each, run in zip(floor.machines, runs, strict=True):
        reloads = len(each.logged(RELOADED))
        text = each.file.read_text()
        other = text.replace("stale_after = 60.0", "stale_after = 50.0")
        each.file.write_text(
            other if other != text else text.replace("stale_after = 50.0", "stale_after = 60.0")
        )
        each.send(signal.SIGHUP)
        until("another reload, or another run", partial(_reloaded, each, reloads, run))


def _reloaded(one: Machine, reloads: int, run: Program | None) -> bool:
    return len(one.logged(RELOADED)) > reloads or one.program is not run


FAULTS: Mapping[str, Callable[[PairFloor, Machine], None]] = {
    "kill": _kill,
    "stop": lambda _, one: one.send(signal.SIGTERM),
    "freeze short": lambda floor, one: _freeze(floor, one, floor.random.uniform(0.05, 0.7)),
    "freeze long": lambda floor, one: _freeze(floor, one, floor.random.uniform(1.3, 2.5)),
    "cut off": _cut_off,
    "reload": _reload,
    "cut node": _cut_node,
    "freeze node": _freeze_node,
}


def test_one_writer_always(tmp_path: Path, seed: int, long: bool) -> None:
    with ExitStack() as stack:
        floor = PairFloor(tmp_path / "pair", stack, LEASE if long else 3.0, seed)
        floor.until_played(0.0)
        chosen = [floor.random.choice([*FAULTS]) for _ in range(300)] if long else list(SHORT)
        times = [befall(floor, what, number) for number, what in enumerate(chosen, 1)]
        tell(judged(floor, chosen, times))


def befall(floor: PairFloor, what: str, number: int) -> float | None:
    """Apply the fault to the serving daemon while the other waits. Return the seconds until the
    takeover if the store was reachable throughout.
    """
    _, _, serving = floor.until_both()
    terms, begun = len(floor.taken()), time.time()
    serving.away = floor.random.choice((AGAIN, 1.5 * floor.lease))
    FAULTS[what](floor, serving)
    if what in ENDING:
        until("another term", partial(_more, floor, terms), timeout=120.0)
    floor.until_played(time.time())
    after = floor.taken()[terms:]
    told = [f"term {term} by {one.host.name} after {at - begun:.2f} s" for term, at, one in after]
    tell(f"{number:>4} {what} of {serving.host.name}: {'; '.join(told) or 'nothing'}")
    away = any(
        parse_utc(line["timestamp"]) > begun
        for one in floor.machines
        if one is not serving
        for line in one.logged("the store of the lease does not answer")
    )
    if away:
        tell("     the store did not answer meanwhile")
    return after[0][1] - begun if what in ALWAYS_REACHED and after and not away else None


def judged(floor: PairFloor, chosen: list[str], times: list[float | None]) -> str:
    """All received events, against both journals and the wheel's display."""
    received = {  # before the journals are read, which keep growing
        (event["table"], event["boot"], event["seq"]): event
        for listener in floor.listeners
        for _, event in listener.events()
    }
    terms, stored = floor.terms(), floor.journals()
    late = [each for listener in floor.listeners for each in out_of_order(listener, terms)]
    for key, event in received.items():
        event.pop("historical", None)
        assert stored.get(key) == event, f"published and not stored: {event}"
    rounds: dict[tuple[int, int], Any] = {}
    results = 0
    for event in stored.values():
        if event["type"] == "round.result":
            results += 1
            of = event["session"], event["round"]
            assert rounds.setdefault(of, event["outcome"]) == event["outcome"], of
            assert event["outcome"]["number"] == shown(event["spin"]), event
    if "cut node" not in chosen:
        assert late == []
    assert {event["boot"] for event in late} <= terms.keys()
    kinds = ", ".join(f"{count} {what}" for what, count in sorted(Counter(chosen).items()))
    statuses = Counter(status for machine in floor.machines for status in machine.statuses)
    ordered = sorted(each for each in times if each is not None) or [0.0]
    median = ordered[len(ordered) // 2]
    within = sum(each <= 2 * floor.lease for each in ordered)
    return (
        f"{len(chosen)} faults ({kinds}), lease {floor.lease:g} s: {len(floor.taken())} terms, "
        f"{len(received)} events of {len(stored)} stored, {results} results of {floor.spins} "
        f"spins; {len(late)} live events of an older term after a newer one; taken over "
        f"{len(ordered)} times, {within} within two leases, median {median:.2f} s"
        f", longest {ordered[-1]:.2f} s; exit statuses {dict(statuses)}"
    )


def out_of_order(listener: Listener, terms: Mapping[str, int]) -> list[dict[str, Any]]:
    """Live events first received after one of a newer term, except those the broker flags as
    redelivered.
    """
    newest, found, known = 0, [], set()
    for events, event in listener.events():
        key = event["boot"], event["seq"]
        if key in known or "historical" in event:
            continue
        known.add(key)
        term = terms.get(event["boot"], newest)  # one of after the journals were read
        if term < newest and not events.again:
            found.append(event)
        newest = max(newest, term)
    return found
