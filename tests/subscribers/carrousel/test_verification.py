"""Verification findings: any change to the file, a truncated end, and anything that does not follow
from the facts.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from nacl.signing import SigningKey

from common.chain import checkpoint
from common.contract.times import format_utc
from subscribers.carrousel.accounts import Posting
from subscribers.carrousel.checkpoints import sign_head, signing_key
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.verification import verify
from tests.subscribers.carrousel.coins import BEGIN, coin, stake
from tests.subscribers.carrousel.played import evening, opened
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The ledger of an evening, with a checkpoint at its head."""
    made = tmp_path / "carrousel.sqlite3"
    evening(made)
    return made


def unguarded(path: Path, *statements: str, values: Sequence[object] = ()) -> None:
    """Change a ledger as an attacker would who wants to hide the change."""
    with closing(sqlite3.connect(path)) as direct:
        kept = direct.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in kept:
            direct.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            direct.execute(statement, values)
        for _, sql in kept:
            direct.execute(sql)
        direct.commit()


def said(path: Path) -> list[str]:
    """Return the findings."""
    return [str(finding) for finding in verify(path).findings]


def test_a_ledger_as_it_was_written_holds(path: Path) -> None:
    verdict = verify(path)
    assert verdict.findings == []
    assert verdict.status == 0
    assert verdict.signed == verdict.entries > 40
    assert verdict.postings > 100


def test_every_change_of_any_field_is_found(path: Path) -> None:
    chance = random.Random(17)
    original = path.read_bytes()
    with closing(sqlite3.connect(path)) as direct:
        columns = {
            table: [row[1] for row in direct.execute(f"PRAGMA table_info({table})")]
            for table in ("entry", "posting", "meta")
        }
    for table, names in columns.items():
        for name in names:
            for _ in range(2):
                path.write_bytes(original)
                with closing(sqlite3.connect(path)) as direct:
                    rows = direct.execute(f"SELECT * FROM {table}").fetchall()
                row = chance.choice(rows)
                value = changed(row[names.index(name)], chance)
                keys = names[: 2 if table == "posting" else 1]
                where = " AND ".join(f"{key} = ?" for key in keys)
                unguarded(
                    path,
                    f"UPDATE {table} SET {name} = ? WHERE {where}",
                    values=(value, *row[: len(keys)]),
                )
                verdict = verify(path)
                assert verdict.status in (1, 3), (table, name, row, value)


def changed(value: object, chance: random.Random) -> object:
    """Return a slightly different value."""
    if value is None:
        return "1"  # a number too, where it must be one
    if isinstance(value, int):
        return value + chance.choice((-1, 1)) * (1 << chance.randrange(4)) * 100
    if isinstance(value, bytes):
        at = chance.randrange(len(value))
        return value[:at] + bytes((value[at] ^ (1 << chance.randrange(8)),)) + value[at + 1 :]
    assert isinstance(value, str)
    at = chance.randrange(len(value) + 1)
    return value[:at] + "1" + value[at:]


def test_every_byte_of_the_file_that_matters_is_found(path: Path) -> None:
    chance = random.Random(18)
    original = path.read_bytes()
    before = content(path)
    found = 0
    for _ in range(200):
        at = chance.randrange(len(original))
        broken = bytearray(original)
        broken[at] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(broken))
        if verify(path).status == 0:
            assert content(path) == before, at
        else:
            found += 1
    assert found > 20


def content(path: Path) -> list[list[tuple[object, ...]]]:
    """Return everything that the chain covers."""
    with closing(sqlite3.connect(path)) as direct:
        return [
            direct.execute(f"SELECT * FROM {table}").fetchall()
            for table in ("meta", "entry", "posting")
        ]


def test_a_cut_tail_is_found_by_the_checkpoint(path: Path) -> None:
    last = verify(path).entries
    unguarded(
        path, f"DELETE FROM entry WHERE position = {last}",
        f"DELETE FROM posting WHERE position = {last}",
    )  # fmt: skip
    assert any(f"signed there, but the ledger ends at {last - 1}" in each for each in said(path))


def test_a_rewritten_ledger_is_found_by_the_checkpoint(path: Path) -> None:
    with closing(sqlite3.connect(path)) as direct:
        (ledger,) = direct.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    last = verify(path).entries
    other = path.with_name("other.sqlite3")
    LedgerStore(other).close()
    unguarded(other, "UPDATE meta SET value = ? WHERE key = 'id'", values=(ledger,))
    with opened(other) as floor:
        floor.open("j")
        while floor.store.head.position < last:
            floor.play("j", "poker-1")
        floor.commit()
    assert said(other) == []
    other.replace(path)
    assert said(path) == [
        f"entry {last}: it is not the one in the checkpoint: the ledger was rewritten"
    ]


def test_a_missing_entry_is_named(path: Path) -> None:
    unguarded(path, "DELETE FROM entry WHERE position = 7")
    found = said(path)
    assert "entry 8: the entries after 6 are missing" in found
    assert "entry 7: it has postings, but the entry is missing" in found


def test_a_checkpoint_counts_with_the_key_to_trust(path: Path) -> None:
    published = checkpoint.last_checkpoint(path)
    assert published is not None
    assert published.key is not None
    assert verify(path, [published], published.key).status == 0
    forged = msgspec.structs.replace(published, position=3)
    assert "its signature does not hold" in str(verify(path, [forged]).findings[0])
    other = checkpoint.public(SigningKey.generate())
    assert "not the one to trust" in str(verify(path, (), other).findings[0])


def test_sums_that_are_not_zero_are_named(path: Path) -> None:
    unguarded(
        path,
        "UPDATE posting SET amount = amount + 1 WHERE line = 2 AND position ="
        " (SELECT min(position) FROM posting WHERE what = 'stake')",
    )
    found = said(path)
    assert [each.partition(": ")[2].split(" (")[0] for each in found[:3]] == [
        "its hash does not match: it or one of its postings was changed",
        "transaction 1 sums to 1, not to zero",
        "line 2 is stake j meter poker-1 91",
    ]
    assert found[-1] == "the postings in EUR sum to 1, not to zero"


def test_what_does_not_follow_from_the_facts_is_named(tmp_path: Path) -> None:
    path = tmp_path / "carrousel.sqlite3"
    with opened(path) as floor:
        floor.open("j")
        floor.open("k", ("poker-3",))
        fact = coin(1)
        lines = (Posting("stakes", "poker-1", -100), Posting("meter", "poker-1", 100))
        more = msgspec.structs.replace(stake(fact), postings=lines)
        floor.store.append("j", format_utc(BEGIN), fact, [more])
        floor.states["k"] = msgspec.structs.replace(floor.states["k"], receipt_count=1)
        floor.commit()
    when = fact.cause.time
    assert said(path) == [
        (
            f"entry 6: line 2 is stake j meter poker-1 100 ({when}); expected from the facts: "
            f"stake j meter poker-1 90 ({when})"
        ),
        "the saved state of k does not follow from its facts",
    ]
    assert verify(path, replayed=False).status == 0, "the chain alone holds"


def test_money_between_jackpots_neither_comes_nor_goes(tmp_path: Path) -> None:
    path = tmp_path / "carrousel.sqlite3"
    with closing(LedgerStore(path)) as store:
        fact = coin(1)
        lines = (Posting("meter", "", -5), Posting("transfer", "k", 5))
        store.append(
            "j", format_utc(BEGIN), fact, [msgspec.structs.replace(stake(fact), postings=lines)]
        )
        store.commit()
    assert "the postings of transfer in ? sum to 5, not to zero" in said(path)


@pytest.mark.parametrize(
    "statement",
    ["DROP TRIGGER entry_stays", "DROP INDEX once", "CREATE TABLE more (a)"],
)
def test_a_file_that_lost_its_guards_is_found(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as direct:
        direct.execute(statement)
    (found,) = said(path)
    assert found.startswith(("entry_stays: missing", "once: missing", "more: does not belong"))
    with pytest.raises(LedgerError, match="verify"):
        LedgerStore(path)


@pytest.mark.usefixtures("programs")
def test_a_ledger_in_use_holds_whenever_it_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "carrousel.sqlite3"
    words = ["-m", "tests.subscribers.carrousel.coins", "until_killed_and_signed", str(path)]
    with running([sys.executable, *words], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"1\n"
        entries: list[int] = []
        end = time.monotonic() + TIMEOUT_SECONDS
        while len(entries) < 30 or entries[-1] == entries[0]:  # the disk may be slow
            assert time.monotonic() < end
            verdict = verify(path, replayed=False)
            assert verdict.findings == []
            assert verdict.signed is not None
            entries.append(verdict.entries)
    assert entries[-1] > entries[0]


def test_what_cannot_be_read_is_not_judged(tmp_path: Path) -> None:
    verdict = verify(tmp_path / "none.sqlite3")
    assert verdict.status == 3
    assert "none.sqlite3" in str(verdict.unread)


def test_the_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "carrousel.sqlite3"
    with closing(LedgerStore(path)) as store:
        key = signing_key(path)
        assert signing_key(path) == key
        sign_head(store, key, "b", format_utc(BEGIN))
    file = checkpoint.key_path(path)
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    with pytest.raises(LedgerError, match="No such file"):
        signing_key(path)
    checkpoint.make_key(file)
    with pytest.raises(LedgerError, match="Restore the right key"):
        signing_key(path)
