"""Events of a table become facts: each once, in order, without gaps, whatever the delivery."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from common.contract.notation import mark_historical
from subscribers.carrousel.facts import CaughtUp, NotWon, PlayStaked, RoundVoided, Staked, Won
from subscribers.carrousel.intake import TableIntake
from subscribers.carrousel.intake_memory import (
    IntakeMemory,
    IntakeNotice,
    IntakeResult,
    IntakeRules,
    RecallRequest,
)
from tests.support.carrousel.real_events import (
    RULES,
    TABLE,
    changed,
    recall,
    renumbered,
    script_events,
)
from tests.support.for_each import for_each

LATER = "2026-03-20T03:00:00.000000Z"
BOUND = 0.5


@cache
def played(*runs: int) -> list[bytes]:
    """A round with a jackpot bet, and one whose result is corrected."""
    return renumbered(script_events("poker-no-draw/correction"), *runs)


class Taker:
    """The intake of a table, with its results."""

    def __init__(self, journal: list[bytes], rules: IntakeRules = RULES) -> None:
        self.journal, self.intake = journal, TableIntake(TABLE, rules)
        first = msgspec.json.decode(journal[0])
        self.intake.link(first["boot"], 0, "2026-03-20T02:00:00.000000Z", None)
        self.facts: list[Any] = []
        self.notices: list[IntakeNotice] = []

    def put(self, got: IntakeResult) -> bool:
        self.facts += [fact for fact in got.facts if not isinstance(fact, CaughtUp)]
        self.notices += got.notices
        return got.ask

    def told(self, body: bytes) -> bool:
        return self.put(self.intake.on_event(body))

    def ask(self) -> RecallRequest | None:
        return self.intake.next_recall(LATER)

    def answer(self, asked: RecallRequest, limit: int = 100, known: int | None = None) -> bool:
        """Handle the reply of a journal that had this many events."""
        found = recall(self.journal[:known], asked.at.boot, asked.first, limit)
        return self.put(self.intake.on_reply(found, asked, BOUND))

    def ask_on(self, limit: int = 100) -> None:
        """Recall until nothing more arrives."""
        for _ in range(1000):
            asked = self.ask()
            if asked is None or not self.answer(asked, limit):
                return
        pytest.fail("the table is asked for ever")


def orderly(journal: list[bytes]) -> list[Any]:
    taker = Taker(journal)
    runs = 0
    for body in journal:
        if taker.told(body):
            runs += 1
            taker.ask_on()
    assert taker.notices == []
    return taker.facts


def test_a_round_with_a_correction() -> None:
    facts = orderly(played())
    assert [type(fact) for fact in facts].count(Staked) >= 1
    assert {type(fact) for fact in facts} >= {Staked, PlayStaked, Won, NotWon}
    bodies = [msgspec.json.decode(body) for body in played()]
    told = [each for each in bodies if each["type"] == "bet.placed" and each["bet"] == "jackpot"]
    staked = [fact for fact in facts if isinstance(fact, Staked)]
    assert [(fact.box, fact.amount, fact.coin) for fact in staked] == [
        (each["who"], each["amount"], "by" not in each) for each in told
    ]


@given(
    runs=st.lists(st.integers(1, 60), max_size=3),
    data=st.data(),
    limit=st.integers(1, 20),
)
def test_any_delivery_gives_the_facts_of_the_orderly_one(
    runs: list[int], data: st.DataObject, limit: int
) -> None:
    """Duplicates, losses, any order, late replies, and restarts of the controller."""
    journal = played(*runs)
    taker = Taker(journal)
    asked: list[tuple[RecallRequest, int]] = []
    told = 0
    for _ in range(data.draw(st.integers(0, 60))):
        match data.draw(st.sampled_from(["next", "some", "ask", "answer", "restart"])):
            case "next":
                told = min(len(journal), told + data.draw(st.integers(1, 12)))
                for body in journal[max(0, told - 12) : told]:
                    if data.draw(st.booleans()):
                        taker.told(body)
            case "some" if told:
                taker.told(journal[data.draw(st.integers(0, told - 1))])
            case "ask" if (question := taker.ask()) is not None:
                asked.append((question, told))
            case "answer" if asked:
                taker.answer(*asked.pop(data.draw(st.integers(0, len(asked) - 1))), known=None)
            case "restart":
                kept = msgspec.json.decode(
                    msgspec.json.encode(taker.intake.memory), type=IntakeMemory
                )
                taker.intake = TableIntake(TABLE, RULES, kept)
            case _:
                pass
    taker.ask_on(limit)
    assert taker.notices == []
    assert taker.facts == orderly(journal)
    assert taker.intake.next_recall(LATER) is not None


def test_events_from_before_the_table_was_linked_do_not_count() -> None:
    once, again = script_events("poker-no-draw/correction"), 9
    journal = renumbered([*once, *(changed(body, session=2) for body in once)], len(once), again)
    taker = Taker(journal)
    taker.intake = TableIntake(TABLE, RULES)
    before = msgspec.json.decode(journal[len(once) - 1])["time"]
    taker.intake.link("boot-1", 0, before, "EUR")
    taker.ask_on(limit=7)
    whole = orderly(journal)
    assert taker.facts == [fact for fact in whole if fact.session == 2] != whole
    assert taker.notices == []


def test_a_table_whose_run_has_no_event_yet_is_linked() -> None:
    taker = Taker(played(40))
    taker.intake = TableIntake(TABLE, RULES)
    taker.intake.link("boot-9", 0, LATER, "EUR")
    taker.ask_on(limit=7)
    assert (taker.facts, taker.notices) == ([], [])
    first = changed(played()[0], boot="boot-9", seq=1, time="2026-03-20T03:00:01.000000Z")
    taker.journal = [*played(40), first]
    taker.told(first)
    taker.ask_on()
    assert taker.notices == []
    at = taker.intake.memory.at
    assert at is not None
    assert (at.boot, at.seq) == ("boot-9", 1)


def test_two_different_events_with_one_number_are_reported() -> None:
    taker = Taker(played())
    for body in played():
        taker.told(body)
    facts = list(taker.facts)
    stake = next(body for body in played() if b'"bet":"jackpot"' in body)
    assert not taker.told(stake)
    assert not taker.told(changed(stake, historical=True))
    assert taker.notices == []
    taker.told(changed(stake, amount=400))
    assert [notice.alert for notice in taker.notices] == ["contradiction"]
    assert taker.facts == facts


def test_of_two_pending_events_that_differ_the_table_decides() -> None:
    taker = Taker(played())
    at = next(n for n, body in enumerate(played()) if b'"bet":"jackpot"' in body)
    taker.told(changed(played()[at], amount=400))
    taker.told(played()[at])
    assert [notice.alert for notice in taker.notices] == ["contradiction"]
    taker.ask_on()
    assert taker.facts == orderly(played())


def test_an_event_unknown_to_the_table_is_not_accepted() -> None:
    journal = played()
    taker = Taker(journal)
    forged = changed(journal[-1], seq=len(journal) + 5, time=LATER)
    for body in (*journal, forged):
        taker.told(body)
    taker.ask_on()
    assert [notice.alert for notice in taker.notices] == ["contradiction"]
    assert taker.facts == orderly(journal)


@pytest.mark.parametrize("restored", [10, 45])
def test_a_restored_journal_is_a_gap_until_persons_settle_it(restored: int) -> None:
    journal = played()
    taker = Taker(journal)
    for body in journal[:60]:
        taker.told(body)
    facts = list(taker.facts)
    again = [
        changed(body, boot="boot-r", seq=seq, time=f"2026-03-20T02:30:{seq:02}.000000Z")
        for seq, body in enumerate(journal[restored:60], 1)
    ]
    taker.journal = [*journal[:restored], *again]
    taker.told(again[-1])
    taker.ask_on()
    assert [notice.alert for notice in taker.notices] == ["gap"]
    assert taker.intake.memory.gap is not None
    assert "restored" in taker.intake.memory.gap
    taker.told(again[0])
    assert taker.ask() is None
    assert taker.facts == facts

    taker.intake.restart("boot-r", len(again), LATER)
    taker.ask_on()
    assert taker.facts == facts, "rounds that had begun are for persons to settle"
    assert {notice.alert for notice in taker.notices[1:]} <= {"refused"}
    stake = next(body for body in journal if b'"bet":"jackpot"' in body)
    new = changed(stake, boot="boot-r", seq=len(again) + 1, round=9, time=LATER)
    taker.told(new)
    assert [type(fact) for fact in taker.facts[len(facts) :]] == [Staked]


def restored(boot: str, **fields: Any) -> bytes:
    """Return the first event of a run that was restored from a backup, or taken over from another
    daemon.
    """
    told = {"since": "2026-03-20T02:11:00.000000Z", "restored": LATER, "source": "other_daemon"}
    return changed(
        played()[0], type="journal.restored", boot=boot, seq=1, time=LATER, **{**told, **fields}
    )


@pytest.mark.parametrize("received", [40, 58])
def test_events_of_another_daemon_in_between_are_a_gap_until_persons_settle_it(
    received: int,
) -> None:
    """The table continues on the daemon it was last received from, whose journal also has the
    events it had not published.
    """
    journal = played()
    taker = Taker(journal[:received])
    taker.ask_on()
    taker.journal = [*journal, restored("boot-r")]
    taker.told(taker.journal[-1])
    taker.ask_on()
    assert [notice.alert for notice in taker.notices] == ["gap"]
    at = taker.intake.memory.at
    assert at is not None
    assert (at.boot, at.seq) == ("boot-0", len(journal)), "earlier knowledge is applied first"
    assert f"from the other daemon of its pair at {LATER}" in taker.notices[0].detail
    facts = list(taker.facts)
    assert facts == orderly(journal)

    stake = next(body for body in journal if b'"bet":"jackpot"' in body)
    taker.journal.append(changed(stake, boot="boot-r", seq=2, session=9, time=LATER))
    taker.intake.restart("boot-r", 2, LATER)
    taker.ask_on()
    for late in journal:
        assert not taker.told(mark_historical(late))
    assert [notice.alert for notice in taker.notices] == ["gap"]
    assert [type(fact) for fact in taker.facts[len(facts) :]] == [Staked]


@pytest.mark.parametrize("fields", [{"source": "backup"}, {"since": 7}, {"source": None}])
def test_a_run_restored_from_a_backup_is_a_gap(fields: dict[str, Any]) -> None:
    """Even if the event has no details."""
    journal = played()
    taker = Taker([*journal, restored("boot-r", **fields)])
    taker.ask_on()
    assert [notice.alert for notice in taker.notices] == ["gap"]
    assert "was restored from a backup" in taker.notices[0].detail
    assert taker.facts == orderly(journal)


def test_a_table_without_its_own_run_is_a_gap_again() -> None:
    taker = Taker(played())
    taker.intake.restart("boot-7", 12, LATER)
    taker.ask_on()
    assert [notice.alert for notice in taker.notices] == ["gap"]
    assert taker.facts == []


def test_events_that_the_journal_no_longer_has_are_a_gap() -> None:
    taker = Taker(played())
    for body in played()[:20]:
        taker.told(body)
    taker.journal = played()[25:]
    taker.ask_on()
    assert [notice.alert for notice in taker.notices] == ["gap"]
    taker = Taker(played())
    for body in played()[:20]:
        taker.told(body)
    taker.journal = played()[20:]
    taker.ask_on()
    assert taker.notices == []
    assert taker.facts == orderly(played())


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("bet.placed", {"amount": 0}, "a stake of no amount at box:"),
    ("bet.placed", {"amount": None}, "a stake of no amount at box:"),
    ("bet.placed", {"amount": -100}, "amount"),
    ("bet.placed", {"amount": "100"}, "amount"),
    ("bet.placed", {"decree": "ARA02"}, "under ARA02; EUS96 is authorised"),
    ("bet.placed", {"game": "poker-draw-house"}, "authorised: poker-no-draw"),
    ("bet.placed", {"simulated": True}, "of a simulated table"),
    ("bet.placed", {"session": None}, "session"),
    ("bet.placed", {"round": -1}, "round"),
    ("award.qualified", {"share": [0, 10]}, "share"),
    ("award.qualified", {"share": [1, 0]}, "share"),
    ("award.qualified", {"time_bound": -1}, "time_bound"),
    ("jackpot.staked", {"amount": -5}, "amount"),
]


@pytest.mark.parametrize("bound", [2.5, None])
def test_an_award_has_the_bound_of_its_time(bound: float | None) -> None:
    journal = list(played())
    at = next(n for n, body in enumerate(journal) if b'"type":"award.qualified"' in body)
    journal[at] = msgspec.json.encode({**msgspec.json.decode(journal[at]), "time_bound": bound})
    won = [fact for fact in orderly(journal) if isinstance(fact, Won)]
    assert [each.time_bound for each in won] == [bound, *[0.0] * (len(won) - 1)]


@for_each(("kind", "fields", "words"), WRONG)
def test_an_unauthorised_event_is_refused_and_reported(
    kind: str, fields: dict[str, Any], words: str
) -> None:
    journal = list(played())
    at = next(n for n, body in enumerate(journal) if f'"type":"{kind}"'.encode() in body)
    right = [fact for fact in orderly(journal) if fact.cause.seq == at + 1]
    assert len(right) == 1
    journal[at] = changed(journal[at], **fields)
    taker = Taker(journal)
    for body in journal[: at + 1]:
        taker.told(body)
    assert right[0] not in taker.facts
    assert [fact for fact in taker.facts if fact.cause.seq == at + 1] == []
    assert [notice.alert for notice in taker.notices] == ["refused"]
    assert f"{kind} boot-0 {at + 1}: " in taker.notices[0].detail
    assert words in taker.notices[0].detail


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (replace(RULES, tables=("poker-2",)), "the table is not authorised"),
        (replace(RULES, currency="GBP"), "in EUR; the jackpot is in GBP"),
        (replace(RULES, simulated=True), "of a table that is not simulated"),
    ],
)
def test_other_terms_accept_nothing_of_the_table(rules: IntakeRules, words: str) -> None:
    taker = Taker(played(), rules)
    for body in played():
        taker.told(body)
    assert taker.facts == []
    assert all(notice.alert == "refused" for notice in taker.notices)
    assert any(words in notice.detail for notice in taker.notices)


@given(st.binary(max_size=200) | st.sampled_from(played()).map(lambda body: body[:-9]))
def test_garbage_is_no_event(body: bytes) -> None:
    taker = Taker(played())
    taker.told(body)
    assert taker.facts == []
    assert [notice.alert for notice in taker.notices] == ["refused"]


def test_a_void_round_gives_its_stakes_back() -> None:
    stake = next(body for body in played() if b'"bet":"jackpot"' in body)
    event = msgspec.json.decode(stake)
    void = {
        **{key: event[key] for key in ("site", "table", "game", "decree", "boot", "session")},
        "type": "round.void",
        "reason": "misdeal",
        "law": "x",
        "article": "x",
        "last_number": None,
        "time": event["time"],
        "seq": 2,
        "round": event["round"],
    }
    taker = Taker([changed(stake, seq=1), msgspec.json.encode(void)])
    for body in taker.journal:
        taker.told(body)
    assert [type(fact) for fact in taker.facts] == [Staked, RoundVoided]
    taker.told(msgspec.json.encode({**void, "seq": 3, "round": 44}))
    assert len(taker.facts) == 2


def test_a_reply_states_until_when_everything_is_known() -> None:
    intake = TableIntake(TABLE, RULES)
    intake.link("boot-0", 0, "2026-03-20T02:00:00.000000Z", None)
    asked = intake.next_recall(LATER)
    assert asked is not None
    got = intake.on_reply(played()[:3], asked, BOUND)
    last = msgspec.json.decode(played()[2])["time"]
    assert got.facts[-1] == CaughtUp(table=TABLE, time=last)
    assert got.ask
    asked = intake.next_recall(LATER)
    assert asked is not None
    got = intake.on_reply([], asked, BOUND)
    assert got.facts == [CaughtUp(table=TABLE, time="2026-03-20T02:59:59.500000Z")]
    assert not got.ask
