"""Quick verification at a start: the entries after the mark, and the mark itself.

Of the entries up to the mark, only the last one's hash and the sums of all postings are compared. A
change to an earlier entry that leaves all sums the same is found only by a complete verification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import msgspec

from common.chain.schema import READ_ERRORS, ChainHead
from subscribers.carrousel import reading
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.mark import VerificationMark, nonzero
from subscribers.carrousel.reading import LedgerReader, read_fact
from subscribers.carrousel.replay import Replay
from subscribers.carrousel.schema import cause_key
from subscribers.carrousel.verification import (
    PROGRESS_INTERVAL_ENTRIES,
    LedgerFinding,
    check_chain,
    check_states,
    check_sums,
)

_SUM_SINCE_QUERY = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE account IN ('meter', 'reserve') "
    "AND jackpot = ? AND account = ? AND (at_time, at_table, at_boot, at_seq) >= (?, ?, ?, ?) "
    "AND position <= ?"
)


def contradicts_mark(file: LedgerReader, mark: VerificationMark) -> str | None:
    """Return how a ledger contradicts its mark, or None. A mark of another ledger does not
    contradict it.
    """
    if mark.ledger != file.id:
        return None
    if mark.position > file.head.position:
        return (
            f"it ends at entry {file.head.position}, but was verified up to {mark.position}: it is "
            "older, or was truncated"
        )
    digest = file.hash_at(mark.position)
    if digest is None or digest.hex() != mark.hash:
        return f"entry {mark.position} differs from the verified one: the ledger was rewritten"
    return None


def find_departure(
    file: LedgerReader,
    mark: VerificationMark,
    sums: Mapping[tuple[str, str], int],
    reached: Callable[[int, int], None] = lambda _position, _total: None,
) -> LedgerFinding | None:
    """Return where a ledger differs from what follows from its mark, or None. ``sums``: balances
    over all postings in the file. ``reached`` is called from time to time with the current entry
    and the number of entries; an exception it raises aborts.
    """
    if mark.ledger != file.id:
        return LedgerFinding(None, "the mark belongs to another ledger")
    try:
        return next(_findings(file, mark, sums, reached), None)
    except READ_ERRORS as error:
        return LedgerFinding(None, f"the file is damaged: {error}")


def find_changed_cursor(file: LedgerReader, mark: VerificationMark) -> str | None:
    """Return a table whose cursor changed since the controller ended, or None. Unknown (None) if it
    did not end cleanly.
    """
    if mark.memories is None or mark.position != file.head.position:
        return None
    current = {name: table.memory for name, table in reading.cursors(file.connection).items()}
    marked = {name: memory.encode() for name, memory in mark.memories.items()}
    tables = sorted(current.keys() | marked.keys())
    return next((table for table in tables if current.get(table) != marked.get(table)), None)


def _findings(
    file: LedgerReader,
    mark: VerificationMark,
    sums: Mapping[tuple[str, str], int],
    reached: Callable[[int, int], None],
) -> Iterator[LedgerFinding]:
    marked_sums = mark.sums

    def earlier(jackpot: str, account: str, previous: Cause) -> int:
        """Return an account's balance over the postings up to the mark."""
        values = (jackpot, account, *cause_key(previous), mark.position)
        (since,) = file.connection.execute(_SUM_SINCE_QUERY, values).fetchone()
        return marked_sums.get((jackpot, account), 0) - int(since)

    sums_at_mark, sums_after = Counter(sums), Counter[tuple[str, str]]()
    replay = Replay(mark.states, earlier)
    previous = ChainHead(mark.position, bytes.fromhex(mark.hash))
    try:
        for row, postings in file.entries(mark.position):
            yield from check_chain(row, postings, previous)
            previous = ChainHead(row.position, row.hash)
            if not row.position % PROGRESS_INTERVAL_ENTRIES:
                reached(row.position, file.head.position)
            yield from check_sums(row.position, postings)
            for posting in postings:
                sums_after[posting.jackpot, posting.account] += posting.amount
            try:
                fact = read_fact(row.fact)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                yield LedgerFinding(row.position, f"its fact cannot be read: {error}")
                continue
            if differs := replay.find_difference(row.position, row.jackpot, fact, postings):
                yield LedgerFinding(row.position, differs)
        sums_at_mark.subtract(sums_after)
        computed, marked = nonzero(sums_at_mark), marked_sums
        for jackpot, account in sorted(computed.keys() | marked.keys()):
            pair = jackpot, account
            if computed.get(pair, 0) != marked.get(pair, 0):
                yield LedgerFinding(
                    None, f"the postings of {account} {jackpot} up to entry {mark.position} sum to "
                    f"{computed.get(pair, 0)}; when verified they summed to {marked.get(pair, 0)}"
                )  # fmt: skip
        yield from check_states(file, replay)
    finally:
        replay.close()
