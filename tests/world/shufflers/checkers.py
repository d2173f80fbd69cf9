"""What must hold of a shuffler at a table."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from common.chain.schema import Entry
from tests.world.broker.packets import Publish
from tests.world.checkers import MAX_AGE_SECONDS, Final, Key, key_of, require
from tests.world.configuration import ROOT
from tests.world.shufflers.shuffler import ShufflerAtTable

if TYPE_CHECKING:
    from tests.world.world import World

UNREADY = {"door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service"}
NAMED = re.compile(rb'"(?:missing|extra)":\["|verdict,\w*,\w*,[01-],[01-],(?!-,-)')
"""How a text names a card that a shuffler has missed or found twice."""


class Shuffled(Final):
    """A table publishes of a deck what its shuffler has just found, in order and once, and the
    names of cards only sealed; no bets are closed, so that no card is dealt, while the last check
    of the deck has found it wrong or the shuffler cannot deal; and in the end the alerts are those
    of its state.
    """

    def __init__(self, world: World, shufflers: Mapping[str, ShufflerAtTable]) -> None:
        self._world, self._shufflers = world, shufflers
        self._next: dict[str, int] = defaultdict(int)
        """By table, the first verdict that has not been published."""
        self._known: set[Key] = set()
        self._is_right: dict[str, bool] = {}
        """By table, what the last check of the deck has found."""
        self._alerts: dict[str, set[str]] = defaultdict(set)
        """By table, the alerts of its shuffler since a person has last found the deck right."""

    def on_stored(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.kind == "event" and entry.table in self._shufflers:
                body = json.loads(entry.body)
                if (key := key_of(body)) not in self._known:
                    self._known.add(key)
                    self._on_event(entry.table, body)

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        table = message.topic.removeprefix(f"{ROOT}/").partition("/")[0]
        if table in self._shufflers:
            found = NAMED.search(message.payload)
            require(found is None, "a card of a wrong deck in a message", message)

    def on_entries(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            if entry.table in self._shufflers:
                found = NAMED.search(entry.body)
                require(found is None, "a card of a wrong deck in the journal", entry.body)

    def on_end(self) -> None:
        """See :class:`Checker`."""
        for table, shuffler in self._shufflers.items():
            prefix = f"{ROOT}/{table}/alert/shuffler_"
            shown = {
                topic.removeprefix(prefix)
                for topic, message in self._world.broker.retained.items()
                if topic.startswith(prefix) and message.payload
            }
            wanted = {shuffler.model.doing} & UNREADY
            require(shown == wanted, "other alerts than the shuffler's state", table, shown, wanted)

    def _on_event(self, table: str, body: dict[str, Any]) -> None:
        match body["type"]:
            case "deck.checked":
                if body.get("device"):
                    self._on_verdict(table, body)
                elif body["right"]:
                    self._alerts[table].clear()
                self._is_right[table] = body["right"]
            case "alert.raised" if body["alert"].startswith("shuffler_"):
                self._alerts[table].add(body["alert"])
            case "alert.cleared" if body["alert"].startswith("shuffler_"):
                self._alerts[table].discard(body["alert"])
            case "bets.closed":
                wrong = not self._is_right.get(table, True)
                require(not wrong, "a wrong deck is dealt", table, body)
                require(not self._alerts[table], "dealt though the shuffler cannot", table, body)

    def _on_verdict(self, table: str, body: dict[str, Any]) -> None:
        verdicts, first = self._shufflers[table].model.verdicts, self._next[table]
        found = [
            at
            for at in range(first, len(verdicts))
            if (verdicts[at].cards, verdicts[at].is_right) == (body.get("count"), body["right"])
        ]
        require(found, "no such verdict of the shuffler", table, body, verdicts[first:])
        now = self._world.loop.now
        if now > max(node.disk.trouble_until for node in self._world.nodes):
            age = now - verdicts[found[-1]].at
            require(age <= MAX_AGE_SECONDS, "an old verdict as a live one", table, age, body)
        self._next[table] = found[0] + 1
