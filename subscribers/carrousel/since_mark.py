"""The quick verification of a start: what came after the mark, and what the mark says of the rest.

Of the entries up to the mark only the last one's hash and the sums of all postings are held against
it. An entry before it that was changed so that no sum is another one is found by the whole
verification alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import msgspec

from controller.journal.schema import READ_ERRORS, ChainHead
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


def find_departure(
    file: LedgerReader,
    mark: VerificationMark,
    sums: Mapping[tuple[str, str], int],
    reached: Callable[[int, int], None] = lambda _position, _of: None,
) -> LedgerFinding | None:
    """Where a ledger is not what follows from its mark; None: nowhere. ``sums``: of all postings
    in the file, by jackpot and account. ``reached``: is told now and then which entry of how many
    was reached; what it raises ends it.
    """
    if mark.ledger != file.id:
        return LedgerFinding(None, "the mark is of another ledger")
    try:
        return next(_findings(file, mark, sums, reached), None)
    except READ_ERRORS as error:
        return LedgerFinding(None, f"the file is damaged: {error}")


def find_changed_cursor(file: LedgerReader, mark: VerificationMark) -> str | None:
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
    file: LedgerReader,
    mark: VerificationMark,
    sums: Mapping[tuple[str, str], int],
    reached: Callable[[int, int], None],
) -> Iterator[LedgerFinding]:
    at_mark = mark.sums

    def earlier(jackpot: str, account: str, before: Cause) -> int:
        """What an account held of the postings up to the mark."""
        values = (jackpot, account, *cause_key(before), mark.position)
        (since,) = file.connection.execute(_SUM_SINCE_QUERY, values).fetchone()
        return at_mark.get((jackpot, account), 0) - int(since)

    until, after = Counter(sums), Counter[tuple[str, str]]()
    replay = Replay(mark.states, earlier)
    before = ChainHead(mark.position, bytes.fromhex(mark.hash))
    try:
        for row, postings in file.entries(mark.position):
            yield from check_chain(row, postings, before)
            before = ChainHead(row.position, row.hash)
            if not row.position % PROGRESS_INTERVAL_ENTRIES:
                reached(row.position, file.head.position)
            yield from check_sums(row.position, postings)
            for each in postings:
                after[each.jackpot, each.account] += each.amount
            try:
                fact = read_fact(row.fact)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                yield LedgerFinding(row.position, f"its fact cannot be read: {error}")
                continue
            if differs := replay.find_difference(row.position, row.jackpot, fact, postings):
                yield LedgerFinding(row.position, differs)
        until.subtract(after)
        ours, theirs = nonzero(until), at_mark
        for jackpot, account in sorted(ours.keys() | theirs.keys()):
            of = jackpot, account
            if ours.get(of, 0) != theirs.get(of, 0):
                yield LedgerFinding(
                    None, f"the postings of {account} {jackpot} up to entry {mark.position} sum to "
                    f"{ours.get(of, 0)}, and to {theirs.get(of, 0)} when they were verified"
                )  # fmt: skip
        yield from check_states(file, replay)
    finally:
        replay.close()
