"""The ledger file: what it accepts, what it refuses, and what is there after a kill."""

from __future__ import annotations

import random
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from common.chain import checkpoint
from common.contract.jackpot import AwardPay
from common.contract.times import format_utc
from subscribers.carrousel.accounts import Cause, Posting, Transaction
from subscribers.carrousel.facts import OrderGiven
from subscribers.carrousel.reading import LedgerReader, find_broken_entry
from subscribers.carrousel.schema import Cursor, LedgerError, is_next_entry
from subscribers.carrousel.store import LedgerNotStoredError, LedgerStore
from tests.subscribers.carrousel.coins import BEGIN, at, coin, put, stake
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "carrousel.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[LedgerStore]:
    with closing(LedgerStore(path)) as made:
        yield made


def sound(path: Path) -> int:
    """Return the number of entries of a ledger whose chain is intact."""
    with closing(LedgerReader(path)) as reading:
        assert find_broken_entry(reading.connection, reading.genesis, reading.head.position) is None
        return reading.head.position


def test_what_is_committed_is_there_when_it_is_opened_again(path: Path, store: LedgerStore) -> None:
    for number in range(1, 6):
        assert put(store, number) == "new"
    cursor = Cursor("poker-1", b"b1 5 d")
    head = store.commit({"j": b"{}"}, [cursor])
    put(store, 6)
    store.close()
    again = LedgerStore(path)
    assert again.head == head
    assert again.head.position == 5
    assert again.states() == {"j": b"{}"}
    assert again.cursors() == {"poker-1": cursor}
    assert again.balance("j") == 450
    again.close()
    assert sound(path) == 5
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_nothing_counts_for_others_before_the_commit(path: Path, store: LedgerStore) -> None:
    put(store, 1)
    assert store.balance("j") == 90
    assert sound(path) == 0
    store.commit()
    assert sound(path) == 1


def test_a_rolled_back_entry_leaves_no_trace(store: LedgerStore) -> None:
    put(store, 1)
    store.commit()
    put(store, 2)
    store.rollback()
    assert store.balance("j") == 90
    assert store.head.position == 1
    assert put(store, 2) == "new"


def test_an_event_counts_once(store: LedgerStore) -> None:
    put(store, 1)
    for _ in range(2):
        before = store.head
        assert put(store, 1) == "same"
        other = coin(1, amount=200)
        assert store.known(other, "j") == "contradiction"
        assert store.append("j", format_utc(BEGIN), other, [stake(other)]) == "contradiction"
        assert put(store, 1, jackpot="k") == "contradiction"
        assert store.head == before
        assert store.balance("j") == 90
        store.commit()


def test_the_index_refuses_an_event_twice_even_of_another_writer(
    path: Path, store: LedgerStore
) -> None:
    put(store, 1)
    store.commit()
    store.close()
    with closing(sqlite3.connect(path)) as direct, pytest.raises(sqlite3.IntegrityError):
        direct.execute("INSERT INTO entry SELECT 2, time, jackpot, cause_time, cause_table,"
                       " cause_boot, cause_seq, fact, previous, hash FROM entry")  # fmt: skip


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET time = ''",
        "DELETE FROM entry",
        "UPDATE posting SET amount = 0",
        "DELETE FROM posting",
        "UPDATE meta SET value = ''",
        "DELETE FROM meta",
        (
            "INSERT INTO entry SELECT 4, time, jackpot, null, null, null, null, fact, previous,"
            " hash FROM entry WHERE position = 1"
        ),
        (
            "INSERT OR REPLACE INTO entry SELECT position, '', jackpot, null, null, null, null,"
            " fact, previous, hash FROM entry WHERE position = 1"
        ),
        (
            "INSERT INTO posting SELECT position, 9, txn, what, jackpot, account, part, amount,"
            " at_time, at_table, at_boot, at_seq, null, null, null, null FROM posting LIMIT 1"
        ),
    ],
)
def test_the_file_refuses_to_change_what_is_written(
    path: Path, store: LedgerStore, statement: str
) -> None:
    put(store, 1)
    put(store, 2)
    store.commit()
    with closing(sqlite3.connect(path)) as direct, pytest.raises(sqlite3.IntegrityError):
        direct.execute(statement)


def test_two_controllers_never_write_one_ledger(path: Path, store: LedgerStore) -> None:
    with pytest.raises(LedgerError, match="another controller uses this ledger"):
        LedgerStore(path)
    assert put(store, 1) == "new"


def test_an_order_has_no_event_and_may_be_given_twice(store: LedgerStore) -> None:
    order = OrderGiven(
        time=format_utc(BEGIN),
        order=AwardPay(paid=0, by="Ane", role="director", award=1, amount=5),
        signed=(),
    )
    for _ in range(2):
        assert store.append("j", format_utc(BEGIN), order, []) == "new"
    assert store.head.position == 2


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["", "a", "b"]), st.integers(-500, 500)),
        max_size=25,
    ),
    st.data(),
)
def test_the_meter_at_a_moment_is_the_sum_of_all_before_it(
    tmp_path_factory: pytest.TempPathFactory,
    given_: list[tuple[int, str, int]],
    data: st.DataObject,
) -> None:
    store = LedgerStore(tmp_path_factory.mktemp("ledger") / "l.sqlite3")
    causes = [
        Cause(format_utc(BEGIN + when), table, "b", n) for n, (when, table, _) in enumerate(given_)
    ]
    order = OrderGiven(
        time="", order=AwardPay(paid=0, by="Ane", role="director", award=1, amount=5), signed=()
    )
    for cause, (_, _, amount) in zip(causes, given_, strict=True):
        lines = (Posting("meter", "", amount), Posting("house", "", -amount))
        made = Transaction(jackpot="j", what="seed", at=cause, cause=None, postings=lines)
        store.append("j", format_utc(BEGIN), order, [made])
        if data.draw(st.booleans()):
            store.commit()
    for cause in causes:
        wanted = sum(
            amount for each, (_, _, amount) in zip(causes, given_, strict=True) if each < cause
        )
        assert store.balance_before("j", "meter", cause) == wanted
    store.check_balances()
    store.close()


def test_a_meter_that_differs_from_its_sum_is_reported(store: LedgerStore) -> None:
    put(store, 1)
    store._balances._sums["j", "meter"] += 1
    with pytest.raises(LedgerError, match="sum to 90; the controller counted 91"):
        store.check_balances()


def test_an_index_that_differs_from_the_postings_is_reported(
    path: Path, store: LedgerStore
) -> None:
    for number in range(1, 4):
        put(store, number)
    store.commit()
    store.close()
    more = "UPDATE posting SET amount = amount + 7 WHERE account = 'meter' AND position = 2"
    unguarded(path, more)
    with closing(sqlite3.connect(path)) as direct:
        row = direct.execute("SELECT * FROM sqlite_master WHERE name = 'held'").fetchone()
        direct.execute("PRAGMA writable_schema = ON")
        direct.execute("DELETE FROM sqlite_master WHERE name = 'held'")
        direct.commit()
    unguarded(path, more.replace("+", "-"))
    with closing(sqlite3.connect(path)) as direct:
        direct.execute("PRAGMA writable_schema = ON")
        direct.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
        direct.commit()
    with closing(LedgerStore(path)) as again:
        assert again.balance("j") == 270
        with pytest.raises(LedgerError, match="sum to 277; the controller counted 270"):
            again.check_balances()


@pytest.mark.usefixtures("programs")
def test_a_full_disk_stores_nothing_and_loses_nothing(path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.subscribers.carrousel.coins", "on_a_full_disk", path],
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT_SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert sound(path) > 500


@pytest.mark.usefixtures("programs")
def test_a_kill_at_any_instant_loses_nothing_that_was_committed(path: Path, long: bool) -> None:
    chance = random.Random(17)
    for _ in range(12 if long else 4):
        words = ["-m", "tests.subscribers.carrousel.coins", "until_killed", str(path)]
        with running([sys.executable, *words], stdout=subprocess.PIPE, text=True) as writer:
            output = writer.stdout
            assert output is not None
            said = int(output.readline())
            time.sleep(chance.uniform(0, 0.3))
            writer.kill()
            said = max([said, *(int(line) for line in output if line.endswith("\n"))])
        with closing(LedgerStore(path)) as store:
            assert store.head.position >= said
            assert store.states() == {"j": b"%d" % store.head.position}
            assert store.cursors()["poker-1"].memory == b"%d" % store.head.position
            assert store.balance("j") == 90 * store.head.position
        assert sound(path) == store.head.position


def test_after_a_failure_every_call_reports_it_until_reopened(
    path: Path, store: LedgerStore
) -> None:
    put(store, 1)
    store.commit({"j": b"1"})
    put(store, 2)
    moved = path.rename(path.with_suffix(".moved"))
    with pytest.raises(LedgerNotStoredError, match=r"the file was removed or replaced; whether"):
        store.commit({"j": b"2"})
    with pytest.raises(LedgerNotStoredError, match="closed after a failure"):
        put(store, 2)
    with pytest.raises(LedgerError, match="removed"):
        store.reopen()
    moved.rename(path)
    assert store.reopen() is False
    assert store.head.position == 1
    assert put(store, 2) == "new"
    assert store.commit({"j": b"2"}).position == 2


def test_a_commit_that_succeeded_after_all_is_reported(path: Path, store: LedgerStore) -> None:
    put(store, 1)
    store.commit({"j": b"1"})
    put(store, 2)
    assert store._connection is not None
    store._connection.execute("COMMIT")  # the disk took it, and the answer was an error
    assert "repeat no order before that" in str(
        store._failed(OSError("disk I/O error"), at_commit=True)
    )
    assert store.reopen() is True
    assert store.committed.position == 2
    assert put(store, 2) == "same"


@pytest.mark.parametrize("field", ["time", "jackpot", "cause_seq", "fact", "previous", "hash"])
def test_a_changed_end_of_the_chain_is_not_opened(
    path: Path, store: LedgerStore, field: str
) -> None:
    for number in range(1, 4):
        put(store, number)
    store.commit()
    store.close()
    value = {"cause_seq": "7", "fact": "x'7b7d'", "previous": "x'00'", "hash": "x'00'"}
    unguarded(path, f"UPDATE entry SET {field} = {value.get(field, repr('x'))} WHERE position = 2")
    with pytest.raises(LedgerError, match=r"the hash chain is broken at position [23].*verify"):
        LedgerStore(path)


def test_a_ledger_that_is_older_than_its_checkpoint_is_not_opened(
    path: Path, store: LedgerStore
) -> None:
    put(store, 1)
    store.commit()
    older = path.read_bytes(), path.with_name(f"{path.name}-wal").read_bytes()
    put(store, 2)
    head = store.commit()
    key = SigningKey.generate()
    checkpoint.write_checkpoint(checkpoint.sign(key, store.id, "b", format_utc(BEGIN), head), path)
    store.close()
    LedgerStore(path).close()
    path.write_bytes(older[0])
    path.with_name(f"{path.name}-wal").write_bytes(older[1])
    with pytest.raises(LedgerError, match="ends at entry 1, but its checkpoint is for entry 2"):
        LedgerStore(path)


def test_other_files_are_not_touched(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE meta (key, value)")
    with pytest.raises(LedgerError, match=r"format None"):
        LedgerStore(other)
    text = tmp_path / "notes.txt"
    text.write_text("no database" * 100)
    with pytest.raises(LedgerError, match=r"notes\.txt: file is not a database"):
        LedgerStore(text)
    assert text.read_text() == "no database" * 100


def unguarded(path: Path, statement: str) -> None:
    """Change a ledger as an attacker would who wants to hide the change."""
    with closing(sqlite3.connect(path)) as direct:
        triggers = direct.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        kept = triggers.fetchall()
        for name, _ in kept:
            direct.execute(f"DROP TRIGGER {name}")
        direct.execute(statement)
        for _, sql in kept:
            direct.execute(sql)
        direct.commit()


def test_an_entry_follows_only_as_it_was_written(path: Path, store: LedgerStore) -> None:
    put(store, 1)
    store.commit()
    with closing(LedgerReader(path)) as reading:
        ((row, lines),) = reading.entries()
        assert is_next_entry(row, lines, reading.genesis)
        assert row.cause == at(1)
        assert not is_next_entry(row, lines[:-1], reading.genesis)
        assert not is_next_entry(row, lines, reading.head)
