"""What must become right, and within which time: a state is current, a table plays again after a
fault, and one of a pair serves wherever one machine could.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from common.chain.schema import Entry
from tests.world.bodies import decoded
from tests.world.broker.packets import Publish
from tests.world.broker.sessions import Message
from tests.world.checkers import Checker, require
from tests.world.configuration import ROOT

CALM_SECONDS = 120.0
"""Without a fault for so long, each daemon has its devices and its broker: the longest pause before
an attempt to connect is a minute, when another client seems to have its client id.
"""
SHOWN_SECONDS = 2.0
"""Then what is stored is shown within this time."""
LEAVES = "state", "info", "result"
"""The retained topics of a table that are looked at."""
RECONNECTS_SECONDS = 60.0
"""The longest pause before an attempt to connect."""
PLAYS_SECONDS = 300.0
"""After the last fault each table has a live result within this time: a minute until its broker is
tried, half a minute until a person opens the session, a spin that was not seen from its beginning,
and a whole one.
"""


class Calm:
    """For how long no fault has been active."""

    def __init__(self) -> None:
        self._until = 0.0

    def disturb(self, until: float) -> None:
        """A fault has begun that lasts until then."""
        self._until = max(self._until, until)

    def includes(self, time: float) -> bool:
        """Return whether no fault was active at that time or after it."""
        return time > self._until

    def seconds(self, now: float) -> float:
        """Return the seconds since the end of the last fault; below 0 while one is active."""
        return now - self._until


class Shown(Checker):
    """In calm, what a new subscriber is given is the present: the state and the result of the last
    entries that are stored, and the status of a daemon that is up. ``absent``: tables whose daemon
    does not run in calm.
    """

    def __init__(
        self, retained: Mapping[str, Message], calm: Calm, absent: Set[str] = frozenset()
    ) -> None:
        self._retained, self._calm, self._absent = retained, calm, absent
        self._stored: dict[tuple[str, str], list[tuple[float, int]]] = {}
        """By table and boot, the last events that were stored: when, and their seq."""
        self._results: dict[tuple[str, str], int] = {}
        """By table and boot, the seq of the last result of the newest round."""
        self._rounds: dict[str, tuple[int, int]] = {}
        """By table, the newest round with a result: a person may confirm an older one later."""
        self._now = 0.0
        self._statuses: list[Message] = []
        self._latest: list[Message] = []
        """All that was retained when it was last looked at."""
        self._is_right = False
        """Whether all was right then, and nothing was stored since."""
        self._seen: dict[str, tuple[Message | None, ...]] = {}
        """By table, the retained messages with which all was right that is stored."""

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if entry.kind == "event":
                key = entry.table, entry.boot
                self._is_right = False
                self._seen.pop(entry.table, None)
                stored = self._stored.setdefault(key, [])
                stored.append((self._now, entry.seq))
                del stored[:-50]
                if b'"type":"round.result"' in entry.body[:30]:
                    body = decoded(entry.body)
                    played = body["session"], body["round"]
                    if played >= self._rounds.get(entry.table, played):
                        self._rounds[entry.table] = played
                        self._results[key] = entry.seq

    def on_lost(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            self._rounds.pop(entry.table, None)

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        self._now = now
        if self._calm.seconds(now) <= CALM_SECONDS:
            self._seen.clear()
            self._is_right = False
            return
        retained = [*self._retained.values()]
        if self._is_right and retained == self._latest:
            return  # as in most seconds
        self._latest, self._is_right = retained, True
        statuses = [message for message in retained if message.topic.endswith("/status")]
        if statuses != self._statuses:
            self._statuses = statuses
            self._seen.clear()
        for table in {table: None for table, _ in self._stored if table not in self._absent}:
            prefix = f"{ROOT}/{table}/"
            topics = tuple(map(self._retained.get, map(prefix.__add__, LEAVES)))
            if self._seen.get(table) == topics:
                continue
            state = self._body(f"{prefix}state")
            for leaf in ("state", "info"):
                require(self._body(f"{prefix}{leaf}"), "nothing is retained", table, leaf)
            if self._check(prefix, state):
                self._seen[table] = topics
            else:
                self._is_right = False

    def is_settled(self) -> bool:
        """See :class:`Checker`."""
        return self._is_right

    def _check(self, prefix: str, state: dict[str, Any]) -> bool:
        """Return whether all that is stored has to be shown by now."""
        key = state["table"], state["boot"]
        stored = self._stored.get(key, [])
        due = [seq for at, seq in stored if at < self._now - SHOWN_SECONDS]
        require(state["seq"] >= max(due, default=0), "an old state is retained", state, due[-1:])
        result = self._body(f"{prefix}result") or {"boot": "", "seq": 0}
        if result["boot"] == state["boot"] or key in self._results:
            wanted = self._results.get(key, 0)
            is_new = wanted not in due
            require(is_new or result["seq"] >= wanted, "an old result is retained", result, wanted)
        statuses = [decoded(each.payload) for each in self._statuses if each.payload]
        require(
            {"status": "online", "boot": state["boot"]} in statuses,
            "no daemon is online with this state",
            state["boot"],
            statuses,
        )
        return len(due) == len(stored)

    def _body(self, topic: str) -> Any:
        message = self._retained.get(topic)
        return None if message is None or not message.payload else decoded(message.payload)


class PlaysAgain(Checker):
    """After the faults each table has a live result ``within`` so many seconds."""

    def __init__(
        self, tables: Callable[[], list[str]], calm: Calm, within: float = PLAYS_SECONDS
    ) -> None:
        self._tables, self._calm, self._within = tables, calm, within
        self._last: dict[str, float] = {}
        """By table, when its last live result was published."""
        self._now = 0.0

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if not message.topic.endswith("/event") or b'"round.result"' not in message.payload[:30]:
            return
        body = decoded(message.payload)
        if not body.get("historical"):
            self._last[body["table"]] = self._now

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        self._now = now
        if self._calm.seconds(now) <= self._within:
            return
        for table in self._tables():
            ago = now - self._last.get(table, 0.0)
            require(ago <= self._within, "no result for too long", table, round(ago))

    def is_settled(self) -> bool:
        """See :class:`Checker`: each table has had its result since the last fault."""
        return all(self._calm.includes(self._last.get(table, 0.0)) for table in self._tables())
