"""The quick verification of a start: what came after the mark, and what the mark says of the rest.

Of the entries up to the mark only the last one's hash and the sums of all postings are held against
it. An entry before it that was changed so that no sum is another one is found by the whole
verification alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import msgspec

from controller.journal.schema import NONSENSE, ChainHead
from subscribers.carrousel import reading
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.mark import Mark, not_zero
from subscribers.carrousel.reading import Reading, read_fact
from subscribers.carrousel.replay import Replay
from subscribers.carrousel.schema import key
from subscribers.carrousel.verification import OFTEN, Finding, of_chain, of_states, of_sums

_SINCE = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE account IN ('meter', 'reserve') "
    "AND jackpot = ? AND account = ? AND (at_time, at_table, at_boot, at_seq) >= (?, ?, ?, ?) "
    "AND position <= ?"
)


def contradicts(file: Reading, mark: Mark) -> str | None:
    """How a ledger is not the one that was verified, whatever else holds; None: it is, or the mark
    is of another one.
    """
    if mark.ledger != file.id:
        return None
    if mark.position > file.head.position:
        return (
            f"it ends at entry {file.head.position}, and was verified up to {mark.position}: it is "
            "older, or was cut"
        )
    found = file.hash_at(mark.position)
    if found is None or found.hex() != mark.hash:
        return f"entry {mark.position} is not the one that was verified: the ledger was rewritten"
    return None


def departs(
    file: Reading,
    mark: Mark,
    sums: Mapping[tuple[str, str], int],
    reached: Callable[[int, int], None] = lambda _position, _of: None,
) -> Finding | None:
    """Where a ledger is not what follows from its mark; None: nowhere. ``sums``: of all postings
    in the file, by jackpot and account. ``reached``: is told now and then which entry of how many
    was reached; what it raises ends it.
    """
    if mark.ledger != file.id:
        return Finding(None, "the mark is of another ledger")
    try:
        return next(_findings(file, mark, sums, reached), None)
    except NONSENSE as error:
        return Finding(None, f"the file is damaged: {error}")


def heard_otherwise(file: Reading, mark: Mark) -> str | None:
    """A table of which the file does not say the same as when the controller ended how far it was
    heard; None: it does of all, or nobody knows, for it did not end in order.
    """
    if mark.heard is None or mark.position != file.head.position:
        return None
    found = {name: each.heard for name, each in reading.cursors(file.connection).items()}
    wanted = {name: heard.encode() for name, heard in mark.heard.items()}
    tables = sorted(found.keys() | wanted.keys())
    return next((each for each in tables if found.get(each) != wanted.get(each)), None)


def _findings(
    file: Reading,
    mark: Mark,
    sums: Mapping[tuple[str, str], int],
    reached: Callable[[int, int], None],
) -> Iterator[Finding]:
    at_mark = mark.sums

    def earlier(jackpot: str, account: str, before: Cause) -> int:
        """What an account held of the postings up to the mark."""
        values = (jackpot, account, *key(before), mark.position)
        (since,) = file.connection.execute(_SINCE, values).fetchone()
        return at_mark.get((jackpot, account), 0) - int(since)

    until, after = Counter(sums), Counter[tuple[str, str]]()
    replay = Replay(mark.states, earlier)
    before = ChainHead(mark.position, bytes.fromhex(mark.hash))
    try:
        for row, postings in file.entries(mark.position):
            yield from of_chain(row, postings, before)
            before = ChainHead(row.position, row.hash)
            if not row.position % OFTEN:
                reached(row.position, file.head.position)
            yield from of_sums(row.position, postings)
            for each in postings:
                after[each.jackpot, each.account] += each.amount
            try:
                fact = read_fact(row.fact)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                yield Finding(row.position, f"its fact cannot be read: {error}")
                continue
            if differs := replay.differs(row.position, row.jackpot, fact, postings):
                yield Finding(row.position, differs)
        until.subtract(after)
        ours, theirs = not_zero(until), at_mark
        for jackpot, account in sorted(ours.keys() | theirs.keys()):
            of = jackpot, account
            if ours.get(of, 0) != theirs.get(of, 0):
                yield Finding(
                    None, f"the postings of {account} {jackpot} up to entry {mark.position} sum to "
                    f"{ours.get(of, 0)}, and to {theirs.get(of, 0)} when they were verified"
                )  # fmt: skip
        yield from of_states(file, replay)
    finally:
        replay.close()
