"""Export of every posting with its cause, for other programs."""

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
    """Yield the entries with those of their postings that count from ``begin`` on, before ``end``,
    and belong to that jackpot; None selects all. Entries without postings are selected by the time
    and jackpot of their fact.
    """
    for row, postings in entries:
        selected = [
            posting
            for posting in postings
            if (jackpot is None or posting.jackpot == jackpot)
            and (begin is None or posting.at_time >= begin)
            and (end is None or posting.at_time < end)
        ]
        has_no_postings = (
            not postings
            and (jackpot is None or row.jackpot == jackpot)
            and (begin is None or row.time >= begin)
            and (end is None or row.time < end)
        )
        if selected or has_no_postings:
            yield row, selected


def as_csv(entries: EntriesWithPostings) -> Iterator[str]:
    """Yield a line for each posting (RFC 4180), amounts in minor units, after a header line."""
    yield _csv_line(CSV_COLUMNS)
    for row, postings in entries:
        kind = fact_kind(row)
        for posting in postings:
            yield _csv_line(
                (
                    row.position,
                    posting.line,
                    posting.txn,
                    row.time,
                    *posting[2:],
                    kind,
                    row.hash.hex(),
                )
            )


def as_json(entries: EntriesWithPostings) -> Iterator[str]:
    """Yield a JSON object for each entry, with its fact, its postings and its hashes."""
    for row, postings in entries:
        record = {
            "position": row.position,
            "time": row.time,
            "jackpot": row.jackpot,
            "cause": row.cause,
            "fact": msgspec.Raw(row.fact),
            "postings": [
                {
                    "line": posting.line,
                    "transaction": posting.txn,
                    "what": posting.what,
                    "jackpot": posting.jackpot,
                    "account": posting.account,
                    "part": posting.part,
                    "amount": posting.amount,
                    "at": posting.at,
                    "cause": posting.cause,
                }
                for posting in postings
            ],
            "previous": row.previous.hex(),
            "hash": row.hash.hex(),
        }
        yield msgspec.json.encode(record).decode() + "\n"


def fact_kind(row: EntryRow) -> str:
    """Return the kind of an entry's fact: ``staked``, or a person's order such as ``award.pay``."""
    fact = msgspec.json.decode(row.fact)
    order = fact.get("order")
    return str(order["type"] if order else fact["fact"])


def _csv_line(values: Iterable[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(values)
    return buffer.getvalue()
