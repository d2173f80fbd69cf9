"""The lease of a pair: whatever is lost, late, frozen or killed, and although clocks differ, no two
daemons may serve at once.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from nacl.signing import SigningKey

from common.contract.node import Checkpoint
from common.standby.lease import (
    GRACE_LEASES,
    MAX_GRACE_LEASES,
    MAX_RETAKES,
    MAX_SHORT_GRACE_YIELDS,
    RENEWALS_PER_LEASE,
    SERVING_SHARE,
    SETTLED_LEASES,
    STAND_BACK_LEASES,
    STEADY_LEASES,
    HeldLease,
    OwnIdentity,
    WaitingState,
    claim_record,
    continues,
    free_at,
    grace_seconds,
    held_after_claim,
    held_after_renewal,
    held_after_reread,
    observe,
    release_of_dead_run,
    renewal_record,
)
from common.standby.record import (
    MAX_NUMBER,
    MAX_TEXT_CHARACTERS,
    LeaseRecord,
    hand_over_of,
    read_record,
)
from common.standby.seal import FORMAT_LINE, StructSigner
from common.standby.statements import START
from tests.conftest import cases

NOW = "2026-11-23T20:00:00.000000Z"
LEASE_SECONDS = 10.0
OWN = OwnIdentity(instance="north", boot="b1", journal="j1", machine="m1")
RESTORE_POINT = Checkpoint(journal="j1", boot="b1", time=NOW, position=7, hash="9a")


class Store:
    """What NATS guarantees: a record is replaced only by a client that knows its revision."""

    def __init__(self) -> None:
        self.revision = 0
        self.record: LeaseRecord | None = None
        self.history: list[LeaseRecord] = []
        self.coming: list[tuple[Request, Member]] = []

    def take(self, now: float) -> None:
        """Apply everything that has arrived by now, also requests that no daemon waits for any
        more.
        """
        for request, asker in sorted(self.coming, key=lambda each: each[0].arrives):
            if request.arrives > now:
                break
            self.coming.remove((request, asker))
            if request.record is None:
                answer = Answer(request.answered, self.revision, self.record)
            else:
                revision = self.replace(request.record, request.last)
                answer = Answer(request.answered, revision, request.record)
            if asker.asked is request:
                asker.answer = answer

    def replace(self, record: LeaseRecord, last: int) -> int | None:
        if last != self.revision:
            return None
        self.revision, self.record = self.revision + 1, record
        self.history.append(record)
        return self.revision


class Request(NamedTuple):
    """A request in flight; ``record``: to be written, None: it reads. ``sent``: by the sender's
    clock; ``arrives`` and ``answered``: in true time, infinite if it is lost.
    """

    record: LeaseRecord | None
    last: int
    sent: float
    arrives: float
    answered: float


class Answer(NamedTuple):
    at: float
    revision: int | None
    record: LeaseRecord | None


class Fault(NamedTuple):
    """A fault of a member from ``begins`` for ``lasts``."""

    begins: float
    member: int
    what: str
    lasts: float


class Member:
    """A daemon, with a clock of its own."""

    def __init__(self, number: int, rate: float, store: Store) -> None:
        self.rate, self.ahead, self.store = rate, 1000.0 * number, store
        self.name, self.term, self.boots = f"n{number}", 0, 0
        self.begin()

    def begin(self) -> None:
        """A new process. The previous one has ended: the journal was locked."""
        self.boots += 1
        name = self.name
        self.own = OwnIdentity(
            instance=name, boot=f"{name}-{self.boots}", journal=name, machine=name, term=self.term
        )
        self.waiting = WaitingState(own=self.own, lease=LEASE_SECONDS)
        self.held: HeldLease | None = None
        self.asked: Request | None = None
        self.answer: Answer | None = None
        self.next = 0.0

    def clock(self, now: float) -> float:
        return self.ahead + now * self.rate

    def may_serve(self, now: float) -> bool:
        return self.held is not None and self.clock(now) < self.held.serve_until

    def act(self, now: float, faults: set[str], late: float) -> None:
        """Do the work that is due: send, handle a reply, or stop waiting for it."""
        clock = self.clock(now)
        if self.held is not None and clock >= self.held.serve_until:
            self.begin()  # the fence
        if self.asked is not None:
            if self.answer is not None and now >= self.answer.at:
                self.on_reply(self.asked, self.answer, clock)
            elif clock >= self.asked.sent + LEASE_SECONDS / 6:
                self.asked = self.answer = None
                self.look_again()
        if self.asked is None and clock >= self.next:
            self.ask(now, faults, late)

    def ask(self, now: float, faults: set[str], late: float) -> None:
        clock = self.clock(now)
        arrives = math.inf if "requests lost" in faults else now + late
        answered = math.inf if "answers lost" in faults else arrives + late
        free = free_at(self.waiting)
        record, last = None, 0
        self.next = clock + LEASE_SECONDS / 20
        if self.held is not None:
            record = replace(renewal_record(self.held, NOW, {}, {}), checkpoint=RESTORE_POINT)
            last = self.held.revision
            self.next = clock + LEASE_SECONDS / RENEWALS_PER_LEASE
        elif free is not None and clock >= free:
            assert self.waiting.revision is not None
            record, last = claim_record(self.waiting, NOW), self.waiting.revision
        self.asked = Request(record, last, clock, arrives, answered)
        self.store.coming.append((self.asked, self))

    def look_again(self) -> None:
        if self.held is None:
            return
        again = held_after_reread(self.held, self.store.revision, self.store.record)
        if again is None:
            self.begin()
        else:
            self.held = again

    def on_reply(self, asked: Request, answer: Answer, clock: float) -> None:
        self.asked = self.answer = None
        if asked.record is None:
            assert answer.revision is not None
            self.waiting = observe(self.waiting, answer.revision, answer.record, clock)
            self.next = clock if free_at(self.waiting) == clock else self.next
        elif answer.revision is None:
            self.look_again()
        elif self.held is None:
            self.held = held_after_claim(asked.record, answer.revision, asked.sent)
            self.check_unbroken(asked.record)
            self.next = clock
        else:
            self.held = held_after_renewal(self.held, asked.record, answer.revision, asked.sent)
            self.term = self.held.record.term  # its journal knows by now

    def check_unbroken(self, record: LeaseRecord) -> None:
        """An ordinary restart only where no other daemon had the lease."""
        if record.first <= self.own.term:
            since = [each for each in self.store.history if each.term >= self.own.term]
            assert {each.journal for each in since} == {self.name}


FAULTS = st.lists(
    st.builds(
        Fault,
        st.integers(8, 80),
        st.integers(0, 2),
        st.sampled_from(["frozen", "slow", "answers lost", "requests lost", "killed"]),
        st.sampled_from([0.1, 1.0, 2.4, 5.0, 7.9, 8.2, 9.8, 10.4, 19.0]),
    ),
    max_size=10,
)
RATES = st.lists(st.floats(0.99, 1.01), min_size=3, max_size=3)


@settings(max_examples=cases(60, 10_000))
@given(rates=RATES, faults=FAULTS, late=st.sampled_from([0.0, 0.1, 1.0, 1.6, 3.0, 9.0]))
def test_no_two_may_serve_at_once(rates: list[float], faults: list[Fault], late: float) -> None:
    """Three that contend, each at its own pace and by its own clock: frozen, killed, their requests
    and replies lost or delayed.
    """
    store = Store()
    members = [Member(number, rate, store) for number, rate in enumerate(rates)]
    served = set()
    for step in range(1000):
        now = step / 10
        store.take(now)
        for number, one in enumerate(members):
            mine = [each for each in faults if each.member == number]
            if any(each.what == "killed" and each.begins == now for each in mine):
                one.begin()
            there = {each.what for each in mine if each.begins <= now < each.begins + each.lasts}
            if "frozen" not in there:
                one.act(now, there, late if "slow" in there else 0.0)
        serving = [each.name for each in members if each.may_serve(now)]
        assert len(serving) <= 1, serving
        served.update(serving)
    assert served
    terms = [each.term for each in store.history]
    assert terms == sorted(terms)


@given(
    rate=st.floats(0.99, 1.01),
    killed=st.floats(0, LEASE_SECONDS / RENEWALS_PER_LEASE),
    look=st.floats(0, LEASE_SECONDS / 20),
    answer=st.floats(0, LEASE_SECONDS / 6),
)
def test_the_other_takes_over_within_two_leases(
    rate: float, killed: float, look: float, answer: float
) -> None:
    """The owner renews at 0 and dies; the store answers in time."""
    record = replace(
        claim_record(WaitingState(own=OWN, lease=LEASE_SECONDS), NOW), checkpoint=RESTORE_POINT
    )
    waiting = WaitingState(own=replace(OWN, instance="south", journal="j2"), lease=LEASE_SECONDS)
    now, serves = killed + look, -1.0
    while serves < 0:
        waiting = observe(waiting, 1, record, (now + answer) * rate)
        now += answer
        free = free_at(waiting)
        assert free is not None
        if now * rate >= free:
            serves = now + answer
        now += LEASE_SECONDS / 20
    assert serves - killed <= 2 * LEASE_SECONDS
    assert serves > SERVING_SHARE * LEASE_SECONDS


def waiting_for(record: LeaseRecord | None, own: OwnIdentity = OWN, **more: Any) -> WaitingState:
    waiting = WaitingState(own=own, lease=LEASE_SECONDS, **more)
    return observe(waiting, 0 if record is None else 5, record, 100.0)


def held_by(**more: Any) -> LeaseRecord:
    record = LeaseRecord(
        instance="south",
        boot="b2",
        journal="j2",
        machine="m2",
        term=4,
        first=3,
        lease=LEASE_SECONDS,
        since=NOW,
        renewed=NOW,
        checkpoint=RESTORE_POINT,
    )
    return msgspec.convert({**msgspec.structs.asdict(record), **more}, LeaseRecord)


def test_an_empty_store_means_waiting_too() -> None:
    """The store may have been emptied while another serves."""
    assert free_at(WaitingState(own=OWN, lease=LEASE_SECONDS)) is None
    assert free_at(waiting_for(None)) == 100.0 + LEASE_SECONDS
    first = claim_record(waiting_for(None), NOW)
    assert (first.term, first.first, first.handed) == (1, 1, None)


def test_a_store_that_has_lost_the_record_is_reported_as_such() -> None:
    known = replace(OWN, term=9, last_written=NOW)
    record = claim_record(waiting_for(None, known), NOW)
    assert record.term == 10
    assert record.handed is not None
    assert (record.handed.forgotten, record.handed.since) == (True, NOW)


def test_a_released_lease_is_taken_at_once() -> None:
    assert free_at(waiting_for(held_by(released=True))) == 100.0
    assert free_at(waiting_for(held_by())) == 100.0 + LEASE_SECONDS


def test_a_longer_lease_of_the_other_is_respected() -> None:
    assert free_at(waiting_for(held_by(lease=60.0))) == 160.0


def test_a_lower_term_than_was_seen_is_respected_whatever_its_content() -> None:
    for record in (held_by(released=True), held_by(journal="j1", machine="m1")):
        assert free_at(waiting_for(record, highest=6)) == 100.0 + LEASE_SECONDS
    assert claim_record(waiting_for(held_by(), highest=6), NOW).term == 7


def test_a_copied_journal_on_another_machine_waits() -> None:
    assert free_at(waiting_for(held_by(journal="j1", machine="m1"))) == 100.0
    assert free_at(waiting_for(held_by(journal="j1", machine="m9"))) == 100.0 + LEASE_SECONDS


def test_its_own_earlier_run_is_no_hand_over() -> None:
    own = replace(OWN, term=4)
    mine = held_by(instance="north", journal="j1", machine="m1", sessions={"t1": 6})
    assert continues(own, mine)
    record = claim_record(waiting_for(mine, own), NOW)
    assert (record.term, record.first, record.handed) == (5, 3, None)
    assert record.sessions == {"t1": 6}


def test_a_journal_that_does_not_know_its_term_is_handed_over_to() -> None:
    """The process died after it took the lease and before its journal recorded it, or an older
    journal was put in its place.
    """
    mine = held_by(instance="north", journal="j1", machine="m1", first=4)
    for known in (0, 2, 5):
        assert not continues(replace(OWN, term=known), mine)
        record = claim_record(waiting_for(mine, replace(OWN, term=known)), NOW)
        assert record.first == record.term
        assert record.handed is not None


def test_a_term_that_published_nothing_hands_over_the_numbers_it_got() -> None:
    before = hand_over_of(held_by(sessions={"t1": 6, "t2": 2}, readings={"t2": 700}))
    idle = held_by(checkpoint=None, handed=before, sessions={"t1": 7}, term=5)
    handed = hand_over_of(idle)
    assert (handed.term, handed.journal, handed.checkpoint) == (4, "j2", RESTORE_POINT)
    assert handed.sessions == {"t1": 7, "t2": 2}
    assert handed.readings == {"t2": 700}


def test_a_renewal_extends_the_right_from_before_it_was_sent() -> None:
    held = held_after_claim(claim_record(waiting_for(None), NOW), 1, 50.0)
    assert held.serve_until == 50.0 + SERVING_SHARE * LEASE_SECONDS
    later = held_after_renewal(held, renewal_record(held, NOW, {"t1": 3}, {}), 2, 52.0)
    assert later.serve_until == 52.0 + SERVING_SHARE * LEASE_SECONDS
    assert renewal_record(later, NOW, {"t1": 2}, {"t1": 1}).sessions == {"t1": 3}


def test_a_missing_reply_extends_nothing() -> None:
    held = held_after_claim(claim_record(waiting_for(None), NOW), 1, 50.0)
    again = held_after_reread(held, 2, replace(held.record, renewed="later"))
    assert again is not None
    assert (again.revision, again.serve_until) == (2, held.serve_until)
    assert held_after_reread(held, 3, held_by()) is None
    assert held_after_reread(held, 0, None) is None
    assert held_after_reread(held, 3, replace(held.record, term=9)) is None


KEY = SigningKey.generate()
SEAL = StructSigner("palma/pit-1", lambda: KEY)


def test_a_record_is_read_unchanged_or_not_at_all() -> None:
    record = SEAL.sign(held_by(sessions={"t1": 6}, handed=hand_over_of(held_by())))
    body = msgspec.json.encode(record)
    assert read_record(body, SEAL) == record
    wrong = (
        {"term": -1},
        {"lease": 0},
        {"lease": 1e9},
        {"term": "4"},
        {"checkpoint": 3},
        {"renewed": "soon"},
    )
    for each in wrong:
        assert read_record(json.dumps({**json.loads(body), **each}).encode(), SEAL) is None
    assert read_record(b"[" * 100_000, SEAL) is None


def test_a_record_that_a_journal_cannot_store_is_invalid() -> None:
    """Also where a daemon signed it: numbers continue beyond it, and all of it is stored."""
    beyond = MAX_NUMBER + 1
    before, point = hand_over_of(held_by()), msgspec.structs.asdict(RESTORE_POINT)
    wrong: tuple[dict[str, Any], ...] = (
        *({"term": number} for number in (beyond, 2**53, 2**63 - 1, 2**64)),
        *({"sessions": {"r1": number}} for number in (beyond, 2**63 - 1, 2**64)),
        {"readings": {"r1": beyond}},
        {"instance": "n" * (MAX_TEXT_CHARACTERS + 1)},
        {"since": "2026-11-23T20:00:00.000000Z" + " " * MAX_TEXT_CHARACTERS},
        {"checkpoint": point | {"position": 2**63}},
        {"checkpoint": point | {"hash": "9" * (MAX_TEXT_CHARACTERS + 1)}},
        {"handed": replace(before, term=beyond)},
        {"handed": replace(before, sessions={"r1": beyond})},
        {"handed": replace(before, journal="j" * (MAX_TEXT_CHARACTERS + 1))},
        {"handed": replace(before, checkpoint=replace(RESTORE_POINT, position=-1))},
    )
    for each in wrong:
        plain = msgspec.json.decode(msgspec.json.encode(held_by()))
        forged = msgspec.json.encode(plain | each)
        public = KEY.verify_key.encode().hex()
        named = msgspec.json.encode(msgspec.json.decode(forged) | {"key": public})
        text = FORMAT_LINE + b"palma/pit-1\n" + named
        signature = KEY.sign(text).signature.hex()
        signed = msgspec.json.decode(named) | {"signature": signature}
        assert read_record(msgspec.json.encode(signed), SEAL) is None, each
    assert claim_record(waiting_for(held_by(term=MAX_NUMBER - 1)), NOW).term == MAX_NUMBER


def test_an_unsigned_or_changed_record_is_invalid() -> None:
    other = SigningKey.generate()
    trusted = (KEY.verify_key.encode().hex(), other.verify_key.encode().hex())
    both = StructSigner("palma/pit-1", lambda: KEY, trusted)
    record = held_by(handed=hand_over_of(held_by()))
    for seal, believes in (
        (SEAL, True),  # any key, where none is named
        (both, True),
        (StructSigner("palma/pit-1", lambda: KEY, trusted[:1]), False),
        (StructSigner("palma/pit-2", lambda: KEY), False),  # of another node
    ):
        by_other = StructSigner("palma/pit-1", lambda: other).sign(record)
        assert (read_record(msgspec.json.encode(by_other), seal) is not None) is believes
    assert read_record(msgspec.json.encode(record), SEAL) is None
    mute = StructSigner("palma/pit-1", lambda: None)
    assert read_record(msgspec.json.encode(mute.sign(record)), SEAL) is None
    signed = msgspec.json.decode(msgspec.json.encode(SEAL.sign(record)))
    changed: dict[str, Any] = {
        "instance": "ghost",
        "term": 5,
        "journal": "j9",
        "lease": 300.0,
        "released": True,
        "sessions": {"r1": 7},
        "key": other.verify_key.encode().hex(),
        "signature": None,
        "trouble": "x",
    }
    for field, value in changed.items():
        body = msgspec.json.encode(signed | {field: value})
        assert read_record(body, SEAL) is None, field


def test_a_daemon_that_could_not_serve_leaves_the_tables_to_one_that_can() -> None:
    mine = {"instance": "north", "journal": "j1", "machine": "m1"}
    other = {"released": True, "trouble": "no broker"}
    journal, broker = ("journal",), ("broker",)
    at_once, one, back = 100.0, 100.0 + LEASE_SECONDS, 100.0 + STAND_BACK_LEASES * LEASE_SECONDS
    rows: tuple[tuple[dict[str, Any], tuple[str, ...], bool, float], ...] = (
        (other, (), True, at_once),  # released by the other
        (other, broker, False, back),
        (other, (START,), False, at_once),  # both have failed, and either may be cured
        ({}, (START,), False, back),
        ({}, (), True, one),
        ({}, broker, True, back),
        (mine, (), True, at_once),  # its own, as after any restart
        (mine | {"again": MAX_RETAKES - 1}, (), True, at_once),
        (mine | {"again": MAX_RETAKES}, (), True, back),  # again and again
        (mine | {"again": MAX_RETAKES}, (), False, one),
        (mine | other, (), True, back),  # it failed
        (mine | other, (), False, one),  # there is no other
        (mine, broker, False, at_once),
        (mine, broker, True, back),
        (mine, journal, True, back),
    )
    for more, troubles, rival, free in rows:
        assert free_at(waiting_for(held_by(**more)), troubles, rival=rival) == free, more
    assert free_at(waiting_for(None), broker) == back + LEASE_SECONDS


def test_each_retake_counts_until_the_daemon_was_steady() -> None:
    mine = held_by(instance="north", journal="j1", machine="m1", again=1, yields=2)
    again = claim_record(waiting_for(mine), NOW)
    assert (again.again, again.yields) == (2, 2)
    held = held_after_claim(again, 6, 50.0)
    assert renewal_record(held, NOW, {}, {}).again == 2
    for able, counts in ((0.9, (2, 2)), (SETTLED_LEASES, (2, 0)), (STEADY_LEASES, (0, 0))):
        later = renewal_record(held, NOW, {}, {}, able_leases=able)
        assert (later.again, later.yields) == counts
    assert claim_record(waiting_for(held_by(again=2, yields=1)), NOW).again == 0


def test_a_daemon_that_died_again_releases_the_lease_of_its_earlier_run() -> None:
    """So that another one need not wait until it ends. Its own next run waits for the other one."""
    mine = {"instance": "north", "journal": "j1", "machine": "m1", "again": MAX_RETAKES}
    released = release_of_dead_run(waiting_for(held_by(**mine)))
    assert released is not None
    assert released == replace(held_by(**mine), released=True, trouble=released.trouble)
    other = replace(OWN, instance="south", journal="j9", machine="m9")
    assert free_at(waiting_for(released, other)) == 100.0
    assert free_at(waiting_for(released)) == 100.0 + LEASE_SECONDS
    for more in (
        {"again": MAX_RETAKES - 1},
        {"released": True},
        {"machine": "m9"},
        {"journal": "j9"},
    ):
        assert release_of_dead_run(waiting_for(held_by(**(mine | more)))) is None, more
    assert release_of_dead_run(waiting_for(held_by(**mine), highest=6)) is None
    # it may have ended because neither daemon reached the store
    without_store = waiting_for(held_by(**mine), store_was_away=True)
    assert release_of_dead_run(without_store) is None
    assert free_at(without_store, rival=True) == 100.0
    assert release_of_dead_run(waiting_for(None)) is None


def test_tables_that_change_back_and_forth_do_so_less_and_less_often() -> None:
    waits = [grace_seconds(held_by(yields=times)) / LEASE_SECONDS for times in range(12)]
    assert waits[:MAX_SHORT_GRACE_YIELDS] == [GRACE_LEASES] * MAX_SHORT_GRACE_YIELDS
    assert waits == sorted(waits)
    assert waits[MAX_SHORT_GRACE_YIELDS] == 4 * GRACE_LEASES
    assert waits[-1] == MAX_GRACE_LEASES
