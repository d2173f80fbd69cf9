"""Follow the events of the tables of a site: each once, in order, and none missing unnoticed.

A :class:`Follower` receives what your MQTT library receives, and returns what comes next and what
to publish. It has no socket, no clock and no thread, so it works with any library.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from novamas_client.events import AnyEvent as Event

__all__ = ["Follower", "Gap", "Position", "Refusal", "Step"]


class Position(NamedTuple):
    """An event: the run of the daemon, and its number in this run."""

    boot: str
    seq: int


class Gap(NamedTuple):
    """Events that the table's daemon no longer has, from ``first`` to ``last``."""

    table: str
    boot: str
    first: int
    last: int


class Refusal(NamedTuple):
    """The daemon refuses to return missing events: your user may not recall, or must sign."""

    table: str
    error: str


class Step(NamedTuple):
    """The outcome of a message. ``publish``: topics and bodies to publish with QoS 1."""

    items: Sequence[Event | Gap | Refusal] = ()
    publish: Sequence[tuple[str, bytes]] = ()


class _Request(NamedTuple):
    """A recall: events from ``first`` to ``last`` of a run; without ``last``, also of later runs.
    ``latest``: the run of the daemon when it was asked.
    """

    id: int
    boot: str
    first: int
    last: int | None
    latest: str


class _Table:
    def __init__(self, name: str, positions: Iterable[Position] = ()) -> None:
        self.name = name
        self.runs: dict[str, int] = dict(positions)
        """The last event delivered of each run, in the order in which the runs began."""
        self.highest: dict[str, int] = {}
        """The highest event of each run that is known to exist."""
        self.waiting: dict[Position, Event] = {}
        """Events that cannot be delivered yet, in the order in which they came."""
        self.request: _Request | None = None
        self.requests = secrets.randbelow(1 << 32)  # answers to an earlier run must not fit
        self.begun = bool(self.runs)
        """Events from now on count, however few there were before."""
        self.latest = self.complete = ""
        """The daemon's run, and the latest one before which nothing is missing."""

    def on_state(self, boot: str, seq: int) -> None:
        if not self.runs and not self.begun:  # an event may have overtaken the state
            before = min([seq, *(at.seq - 1 for at in self.waiting if at.boot == boot)])
            if before > 0:
                self.runs[boot] = before
        self.begun, self.latest = True, boot
        self._exists(boot, seq)

    def on_event(self, event: Event) -> None:
        boot, seq = event["boot"], event["seq"]
        if seq > self.runs.get(boot, 0):
            self.waiting[Position(boot, seq)] = event
        self._exists(boot, seq)

    def _exists(self, boot: str, seq: int) -> None:
        if seq > 0:
            self.highest[boot] = max(seq, self.highest.get(boot, 0))
        if self.begun and not self.runs:
            self.runs |= dict.fromkeys(self.highest, 0)

    def on_reply(self, reply: Mapping[str, Any]) -> Iterator[Event | Gap | Refusal]:
        request = self.request
        if request is None or reply["id"] != request.id:
            return
        if not reply["ok"]:
            yield Refusal(self.name, reply.get("error", ""))  # asked again by `Follower.retry`
            return
        self.request = None
        events: list[Event] = reply.get("events", [])
        for event in events:
            self.runs.setdefault(event["boot"], 0)
            self.on_event(event)
            yield from self.ready()
        if events:
            return
        if request.last is None:  # nothing follows that run, but others exist
            self.complete = request.latest
            self.runs |= {boot: 0 for boot in self.highest if boot not in self.runs}
        else:
            first = self.runs[request.boot] + 1
            if first <= request.last:
                yield Gap(self.name, request.boot, first, request.last)
                self.runs[request.boot] = request.last

    def ready(self) -> Iterator[Event]:
        """Yield the events that come next."""
        progress = True
        while progress:
            progress = False
            for at in [*self.waiting]:
                delivered = self.runs.get(at.boot)
                if delivered is None or at.seq > delivered + 1:
                    continue
                event = self.waiting.pop(at)
                if at.seq == delivered + 1:
                    self.runs[at.boot] = at.seq
                    progress = True
                    yield event

    def missing(self) -> _Request | None:
        """Return what to ask for, if anything is missing and nothing is asked for."""
        if self.request is not None or not self.runs:
            return None
        last: int | None = None
        for boot, highest in self.highest.items():
            first = self.runs.get(boot, highest) + 1
            if first <= highest:
                came = (at.seq for at in self.waiting if at.boot == boot)
                last = min(came, default=highest + 1) - 1
                break
        else:  # a new run: first what remains of the one before
            if self.runs.keys() >= {*self.highest} and self.latest in (
                "",
                self.complete,
                *self.runs,
            ):
                return None
            boot, delivered = list(self.runs.items())[-1]
            first = delivered + 1
        self.requests += 1
        return _Request(self.requests, boot, first, last, self.latest)


def _unsigned(_topic: str, fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode()


class Follower:
    """Puts the events of all tables of a site in order.

    ``root``: of the topics, such as ``novamas/v1/casino-mayor``. ``client``: your name in replies,
    which the broker's rules know. ``positions``: an earlier :meth:`positions`, of what you have
    stored; a table that is not in it begins with the first event that is received. ``body``: makes
    the body of a recall from its topic and fields, where a site wants it signed.
    """

    def __init__(
        self,
        root: str,
        client: str,
        positions: Mapping[str, Iterable[Position]] | None = None,
        body: Callable[[str, dict[str, Any]], bytes] = _unsigned,
    ) -> None:
        self._root, self._client, self._body = root, client, body
        self._tables = {name: _Table(name, at) for name, at in (positions or {}).items()}

    def topics(self) -> list[str]:
        """Return the topics to subscribe to with QoS 1, after each connect."""
        return [f"{self._root}/+/{leaf}" for leaf in ("event", f"reply/{self._client}", "state")]

    def on_message(self, topic: str, payload: bytes) -> Step:
        """Handle a message on one of the topics."""
        name, _, leaf = topic.removeprefix(f"{self._root}/").partition("/")
        body = json.loads(payload) if payload else None
        if body is None:  # the table is gone
            return Step()
        table = self._tables.setdefault(name, _Table(name))
        items: list[Event | Gap | Refusal] = []
        if leaf == "state":
            table.on_state(body["boot"], body["seq"])
        elif leaf == "event":
            table.on_event(body)
        else:
            items += table.on_reply(body)
        items += table.ready()
        publish = []
        if (request := table.missing()) is not None:
            table.request = request
            publish.append(self._recall(name, request))
        return Step(items, publish)

    def retry(self) -> list[tuple[str, bytes]]:
        """Return the recalls without an answer: publish them after each connect, once the topics
        are subscribed to, and every ten seconds.
        """
        pending = ((name, table.request) for name, table in self._tables.items())
        return [self._recall(name, request) for name, request in pending if request is not None]

    def positions(self) -> dict[str, list[Position]]:
        """Return the last event of each run of each table: store them with the events."""
        return {
            name: [Position(*run) for run in table.runs.items()]
            for name, table in self._tables.items()
        }

    def _recall(self, table: str, request: _Request) -> tuple[str, bytes]:
        topic = f"{self._root}/{table}/command/recall"
        fields = {"boot": request.boot, "from": request.first, "client": self._client}
        limit = {"onward": True} if request.last is None else {"to": request.last}
        return topic, self._body(topic, {**fields, **limit, "id": request.id})
