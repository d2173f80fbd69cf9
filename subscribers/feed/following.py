"""The events of one table, each once and in order. Missing ones are recalled; what its daemon no
longer has is a stated gap. Pure: the caller owns the clock and the connection.

A recall asks for the last event passed on and all after it, of every run. The first one proves that
the daemon's journal has it: a journal without it (restored, replaced, or of the other daemon of a
pair) would return everything it has, from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

MAX_WAITING_EVENTS = 1000
"""Maximum number of events of a table that wait for earlier ones; later ones are recalled."""
MAX_EARLIER_RUNS = 16
"""Number of earlier runs whose last event is remembered."""


class RunPosition(msgspec.Struct, frozen=True, array_like=True):
    """An event: the run of the daemon, and its number in that run. 0: before the first."""

    boot: str
    seq: int


class FollowedEvent(NamedTuple):
    """An event that comes next."""

    at: RunPosition
    body: bytes


class EventGap(NamedTuple):
    """Events that may be missing: those after ``after`` and before ``before``, which comes next."""

    after: RunPosition
    before: RunPosition


Followed = FollowedEvent | EventGap


class EventRecall(NamedTuple):
    """A recall: everything from ``at`` on. ``latest`` and ``waiting``: the newest event by the
    table's state, and the events that waited, when it was made.
    """

    at: RunPosition
    latest: RunPosition | None
    waiting: frozenset[RunPosition]

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the command."""
        return {"boot": self.at.boot, "from": max(1, self.at.seq), "onward": True}


class FollowedRuns(msgspec.Struct, frozen=True):
    """What was passed on: the last event, and the last one of each earlier run, oldest first."""

    at: RunPosition
    earlier: dict[str, int] = {}


class TableFollower:
    """Follows one table. ``runs``: what was passed on before; None: begin with the next event."""

    def __init__(self, runs: FollowedRuns | None = None) -> None:
        self._runs = runs
        self._latest: RunPosition | None = None
        """The newest event of the table, by its retained state."""
        self._waiting: dict[RunPosition, bytes] = {}
        """Events that wait for earlier ones."""
        self._complete: RunPosition | None = None
        """The newest event for which a recall returned nothing new."""

    @property
    def runs(self) -> FollowedRuns | None:
        """What was passed on; None before anything is known of the table."""
        return self._runs

    def on_state(self, boot: str, seq: int) -> None:
        """Handle the retained state, which names the newest event."""
        self._latest = RunPosition(boot, seq)
        if self._runs is None:
            self._runs = FollowedRuns(self._latest)

    def on_event(self, event: FollowedEvent) -> Iterator[Followed]:
        """Handle a live event. Yield what comes next."""
        boot, seq = event.at.boot, event.at.seq
        if self._runs is None:
            self._runs = FollowedRuns(RunPosition(boot, seq - 1))
        if boot in self._runs.earlier:
            yield from self._late(event)
        elif boot != self._runs.at.boot or seq > self._runs.at.seq:
            if len(self._waiting) < MAX_WAITING_EVENTS:
                self._waiting[event.at] = event.body
            yield from self._ready()

    @property
    def is_missing(self) -> bool:
        """Whether there is something to recall."""
        return self._runs is not None and (bool(self._waiting) or self._is_behind(self._runs))

    def recall(self) -> EventRecall | None:
        """Return the recall to send; None if nothing is missing."""
        if self._runs is None or not self.is_missing:
            return None
        return EventRecall(self._runs.at, self._latest, frozenset(self._waiting))

    def on_reply(self, recall: EventRecall, events: Sequence[FollowedEvent]) -> Iterator[Followed]:
        """Handle the events of the reply to a recall. Yield what comes next; ask again until
        :meth:`recall` returns None.
        """
        if self._runs is None or recall.at != (at := self._runs.at):
            return  # answered in the meantime
        is_known = events[0].at.boot == at.boot if events else at.seq == 0
        new = [event for event in events if event.at != at] if is_known else []
        if new:
            for event in new:
                yield from self._pass(event)
        elif is_known:
            self._complete = recall.latest
            for position in [each for each in self._waiting if each in recall.waiting]:
                # the journal does not have it, so nothing can come before it
                if (body := self._waiting.get(position)) is not None:
                    yield from self._pass(FollowedEvent(position, body))
        elif (boot := self._next_run(self._runs)) is not None:
            yield EventGap(at, RunPosition(boot, 1))
            self._move(RunPosition(boot, 0))
        else:
            self._complete = recall.latest
        yield from self._ready()

    def give_up(self) -> Iterator[Followed]:
        """Pass on the events that wait, with a gap before them: no recall is answered."""
        waiting = sorted(self._waiting, key=lambda position: position.seq)
        for boot in dict.fromkeys(position.boot for position in self._waiting):
            for position in waiting:
                body = self._waiting.get(position)
                if position.boot != boot or body is None or self._runs is None:
                    continue
                if boot != self._runs.at.boot and position.seq == 1:
                    yield EventGap(self._runs.at, position)  # the end of the run before
                yield from self._pass(FollowedEvent(position, body))

    def _is_behind(self, runs: FollowedRuns) -> bool:
        latest = self._latest
        if latest is None or latest == self._complete or latest.boot in runs.earlier:
            return False
        return latest.boot != runs.at.boot or latest.seq > runs.at.seq

    def _next_run(self, runs: FollowedRuns) -> str | None:
        """Return a run with events that is not passed on yet, or None."""
        latest = [] if self._latest is None or self._latest.seq == 0 else [self._latest]
        passed = {runs.at.boot, *runs.earlier}
        boots = (position.boot for position in (*latest, *self._waiting))
        return next((boot for boot in boots if boot not in passed), None)

    def _ready(self) -> Iterator[FollowedEvent]:
        """Yield the waiting events that come next."""
        while self._runs is not None:
            following = RunPosition(self._runs.at.boot, self._runs.at.seq + 1)
            body = self._waiting.get(following)
            if body is None:
                return
            self._move(following)
            yield FollowedEvent(following, body)

    def _pass(self, event: FollowedEvent) -> Iterator[Followed]:
        """Pass on an event, and state a gap before it."""
        assert self._runs is not None
        at = self._runs.at
        if event.at.boot in self._runs.earlier:
            yield from self._late(event)
            return
        last = at.seq if event.at.boot == at.boot else 0
        if event.at.seq <= last:
            return
        self._move(event.at)
        if event.at.seq > last + 1:
            yield EventGap(at, event.at)
        yield event

    def _late(self, event: FollowedEvent) -> Iterator[Followed]:
        """Pass on an event of an earlier run: its daemon published it after the next run began."""
        assert self._runs is not None
        boot, earlier = event.at.boot, self._runs.earlier
        self._waiting.pop(event.at, None)
        if event.at.seq <= earlier[boot]:
            return
        self._runs = FollowedRuns(self._runs.at, {**earlier, boot: event.at.seq})
        if event.at.seq > earlier[boot] + 1:
            yield EventGap(RunPosition(boot, earlier[boot]), event.at)
        yield event

    def _move(self, to: RunPosition) -> None:
        """Set the last event passed on, and drop waiting ones that come before it."""
        assert self._runs is not None
        earlier = self._runs.earlier
        if to.boot != self._runs.at.boot:
            kept = [*earlier.items(), (self._runs.at.boot, self._runs.at.seq)]
            earlier = dict(kept[-MAX_EARLIER_RUNS:])
        self._runs = FollowedRuns(to, earlier)
        self._waiting = {
            position: body
            for position, body in self._waiting.items()
            if position.boot not in earlier and (position.boot != to.boot or position.seq > to.seq)
        }
