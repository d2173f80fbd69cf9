"""What must hold of a pair of which one machine cannot serve."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any, NamedTuple

import msgspec

from common.contract.times import parse_utc
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot
from tests.support.daemon.impaired_pair import FAULTS, TAKEOVER_TIMEOUT_SECONDS, ImpairedPair
from tests.support.daemon.spins import shown
from tests.support.waiting import until


class Outcome(NamedTuple):
    """``taken``, ``played``: seconds from when the machine could serve until it had the tables, and
    until its first result.
    """

    what: str
    taken: float
    played: float


def befall(pair: ImpairedPair, what: str) -> Outcome:
    """The fault, on a pair of which one plays and the other waits; until the one plays that can."""
    serving, waiting = pair.until_steady()
    time.sleep(pair.random.uniform(0.0, 2 * pair.lease))  # faults come at any moment of a lease
    terms, fault = len(pair.terms()), FAULTS[what](pair)
    heir, able = fault.begin(serving, waiting)
    try:
        term = pair.until_taken(heir, terms)
        until("the daemon is up", heir.boot, pair.log, TAKEOVER_TIMEOUT_SECONDS)
        result = pair.until_played(heir.boot())
    finally:
        fault.end(serving, waiting)
        for machine in pair.machines:
            machine.away = 0.3
    return Outcome(what, max(0.0, term.at - able), parse_utc(result["time"]) - able)


def judged(pair: ImpairedPair) -> str:
    """All received events, against both journals and the wheel's display."""
    events = list(pair.subscriber.events)  # before the journals are read, which keep growing
    received: dict[tuple[str, str, int], dict[str, Any]] = {}
    order = []
    for event in events:
        key = event["table"], event["boot"], event["seq"]
        if key not in received:
            received[key] = event
            order.append((event["boot"], "historical" in event))
    stored: dict[tuple[str, str, int], dict[str, Any]] = {}
    terms: dict[str, int] = {}
    for machine in pair.machines:
        with closing(JournalReader(machine.folder / "journal.sqlite3")) as reader:
            for entry in reader.entries():
                if entry.kind == "event":
                    stored[entry.table, entry.boot, entry.seq] = msgspec.json.decode(entry.body)
                elif entry.kind == "boot":
                    tenure = msgspec.json.decode(entry.body, type=Boot).standby
                    if tenure is not None:
                        terms[entry.boot] = tenure.term
    newest = 0
    for boot, historical in order:
        if not historical:
            assert terms[boot] >= newest, "live events of an older term after a newer one"
            newest = terms[boot]
    rounds: dict[tuple[int, int], Any] = {}
    results = 0
    for key, event in received.items():
        event.pop("historical", None)
        assert stored.get(key) == event, f"published and not stored: {event}"
    for event in stored.values():
        if event["type"] == "round.result":
            results += 1
            of = event["session"], event["round"]
            assert rounds.setdefault(of, event["outcome"]) == event["outcome"], of
            assert event["outcome"]["number"] == shown(event["spin"]), event
    numbers = [term.number for term in pair.terms()]
    assert len(numbers) == len(set(numbers))
    return (
        f"{len(numbers)} terms, {len(received)} events of {len(stored)} stored, {results} "
        f"results of {pair.spins} spins, at {time.strftime('%H:%M')}"
    )
