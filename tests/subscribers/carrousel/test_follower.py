"""The waiting controller of a pair follows the ledger of the other through their log, or says why
it cannot.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from common.standby.errors import OvertakenError, StoreUnusableError
from common.standby.ledger_message import (
    LedgerMessage,
    ShippedEntry,
    encode_message,
    read_message,
)
from common.standby.log import RecordLog
from common.standby.seal import StructSigner
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.books import Books
from subscribers.carrousel.facts import ControllerStarted, Fact, Staked, TermsGiven
from subscribers.carrousel.follower import LedgerFollower
from subscribers.carrousel.settings import StandbySettings
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.verification import verify
from tests.subscribers.carrousel.books import JACKPOT, at, terms
from tests.support.carrousel.log import MemoryStream

OURS, THEIRS, STRANGER = (SigningKey(name.ljust(32).encode()) for name in ("our", "their", "other"))
KEYS = tuple(key.verify_key.encode().hex() for key in (OURS, THEIRS))


class Log(RecordLog[LedgerMessage]):
    """A log in memory."""

    def __init__(self, stream: MemoryStream, key: SigningKey) -> None:
        seal = StructSigner("site/node.ledger", lambda: key, KEYS)
        read, encode = partial(read_message, seal=seal), partial(encode_message, seal=seal)
        super().__init__(StandbySettings(servers=("nats://a",)), "log", 5.0, read, encode)
        self.stream = stream

    async def _connect(self) -> MemoryStream:
        return self.stream


class Serving:
    """The controller that serves: its ledger, and what it appends to the log."""

    def __init__(self, path: Path, stream: MemoryStream) -> None:
        self.log, self.sequence = Log(stream, THEIRS), 0
        self.books = Books(LedgerStore(path), (JACKPOT,))
        self.coins = 0

    async def begin(self, term: int = 1) -> None:
        await self.log.stream.create()
        await self.append(term=term)

    async def append(self, term: int = 1, *forged: ShippedEntry) -> None:
        pending = self.books.pending()
        message = LedgerMessage(
            ledger=self.books.store.id,
            term=term,
            instance="north",
            position=pending.before.position,
            head=pending.before.hash.hex(),
            entries=forged
            or tuple(
                ShippedEntry(entry.time, entry.jackpot, entry.fact.decode(), entry.hash.hex())
                for entry in pending.entries
            ),
            cursors={table: memory.decode() for table, memory in pending.cursors.items()},
        )
        self.sequence = await self.log.append(message, self.sequence)
        self.books.commit()

    async def happens(self, fact: Fact) -> None:
        self.books.apply(JACKPOT, at(self.coins), fact)
        self.books.save_cursor("a", b'{"n":%d}' % self.coins)
        await self.append()

    async def starts(self, term: int) -> None:
        await self.happens(
            ControllerStarted(
                time=at(0), boot="b", program="p", configuration="c", software="s", term=term
            )
        )

    async def coin(self) -> None:
        self.coins += 1
        cause = Cause(at(self.coins), "a", "b1", self.coins)
        box = f"box:{self.coins % 5}"
        await self.happens(
            Staked(cause=cause, session=1, round=self.coins, box=box, amount=500, coin=True)
        )


@pytest.fixture
def stream() -> MemoryStream:
    return MemoryStream()


@pytest.fixture
async def serving(tmp_path: Path, stream: MemoryStream) -> Serving:
    serving = Serving(tmp_path / "north.sqlite3", stream)
    await serving.begin()
    await serving.happens(TermsGiven(time=at(0), terms=terms()))
    await serving.starts(1)
    return serving


@pytest.fixture
def follower(tmp_path: Path, stream: MemoryStream) -> Callable[[], LedgerFollower]:
    return lambda: LedgerFollower(
        path=tmp_path / "south.sqlite3",
        log=Log(stream, OURS),
        key=OURS,
        boot="b",
        open_ledger=LedgerStore,
    )


Make = Callable[[], LedgerFollower]


async def test_it_has_the_same_entries(serving: Serving, follower: Make, tmp_path: Path) -> None:
    waiting = follower()
    for _ in range(200):
        await serving.coin()
    await waiting.step()
    assert waiting.trouble is None
    assert waiting.books.store.committed == serving.books.store.committed
    assert waiting.books.states == serving.books.states
    assert waiting.books.store.cursors() == serving.books.store.cursors()
    assert await waiting.is_writable()
    waiting.close()
    assert verify(tmp_path / "south.sqlite3").status == 0


async def test_after_a_restart_it_goes_on_where_its_ledger_ends(
    serving: Serving, follower: Make
) -> None:
    for restart in range(5):
        waiting = follower()
        for _ in range(restart):
            await serving.coin()
        await waiting.step()
        assert waiting.trouble is None
        assert waiting.books.store.committed == serving.books.store.committed
        assert waiting.sequence == serving.sequence
        waiting.close()


async def test_an_old_copy_follows_from_where_it_ends(
    serving: Serving, follower: Make, tmp_path: Path
) -> None:
    waiting = follower()
    await waiting.step()
    waiting.close()
    shutil.copy(tmp_path / "south.sqlite3", tmp_path / "old")
    for _ in range(3):
        await serving.coin()
    await waiting.step()
    waiting.close()
    for end in ("-wal", "-shm"):
        (tmp_path / f"south.sqlite3{end}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "old", tmp_path / "south.sqlite3")
    again = follower()
    await again.step()
    assert again.trouble is None
    assert again.books.store.committed == serving.books.store.committed


async def test_a_log_that_was_trimmed_needs_a_copy(
    serving: Serving, follower: Make, stream: MemoryStream
) -> None:
    waiting = follower()
    await waiting.step()
    for _ in range(5):
        await serving.coin()
    stream.trim(stream.last - 1)
    await waiting.step()
    assert "copy the ledger of the other machine" in (waiting.trouble or "")
    new = follower()
    await new.step()
    assert "copy the ledger of the other machine" in (new.trouble or "")


async def test_a_lost_log_is_not_begun_again_by_itself(
    serving: Serving, follower: Make, stream: MemoryStream
) -> None:
    waiting = follower()
    await waiting.step()
    stream.entries, stream.first = None, 1
    await waiting.step()
    assert "promote" in (waiting.trouble or "")
    again = follower()
    await again.step()
    assert "promote" in (again.trouble or "")


async def test_a_log_that_lost_its_end_is_noticed(
    serving: Serving, follower: Make, stream: MemoryStream
) -> None:
    await serving.coin()
    waiting = follower()
    await waiting.step()
    waiting.close()
    assert stream.entries is not None
    stream.entries.pop()
    again = follower()
    await again.step()
    assert "promote" in (again.trouble or "")


async def test_another_ledger_is_not_followed(
    serving: Serving, follower: Make, tmp_path: Path
) -> None:
    store = LedgerStore(tmp_path / "south.sqlite3")
    store.close()
    waiting = follower()
    await waiting.step()
    assert "it is the ledger" in (waiting.trouble or "")


async def test_an_entry_that_the_rules_do_not_give_is_not_stored(
    serving: Serving, follower: Make
) -> None:
    waiting = follower()
    await waiting.step()
    before = waiting.books.position
    serving.books.apply(JACKPOT, at(1), TermsGiven(time=at(1), terms=terms(percentage=(1, 2))))
    (entry,) = serving.books.pending().entries
    forged = ShippedEntry(at(1), JACKPOT, entry.fact.decode(), "00" * 32)
    await serving.append(1, forged)
    await waiting.step()
    assert "differs from that of north" in (waiting.trouble or "")
    again = follower()
    await again.step()
    again.close()
    store = LedgerStore(waiting._path)
    assert store.committed.position == before
    store.close()


async def test_a_stranger_is_not_believed(
    serving: Serving, follower: Make, stream: MemoryStream
) -> None:
    message = LedgerMessage(
        ledger=serving.books.store.id,
        term=9,
        instance="north",
        position=serving.books.position,
        head=serving.books.store.committed.hash.hex(),
    )
    await Log(stream, STRANGER).append(message, serving.sequence)
    waiting = follower()
    await waiting.step()
    assert "not signed by a machine of this pair" in (waiting.trouble or "").replace(
        "was not signed", "not signed"
    )


async def test_only_one_appends_after_an_entry(serving: Serving, stream: MemoryStream) -> None:
    other = Log(stream, OURS)
    message = LedgerMessage(
        ledger=serving.books.store.id, term=2, instance="south", position=2, head="00" * 32
    )
    assert await other.append(message, serving.sequence) == serving.sequence + 1
    assert await other.append(message, serving.sequence) == serving.sequence + 1  # its reply lost
    with pytest.raises(OvertakenError):
        await serving.coin()


@given(
    st.binary(max_size=300)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(("ledger", "term", "position", "head", "entries", "key")),
                each,
                max_size=6,
            )
        ),
        max_leaves=8,
    ).map(msgspec.json.encode)
)
def test_no_body_is_an_entry_unless_it_is_signed(body: bytes) -> None:
    assert read_message(body, StructSigner("site/node.ledger", lambda: OURS, KEYS)) is None


async def test_an_entry_that_cannot_be_read_is_named(
    serving: Serving, stream: MemoryStream
) -> None:
    assert stream.entries is not None
    stream.entries.append(b"{}")
    with pytest.raises(StoreUnusableError, match=f"entry {stream.last} of the stream log"):
        await serving.log.read(stream.last)
