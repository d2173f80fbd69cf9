"""What must hold at every table with cards."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from collections.abc import Set as AbstractSet
from typing import Any

import structlog
from nacl.public import PrivateKey

from common.chain.schema import Entry, Record
from common.confidential.bodies import is_locked, is_sealed
from common.confidential.boxes import open_sealed
from devices.codec import MAX_LIVE_DELAY_SECONDS
from tests.support.chaos.truth import OUTCOMES, open_rounds
from tests.world.broker.packets import Publish
from tests.world.cards.reckoning import RECKON
from tests.world.cards.tabletop import Tabletop
from tests.world.checkers import Final, Immediate, key_of, require

MAX_AGE_SECONDS = MAX_LIVE_DELAY_SECONDS + 2.0
"""How long after a shoe has sent a card it may be taken as a live one."""
LINE_SECONDS = 1.0
"""How long the reports of a shoe are on its line."""

Tops = Mapping[str, Tabletop]
"""By table."""


class Drawn(Immediate):
    """Each card that a table takes is one that the shoe has reported: in order, once, and not too
    long ago for a live one. None is left out unless the table was asked. ``key`` opens what is
    sealed.
    """

    def __init__(self, tops: Tops, key: PrivateKey) -> None:
        self._tops, self._key = tops, key
        self._next: dict[str, int] = defaultdict(int)
        """By table, the first report that no reading has come of yet."""
        self._asked = set(tops)
        """Tables that were asked since their last card, or have had none."""

    def on_records(self, records: Iterable[Record]) -> None:
        """A table hands these records over to be stored."""
        for record in records:
            if record.table not in self._tops or record.input is None:
                continue
            body: Any = record.input
            if is_sealed(body):
                body = open_sealed(body, self._key).body
            reading = json.loads(bytes(body))
            kind = reading["type"]
            if kind == "card.drawn" and reading.get("card"):
                self._on_card(self._tops[record.table], record.table, reading)
            elif kind == "card.drawn" or (kind.startswith("link.") and kind != "link.garbage"):
                self._asked.add(record.table)

    def _on_card(self, top: Tabletop, table: str, body: dict[str, Any]) -> None:
        reports, after = top.shoe.model.reports, self._next[table]
        card, doubted = body["card"], body.get("unsure") or body.get("late")
        found = [n for n in range(after, len(reports)) if reports[n].card == card]
        if not found:
            again = doubted and after > 0 and reports[after - 1].card == card
            require(again, "not drawn, or taken twice", table, body, reports[max(0, after - 3) :])
            return
        is_gap = found[0] > after and not doubted and not top.shoe.loses_unseen
        lost = is_gap and table not in self._asked
        require(not lost, "a card was lost without a question", table, body, reports[after:])
        self._asked.discard(table)
        if doubted:
            self._asked.add(table)
        at = found[0 if doubted else -1]  # one of an earlier pack may never have been read
        self._next[table] = at + 1
        if not doubted:
            age = top.shoe.now - max(reports[at].at, top.shoe.held_until + LINE_SECONDS)
            require(age <= MAX_AGE_SECONDS, "an old card as a live one", table, age, body)


class Hidden(Immediate):
    """No card that lies face down is in anything that leaves the daemon, but in sealed boxes: not
    in a message, an entry of the journal, or a line of the log.
    """

    def __init__(self, tops: Tops, others: Callable[[], AbstractSet[str]]) -> None:
        self._tops, self._others = tops, others
        self._stored_at: dict[Any, float] = {}
        """By event of a table, when it was stored."""
        self._scanners = {table: _Scanner(top) for table, top in tops.items()}

    def on_stored(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.kind == "event" and entry.table in self._tops:
                now = self._tops[entry.table].shoe.now
                self._stored_at[entry.table, entry.boot, entry.seq] = now

    def on_records(self, records: Iterable[Record]) -> None:
        """A table hands these records over to be stored."""
        for record in records:
            scanner = self._scanners.get(record.table)
            if scanner is None:
                continue
            before = (body for _, body in record.before)
            for body in (*before, record.input, *record.events, record.saved):
                if body is not None and not is_sealed(body) and not is_locked(body):
                    shown = scanner.hidden_in(body)
                    require(not shown, "a face-down card in the journal", shown, body)

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if is_sealed(message.payload):
            return
        if self._others() & {*message.topic.split("/")}:
            return
        table, leaf = message.topic.split("/")[-2:]
        if table == "reply":
            self._on_reply(message)
            return
        for name, scanner in self._scanners.items():
            if table not in self._tops:
                shown = scanner.hidden_in(message.payload)
            elif table != name:
                continue
            elif leaf == "history":
                shown = scanner.too_often_in(message.payload)
            elif leaf in {"event", "result"} and message.payload not in {b"", b"null"}:
                key = key_of(json.loads(message.payload))
                shown = scanner.hidden_in(message.payload, self._stored_at.get(key))
            else:
                shown = scanner.hidden_in(message.payload)
            require(not shown, "a face-down card in a message", message.topic, shown, message)

    def _on_reply(self, message: Publish) -> None:
        """An answer to a recall repeats events of rounds before, whose cards are in the pack again:
        each counts as of when it was stored. Nothing else of a reply may name a hidden card.
        """
        reply = json.loads(message.payload)
        for body in reply.pop("events", ()):
            if (scanner := self._scanners.get(body["table"])) is not None:
                stored_at = self._stored_at.get(key_of(body))
                shown = scanner.hidden_in(json.dumps(body).encode(), stored_at)
                require(not shown, "a face-down card in a reply", message.topic, shown, body)
        for scanner in self._scanners.values():
            shown = scanner.hidden_in(json.dumps(reply).encode())
            require(not shown, "a face-down card in a reply", message.topic, shown, reply)

    def on_logged(self, line: str) -> None:
        """The daemon has written a line of its log."""
        for scanner in self._scanners.values():
            shown = scanner.hidden_in(line.encode())
            require(not shown, "a face-down card in the log", shown, line)


EXAMPLES = b"as in 7h or Ts"
"""Cards that a refusal names, always these."""
WORDS = re.compile(
    rb"[^A-Za-z0-9\\]([A2-9TJQK][CDHScdhs]|[CDHS]1?[0-9])(?![A-Za-z0-9])"
    rb"|(\\x[0-9a-f]{2}\\x[0-9a-f]{2})"
)
"""What may be a card in a text: a name, or what a shoe sends, as an escape or not."""


class _Scanner:
    """Finds the cards of one table in texts: by their names, and by what their shoe sends."""

    def __init__(self, top: Tabletop) -> None:
        self.top = top
        names = [rank + suit for rank in "A23456789TJQK" for suit in "cdhs"]
        self._names = {
            text.encode(): name for name in names for text in (name, *top.shoe.model.codes(name))
        }

    def named_in(self, text: bytes) -> list[str]:
        """The cards that a text names, as often as it does."""
        text = text.replace(EXAMPLES, b"").replace(b"\\\\", b"\\")
        found = (self._names.get(words[0] or words[1]) for words in WORDS.findall(b" " + text))
        return [name for name in found if name is not None]

    def hidden_in(self, text: bytes, stored_at: float | None = None) -> list[str]:
        """The cards that lie face down and that a text names, unless it was stored before they were
        drawn.
        """
        top = self.top
        return [
            name
            for name in self.named_in(text)
            if top.is_hidden(name) and (stored_at is None or top.latest[name].at <= stored_at)
        ]

    def too_often_in(self, text: bytes) -> list[str]:
        """The cards that lie face down and that more rounds of a history name than they were turned
        in.
        """
        lines = json.loads(text or b"{}").pop("results", [])
        rounds = Counter(
            name for line in lines for name in {*self.named_in(json.dumps(line).encode())}
        )
        return [
            name
            for name in self.hidden_in(text)
            if self.top.is_hidden(name) and rounds[name] > self.top.turned[name]
        ]


class Reckoned(Final):
    """A result names cards that were drawn, once each, and what it says follows from them by an
    independent reckoning. No round whose bets are closed is left without an outcome.
    """

    def __init__(self, tops: Tops, games: Mapping[str, str]) -> None:
        self._tops, self._games = tops, games
        self.results: Counter[str] = Counter()
        """By table, the results whose cards were reckoned."""
        self._events: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def on_stored(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.kind != "event" or entry.table not in self._tops:
                continue
            body = json.loads(entry.body)
            self._events[entry.table].append(body)
            if body["type"] != "round.result":
                continue
            outcome = body["outcome"]
            cards = [card for hand in outcome.get("hands", ()) for card in hand["cards"]]
            latest = self._tops[entry.table].latest
            require(len(cards) == len(set(cards)), "a card twice in a result", body)
            require(all(card in latest for card in cards), "a card that was not drawn", body)
            if cards:
                self.results[entry.table] += 1
                why = RECKON[self._games[entry.table]](outcome)
                require(why is None, f"otherwise reckoned: {why}", body)

    def is_settled(self) -> bool:
        """See :class:`Checker`: the last rounds have ended, too; no croupier begins another one."""
        return super().is_settled() and all(
            _begun(events) <= {_round(event) for event in events if event["type"] in OUTCOMES}
            for events in self._events.values()
        )

    def on_end(self) -> None:
        """See :class:`Checker`."""
        for table, events in self._events.items():
            begun = _begun(events)
            left = [each for each in open_rounds(events) if each in begun]
            require(not left, "rounds without an outcome", table, left)


def _round(event: dict[str, Any]) -> tuple[int, int]:
    return event["session"], event["round"]


def _begun(events: Iterable[dict[str, Any]]) -> set[tuple[int, int]]:
    """Return the rounds, as (session, round), in which something was decided or dealt."""
    begin = {"bets.closed", "card.dealt"}
    return {_round(event) for event in events if event["type"] in begin and "round" in event}


class Capture:
    """A processor of the log that shows each line to a checker."""

    def __init__(self, checker: Hidden, check: Callable[..., None]) -> None:
        self._checker, self._check = checker, check

    def __call__(
        self, _logger: object, _method: str, line: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        self._check(self._checker.on_logged, repr(line))
        return line


def drop(_logger: object, _method: str, _line: MutableMapping[str, Any]) -> str:
    """Drop a line of the log (a processor)."""
    raise structlog.DropEvent
