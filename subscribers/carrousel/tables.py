"""A linked table as the controller hears it: its events, its retained topics, its node, and what it
is asked. Whether bets on the jackpot may be taken there follows from that.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import msgspec

from controller.contract.jackpot import OutOfPlay
from controller.contract.times import moment
from subscribers.carrousel.intake import IntakeMemory, IntakeRules, RecallRequest, TableIntake
from subscribers.pending_recall import PendingRecall, record_attempt

UNHEARD_AFTER_SECONDS = 10.0
"""Seconds without an answer after which a table counts as not heard."""
MAX_HEALTH_DELAY_SECONDS = 2.0
"""Seconds by which what a node says of itself may be old when it comes, beside the clock bound."""


class _ShownCurrency(msgspec.Struct, frozen=True):
    currency: str | None = None


class LinkedTableState(msgspec.Struct, frozen=True):
    """The retained state of a table, as far as it is looked at."""

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


class LinkedTable:
    """One table. ``topic``: the root of its topics, which is the audience of its commands."""

    def __init__(self, table: str, jackpot: str, topic: str, rules: IntakeRules) -> None:
        self.table, self.jackpot, self.topic = table, jackpot, topic
        self.intake = TableIntake(table, rules)
        self.state: LinkedTableState | None = None
        self.info: _LinkedInfo | None = None
        self.pending: PendingRecall[RecallRequest] | None = None
        """What it was asked and has not answered."""
        self.recall_again = False
        """Whether it is to be asked once more after its answer."""
        self.up_to_date = False
        """Whether an answer said that nothing more was there, since the last connection."""
        self.memory_changed = False
        """Whether its memory is to be kept."""
        self.recall_error: str | None = None
        """What it said when it refused an answer."""

    def restore(self, heard: bytes | None) -> None:
        """Go back to what was kept of it."""
        memory = None if heard is None else msgspec.json.decode(heard, type=IntakeMemory)
        self.intake = TableIntake(self.table, self.intake.rules, memory)
        self.pending, self.recall_again, self.up_to_date, self.memory_changed = (
            None,
            False,
            False,
            False,
        )

    def on_disconnect(self) -> None:
        """The connection is lost: nothing that was heard is current."""
        self.state = self.info = self.pending = None
        self.recall_again = self.up_to_date = False

    def on_state(self, body: bytes) -> bool:
        """Its retained state. Returns whether it may have told more than was heard."""
        try:
            self.state = state = _state.decode(body)
            moment(state.time)
        except (ValueError, RecursionError):
            self.state = None
            return False
        linked = self.intake.link(state.boot, state.seq, state.time, state.shown.currency)
        self.memory_changed = self.memory_changed or linked
        return not self.up_to_date

    def on_info(self, body: bytes) -> None:
        """Its retained info."""
        try:
            self.info = _info.decode(body)
        except (ValueError, RecursionError):
            self.info = None

    def next_recall(self, now: float, time: str) -> tuple[str, RecallRequest] | None:
        """What to ask it now, and under which number, unless an answer is still awaited; then it is
        asked after that.
        """
        if self.pending is not None and self.pending.is_waiting(now):
            self.recall_again = True
            return None
        question = self.intake.next_recall(time)
        if question is None or self.state is None:
            return None
        self.recall_again = False
        self.pending = record_attempt(self.pending, secrets.token_hex(12), question, now)
        return self.pending.attempts[-1]

    def on_reply(self, body: bytes) -> tuple[RecallRequest, list[bytes]] | None:
        """The events that it answers; None: it is no answer to what it was asked."""
        try:
            answer = _reply.decode(body)
        except (ValueError, RecursionError):
            return None
        question = None if self.pending is None else self.pending.subject_of(answer.id)
        if question is None:
            return None
        self.pending = None
        if not answer.ok:
            self.recall_error = answer.error or "refused"
            return None
        self.recall_error = None
        return question, [bytes(each) for each in answer.events]

    def out_of_play_reason(
        self, nodes: NodeDirectory, now: float, currency: str
    ) -> OutOfPlay | None:
        """Why bets may not be taken there; None: they may."""
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
        """How what it says of itself does not fit what is authorised; None: it fits."""
        state, rules = self.state, self.intake.rules
        if state is None or self.info is None:
            return "it has not said what it is"
        if self.info.about.jackpot != self.jackpot:
            linked = self.info.about.jackpot or "no jackpot"
            return f"its daemon links it with {linked}: set `jackpot` in its configuration"
        if state.game not in rules.games or state.decree != rules.decree:
            return f"it plays {state.game} under {state.decree}"
        if state.simulated != rules.simulated:
            return "it is simulated" if state.simulated else "it is not simulated"
        told = self.intake.memory.currency or state.shown.currency
        return None if told in (None, currency) else f"it plays in {told}"


class _StatusMessage(msgspec.Struct, frozen=True):
    status: str
    boot: str


class _HealthMessage(msgspec.Struct, frozen=True):
    boot: str
    time: str


class NodeDirectory:
    """The daemons, by node. ``bound``: the seconds by which clocks may differ."""

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._status: dict[str, _StatusMessage] = {}
        self._wrong_clocks: dict[str, float] = {}
        self._suspected: set[str] = set()

    def on_disconnect(self) -> None:
        """The connection is lost."""
        self._status.clear()

    def on_message(self, node: str, leaf: str, body: bytes, now: float, *, live: bool) -> bool:
        """A topic of a node. Returns whether it changed anything. ``live``: it came as it was said;
        ``now``: seconds since 1970.
        """
        try:
            if leaf == "status":
                told = msgspec.json.decode(body, type=_StatusMessage)
                changed = self._status.get(node) != told
                self._status[node] = told
                return changed
            if leaf == "health" and live:
                return self._clock(
                    node, moment(msgspec.json.decode(body, type=_HealthMessage).time) - now
                )
        except (ValueError, RecursionError):
            return self._status.pop(node, None) is not None if leaf == "status" else False
        return False

    def _clock(self, node: str, ahead: float) -> bool:
        """How far a node's clock is ahead of ours; behind, less what a message takes. It is wrong
        if it is found so twice.
        """
        wrong = ahead > self._bound or ahead < -self._bound - MAX_HEALTH_DELAY_SECONDS
        was = node in self._wrong_clocks
        if wrong and node in self._suspected:
            self._wrong_clocks[node] = ahead
        elif not wrong:
            self._wrong_clocks.pop(node, None)
        (self._suspected.add if wrong else self._suspected.discard)(node)
        return was != (node in self._wrong_clocks)

    def node_of(self, boot: str) -> str | None:
        """The node whose daemon has this run; None: none says so."""
        wanted = _StatusMessage("online", boot)
        return next((node for node, told in self._status.items() if told == wanted), None)

    def has_wrong_clock(self, node: str) -> bool:
        """Whether its clock and ours differ by more than the bound."""
        return node in self._wrong_clocks

    @property
    def clock_offsets(self) -> Mapping[str, float]:
        """The nodes whose clock is wrong, and by how many seconds it is ahead of ours."""
        return self._wrong_clocks
