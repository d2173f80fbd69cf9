"""What must hold in every world, at every step. Each checker is told what happens and raises
:class:`PropertyViolatedError` at the first thing that must never be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import Any

from common.chain.schema import Entry
from common.contract.motion import Motion
from devices.codec import MAX_LIVE_DELAY_SECONDS
from tests.support.chaos.truth import OUTCOMES, open_rounds
from tests.world.bodies import decoded
from tests.world.broker.packets import Publish
from tests.world.disk import Disk
from tests.world.errors import PropertyViolatedError
from tests.world.wheels.kinds import Number
from tests.world.wheels.wheel import Wheel

MAX_AGE_SECONDS = MAX_LIVE_DELAY_SECONDS + 2.0
"""How long after the wheel has shown a number its result may be stored, on a healthy disk: it is a
second on the line, waits to be read, and waits for the commit.
"""

Key = tuple[str, str, int]
"""Table, boot and seq of an event: what a subscriber removes duplicates by."""


class Checker:
    """Told what happens; the default is to ignore it."""

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """Entries to publish are on the disk of the daemon ``owner``."""

    def on_entries(self, entries: list[Entry], owner: str) -> None:
        """All entries of a commit are on the disk of the daemon ``owner``."""

    def on_lost(self, entries: list[Entry], owner: str) -> None:
        """A power cut has taken entries to publish, which could already be read."""

    def on_restored(self, kept: list[Entry], owner: str) -> None:
        """A backup with these entries has replaced the journal of the daemon ``owner``."""

    def on_published(self, message: Publish) -> None:
        """The broker has received a message of the daemon."""

    def on_sent(self, message: Publish) -> None:
        """The broker has received a message of another client."""

    def on_refused(self, message: Publish) -> None:
        """The broker has refused a message of the daemon, which it had just received."""

    def on_received(self, message: Publish) -> None:
        """A subscriber has received a message."""

    def on_tick(self, now: float) -> None:
        """A second of the world has passed."""

    def on_end(self) -> None:
        """All faults are over, and everything has had time to become right."""

    def is_settled(self) -> bool:
        """Return whether nothing that it judges is pending, so that a world in calm may end now:
        the same things have been judged as at the end of its rest. By default it cannot know that.
        """
        return False


def key_of(body: dict[str, Any]) -> Key:
    """Return what makes an event the same as another."""
    return body["table"], body["boot"], body["seq"]


def require(condition: object, problem: str, *facts: object) -> None:
    """Raise :class:`PropertyViolatedError` unless the condition holds."""
    if not condition:
        raise PropertyViolatedError(": ".join([problem, *map(repr, facts)]))


class Immediate(Checker):
    """A checker that judges each thing as it happens: nothing is ever pending."""

    def is_settled(self) -> bool:
        """See :class:`Checker`."""
        return True


class Final(Checker):
    """A checker whose :meth:`on_end` can be called at any time, and judges all that is pending."""

    def is_settled(self) -> bool:
        """See :class:`Checker`."""
        try:
            self.on_end()
        except PropertyViolatedError:
            return False
        return True


class StoredFirst(Final):
    """Nothing is published that is not stored, and what is published is what is stored; in the end,
    all that is stored is published, except at ``shared`` tables, where a daemon may have waited.
    """

    def __init__(self, shared: Set[str] = frozenset()) -> None:
        self._shared = shared
        self._stored: dict[Key, dict[str, Any]] = {}
        self._latest: dict[tuple[str, str], int] = {}
        self._published: set[Key] = set()
        self._refused: set[Key] = set()
        """Those that the broker refused when it last received them."""
        self._owners: dict[str, str] = {}
        """By boot, the daemon."""
        self._serving: dict[str, str] = {}
        """By table, the boot that has last published its state."""

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.kind == "event":
                self._stored[entry.table, entry.boot, entry.seq] = decoded(entry.body)
                self._latest[entry.table, entry.boot] = entry.seq
                self._owners[entry.boot] = owner

    def on_lost(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            key = entry.table, entry.boot, entry.seq
            require(key not in self._published, "published and then lost", key)
            self._stored.pop(key, None)

    def on_restored(self, kept: list[Entry], owner: str) -> None:
        """What was not published and is not in the backup died with the disk."""
        held = {(entry.table, entry.boot, entry.seq) for entry in kept}
        for key in set(self._stored) - self._published - held:
            if self._owners[key[1]] == owner:
                del self._stored[key]

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        leaf = message.topic.rpartition("/")[2]
        if leaf == "event":
            body = decoded(message.payload)
            key = key_of(body)
            stored = self._stored.get(key)
            require(stored is not None, "published and not stored", body)
            assert stored is not None
            differs = stored is not body and any(  # equal texts are decoded once
                body.get(name) != value for name, value in stored.items() if name != "historical"
            )
            require(not differs, "published otherwise than stored", body, stored)
            self._published.add(key)
            self._refused.discard(key)
        elif leaf in {"state", "result"} and message.payload not in {b"", b"null"}:
            body = decoded(message.payload)
            latest = self._latest.get((body["table"], body["boot"]), 0)
            self._serving[body["table"]] = body["boot"]
            require(body["seq"] <= latest, f"{leaf} is ahead of the disk", body["seq"], latest)

    def on_refused(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/event"):
            self._refused.add(key_of(decoded(message.payload)))

    def on_end(self) -> None:
        """See :class:`Checker`."""
        serving = {self._owners.get(boot) for boot in self._serving.values()}
        lost = sorted(
            key
            for key in (set(self._stored) - self._published) | self._refused
            if key[0] not in self._shared
            and self._owners[key[1]] in serving  # the others publish it when they serve again
        )
        require(not lost, "stored and never published", lost[:3], len(lost))


class OneWriter(Immediate):
    """A boot of a daemon whose table another boot has taken over publishes nothing of now. Tables
    that are ``shared`` without a lease are not for this checker.
    """

    def __init__(self, shared: Set[str] = frozenset()) -> None:
        self._shared = shared
        self._boots: dict[str, list[str]] = defaultdict(list)
        """By table, the boots that have published, in order."""

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        leaf = message.topic.rpartition("/")[2]
        if leaf not in {"event", "state"} or not message.payload:
            return
        body = decoded(message.payload)
        if body.get("historical") or body["table"] in self._shared:
            return
        boots = self._boots[body["table"]]
        if body["boot"] not in boots:
            boots.append(body["boot"])
        require(boots[-1] == body["boot"], "two writers", boots, body)


class InOrder(Immediate):
    """Each event is received, once duplicates are removed, in the order of its numbers. A gap may
    be filled later by historical events.
    """

    def __init__(self) -> None:
        self.held: dict[Key, dict[str, Any]] = {}
        self.received = 0
        self._newest: dict[tuple[str, str], int] = defaultdict(int)

    def on_received(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if not message.topic.endswith("/event"):
            return
        body = decoded(message.payload)
        self.received += 1
        key = key_of(body)
        if key in self.held:
            old = dict(self.held[key], historical=None)
            require(old == dict(body, historical=None), "one number, two events", old, body)
            return
        self.held[key] = body
        table, boot, seq = key
        if seq > self._newest[table, boot]:
            self._newest[table, boot] = seq
        else:
            require(body.get("historical"), "out of order and not historical", body)


class RoundOnce(Immediate):
    """A table, session and round name one result."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, int, int], dict[str, Any]] = {}

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if not message.topic.endswith("/event"):
            return
        body = decoded(message.payload)
        if body["type"] != "round.result":
            return
        first = self._results.setdefault((body["table"], body["session"], body["round"]), body)
        require(key_of(first) == key_of(body), "one round, two results", first, body)


class OnlyMotion(Immediate):
    """What moves is not retained, and has nothing but what moves: no number, no card."""

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/motion"):
            require(not message.retain, "motion is retained", message.topic)
            unknown = decoded(message.payload).keys() - set(Motion.__struct_fields__)
            require(not unknown, "motion has more than what moves", unknown)

    def on_stored(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            require(b'"launched_at"' not in entry.body, "motion is stored", entry.body)


def round_of(body: dict[str, Any]) -> tuple[str, int, int]:
    """Return what names a round of all."""
    return body["table"], body["session"], body["round"]


class Truth(Final):
    """No number that the wheel has not shown, in this order; no result from a number that was shown
    too long before it was stored, or of a later spin than the first to end after the bets were
    closed; and no round without an outcome. ``owners``: the machines that read these wheels.
    """

    def __init__(self, wheels: dict[str, Wheel], disks: list[Disk], owners: Sequence[str]) -> None:
        self._wheels, self._disks, self._owners = wheels, disks, owners
        self._events: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._known: set[Key] = set()
        self._at: dict[str, int] = defaultdict(int)
        """By table, the place of the last number of an event among those that the wheel showed."""
        self._closed: dict[tuple[str, int, int], float] = {}
        """By table, session and round, when it was stored that the bets were closed."""

    def on_lost(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        lost = [decoded(entry.body) for entry in entries if entry.kind == "event"]
        for body in lost:
            if body["type"] == "bets.closed":
                self._closed.pop(round_of(body), None)
        for table, events in self._events.items():
            self._events[table] = [event for event in events if event not in lost]

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        if owner not in self._owners:
            return
        for entry in entries:
            if entry.kind != "event" or entry.table not in self._wheels:
                continue
            body = decoded(entry.body)
            if (key := key_of(body)) in self._known:  # a commit that failed and is there
                continue
            self._known.add(key)
            self._events[entry.table].append(body)
            if body["type"] == "bets.closed":
                self._closed.setdefault(round_of(body), self._disks[0].loop.now)
            number = body.get("candidate")
            if body["type"] == "round.result":
                number = body["outcome"]["number"]
            is_word = "confirmed_by" in body  # a person says so, maybe of an earlier round
            if body["type"] in OUTCOMES and number is not None and not is_word:
                self._find(entry.table, number, body)

    def _find(self, table: str, number: Number, body: dict[str, Any]) -> None:
        wheel, first, spin = self._wheels[table], self._at[table], body.get("spin")
        played = wheel.played
        fits = [at for at in range(first, len(played)) if played[at].is_of(spin, number)]
        if not fits and body["type"] == "round.unresolved" and number in wheel.mistaken:
            return
        require(fits, "not shown by the wheel", body, played[-3:])
        self._at[table] = fits[0]
        now = self._disks[0].loop.now
        if body["type"] == "round.result":
            closed = self._closed.get(round_of(body), now)
            later = [
                at for at in range(len(played)) if played[at].at > closed and not played[at].unsent
            ]
            of_round = not later or fits[0] <= later[0]
            require(of_round, "number of another spin as a result", closed, body, played[-3:])
        if body["type"] == "round.result" and now > max(d.trouble_until for d in self._disks):
            # a wheel that was interrupted counts no further: it may show the same pair again
            at = fits[-1]
            shown = wheel.shown_at if at == len(played) - 1 else played[at].at
            age = now - shown
            require(age <= MAX_AGE_SECONDS, "old number as a result", age, body)

    def on_restored(self, _kept: list[Entry], _owner: str) -> None:
        """The rounds of before may have no outcome: a person decides."""
        self._events.clear()

    def on_end(self) -> None:
        """See :class:`Checker`."""
        if len(self._disks) > 1:  # the round of a daemon that was taken over has none
            return
        for table, events in self._events.items():
            left = open_rounds(events)
            require(not left, "rounds without an outcome", table, left)
