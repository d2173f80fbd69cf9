"""One site as the recorder hears it: what came and is not kept yet, what its tables are asked, and
what its daemons have proved. The service keeps what is taken here and calls back.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from controller.contract.node import NodeStatus
from controller.contract.orders import RECALL
from controller.contract.retained import Alert
from controller.contract.times import moment, utc
from controller.contract.topics import Topics
from controller.proof.checkpoint import read_checkpoint
from devices.log import structlog
from subscribers.connection import ServiceConnection
from subscribers.pending_recall import RECALL_TIMEOUT_SECONDS, PendingRecall, record_attempt
from subscribers.recall_key import RecallKey, unsigned_recall
from subscribers.surveillance import proofs, recalls
from subscribers.surveillance.archive import Archive, Query, Record
from subscribers.surveillance.findings import (
    ADVICE,
    KEY_CHANGED,
    SETTLED,
    STALLED,
    Finding,
    alert,
    alert_name,
    finding_record,
    key_of,
    open_findings,
    shown,
    stalled,
)
from subscribers.surveillance.records import (
    LEAVES,
    BadMessageError,
    Place,
    alert_key,
    event,
    place_of,
    records,
)
from subscribers.surveillance.settings import SiteSettings

QUIET = 60.0
"""Seconds between two lines of the log about bad messages."""
OVERTAKEN = 0.5
"""Seconds after a gap showed before it is asked for: an overtaken message comes by itself."""
AT_ONCE = 1000
"""Records that are kept in one go."""
PAGE = 100
"""Events of a table that are compared anew in one go."""
SWEPT = 16
"""Tables of a daemon of which a page is compared anew after each checkpoint, in turn."""

COMPARED = 2000
"""Events of a table that are compared anew, at the most, where a journal was changed."""
BEFORE = 60.0
"""Seconds by which an event may be stored after it happened: so much earlier ones are compared."""
SHOWN = 100
"""Findings of before that are shown again after a start."""


class Taken(msgspec.Struct):
    """What one message led to. ``came``: the connection that it came on; None: none."""

    records: list[Record]
    came: int | None = None
    kept: Callable[[], None] | None = None
    """Called once it is kept."""


class _Answer(msgspec.Struct, frozen=True):
    id: object
    ok: bool
    error: str | None = None
    events: tuple[msgspec.Raw, ...] = ()
    chain: tuple[proofs.Link, ...] | None = None


class _Doubtful(msgspec.Struct, frozen=True):
    """Events of a daemon, by its run now, between two times."""

    boot: str
    since: str | None
    until: str


class HeardTable:
    """A table. ``topic``: the root of its topics, which is the audience of its commands."""

    def __init__(self, table: str, topic: str) -> None:
        self.id, self.topic = table, topic
        self.state: recalls.TableState | None = None
        self.wants: deque[recalls.Want] = deque()
        self.question: PendingRecall[recalls.Question] | None = None
        """What it was asked and has not answered."""
        self.reached: dict[str, int] = {}
        """The last event of each run, as far as it was heard since the start."""
        self.followed: Record | None = None
        """The event up to which nothing is missing, also no whole run: from here on the table is
        asked. Its body may be left out.
        """
        self.checks: list[recalls.Want] = []
        """What is to be compared anew, since another run has begun."""
        self.swept: tuple[str, int] | None = None
        """Where comparing anew has come to."""
        self.sweeps = 0
        """How many pages were compared anew."""


class _Remembered(msgspec.Struct):
    """What the archive remembers of a site."""

    proofs: dict[str, proofs.Proof] = {}
    followed: dict[str, Record] = {}


_state = msgspec.json.Decoder(recalls.TableState)
_answer = msgspec.json.Decoder(_Answer)
_raised = msgspec.json.Decoder(Alert)


class Site:
    """``wake``: called when there is something to keep."""

    def __init__(
        self,
        settings: SiteSettings,
        node: str,
        boot: str,
        wake: Callable[[], None],
        key: RecallKey | None,
        person: str | None,
    ) -> None:
        self.id, self.node, self._boot, self._wake = settings.id, node, boot, wake
        self._pinned = settings.keys
        self._key, self._person = key, person
        self._client = f"{node}-{secrets.token_urlsafe(6)}"[:64]
        self.roots = tuple(Topics(settings.id, simulated).root for simulated in (False, True))
        self.connection = ServiceConnection(
            settings.broker,
            [f"{root}/{leaf}" for root in self.roots for leaf in LEAVES],
            (self._topic("status"), self.status("offline")),
            self.hear,
            self.linked,
            session=node,
        )
        self.herald = ServiceConnection(
            settings.broker,
            [],
            (self._topic("status"), self.status("offline")),
            lambda *_: None,
            lambda *_: None,
        )
        """Says that the archive takes nothing, while nothing may be heard yet."""
        self.taken: deque[Taken] = deque()
        self.tables: dict[str, HeardTable] = {}
        self.bad = 0
        self.trouble: str | None = None
        self.found = 0
        self.remembered: bytes | None = None
        """What the archive remembers of the proofs."""
        self._followed: dict[str, Record] = {}
        self._proofs: dict[str, proofs.Proof] = {}
        """By node; of a pair of daemons by node and key: each has a journal of its own."""
        self._vouched: list[tuple[str, str]] = []
        """Nodes and their keys, which a person has vouched for."""
        self._doubtful: list[_Doubtful] = []
        """What is to be compared anew, since a journal was changed there."""
        self._unproved: dict[str, str] = {}
        """Daemons whose file is to be asked for its hashes, and their run."""
        self._alerts: dict[str, str] = {}
        """By topic: the key of the alert that stands there."""
        self._hopeless: set[str] = set()
        """Findings of what no daemon gives any more: it is asked for once."""
        self._standing: dict[str, bytes] = {}
        """Our own alerts, by topic."""
        self._open: set[str] = set()
        """The alerts of all findings that nobody has settled, also of those not shown again."""
        self._over: list[str] = []
        """Topics of alerts that are to be taken back."""
        self._settled = 0
        """The record of the archive up to which was looked for what persons settled."""
        self._begun = 0
        """The last record of the archive at our start: what was found until then is shown."""
        self._advice: list[Record] = []
        """What statistics have found and is not shown yet."""
        self._came = 0
        self._told = -QUIET
        self._incomplete: dict[str, float] = {}
        """Tables where something may be missing, and when to look, on the monotonic clock."""
        self._log = structlog.get_logger().bind(site=settings.id)

    # What comes

    def linked(self, up: bool) -> None:
        """The connection was made or lost."""
        self._came += 1
        for table in self.tables.values():
            table.question = None
            table.wants.clear()
        if up:
            self._log.info("connected")
            self.connection.retain(self._topic("status"), self.status("online"))
            for topic, body in self._standing.items():
                self.connection.retain(topic, body)
            self.look_for_gaps()

    def hear(self, topic: str, body: bytes, retained: bool) -> None:
        """A message. Whatever it is, it counts as come until it is kept."""
        root = next((each for each in self.roots if topic.startswith(f"{each}/")), None)
        taken = Taken([], self._came)
        try:
            if root is None:
                raise BadMessageError("its topic is not of this site")
            self._take(taken, root, topic[len(root) + 1 :], body, retained)
        except BadMessageError as bad:
            self._tell_bad(topic, str(bad))
        self.taken.append(taken)
        self._wake()

    def _take(self, taken: Taken, root: str, rest: str, body: bytes, retained: bool) -> None:
        place, now = place_of(rest), utc(time.time())
        if place is None:
            raise BadMessageError("its topic has no table, node or jackpot")
        if place.of == "node" and place.owner == self.node:
            self._hear_own(f"{root}/{rest}", place, body, retained)
            return
        if place.leaf == "state" and place.of == "table":
            self._hear_state(self._table(root, place.owner), body)
            return
        if place.of == "table" and place.leaf == f"reply/{self._client}":
            self._hear_answer(taken, self._table(root, place.owner), body, now)
            return
        standing = ""
        if place.leaf.startswith("alert/"):
            standing = self._stands(rest, place, body)
        if not body and not standing and place.leaf != "event":
            return  # a retained topic that is empty
        taken.records = records(self.id, rest, body, now, standing)
        if place.leaf == "checkpoint":
            taken.kept = lambda: self._hear_checkpoint(place.owner, body)
        for each in taken.records:
            if each.kind == "event":
                table = self._table(root, each.table)
                self._reach(table, each)
                if place.leaf == "event":
                    taken.kept = partial(self._follow, table, each)

    def _hear_own(self, topic: str, place: Place, body: bytes, retained: bool) -> None:
        """Take back an alert of a former life of ours that stands no more."""
        name = place.leaf.removeprefix("alert/")
        ours = retained and body and name != place.leaf and topic == self._topic(place.leaf)
        if ours and topic not in self._standing and name not in self._open:
            self._over.append(topic)

    def _stands(self, rest: str, place: Place, body: bytes) -> str:
        """The key of the alert that stood there."""
        if body:
            self._alerts[rest] = alert_key(place, body)
            return ""
        return self._alerts.pop(rest, "")

    def _reach(self, table: HeardTable, said: Record) -> None:
        """Whether something is missing before a live event."""
        before = table.reached.get(said.boot)
        if before is None and said.type == recalls.RESTORED:
            self._hear_restored(table, said)
        elif before is None and table.reached:  # does the new run know what the one before told?
            boot, last = list(table.reached.items())[-1]
            want = recalls.Want(
                table=table.id, boot=boot, first=max(1, last - PAGE + 1), last=last, swept=True
            )
            table.checks.append(want)
            self._look_at(table)
        if before is None or said.seq > before:
            table.reached[said.boot] = said.seq
        if said.seq != (before or 0) + 1 and (before is None or said.seq > before):
            self._look_at(table)

    def _hear_restored(self, table: HeardTable, said: Record) -> None:
        """The table goes on from a backup, or from the other daemon of a pair: it knows nothing of
        what it told before this run, so none of that is compared anew.
        """
        table.checks.clear()
        table.wants = deque(want for want in table.wants if not want.swept)
        if table.question is not None and table.question.latest_subject.want not in table.wants:
            table.question = None
        try:
            if not recalls.handed_over(said):
                self._find((recalls.restored(said),))
        except (ValueError, RecursionError) as error:
            raise BadMessageError(str(error)) from None

    def _follow(self, table: HeardTable, said: Record) -> None:
        """A live event was kept."""
        before = table.followed
        if before is not None and (said.boot, said.seq) == (before.boot, before.seq + 1):
            table.followed = said

    def _hear_state(self, table: HeardTable, body: bytes) -> None:
        if not body:
            return
        before = table.state
        try:
            table.state = state = _state.decode(body)
            moment(state.time)
        except (ValueError, RecursionError) as error:
            table.state = None
            raise BadMessageError(str(error)) from None
        if before is not None and before.boot != state.boot:
            table.question = None  # who was asked is gone
        if state.seq > table.reached.get(state.boot, 0):
            self._look_at(table)

    def look_for_gaps(self) -> None:
        """Look for what is missing at every table."""
        for table in self.tables.values():
            self._look_at(table)

    def _look_at(self, table: HeardTable, after: float = OVERTAKEN) -> None:
        """Look for what is missing at a table, soon: what is under way may fill it."""
        self._incomplete.setdefault(table.id, time.monotonic() + after)

    # What is asked

    def ask(self, now: float) -> None:
        """Send what is due, ``now`` on the monotonic clock."""
        if not self.connection.up:
            return
        while self._advice:
            self.tell(self._advice.pop(0))
        while self._over:
            topic = self._over.pop()
            if topic not in self._standing:
                self.connection.retain(topic, b"")
        for table in self.tables.values():
            before = table.question
            if before is not None and before.is_waiting(now):
                continue
            table.question = None
            if table.wants:
                question = recalls.Question(want=table.wants[0])
                same = before if before is not None and before.latest_subject == question else None
                self._send(table, table.wants[0].fields(), now, question, same)
        while self._vouched:
            node, key = self._vouched.pop(0)
            if node not in self._pinned:
                self._proofs[node] = proofs.trusting(self._proofs.get(node, proofs.Proof()), key)
        for node, boot in list(self._unproved.items()):
            free = next(
                (
                    each
                    for each in self.tables.values()
                    if each.question is None and each.state is not None and each.state.boot == boot
                ),
                None,
            )
            positions = proofs.asked(self._proofs[node])
            if free is not None and positions:
                del self._unproved[node]
                fields = {"boot": boot, "from": 1, "to": 1, "limit": 1, "positions": positions}
                question = recalls.Question(node=node, marks=self._proofs[node].marks)
                self._send(free, fields, now, question)

    def _send(
        self,
        table: HeardTable,
        fields: dict[str, object],
        now: float,
        question: recalls.Question,
        before: PendingRecall[recalls.Question] | None = None,
    ) -> None:
        """Ask a table. ``before``: the recall that this repeats."""
        number = secrets.token_hex(12)
        table.question = record_attempt(before, number, question, now)
        if self._key is None or self._person is None:
            body = unsigned_recall(fields, self._client, number)
        else:
            at = int(time.time())
            body = self._key.sign(self._person, table.topic, fields, self._client, number, at)
        self.connection.send(f"{table.topic}/command/{RECALL}", body)

    def look(self, archive: Archive, now: float) -> None:
        """Ask the archive what is missing, where that is due. It runs in a thread."""
        due = [each for each, when in list(self._incomplete.items()) if when <= now]
        if not due:
            return
        for each in due:
            del self._incomplete[each]
        gaps = archive.gaps(self.id)
        doubtful, self._doubtful = self._doubtful, []
        for times in doubtful:
            self._compare(archive, times)
        for table in [self.tables[each] for each in due]:
            last = table.followed or self._first(archive, table.id)
            mine = [
                gap
                for gap in gaps
                if gap.table == table.id and recalls.missing_key(gap) not in self._hopeless
            ]
            checks, table.checks = table.checks, []
            checks += [want for want in tuple(table.wants) if want.swept]
            table.wants = deque([*recalls.wants(table.id, mine, last, table.state), *checks])

    def _compare(self, archive: Archive, doubtful: _Doubtful) -> None:
        """Have the events of these times told again, so that what was changed is named."""
        for table in list(self.tables.values()):
            if table.state is None or table.state.boot != doubtful.boot:
                continue
            query = Query(
                sites=(self.id,),
                tables=(table.id,),
                kinds=("event",),
                since=doubtful.since,
                until=doubtful.until,
                order="latest",
                limit=COMPARED,
            )
            told = [row.record for row in archive.find(query)]
            table.checks += recalls.again(table.id, told, PAGE)

    def _first(self, archive: Archive, table: str) -> Record | None:
        """Where to begin while it is not remembered how far a table was followed: at the first
        event that is here. What comes again is not kept again.
        """
        query = Query(sites=(self.id,), tables=(table,), kinds=("event",), limit=1)
        return next((row.record for row in archive.find(query)), None)

    def _hear_answer(self, taken: Taken, table: HeardTable, body: bytes, now: str) -> None:
        try:
            answer = _answer.decode(body)
            events = [event(self.id, bytes(each), now, table.id) for each in answer.events]
        except (ValueError, RecursionError) as error:
            raise BadMessageError(str(error)) from None
        taken.records = events
        asked = None if table.question is None else table.question.subject_of(answer.id)
        if asked is None:
            return
        table.question = None
        if not answer.ok:
            if self.trouble != answer.error:
                self._log.warning("a recall is refused", table=table.id, reason=answer.error)
            self.trouble = answer.error
            if asked.want is not None:
                table.wants.clear()
                self._look_at(table, RECALL_TIMEOUT_SECONDS)
            return
        self.trouble = None
        if asked.want is None:
            if answer.chain is not None:
                self._prove(asked, answer.chain, table.state.boot if table.state else "")
            return
        if table.wants and table.wants[0] == asked.want:
            table.wants.popleft()
        if asked.want.last is None and events:
            taken.kept = partial(setattr, table, "followed", events[-1])
        follows = recalls.answered(asked.want, events, table.state, now)
        table.wants.extendleft(reversed(follows.wants))
        self._find(follows.findings)
        for each in events:
            table.reached[each.boot] = max(each.seq, table.reached.get(each.boot, 0))

    def look_for_settled(self, archive: Archive) -> None:
        """Take back the alerts of findings that a person has settled, and show what statistics have
        found beside the recording. It runs in a thread.
        """
        rows = archive.find(
            Query(
                sites=(self.id,),
                kinds=("finding",),
                types=(SETTLED, *ADVICE),
                after=self._settled,
                order="number",
            )
        )
        for row in rows:
            self._settled = row.number
            if row.record.type != SETTLED:
                if row.number > self._begun and not self._stands_for(row.record):
                    self._advice.append(row.record)
                continue
            told = msgspec.json.decode(row.record.body)
            if told["what"] == KEY_CHANGED and told.get("person"):
                self._vouched.append(key_of(told["finding"]))
            name = alert_name(told["what"], told["finding"])
            self._open.discard(name)
            self._advice = [
                each for each in self._advice if alert_name(each.type, each.key) != name
            ]
            topic = self._topic(f"alert/{name}")
            if self._standing.pop(topic, None) is not None:
                self._over.append(topic)

    # What is proved

    def remember(self, archive: Archive) -> None:
        """Take up what was proved and found before."""
        self._begun = archive.newest()
        opened = open_findings(archive, (self.id,))
        self._open = {alert_name(record.type, record.key) for _, record in opened}
        for _, record in opened[-SHOWN:]:
            self.stand(record)
        kept = archive.recall(f"proofs:{self.id}")
        if kept is not None:
            remembered = msgspec.json.decode(kept, type=_Remembered)
            self._proofs, self._followed = remembered.proofs, remembered.followed

    def proved(self) -> tuple[str, bytes]:
        """What is to be remembered of it."""
        for table in self.tables.values():
            if (at := table.followed) is not None:
                self._followed[table.id] = msgspec.structs.replace(at, body=b"")
        body = _Remembered(proofs=self._proofs, followed=self._followed)
        return f"proofs:{self.id}", msgspec.json.encode(body)

    def _hear_checkpoint(self, node: str, body: bytes) -> None:
        said = read_checkpoint(body)
        if said is None:
            return
        keys = self._pinned.get(node, ())
        key = said.key if said.key in keys else next(iter(keys), None)
        name = node if len(keys) < 2 else f"{node}/{key}"
        before = self._proofs.get(name, proofs.Proof())
        if key is not None:
            before = proofs.trusting(before, key)
        proof, found = proofs.heard(before, said, node)
        if proof.key != before.key:
            self._log.warning(
                "a key is believed at first sight",
                node=node,
                key=proof.key,
                remedy="compare it with the machine of the daemon and name it in keys of [archive]",
            )
        self._proofs[name] = proof
        self._doubt(before, found, said.boot)
        self._find(found)
        self._unproved[name] = said.boot
        self._sweep(said.boot)

    def _sweep(self, boot: str) -> None:
        """Compare some events of a daemon anew after each checkpoint, round and round."""
        idle = [
            each
            for each in self.tables.values()
            if each.state is not None
            and each.state.boot == boot
            and boot in each.reached
            and not each.wants
            and each.question is None
        ]
        for table in sorted(idle, key=lambda each: each.sweeps)[:SWEPT]:
            run, first = table.swept or (boot, 1)
            reached = table.reached[boot]
            if run != boot or first > reached:
                first = 1
            last = min(first + PAGE - 1, reached)
            table.swept = (boot, last + 1)
            table.sweeps += 1
            want = recalls.Want(table=table.id, boot=boot, first=first, last=last, swept=True)
            table.wants.append(want)

    def _prove(self, asked: recalls.Question, links: tuple[proofs.Link, ...], boot: str) -> None:
        before, node = self._proofs[asked.node], asked.node.partition("/")[0]
        self._proofs[asked.node], found = proofs.answered(before, links, node, asked.marks)
        self._doubt(before, found, boot)
        self._find(found)

    def _doubt(self, proof: proofs.Proof, found: tuple[Finding, ...], boot: str) -> None:
        """Where a journal was changed, compare its events anew from the last mark that holds."""
        for each in found:
            if each.what in ("journal_rewritten", "journal_cut", "journal_rolled_back"):
                wrong = each.evidence.get("signed") or each.evidence["said"]
                holds = proofs.good(proof, wrong["position"])
                since = None if holds is None else utc(moment(holds.time) - BEFORE)
                last = proof.marks[-1].time if proof.marks else wrong["time"]
                self._doubtful.append(_Doubtful(boot, since, utc(moment(last) + 1)))
                self.look_for_gaps()

    @property
    def unvouched(self) -> list[str]:
        """Nodes whose key is believed at first sight."""
        return sorted(
            node
            for node, proof in list(self._proofs.items())
            if proof.key is not None
            and not proof.vouched
            and node.partition("/")[0] not in self._pinned
        )

    # What is found

    def differ(self, kept: Record, said: Record) -> None:
        """Something was said twice, and differently."""
        if kept.kind in ("checkpoint", "finding"):
            return  # the same position at another time; the same finding again
        event_differs = kept.kind == "event"
        found = Finding(
            what="event_differs" if event_differs else "record_differs",
            detail=(
                f"{kept.table}: event {kept.seq} of run {kept.boot} says something else than it "
                f"said at {kept.heard}. The journal was edited, or somebody else speaks for the "
                "table: keep the journal, and run `novamas verify` on it"
                if event_differs
                else f"{kept.kind} {kept.key} says something else than at {kept.heard}"
            ),
            name=f"{kept.key}:{alert_key(Place('', '', ''), said.body)}",
            evidence={"archived": shown(kept.body), "said": shown(said.body)},
            table=kept.table,
            node=kept.node,
            boot=kept.boot,
            seq=kept.seq,
        )
        self._find((found,))

    def _find(self, found: tuple[Finding, ...]) -> None:
        now = utc(time.time())
        for each in found:
            record = finding_record(each, self.id, now)
            self.taken.append(Taken([record]))
            if each.what == "events_missing":
                self._hopeless.add(record.key)
        if found:
            self._wake()

    @property
    def shown(self) -> int:
        """How many findings stand as alerts."""
        return len(self._standing.keys() - {self._stalled})

    def tell(self, record: Record) -> None:
        """A finding was kept for the first time: log it, and show it."""
        self.found += 1
        self._log.error("finding", what=record.type, detail=self.stand(record), key=record.key)

    def stand_again(self, opened: Iterable[Record], before: int) -> None:
        """Show the findings that nobody had settled when the archive had ``before`` records. Who
        settles one meanwhile is looked for from there on.
        """
        for record in opened:
            self.stand(record)
        self._settled = min(self._settled, before)

    def _stands_for(self, record: Record) -> bool:
        """Whether the alert of a finding is shown."""
        return self._topic(f"alert/{alert_name(record.type, record.key)}") in self._standing

    def stand(self, record: Record) -> str | None:
        """Show a finding as an alert from now on. Returns what it says."""
        told, topic = alert(record), self._topic(f"alert/{alert_name(record.type, record.key)}")
        self._standing[topic] = msgspec.json.encode(told)
        self.connection.retain(topic, self._standing[topic])
        self._open.add(told.alert)
        return told.detail

    @property
    def _stalled(self) -> str:
        return self._topic(f"alert/{STALLED.replace('_', '-')}")

    def stall(self, reason: str | None) -> None:
        """Show that the archive takes nothing, and why; None: it takes records again."""
        topic = self._stalled
        if reason is None:
            if self._standing.pop(topic, None) is not None:
                self.connection.retain(topic, b"")
            return
        before = self._standing.get(topic)
        raised = utc(time.time()) if before is None else _raised.decode(before).raised
        self._standing[topic] = msgspec.json.encode(stalled(reason, raised))
        self.connection.retain(topic, self._standing[topic])
        self.herald.retain(topic, self._standing[topic])

    def acknowledge(self, batch: list[Taken]) -> None:
        """What came on this connection is kept."""
        self.connection.acknowledge(sum(each.came == self._came for each in batch))

    def status(self, word: str) -> bytes:
        """What is retained of the recorder itself."""
        return msgspec.json.encode(NodeStatus(word, self._boot))

    @property
    def farewell(self) -> dict[str, bytes]:
        """What is published last."""
        return {self._topic("status"): self.status("offline")}

    def _topic(self, leaf: str) -> str:
        return f"{self.roots[0]}/node/{self.node}/{leaf}"

    def _table(self, root: str, table: str) -> HeardTable:
        if table not in self.tables:
            made = self.tables[table] = HeardTable(table, f"{root}/{table}")
            made.followed = self._followed.get(table)
            self.look_for_gaps()
        return self.tables[table]

    def _tell_bad(self, topic: str, reason: str) -> None:
        self.bad += 1
        if time.monotonic() - self._told >= QUIET:
            self._told = time.monotonic()
            self._log.warning(
                "a message cannot be read", topic=ascii(topic[:200]), reason=reason, bad=self.bad
            )
