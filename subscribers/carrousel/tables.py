"""A linked table as seen by the controller: its events, retained topics and node, and its recalls.
Whether bets on the jackpot are in play there follows from these.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from common import randomness
from common.contract.jackpot import OutOfPlay
from common.contract.times import parse_utc
from subscribers.carrousel.intake import TableIntake
from subscribers.carrousel.intake_memory import IntakeMemory, IntakeRules, RecallRequest
from subscribers.feed.pending_recall import PendingRecall, record_attempt

UNHEARD_AFTER_SECONDS = 10.0
"""Time without a reply to a recall after which a table is out of play."""
MAX_HEALTH_DELAY_SECONDS = 2.0
"""Maximum age of a node's health message on arrival, in addition to the clock bound."""


class _ShownCurrency(msgspec.Struct, frozen=True):
    currency: str | None = None


class LinkedTableState(msgspec.Struct, frozen=True):
    """The fields of a table's retained state that are used here."""

    game: str
    decree: str
    boot: str
    seq: int
    time: str
    shown: _ShownCurrency = _ShownCurrency()
    simulated: bool = False


class _LinkedAbout(msgspec.Struct, frozen=True):
    jackpot: str | None = None


class _LinkedInfo(msgspec.Struct, frozen=True):
    boot: str
    about: _LinkedAbout = _LinkedAbout()


class _RecallReply(msgspec.Struct, frozen=True):
    id: object
    ok: bool
    error: str | None = None
    events: tuple[msgspec.Raw, ...] = ()


_state = msgspec.json.Decoder(LinkedTableState)
_info = msgspec.json.Decoder(_LinkedInfo)
_reply = msgspec.json.Decoder(_RecallReply)


class TrackedTable:
    """One table. ``topic``: root of its topics, which is also the audience of its commands."""

    def __init__(self, *, table: str, jackpot: str, topic: str, rules: IntakeRules) -> None:
        self.table, self.jackpot, self.topic = table, jackpot, topic
        self.intake = TableIntake(table, rules)
        self.state: LinkedTableState | None = None
        self.info: _LinkedInfo | None = None
        self.pending: PendingRecall[RecallRequest] | None = None
        """Recall without a reply."""
        self.recall_again = False
        """Whether to recall again after the reply."""
        self.up_to_date = False
        """Whether a reply since the last connection stated that no more events follow."""
        self.memory_changed = False
        """Whether its memory must be saved."""
        self.recall_error: str | None = None
        """Why the last recall failed."""

    def restore(self, stored: bytes | None) -> None:
        """Return to the stored memory."""
        memory = None if stored is None else msgspec.json.decode(stored, type=IntakeMemory)
        self.intake = TableIntake(self.table, self.intake.rules, memory)
        self.pending, self.recall_again, self.up_to_date, self.memory_changed = (
            None,
            False,
            False,
            False,
        )

    def on_disconnect(self) -> None:
        """Forget what is only current while connected."""
        self.state = self.info = self.pending = None
        self.recall_again = self.up_to_date = False

    def on_state(self, body: bytes) -> bool:
        """Handle its retained state. Return whether it may have published events that were not
        received.
        """
        try:
            self.state = state = _state.decode(body)
            parse_utc(state.time)
        except (ValueError, RecursionError):
            self.state = None
            return False
        linked = self.intake.link(state.boot, state.seq, state.time, state.shown.currency)
        self.memory_changed = self.memory_changed or linked
        return not self.up_to_date

    def on_info(self, body: bytes) -> None:
        """Handle its retained info."""
        try:
            self.info = _info.decode(body)
        except (ValueError, RecursionError):
            self.info = None

    def next_recall(self, now: float, time: str) -> tuple[str, RecallRequest] | None:
        """Return the next recall and its id; None if a reply is still awaited (then it is recalled
        after that) or there is nothing to recall.
        """
        if self.pending is not None and self.pending.is_waiting(now):
            self.recall_again = True
            return None
        request = self.intake.next_recall(time)
        if request is None or self.state is None:
            return None
        self.recall_again = False
        self.pending = record_attempt(self.pending, randomness.token_hex(12), request, now)
        return self.pending.attempts[-1]

    def on_reply(self, body: bytes) -> tuple[RecallRequest, list[bytes]] | None:
        """Return the recall that a reply answers, and its events; None if it answers none."""
        try:
            reply = _reply.decode(body)
        except (ValueError, RecursionError):
            return None
        request = None if self.pending is None else self.pending.subject_of(reply.id)
        if request is None:
            return None
        self.pending = None
        if not reply.ok:
            self.recall_error = reply.error or "refused"
            return None
        self.recall_error = None
        return request, [bytes(event) for event in reply.events]

    def out_of_play_reason(
        self, nodes: NodeDirectory, now: float, currency: str
    ) -> OutOfPlay | None:
        """Return why bets may not be taken there, or None."""
        if self.intake.memory.gap is not None:
            return "gap"
        state = self.state
        node = None if state is None else nodes.node_of(state.boot)
        if state is None or node is None or not self.up_to_date:
            return "unheard"
        if self.pending is not None and now - self.pending.first_sent > UNHEARD_AFTER_SECONDS:
            return "unheard"
        if self.find_mismatch(currency) is not None:
            return "foreign"
        return "clock" if nodes.has_wrong_clock(node) else None

    def find_mismatch(self, currency: str) -> str | None:
        """Return how the table's own description differs from what is authorised, or None."""
        state, rules = self.state, self.intake.rules
        if state is None or self.info is None:
            return "it has not published its info"
        if self.info.about.jackpot != self.jackpot:
            linked = self.info.about.jackpot or "no jackpot"
            return f"its daemon links it with {linked}: correct `jackpot` in its configuration"
        if state.game not in rules.games or state.decree != rules.decree:
            return f"it plays {state.game} under {state.decree}"
        if state.simulated != rules.simulated:
            return "it is simulated" if state.simulated else "it is not simulated"
        played = self.intake.memory.currency or state.shown.currency
        return None if played in (None, currency) else f"it plays in {played}"


class _StatusMessage(msgspec.Struct, frozen=True):
    status: str
    boot: str


class _HealthMessage(msgspec.Struct, frozen=True):
    boot: str
    time: str


class NodeDirectory:
    """The daemons, by node. ``bound``: maximum difference in seconds between clocks."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._status: dict[str, _StatusMessage] = {}
        self._wrong_clocks: dict[str, float] = {}
        self._suspected: set[str] = set()

    def on_disconnect(self) -> None:
        """Forget which nodes are online."""
        self._status.clear()

    def on_message(self, node: str, leaf: str, body: bytes, now: float, *, live: bool) -> bool:
        """Handle a message on a node's topic. Return whether it changed anything. ``live``: it is
        not retained; ``now``: seconds since 1970.
        """
        try:
            if leaf == "status":
                status = msgspec.json.decode(body, type=_StatusMessage)
                changed = self._status.get(node) != status
                self._status[node] = status
                return changed
            if leaf == "health" and live:
                return self._clock(
                    node, parse_utc(msgspec.json.decode(body, type=_HealthMessage).time) - now
                )
        except (ValueError, RecursionError):
            return self._status.pop(node, None) is not None if leaf == "status" else False
        return False

    def _clock(self, node: str, ahead: float) -> bool:
        """Record how far a node's clock is ahead. It counts as wrong after two consecutive messages
        with a wrong time.
        """
        is_wrong = ahead > self._bound or ahead < -self._bound - MAX_HEALTH_DELAY_SECONDS
        before = node in self._wrong_clocks
        if is_wrong and node in self._suspected:
            self._wrong_clocks[node] = ahead
        elif not is_wrong:
            self._wrong_clocks.pop(node, None)
        (self._suspected.add if is_wrong else self._suspected.discard)(node)
        return before != (node in self._wrong_clocks)

    def node_of(self, boot: str) -> str | None:
        """Return the node whose daemon has this boot id, or None."""
        wanted = _StatusMessage("online", boot)
        return next((node for node, status in self._status.items() if status == wanted), None)

    def has_wrong_clock(self, node: str) -> bool:
        """Return whether a node's clock differs from this machine's by more than the bound."""
        return node in self._wrong_clocks

    @property
    def clock_offsets(self) -> Mapping[str, float]:
        """Nodes whose clock is wrong, with the seconds by which it is ahead of this machine's."""
        return self._wrong_clocks
