"""Verification of a ledger: whether it is what was written, and what follows from its facts.

Checked are the file itself, the chain, the positions, that each transaction and all postings sum to
zero, the checkpoints, and the replay: applying all facts again gives the same postings and states.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import msgspec

from common.chain.checkpoint import signature_problem
from common.chain.schema import READ_ERRORS, ChainHead, is_read_failure
from common.contract.node import Checkpoint
from subscribers.carrousel import reading
from subscribers.carrousel.facts import TermsGiven
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.reading import LedgerReader, read_fact
from subscribers.carrousel.replay import Replay
from subscribers.carrousel.schema import EntryRow, LedgerError, PostingRow, entry_hash
from subscribers.carrousel.store import cause_of

MAX_LISTED_FINDINGS = 1000
"""Number of findings that are listed."""
PROGRESS_INTERVAL_ENTRIES = 1000
"""Number of entries between two progress reports."""
PROGRESS_INTERVAL_STEPS = 1_000_000
"""Number of steps of SQLite's integrity check between two progress reports."""


class LedgerFinding(msgspec.Struct, frozen=True):
    """Something that is wrong. ``position``: of the entry; None: it concerns the whole file."""

    position: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.position is None else f"entry {self.position}: {self.what}"


class LedgerVerdict(msgspec.Struct, kw_only=True):
    """The result of a verification. ``unread``: why the ledger could not be read, or None."""

    ledger: str | None = None
    entries: int = 0
    postings: int = 0
    head: str | None = None
    """Hash of the last entry."""
    signed: int | None = None
    """The last entry covered by a checkpoint; None if there was no checkpoint."""
    key: str | None = None
    """Public key of that checkpoint."""
    findings: list[LedgerFinding] = []
    more: int = 0
    """Number of findings that are not listed."""
    unread: str | None = None

    @property
    def status(self) -> int:
        """Exit status: 0 verified, 1 not verified, 3 could not be read."""
        if self.findings:
            return 1
        return 0 if self.unread is None else 3


def verify(
    path: Path,
    checkpoints: Sequence[Checkpoint] = (),
    key: str | None = None,
    *,
    replayed: bool = True,
    reached: Callable[[int, int], None] = lambda _position, _total: None,
) -> LedgerVerdict:
    """Verify a ledger, which a controller may be using. ``checkpoints``: published ones, in
    addition to the one beside the file. ``key``: the public key to trust; None: each checkpoint's
    own. ``replayed``: whether to replay the facts, which takes longest. ``reached`` is called from
    time to time with the current entry and the number of entries; an exception it raises aborts.
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
        all_checkpoints = (*checkpoints, *(() if file.kept is None else (file.kept,)))
        for finding in _findings(file, verdict, replay, all_checkpoints, key, reached):
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
    # an exception it raises aborts SQLite's check too
    file.connection.set_progress_handler(
        partial(reached, 0, file.head.position), PROGRESS_INTERVAL_STEPS
    )
    if (flaw_found := reading.find_file_flaw(file.connection)) is not None:
        yield LedgerFinding(None, flaw_found)
    file.connection.set_progress_handler(None, 0)
    currencies: dict[str, str] = {}
    sums: Counter[tuple[str, str]] = Counter()
    previous = file.genesis
    for row, postings in file.entries():
        yield from check_chain(row, postings, previous)
        previous = ChainHead(row.position, row.hash)
        verdict.entries += 1
        if not row.position % PROGRESS_INTERVAL_ENTRIES:
            reached(row.position, file.head.position)
        verdict.postings += len(postings)
        yield from check_sums(row.position, postings)
        for posting in postings:
            sums[posting.jackpot, posting.account] += posting.amount
        try:
            fact = read_fact(row.fact)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            yield LedgerFinding(row.position, f"its fact cannot be read: {error}")
            continue
        if cause_of(fact) != row.cause:
            yield LedgerFinding(row.position, "its fact names another event than its columns")
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
    """Check that an entry is intact and follows ``before``."""
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
                row.position, "its hash does not match: it or one of its postings was changed"
            )


def check_sums(position: int, postings: Sequence[PostingRow]) -> Iterator[LedgerFinding]:
    """Check that each transaction of an entry sums to zero and is one transaction."""
    for number, group in groupby(postings, key=lambda row: row.txn):
        rows = list(group)
        if total := sum(row.amount for row in rows):
            yield LedgerFinding(position, f"transaction {number} sums to {total}, not to zero")
        if len({(row[2:4], row[7:]) for row in rows}) > 1:  # what, jackpot, at and cause
            yield LedgerFinding(position, f"transaction {number} has lines of several transactions")


def _check_orphans(connection: sqlite3.Connection) -> Iterator[LedgerFinding]:
    for (position,) in connection.execute(
        "SELECT DISTINCT position FROM posting WHERE position NOT IN (SELECT position FROM entry)"
    ):
        yield LedgerFinding(position, "it has postings, but the entry is missing")


def _check_totals(
    sums: Counter[tuple[str, str]], currencies: dict[str, str]
) -> Iterator[LedgerFinding]:
    """Check that all postings of a currency sum to zero, and transfers by themselves."""
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
    position = checkpoint.position
    trusted = frozenset({key or checkpoint.key or ""})
    if checkpoint.journal != file.id:
        yield LedgerFinding(
            None, f"a checkpoint belongs to another ledger, {checkpoint.journal[:64]}"
        )
    elif (problem := signature_problem(checkpoint, trusted)) is not None:
        yield LedgerFinding(position, f"its checkpoint is not valid: {problem}")
    elif position > file.head.position:
        yield LedgerFinding(
            position,
            f"a checkpoint was signed there, but the ledger ends at {file.head.position}: it was "
            "truncated, or is an older one",
        )
    elif (digest := file.hash_at(position)) is None or digest.hex() != checkpoint.hash:
        yield LedgerFinding(
            position, "it is not the one in the checkpoint: the ledger was rewritten"
        )
    elif verdict.signed is None or position >= verdict.signed:
        verdict.signed, verdict.key = position, checkpoint.key


def check_states(file: LedgerReader, replay: Replay | None) -> Iterator[LedgerFinding]:
    """Check the saved states against the replay."""
    saved = reading.saved_states(file.connection)
    for jackpot, (position, _) in saved.items():
        if position > file.head.position:
            yield LedgerFinding(
                position, f"the state of {jackpot} was saved after this entry, which is missing"
            )
    if replay is None:
        return
    for jackpot in sorted((replay.states.keys() | saved.keys()) - replay.diverged):
        if _decode_state(saved.get(jackpot)) != replay.states.get(jackpot):
            yield LedgerFinding(
                None, f"the saved state of {jackpot} does not follow from its facts"
            )


def _decode_state(saved: tuple[int, bytes] | None) -> JackpotLedgerState | None:
    """Return a saved state; None if it is missing or cannot be decoded."""
    try:
        return None if saved is None else msgspec.json.decode(saved[1], type=JackpotLedgerState)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
