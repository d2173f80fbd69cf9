"""Every posting of a ledger with its cause, for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

import msgspec

from subscribers.carrousel.schema import EntryRow, PostingRow

CSV_COLUMNS = (
    "position",
    "line",
    "transaction",
    "time",
    "what",
    "jackpot",
    "account",
    "part",
    "amount",
    "at_time",
    "at_table",
    "at_boot",
    "at_seq",
    "cause_time",
    "cause_table",
    "cause_boot",
    "cause_seq",
    "fact",
    "hash",
)
EntriesWithPostings = Iterable[tuple[EntryRow, list[PostingRow]]]


def select_entries(
    entries: EntriesWithPostings, begin: str | None, end: str | None, jackpot: str | None
) -> Iterator[tuple[EntryRow, list[PostingRow]]]:
    """The entries with those of their postings that count from ``begin`` on, before ``end``, and
    are of that jackpot; None: any. Of an entry without postings, the fact's time and jackpot
    decide.
    """
    for row, postings in entries:
        kept = [
            each
            for each in postings
            if (jackpot is None or each.jackpot == jackpot)
            and (begin is None or each.at_time >= begin)
            and (end is None or each.at_time < end)
        ]
        alone = (
            not postings
            and (jackpot is None or row.jackpot == jackpot)
            and (begin is None or row.time >= begin)
            and (end is None or row.time < end)
        )
        if kept or alone:
            yield row, kept


def as_csv(entries: EntriesWithPostings) -> Iterator[str]:
    """A line for each posting (RFC 4180), amounts in minor units; the first one names the
    columns.
    """
    yield _csv_line(CSV_COLUMNS)
    for row, postings in entries:
        kind = fact_kind(row)
        for each in postings:
            yield _csv_line(
                (
                    row.position,
                    each.line,
                    each.txn,
                    row.time,
                    *each[2:],
                    kind,
                    row.hash.hex(),
                )
            )


def as_json(entries: EntriesWithPostings) -> Iterator[str]:
    """A JSON object for each entry, with its fact, its postings and the hashes of the chain."""
    for row, postings in entries:
        made = {
            "position": row.position,
            "time": row.time,
            "jackpot": row.jackpot,
            "cause": row.cause,
            "fact": msgspec.Raw(row.fact),
            "postings": [
                {
                    "line": each.line,
                    "transaction": each.txn,
                    "what": each.what,
                    "jackpot": each.jackpot,
                    "account": each.account,
                    "part": each.part,
                    "amount": each.amount,
                    "at": each.at,
                    "cause": each.cause,
                }
                for each in postings
            ],
            "previous": row.previous.hex(),
            "hash": row.hash.hex(),
        }
        yield msgspec.json.encode(made).decode() + "\n"


def fact_kind(row: EntryRow) -> str:
    """What an entry's fact is: ``staked``, or the order of a person: ``award.pay``."""
    fact = msgspec.json.decode(row.fact)
    order = fact.get("order")
    return str(order["type"] if order else fact["fact"])


def _csv_line(values: Iterable[object]) -> str:
    page = io.StringIO()
    csv.writer(page).writerow(values)
    return page.getvalue()
