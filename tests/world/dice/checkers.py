"""What must hold at every table of craps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from common.chain.schema import Entry
from tests.support.chaos.truth import OUTCOMES, open_rounds
from tests.world.bodies import decoded
from tests.world.checkers import MAX_AGE_SECONDS, Final, Key, key_of, require, round_of
from tests.world.dice.thrown import Dice, ThrownByHand

if TYPE_CHECKING:
    from tests.world.world import World

POINTS = {4, 5, 6, 8, 9, 10}
SEVEN = 7


class DiceTruth(Final):
    """A result that nobody has confirmed is what lay below the reader, once for each throw and
    while it lay there, and is of the first throw after the bets were closed, or opened where the
    dice close them; its total, its point and the bets on *win* follow from it; and no throw is
    without an outcome. ``owners``: the machines that read these dice.
    """

    def __init__(self, world: World, readers: Mapping[str, Dice], owners: Sequence[str]) -> None:
        self._world, self._readers, self._owners = world, readers, owners
        self._next: dict[str, int] = defaultdict(int)
        """By table, the first throw that has not become a result."""
        self._events: dict[str, dict[Key, dict[str, Any]]] = defaultdict(dict)
        self._due_since: dict[tuple[str, int, int], float] = {}
        """By table, session and round, when the event was stored after which its throw came."""
        self._first_session: dict[str, int] = defaultdict(int)
        """By table, the first session of which each throw is known."""

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries if owner in self._owners else ():
            if entry.kind == "event" and entry.table in self._readers:
                body = decoded(entry.body)
                events, key = self._events[entry.table], key_of(body)
                if key not in events:  # a commit that failed and is there
                    self._on_event(entry.table, body, [*events.values()])
                    events[key] = body

    def on_lost(self, entries: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries:
            lost = self._events[entry.table].pop((entry.table, entry.boot, entry.seq), None)
            if lost is not None and self._makes_due(entry.table, lost):
                self._due_since.pop(round_of(lost), None)

    def on_restored(self, kept: list[Entry], _owner: str) -> None:
        """See :class:`Checker`."""
        del kept
        for table, events in self._events.items():
            last = max((body.get("session", 0) for body in events.values()), default=0)
            self._first_session[table] = last + 1
            events.clear()

    def on_end(self) -> None:
        """See :class:`Checker`."""
        if self._world.bucket is not None:  # the round of a daemon that was taken over has none
            return
        for table, events in self._events.items():
            left = open_rounds(events.values())
            require(not left, "throws without an outcome", table, left)

    def _on_event(self, table: str, body: dict[str, Any], before: list[dict[str, Any]]) -> None:
        if self._makes_due(table, body):
            self._due_since.setdefault(round_of(body), self._world.loop.now)
        if body["type"] not in OUTCOMES:
            return
        if body["type"] == "round.result":
            dice = tuple(body["outcome"]["dice"])
            if not body.get("confirmed_by"):
                self._on_result(table, dice, body)
            if body["session"] >= self._first_session[table]:
                _reckon(body, before)
        elif (candidate := body.get("dice")) is not None:
            throws = self._readers[table].model.throws
            known = any(throw.faces == tuple(candidate) for throw in throws)
            require(known, "dice that never lay there", body, throws[-3:])

    def _on_result(self, table: str, dice: tuple[int, ...], body: dict[str, Any]) -> None:
        throws, first, now = self._readers[table].model.throws, self._next[table], 0.0
        if not self._is_waiting_for_a_disk():
            now = self._world.loop.now
        fits = [
            at
            for at in range(first, len(throws))
            if throws[at].faces == dice and now - throws[at].until <= MAX_AGE_SECONDS
        ]
        require(fits, "not what the dice show", body, first, throws[-3:])
        self._next[table] = fits[0] + 1
        due = self._due_since.get(round_of(body), self._world.loop.now)
        later = [at for at, throw in enumerate(throws) if throw.at > due]
        is_of_round = not later or fits[0] <= later[0]
        require(is_of_round, "another throw as a result", due, body, throws[-3:])

    def _makes_due(self, table: str, body: dict[str, Any]) -> bool:
        """Return whether the next throw after this event is of its round."""
        by_hand = isinstance(self._readers[table].model, ThrownByHand)
        return bool(body["type"] == ("bets.closed" if by_hand else "round.opened"))

    def _is_waiting_for_a_disk(self) -> bool:
        nodes = [node for node in self._world.nodes if node.program.name in self._owners]
        return self._world.loop.now <= max(node.disk.trouble_until for node in nodes)


def _reckon(body: dict[str, Any], before: list[dict[str, Any]]) -> None:
    """Require that a result follows from its dice and from the throws before it."""
    totals = {
        event["round"]: sum(event["outcome"]["dice"])
        for event in before
        if event["type"] == "round.result" and event["session"] == body["session"]
    }
    point = None
    for _, total in sorted(totals.items()):
        if point is None:
            point = total if total in POINTS else None
        elif total in {point, SEVEN}:
            point = None
    outcome, total = body["outcome"], sum(body["outcome"]["dice"])
    require((outcome["total"], outcome.get("point")) == (total, point), "reckoned", point, body)
    wanted = _win(total, point)
    for bet in body["bets"]:
        if bet["bet"] == "win":
            require(bet["outcome"] == wanted, f"a bet on win should {wanted}", body)


def _win(total: int, point: int | None) -> str:
    """Return what becomes of a bet on *win*."""
    if point is None:
        return {7: "win", 11: "win", 2: "lose", 3: "lose", 12: "lose"}.get(total, "stays")
    return {point: "win", SEVEN: "lose"}.get(total, "stays")
