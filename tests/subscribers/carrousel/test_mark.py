"""The quick verification at a start: what it finds, when everything is verified instead, and what
it cannot detect.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from nacl.signing import SigningKey

from common.chain.checkpoint import checkpoint_path
from common.chain.schema import ChainHead
from common.contract.times import format_utc
from subscribers.carrousel import ledger_check, since_mark, verification
from subscribers.carrousel import ledger_file as storing
from subscribers.carrousel.accounts import Posting
from subscribers.carrousel.checkpoints import signing_key
from subscribers.carrousel.mark import VerificationMark, mark_path, write_mark
from subscribers.carrousel.reading import LedgerReader, read_fact
from subscribers.carrousel.replay import Replay
from subscribers.carrousel.schema import Cursor, EntryRow, LedgerError, PostingRow
from subscribers.carrousel.self_check import check_ledger
from subscribers.carrousel.service import JackpotController
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.since_mark import find_departure
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.verification import LedgerFinding, check_chain, verify
from tests.subscribers.carrousel.coins import BEGIN, coin, stake
from tests.subscribers.carrousel.conftest import Make
from tests.subscribers.carrousel.played import evening
from tests.subscribers.carrousel.test_verification import unguarded
from tests.support.carrousel.floor import SEED, STAKE, Floor
from tests.support.waiting import TIMEOUT_SECONDS, until

RISE = STAKE * 9 // 10


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "carrousel.sqlite3"
    evening(made)
    return made


def marks(path: Path) -> list[VerificationMark]:
    """Return the mark after each entry of a ledger."""
    made, sums, replay = [], Counter[tuple[str, str]](), Replay()
    with closing(LedgerReader(path)) as file:
        for row, postings in file.entries():
            assert (
                replay.find_difference(row.position, row.jackpot, read_fact(row.fact), postings)
                is None
            )
            for posting in postings:
                sums[posting.jackpot, posting.account] += posting.amount
            made.append(
                VerificationMark(
                    ledger=file.id,
                    boot="b",
                    time=row.time,
                    position=row.position,
                    hash=row.hash.hex(),
                    states=dict(replay.states),
                    balances=tuple((*of, amount) for of, amount in sums.items()),
                )
            )
    replay.close()
    return made


def put(path: Path, mark: VerificationMark) -> None:
    """Sign a mark."""
    write_mark(mark, signing_key(path), path)


def started(path: Path) -> list[str]:
    """Return why a start verifies the whole ledger; empty if it verifies only what follows the
    mark.
    """
    whole: list[str] = []
    with closing(LedgerStore(path)) as store:
        check_ledger(store, signing_key(path), lambda _position, _of: None, whole.append)
    return whole


def refused(path: Path) -> tuple[str, bool]:
    """Return why a start is refused, and whether everything was verified."""
    whole: list[str] = []
    with closing(LedgerStore(path)) as store, pytest.raises(LedgerError) as raised:
        check_ledger(store, signing_key(path), lambda _position, _of: None, whole.append)
    return str(raised.value), bool(whole)


def test_from_every_mark_the_rest_follows(path: Path) -> None:
    made = marks(path)
    with closing(LedgerStore(path)) as store, closing(LedgerReader(path)) as file:
        assert len(made) == file.head.position > 40
        for mark in made:
            assert find_departure(file, mark, store.sums) is None, mark.position


@pytest.mark.parametrize("before", [1, 20, None])
def test_a_saved_state_that_was_changed_is_found(path: Path, before: int | None) -> None:
    put(path, marks(path)[-1 if before is None else before - 1])
    assert started(path) == []
    unguarded(
        path,
        "UPDATE saved SET state = CAST(replace(CAST(state AS TEXT), '\"receipt_count\":2', "
        "'\"receipt_count\":3') AS BLOB) WHERE jackpot = 'j'",
    )
    told, all_ = refused(path)
    assert "the saved state of j does not follow from its facts" in told
    assert all_


def test_a_saved_state_of_no_facts_is_found(path: Path) -> None:
    put(path, marks(path)[-1])
    unguarded(path, "INSERT INTO saved SELECT 'm', position, state FROM saved LIMIT 1")
    assert "the saved state of m does not" in refused(path)[0]


def test_a_posting_before_the_mark_that_was_changed_is_found(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "CHECKED_TAIL_ENTRIES", 3)
    put(path, marks(path)[-1])
    with closing(sqlite3.connect(path)) as direct:
        (position,) = direct.execute(
            "SELECT min(position) FROM posting WHERE what = 'stake'"
        ).fetchone()
    unguarded(
        path,
        "UPDATE posting SET amount = amount - 1 WHERE account = 'house' AND position = ?",
        values=(position,),
    )
    with closing(LedgerStore(path)) as store, closing(LedgerReader(path)) as file:
        found = str(find_departure(file, marks_at(path), store.sums))
    assert "the postings of house j up to entry" in found
    told, all_ = refused(path)
    assert f"entry {position}: its hash does not match" in told
    assert all_


def marks_at(path: Path) -> VerificationMark:
    """The mark beside a ledger."""
    return msgspec.json.decode(mark_path(path).read_bytes().splitlines()[0], type=VerificationMark)


def test_a_change_that_keeps_the_sums_is_found_by_the_whole_verification_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "CHECKED_TAIL_ENTRIES", 3)
    put(path, marks(path)[-1])
    unguarded(
        path,
        "UPDATE entry SET fact = CAST(replace(CAST(fact AS TEXT), 'box:1', 'box:6') AS BLOB) "
        "WHERE position = (SELECT min(position) FROM posting WHERE what = 'stake')",
    )
    assert started(path) == [], "as docs/integrator/carrousel-ledger.md says"
    assert any("its hash does not match" in str(finding) for finding in verify(path).findings)


def test_an_entry_after_the_mark_that_does_not_follow_is_found(path: Path) -> None:
    put(path, marks(path)[-1])
    with closing(LedgerStore(path)) as store:
        fact = coin(500)
        lines = (Posting("stakes", "poker-1", -100), Posting("meter", "poker-1", 100))
        wrong = replace(stake(fact), postings=lines)
        assert store.append("j", format_utc(BEGIN), fact, [wrong]) == "new"
        store.commit(store.states())
    told, all_ = refused(path)
    assert "expected from the facts: stake j" in told
    assert all_


def test_the_read_position_of_a_table_is_kept_at_the_end(path: Path) -> None:
    with closing(LedgerStore(path)) as store:
        store.commit({}, [Cursor("poker-1", b"here")])
    put(path, replace(marks(path)[-1], memories={"poker-1": "here"}))
    assert started(path) == []
    unguarded(path, "UPDATE cursor SET heard = CAST('further' AS BLOB)")
    told, all_ = refused(path)
    assert "the cursor of poker-1 was changed" in told
    assert not all_
    put(path, marks(path)[-1])
    assert started(path) == [], "killed: its last cursor is unknown"


def test_without_a_mark_that_counts_all_is_verified(path: Path) -> None:
    good = marks(path)[-1]
    (missing,) = started(path)
    assert "No such file" in missing
    put(path, replace(good, ledger="0" * 32))
    assert started(path) == ["the mark belongs to another ledger"]
    write_mark(good, SigningKey.generate(), path)
    (forged,) = started(path)
    assert "its signature is not valid for this ledger's key" in forged
    put(path, good)
    signed = mark_path(path).read_bytes()
    mark_path(path).write_bytes(signed.replace(b'"boot":"b"', b'"boot":"c"'))
    (changed,) = started(path)
    assert "its signature" in changed
    for body in (b"", b"no mark", b"{}\n00\n", signed[:-40]):
        mark_path(path).write_bytes(body)
        assert len(started(path)) == 1
    put(path, good)
    assert started(path) == []


def test_a_mark_that_is_older_than_the_tail_is_enough(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "CHECKED_TAIL_ENTRIES", 3)
    made = marks(path)
    put(path, made[9])
    assert started(path) == []
    unguarded(path, "UPDATE posting SET part = 'poker-9' WHERE position = 20 AND line = 1")
    told, all_ = refused(path)
    assert "entry 20: its hash does not match" in told
    assert all_


@pytest.mark.parametrize("how", ["cut", "rewritten"])
def test_a_ledger_that_contradicts_its_mark_is_out_of_play(path: Path, how: str) -> None:
    last = marks(path)[-1]
    put(path, replace(last, hash=last.hash if how == "cut" else "00" * 32))
    if how == "cut":
        checkpoint_path(path).unlink()
        unguarded(
            path, f"DELETE FROM entry WHERE position = {last.position}",
            f"DELETE FROM posting WHERE position = {last.position}",
        )  # fmt: skip
    told, all_ = refused(path)
    assert ("older, or was truncated" if how == "cut" else "the ledger was rewritten") in told
    assert not all_


def test_it_reports_its_progress_and_can_be_ended(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(_position: int, _of: int) -> None:
        raise InterruptedError

    monkeypatch.setattr(verification, "PROGRESS_INTERVAL_ENTRIES", 10)
    told: list[tuple[int, int]] = []
    verify(path, reached=lambda position, of: told.append((position, of)))
    with pytest.raises(InterruptedError):
        verify(path, reached=end)
    last = marks(path)[-1].position
    assert told == [(each, last) for each in range(10, last + 1, 10)]


# The running controller


def stopped(floor: Floor) -> Path:
    floor.dealer.coin("poker-1")
    floor.until("the meter", lambda state: state["value"] == SEED + RISE)
    assert floor.controller.stop() == 0
    return floor.controller.ledger


def test_a_controller_that_ended_in_order_verifies_nothing_twice(make: Make) -> None:
    floor = make()
    ledger = stopped(floor)
    mark = marks_at(ledger)
    assert mark.memories is not None
    assert mark.memories.keys() == {"poker-1", "poker-2"}
    assert verify(ledger).entries == mark.position
    assert mark.sums["linked", "meter"] == SEED + RISE
    floor.controller.start()
    floor.in_play("poker-1", "poker-2")
    assert "the whole ledger is verified" not in floor.controller.log()


def test_a_state_changed_while_the_controller_was_stopped_is_out_of_play(
    make: Make,
) -> None:
    floor = make()
    ledger = stopped(floor)
    with closing(sqlite3.connect(ledger)) as direct:
        (state,) = direct.execute("SELECT state FROM saved").fetchone()
        better = msgspec.json.decode(state)
        better["receipt_count"] = 7
        direct.execute("UPDATE saved SET state = ?", (msgspec.json.encode(better),))
        direct.commit()
    floor.controller.start()
    floor.until("not verified", lambda state: state["why"] == "not_verified")
    assert "the saved state of linked" in floor.alert("not-verified")["detail"]
    refused = floor.order("m-lasa", "jackpot.suspend")
    assert (refused["refusal"]["key"], refused["refusal"]["fields"]) == (
        "controller_out",
        {"why": "not_verified"},
    )
    assert floor.controller.stop() == 0
    with closing(sqlite3.connect(ledger)) as direct:
        (found,) = direct.execute("SELECT state FROM saved").fetchone()
    assert msgspec.json.decode(found)["receipt_count"] == 7, "it never repairs by itself"


def test_without_its_mark_it_verifies_all_and_then_resumes(make: Make) -> None:
    floor = make()
    ledger = stopped(floor)
    mark_path(ledger).unlink()
    floor.controller.start()
    floor.in_play("poker-1", "poker-2")
    assert "the whole ledger is verified" in floor.controller.log()
    assert floor.controller.stop() == 0
    assert marks_at(ledger).position == verify(ledger).entries


def test_another_program_or_configuration_is_reported(make: Make) -> None:
    floor = make()
    stopped(floor)
    floor.controller.given["clock_bound"] = 0.2
    floor.controller.start()
    assert "configuration has changed" in floor.alert("configuration-changed")["detail"]
    floor.in_play("poker-1", "poker-2")  # all that the start finds is known by then
    assert floor.subscriber.latest("jackpot/linked/alert/program-changed") is None


def test_while_the_ledger_is_verified_the_state_is_published_and_orders_are_refused(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = make()
    stopped(floor)
    through = threading.Event()
    monkeypatch.setattr(ledger_check, "check_ledger", lambda *_: through.wait(TIMEOUT_SECONDS))
    settings = msgspec.json.decode(json.dumps(floor.controller.given), type=CarrouselSettings)
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        ending = asyncio.Event()
        running.append((asyncio.get_running_loop(), ending))
        await JackpotController(settings).run(ending)

    controller = threading.Thread(target=lambda: asyncio.run(run()))
    controller.start()
    try:
        first = floor.until("under way", lambda state: state["why"] == "not_verified")
        floor.until(
            "told again",
            lambda state: state["why"] == "not_verified" and state["time"] > first["time"],
        )
        refused = floor.order("m-lasa", "jackpot.suspend")
        assert "verifying its ledger" in refused["error"]
        floor.dealer.coin("poker-1", box=2)
        through.set()
        floor.in_play("poker-1", "poker-2")
        floor.until("what it missed", lambda state: state["value"] == SEED + 2 * RISE)
    finally:
        through.set()
        loop, ending = running[0]
        loop.call_soon_threadsafe(ending.set)
        controller.join()


@pytest.mark.parametrize("marked", [True, False])
def test_a_controller_that_must_end_aborts_the_verification(
    make: Make, monkeypatch: pytest.MonkeyPatch, *, marked: bool
) -> None:
    floor = make()
    for number in range(1, 7):
        floor.dealer.coin("poker-1", box=number)
    floor.until("all are counted", lambda state: state["value"] == SEED + 6 * RISE)
    floor.controller.kill()
    if not marked:
        mark_path(floor.controller.ledger).unlink()
    entered, go_on, entries = threading.Event(), threading.Event(), list[int]()
    module = since_mark if marked else verification

    def slow(
        row: EntryRow, postings: list[PostingRow], before: ChainHead
    ) -> Iterator[LedgerFinding]:
        entries.append(row.position)
        entered.set()
        go_on.wait(TIMEOUT_SECONDS)
        return check_chain(row, postings, before)

    monkeypatch.setattr(module, "check_chain", slow)
    monkeypatch.setattr(module, "PROGRESS_INTERVAL_ENTRIES", 1)
    settings = msgspec.json.decode(json.dumps(floor.controller.given), type=CarrouselSettings)
    carrousel = JackpotController(settings)
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        ending = asyncio.Event()
        running.append((asyncio.get_running_loop(), ending))
        await carrousel.run(ending)

    controller = threading.Thread(target=lambda: asyncio.run(run()))
    controller.start()
    try:
        assert entered.wait(TIMEOUT_SECONDS)
        loop, ending = running[0]
        loop.call_soon_threadsafe(ending.set)
        until("it is ending", lambda: carrousel.status.is_ending)
    finally:
        go_on.set()
        controller.join(TIMEOUT_SECONDS)
    assert not controller.is_alive()
    assert len(entries) == 1, "of all that come after"
    assert verify(floor.controller.ledger).findings == []
    floor.controller.start()
    floor.in_play("poker-1", "poker-2")
