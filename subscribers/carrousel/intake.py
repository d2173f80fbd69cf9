"""Converts the events of one table, live and recalled, to facts: each once, in the table's order,
without gaps. It reads no clock and does no I/O.

A live event is accepted only if it is the next one. Any other event shows that some may be missing:
then the table is asked (``recall``) for everything after the last accepted event, until nothing
more arrives. Only a reply leads from one run of the daemon to the next, and only after the table
has shown that it still knows the last accepted event, since a replaced journal does not. A reply
does not lead to a run that was restored from a backup or taken over by the other daemon of a pair:
that journal lacks events published in between.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from common.contract.times import format_utc, parse_utc
from subscribers.carrousel.facts import CaughtUp
from subscribers.carrousel.intake_memory import (
    NOTHING,
    EventPosition,
    IntakeAlert,
    IntakeMemory,
    IntakeNotice,
    IntakeResult,
    IntakeRules,
    RecallRequest,
    TableFact,
)
from subscribers.carrousel.table_events import (
    RESTORED_EVENT_TYPE,
    EventHead,
    describe_lost_history,
    event_digest,
    fact_of,
    read_head,
)

MAX_REMEMBERED_DIGESTS = 2048
"""Number of events whose digest is remembered, to detect a second, different one."""
MAX_EVENTS_AHEAD = 1000
"""Maximum number of events that wait for earlier ones. Later ones are dropped, because the table's
reply to the recall contains them.
"""
MAX_REMEMBERED_BOOTS = 64
"""Number of ended daemon runs that are remembered; their late events are ignored."""


class TableIntake:
    """The intake of one table. ``rules`` may be replaced at any time; ``memory`` must be stored
    with the facts.
    """

    def __init__(self, table: str, rules: IntakeRules, memory: IntakeMemory | None = None) -> None:
        self.table, self.rules = table, rules
        self.memory = memory or IntakeMemory()
        self._must_prove = False
        """Whether the table must show that it knows the last accepted event."""
        self._proven: EventPosition | None = None
        """The last event that it has shown to know."""
        self._ahead: dict[tuple[str, int], bytes] = {}
        self._digests: OrderedDict[tuple[str, int], str] = OrderedDict()
        at = self.memory.at
        if at is not None and at.digest:
            self._digests[at.boot, at.seq] = at.digest

    def link(self, boot: str, seq: int, time: str, currency: str | None) -> bool:
        """Start at this event, which the table's retained state has reached at ``time``, if no
        message of the table was received before. Return whether it was linked now.
        """
        memory = self.memory
        if memory.at is not None:
            return False
        memory.at, memory.currency = EventPosition(boot, seq, time), currency
        memory.since = None if seq else time
        return True

    def restart(self, boot: str, seq: int, time: str) -> None:
        """Resume at the start of this daemon run, after persons have settled a gap. The table's
        retained state has reached ``seq`` in it.
        """
        memory = self.memory
        if memory.at is not None and memory.at.boot != boot:
            self._end_run(memory.at.boot)
        memory.at, memory.gap, memory.settled = EventPosition(boot, 0, time), None, memory.last
        memory.since = None if seq else time
        memory.boots = [other for other in memory.boots if other != boot]
        self._ahead.clear()

    def is_behind(self, boot: str, seq: int) -> bool:
        """Return whether the table has published an event that was not accepted yet."""
        at = self.memory.at
        if at is None or self.memory.gap is not None:
            return False
        return seq > (at.seq if boot == at.boot else 0)

    def next_recall(self, time: str) -> RecallRequest | None:
        """Return what to recall now (``time``: on the controller's clock); None if the table is not
        linked or has a gap.
        """
        memory = self.memory
        if memory.at is None or memory.gap is not None:
            return None
        first = memory.at.seq + (0 if self._must_prove and memory.at.seq else 1)
        return RecallRequest(memory.at, first, time, frozenset(self._ahead))

    def on_event(self, body: bytes) -> IntakeResult:
        """Handle a live event."""
        memory = self.memory
        try:
            head = read_head(body, self.table)
        except (ValueError, RecursionError) as error:
            return IntakeResult(notices=(self._notice("refused", f"a malformed event: {error}"),))
        at = memory.at
        if at is None or memory.gap is not None:
            return NOTHING
        if head.boot == at.boot:
            if head.seq == at.seq + 1:
                result = self._accept(head, body)
                return self._accept_waiting(result) if self._ahead else result
            if head.seq <= at.seq:
                return self._check_repeated(head, body)
        elif head.boot in memory.boots:
            return self._check_repeated(head, body)
        waiting = self._ahead.get((head.boot, head.seq))
        if waiting is not None and event_digest(waiting) != event_digest(body):
            del self._ahead[head.boot, head.seq]  # the table's reply will show which one is right
            return IntakeResult(notices=(self._contradiction(head),), ask=True)
        if len(self._ahead) < MAX_EVENTS_AHEAD:
            self._ahead[head.boot, head.seq] = body
        return IntakeResult(ask=True)

    def on_reply(
        self, events: Sequence[bytes], request: RecallRequest, bound: float
    ) -> IntakeResult:
        """Handle the reply to a recall. ``bound``: maximum difference in seconds between the
        clocks. ``ask`` in the result: there may be more events.
        """
        memory = self.memory
        if memory.at is None or memory.gap is not None:
            return NOTHING
        facts: Sequence[TableFact] = []
        notices: Sequence[IntakeNotice] = []
        for number, body in enumerate(events):
            try:
                head = read_head(body, self.table)
            except (ValueError, RecursionError) as error:
                notices = [*notices, self._open_gap(f"its reply has a malformed event: {error}")]
                break
            if number == 0 and request.first == request.at.seq:
                self._must_prove, self._proven = False, request.at
                if (mismatch := self._find_mismatch(head, body, request.at)) is not None:
                    notices = [*notices, mismatch]
                    break
            elif number == 0 and (head.boot, head.seq) != (request.at.boot, request.first):
                if memory.at != request.at:
                    return IntakeResult(ask=True)
                if memory.since is None and not request.at.seq:
                    gap = f"it does not know its run {request.at.boot}, which persons settled"
                    notices = [*notices, self._open_gap(gap)]
                    break
                if memory.since is None and self._proven != request.at:
                    self._must_prove = True
                    return IntakeResult(ask=True)
            result = self._on_recalled_event(head, body)
            facts, notices = [*facts, *result.facts], [*notices, *result.notices]
            if memory.gap is not None:
                break
        if memory.gap is not None:
            self._ahead.clear()
            return IntakeResult(facts, notices)
        facts, notices, _ = self._accept_waiting(IntakeResult(facts, notices))
        time = memory.at.time
        if not events:
            notices = [*notices, *self._report_unknown(request.waiting)]
            time = max(time, format_utc(parse_utc(request.time) - bound))
        caught_up = CaughtUp(table=self.table, time=time)
        return IntakeResult([*facts, caught_up], notices, ask=bool(events) or bool(self._ahead))

    def _on_recalled_event(self, head: EventHead, body: bytes) -> IntakeResult:
        """Handle an event of a reply."""
        memory = self.memory
        assert memory.at is not None
        at = memory.at
        if (head.boot == at.boot and head.seq <= at.seq) or head.boot in memory.boots:
            return self._check_repeated(head, body)
        if memory.since is not None:
            if head.time <= memory.since:  # from before the table was linked
                memory.at = EventPosition(head.boot, head.seq, memory.since, event_digest(body))
                return NOTHING
            memory.since = None
        if head.boot != at.boot and head.seq == 1:
            if head.type == RESTORED_EVENT_TYPE:
                return IntakeResult(notices=(self._open_gap(describe_lost_history(at, body)),))
            self._end_run(at.boot)
        elif (head.boot, head.seq) != (at.boot, at.seq + 1):
            gap = f"after {at.boot} {at.seq} its reply continues with {head.boot} {head.seq}"
            return IntakeResult(notices=(self._open_gap(gap),))
        self._ahead.pop((head.boot, head.seq), None)
        return self._accept(head, body)

    def _report_unknown(self, waiting: frozenset[tuple[str, int]]) -> list[IntakeNotice]:
        """Report events that arrived before the recall but are missing from the replies, although
        the table replied that there is nothing more.
        """
        assert self.memory.at is not None
        notices = []
        for boot, seq in sorted(waiting & self._ahead.keys()):
            if read_head(self._ahead.pop((boot, seq)), self.table).time > self.memory.at.time:
                detail = f"its event {boot} {seq} was received, but the table does not know it"
                notices.append(self._notice("contradiction", detail))
        return notices

    # A single event

    def _accept(self, head: EventHead, body: bytes) -> IntakeResult:
        digest, memory = event_digest(body), self.memory
        memory.at, memory.since = (
            EventPosition(head.boot, head.seq, head.time, digest),
            None,
        )
        self._digests[head.boot, head.seq] = digest
        if len(self._digests) > MAX_REMEMBERED_DIGESTS:
            self._digests.popitem(last=False)
        try:
            fact = fact_of(head, body, self.rules, self.memory)
        except (ValueError, RecursionError) as error:
            return IntakeResult(
                notices=(self._notice("refused", f"{head.type} {head.boot} {head.seq}: {error}"),)
            )
        return NOTHING if fact is None else IntakeResult((fact,))

    # Order

    def _accept_waiting(self, result: IntakeResult) -> IntakeResult:
        """Add the events that waited for this result."""
        facts, notices = list(result.facts), list(result.notices)
        while (at := self.memory.at) is not None:
            body = self._ahead.pop((at.boot, at.seq + 1), None)
            if body is None:
                break
            next_result = self._accept(read_head(body, self.table), body)
            facts += next_result.facts
            notices += next_result.notices
        return IntakeResult(facts, notices, ask=bool(self._ahead))

    def _check_repeated(self, head: EventHead, body: bytes) -> IntakeResult:
        """Handle an event that was accepted before."""
        first_digest = self._digests.get((head.boot, head.seq))
        if first_digest is None or first_digest == event_digest(body):
            return NOTHING
        return IntakeResult(notices=(self._contradiction(head),))

    def _contradiction(self, head: EventHead) -> IntakeNotice:
        return self._notice(
            "contradiction",
            f"its event {head.boot} {head.seq} was received twice, and the second one "
            f"({head.type}) differs",
        )

    def _find_mismatch(
        self, head: EventHead, body: bytes, expected: EventPosition
    ) -> IntakeNotice | None:
        """Return what is wrong with a reply that should begin with the last accepted event, or
        None.
        """
        if (head.boot, head.seq) != (expected.boot, expected.seq):
            return self._open_gap(
                f"its reply begins with {head.boot} {head.seq}, not with the last event "
                f"accepted, {expected.boot} {expected.seq}: its journal was replaced or restored, "
                "does not reach back that far, or is that of the other daemon of a pair"
            )
        if expected.digest and event_digest(body) != expected.digest:
            return self._open_gap(
                f"its event {expected.boot} {expected.seq} has changed: its journal was replaced "
                "or restored"
            )
        return None

    def _open_gap(self, missing: str) -> IntakeNotice:
        self.memory.gap = missing
        return self._notice("gap", missing)

    def _end_run(self, boot: str) -> None:
        self.memory.boots = [*self.memory.boots, boot][-MAX_REMEMBERED_BOOTS:]

    def _notice(self, alert: IntakeAlert, detail: str) -> IntakeNotice:
        return IntakeNotice(self.table, alert, detail[:512])
