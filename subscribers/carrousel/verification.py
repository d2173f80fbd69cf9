"""Whether a ledger is what was written, and what follows from its facts.

Checked are the file itself, the chain, the positions, that each transaction and all of them sum to
zero, the checkpoints, and the replay: all facts once more through the rules give the same postings
and states.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import msgspec

from controller.contract.node import Checkpoint
from controller.journal.schema import READ_ERRORS, ChainHead, is_read_failure
from controller.proof.checkpoint import flaw
from subscribers.carrousel import reading
from subscribers.carrousel.facts import TermsGiven
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.reading import LedgerReader, read_fact
from subscribers.carrousel.replay import Replay
from subscribers.carrousel.schema import EntryRow, LedgerError, PostingRow, entry_hash
from subscribers.carrousel.store import cause_of

MAX_LISTED_FINDINGS = 1000
"""Findings that are told one by one."""
PROGRESS_INTERVAL_ENTRIES = 1000
"""Entries between two times that it tells how far it is."""
PROGRESS_INTERVAL_STEPS = 1_000_000
"""The same in steps of SQLite's own check."""


class LedgerFinding(msgspec.Struct, frozen=True):
    """What does not hold. ``position``: of the entry; None: it is of the file as a whole."""

    position: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.position is None else f"entry {self.position}: {self.what}"


class LedgerVerdict(msgspec.Struct, kw_only=True):
    """``unread``: why it could not be judged, or None."""

    ledger: str | None = None
    entries: int = 0
    postings: int = 0
    head: str | None = None
    """The hash of the last entry."""
    signed: int | None = None
    """The last entry that a checkpoint vouches for; None: no checkpoint was there."""
    key: str | None = None
    """The public key of that checkpoint."""
    findings: list[LedgerFinding] = []
    more: int = 0
    """Findings beyond those."""
    unread: str | None = None

    @property
    def status(self) -> int:
        """The exit status: 0 it holds, 1 it does not hold, 3 it could not be judged."""
        if self.findings:
            return 1
        return 0 if self.unread is None else 3


def verify(
    path: Path,
    checkpoints: Sequence[Checkpoint] = (),
    key: str | None = None,
    *,
    replayed: bool = True,
    reached: Callable[[int, int], None] = lambda _position, _of: None,
) -> LedgerVerdict:
    """Judge a ledger, which a controller may be using. ``checkpoints``: published ones, beside the
    one that is kept with the file. ``key``: the public key to trust; None: each its own.
    ``replayed``: whether the facts go through the rules once more, which takes longest.
    ``reached``: is told now and then which entry of how many was reached; what it raises ends it.
    """
    verdict = LedgerVerdict()
    try:
        file = LedgerReader(path)
    except LedgerError as error:
        verdict.unread = str(error)
        return verdict
    replay = Replay() if replayed else None
    try:
        verdict.ledger, verdict.head = file.id, file.head.hash.hex()
        all_ = (*checkpoints, *(() if file.kept is None else (file.kept,)))
        for finding in _findings(file, verdict, replay, all_, key, reached):
            if len(verdict.findings) < MAX_LISTED_FINDINGS:
                verdict.findings.append(finding)
            else:
                verdict.more += 1
    except READ_ERRORS as error:
        if is_read_failure(error):
            verdict.unread = f"{path}: {error}; try again"
        else:
            verdict.findings.append(LedgerFinding(None, f"the file is damaged: {error}"))
    finally:
        file.close()
        if replay is not None:
            replay.close()
    return verdict


def _findings(
    file: LedgerReader,
    verdict: LedgerVerdict,
    replay: Replay | None,
    checkpoints: Iterable[Checkpoint],
    key: str | None,
    reached: Callable[[int, int], None],
) -> Iterator[LedgerFinding]:
    # what it raises ends SQLite's own check too
    file.connection.set_progress_handler(
        partial(reached, 0, file.head.position), PROGRESS_INTERVAL_STEPS
    )
    if (found := reading.find_file_flaw(file.connection)) is not None:
        yield LedgerFinding(None, found)
    file.connection.set_progress_handler(None, 0)
    currencies: dict[str, str] = {}
    sums: Counter[tuple[str, str]] = Counter()
    before = file.genesis
    for row, postings in file.entries():
        yield from check_chain(row, postings, before)
        before = ChainHead(row.position, row.hash)
        verdict.entries += 1
        if not row.position % PROGRESS_INTERVAL_ENTRIES:
            reached(row.position, file.head.position)
        verdict.postings += len(postings)
        yield from check_sums(row.position, postings)
        for each in postings:
            sums[each.jackpot, each.account] += each.amount
        try:
            fact = read_fact(row.fact)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            yield LedgerFinding(row.position, f"its fact cannot be read: {error}")
            continue
        if cause_of(fact) != row.cause:
            yield LedgerFinding(row.position, "its fact is of another event than its columns say")
        if isinstance(fact, TermsGiven):
            currencies[row.jackpot] = str(fact.terms.get("currency"))
        if replay is not None and (
            differs := replay.find_difference(row.position, row.jackpot, fact, postings)
        ):
            yield LedgerFinding(row.position, differs)
    yield from _check_orphans(file.connection)
    yield from _check_totals(sums, currencies)
    for checkpoint in checkpoints:
        yield from _check_checkpoint(file, checkpoint, verdict, key)
    yield from check_states(file, replay)


def check_chain(
    row: EntryRow, postings: Sequence[PostingRow], before: ChainHead
) -> Iterator[LedgerFinding]:
    """The entry after ``before``."""
    if row.position != before.position + 1:
        yield LedgerFinding(row.position, f"the entries after {before.position} are missing")
    elif row.previous != before.hash:
        yield LedgerFinding(row.position, "it does not follow from the entry before it")
    try:
        digest = entry_hash(row.previous, *row[:3], row[3:7], row.fact, postings)
    except (TypeError, ValueError) as error:
        yield LedgerFinding(row.position, f"it cannot be read: {error}")
    else:
        if digest != row.hash:
            yield LedgerFinding(
                row.position, "its hash does not hold: it or a posting of it was changed"
            )


def check_sums(position: int, postings: Sequence[PostingRow]) -> Iterator[LedgerFinding]:
    """Each transaction of an entry sums to zero, and its lines are one."""
    for number, lines in groupby(postings, key=lambda each: each.txn):
        of = list(lines)
        if total := sum(each.amount for each in of):
            yield LedgerFinding(position, f"transaction {number} sums to {total}, not to zero")
        if len({(each[2:4], each[7:]) for each in of}) > 1:  # what, jackpot, at and cause
            yield LedgerFinding(position, f"transaction {number} has lines of several transactions")


def _check_orphans(connection: sqlite3.Connection) -> Iterator[LedgerFinding]:
    """Postings of no entry."""
    for (position,) in connection.execute(
        "SELECT DISTINCT position FROM posting WHERE position NOT IN (SELECT position FROM entry)"
    ):
        yield LedgerFinding(position, "there are postings of it, and the entry is missing")


def _check_totals(
    sums: Counter[tuple[str, str]], currencies: dict[str, str]
) -> Iterator[LedgerFinding]:
    """All postings of a currency sum to zero, and those between jackpots by themselves."""
    totals: Counter[tuple[str, str]] = Counter()
    for (jackpot, account), amount in sums.items():
        currency = currencies.get(jackpot, "?")
        totals[currency, ""] += amount
        totals[currency, "transfer"] += amount if account == "transfer" else 0
    for (currency, account), total in sorted(totals.items()):
        if total:
            yield LedgerFinding(
                None, f"the postings {f'of {account} ' if account else ''}in {currency} sum to "
                f"{total}, not to zero"
            )  # fmt: skip


def _check_checkpoint(
    file: LedgerReader, checkpoint: Checkpoint, verdict: LedgerVerdict, key: str | None
) -> Iterator[LedgerFinding]:
    at = checkpoint.position
    trusted = frozenset({key or checkpoint.key or ""})
    if checkpoint.journal != file.id:
        yield LedgerFinding(None, f"a checkpoint is of another ledger, {checkpoint.journal[:64]}")
    elif (found := flaw(checkpoint, trusted)) is not None:
        yield LedgerFinding(at, f"the checkpoint of it does not count: {found}")
    elif at > file.head.position:
        yield LedgerFinding(
            at,
            f"a checkpoint was signed there, and the ledger ends at {file.head.position}: it was "
            "cut, or is an older one",
        )
    elif (there := file.hash_at(at)) is None or there.hex() != checkpoint.hash:
        yield LedgerFinding(at, "it is not the one of the checkpoint: the ledger was rewritten")
    elif verdict.signed is None or at >= verdict.signed:
        verdict.signed, verdict.key = at, checkpoint.key


def check_states(file: LedgerReader, replay: Replay | None) -> Iterator[LedgerFinding]:
    """What is saved beside the chain is what follows from it."""
    saved = reading.saved_states(file.connection)
    for jackpot, (position, _) in saved.items():
        if position > file.head.position:
            yield LedgerFinding(
                position, f"the state of {jackpot} was saved after it, and it is missing"
            )
    if replay is None:
        return
    for jackpot in sorted((replay.states.keys() | saved.keys()) - replay.diverged):
        if _decode_state(saved.get(jackpot)) != replay.states.get(jackpot):
            yield LedgerFinding(
                None, f"the state of {jackpot} that was saved is not what follows from its facts"
            )


def _decode_state(saved: tuple[int, bytes] | None) -> JackpotLedgerState | None:
    """A state that was saved; None: it is none."""
    try:
        return None if saved is None else msgspec.json.decode(saved[1], type=JackpotLedgerState)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
