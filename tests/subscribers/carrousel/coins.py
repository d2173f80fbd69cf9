"""Coins for the tests of a ledger, and programs that the tests run and kill: ``python -m
tests.subscribers.carrousel.coins``.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from common.contract.times import format_utc
from subscribers.carrousel.accounts import Cause, Posting, Transaction
from subscribers.carrousel.checkpoints import sign_head, signing_key
from subscribers.carrousel.facts import Staked
from subscribers.carrousel.schema import Cursor
from subscribers.carrousel.store import LedgerNotStoredError, LedgerStore

BEGIN = 1_900_000_000.0


def at(number: int, table: str = "poker-1") -> Cause:
    """Return the cause of coin ``number`` of a table, one second after the one before."""
    return Cause(format_utc(BEGIN + number), table, "b1", number)


def coin(number: int, table: str = "poker-1", amount: int = 100) -> Staked:
    """A coin."""
    return Staked(
        cause=at(number, table), session=1, round=number, box="box:1", amount=amount, coin=True
    )


def stake(fact: Staked, jackpot: str = "j") -> Transaction:
    """Return its transaction: nine tenths to the meter."""
    rise, table = fact.amount * 9 // 10, fact.cause.table
    return Transaction(
        jackpot=jackpot,
        what="stake",
        at=fact.cause,
        cause=fact.cause,
        postings=(
            Posting("stakes", table, -fact.amount),
            Posting("meter", table, rise),
            Posting("house", table, fact.amount - rise),
        ),
    )


def put(store: LedgerStore, number: int, table: str = "poker-1", jackpot: str = "j") -> str:
    """Append a coin."""
    fact = coin(number, table)
    return store.append(jackpot, format_utc(BEGIN + number + 0.25), fact, [stake(fact, jackpot)])


def until_killed(path: Path) -> None:
    """Commit batches forever, starting at the end of the ledger, and print the last number of each
    successful commit.
    """
    store = LedgerStore(path)
    number = store.head.position
    while True:
        for _ in range(1 + number % 4):
            put(store, number := number + 1)
        store.commit({"j": b"%d" % number}, [Cursor("poker-1", b"%d" % number)])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def until_killed_and_signed(path: Path) -> None:
    """Commit and sign forever, and print one line."""
    store, key = LedgerStore(path), signing_key(path)
    number = 0
    while True:
        put(store, number := number + 1)
        store.commit({"j": b"%d" % number})
        sign_head(store, key, "b", format_utc(BEGIN + number))
        if number == 1:
            sys.stdout.write("1\n")
            sys.stdout.flush()


def on_a_full_disk(path: Path) -> None:
    """Commit until the file may not grow, check that this is reported and that nothing is half
    written, let it grow, and continue.
    """
    store = LedgerStore(path)
    put(store, 1)
    store.commit({"j": b"1"})
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, most))
    number, said = 1, ""
    try:
        while number < 100_000:
            for _ in range(50):
                put(store, number := number + 1)
            store.commit({"j": b"%d" % number})
    except LedgerNotStoredError as error:
        said = str(error)
    assert str(path) in said
    good = store.committed.position
    assert good % 50 == 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert not store.reopen()
    assert store.head.position == good
    assert store.states() == {"j": b"%d" % good}
    assert store.balance("j") == 90 * good
    for number in range(good + 1, good + 500):
        assert put(store, number) == "new"
    store.commit({"j": b"%d" % number})
    store.close()


if __name__ == "__main__":
    programs = {
        each.__name__: each for each in (until_killed, until_killed_and_signed, on_a_full_disk)
    }
    programs[sys.argv[1]](Path(sys.argv[2]))
