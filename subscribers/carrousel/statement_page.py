"""A statement as tables of text, which the terminal and PDF show alike; and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from controller.contract.command_fields import Signature
from controller.contract.messages.messages import text, word
from subscribers.carrousel.amounts import format_amount
from subscribers.carrousel.statement import AwardTotals, JackpotStatement


class StatementSection(msgspec.Struct, frozen=True):
    """A table. ``amounts``: from this column on, the columns are amounts; below the rows, ``total``
    sums them up, or nothing does.
    """

    title: str
    columns: tuple[str, ...]
    amounts: int
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()


def header_lines(of: JackpotStatement, language: str) -> Iterator[str]:
    """What stands above the book, and what proves it."""
    yield text("book.title", language, jackpot=of.jackpot)
    begin, end = (moment.isoformat(timespec="minutes") for moment in (of.begin, of.end))
    first, last = of.first.isoformat(), of.last.isoformat()
    yield text("book.days", language, first=first, last=last, begin=begin, end=end)
    given = None if of.terms is None else of.terms.authorisation
    if given is not None:
        yield text(
            "jackpot.authorisation",
            language,
            number=given.number,
            date=given.date,
            authority=given.authority,
        )
        numerator, denominator = given.percentage
        yield text("book.percentage", language, share=f"{numerator}/{denominator}")
    yield text("book.ledger", language, ledger=of.ledger, position=of.position)
    yield f"{text('permanency.hash', language)} {of.hash}"
    kept = of.checkpoint
    if kept is None:
        yield text("book.unproved", language)
        return
    yield text("book.checkpoint", language, position=kept.position, time=kept.time)
    yield f"{text('permanency.hash', language)} {kept.hash}"
    yield f"{text('permanency.key', language)} {kept.key or '-'}"
    yield f"{text('permanency.signature', language)} {kept.signature or '-'}"


def footer_lines(of: JackpotStatement, language: str) -> Iterator[str]:
    """What stands below it: whether it balances, and what was written late."""
    yield text("book.balances" if of.balances else "book.unbalanced", language)
    if of.late:
        yield text("book.late", language, count=of.late)


def sections(of: JackpotStatement, language: str) -> tuple[StatementSection, ...]:
    """The tables of the book."""
    return (
        _tables_section(of, language),
        _meter_section(of, language),
        _awards_section(of, language),
        _payments_section(of, language),
    )


def _tables_section(of: JackpotStatement, language: str) -> StatementSection:
    names = ("stakes", "rise", "reserve", "house", "awarded", "paid")
    amounts = [[getattr(each, name) for name in names] for each in of.tables]
    total = [sum(column) for column in zip(*amounts, strict=True)] if amounts else []
    return StatementSection(
        title=text("book.tables", language),
        columns=_columns(language, "table", *names),
        amounts=1,
        rows=tuple(
            (each.table, *_amounts(of, language, row))
            for each, row in zip(of.tables, amounts, strict=True)
        ),
        total=(text("book.total", language), *_amounts(of, language, total)) if total else (),
    )


def _meter_section(of: JackpotStatement, language: str) -> StatementSection:
    def row(said_: str, sums: Sequence[int]) -> tuple[str, ...]:
        return said_, *_amounts(of, language, sums)

    return StatementSection(
        title=text("book.movements", language),
        columns=_columns(language, "what", "meter", "reserve"),
        amounts=1,
        rows=(
            row(text("book.before", language), (of.before.meter, of.before.reserve)),
            *(
                row(word("book", f"what.{what}", language), (each.meter, each.reserve))
                for what, each in of.movements.items()
                if each.meter or each.reserve
            ),
        ),
        total=row(text("book.after", language), (of.after.meter, of.after.reserve)),
    )


def _awards_section(of: JackpotStatement, language: str) -> StatementSection:
    where = ("award", "time", "table", "session", "round", "box", "hand", "cards")
    return StatementSection(
        title=text("book.awards", language),
        columns=_columns(language, *where, "locked", "value", "paid"),
        amounts=len(where),
        rows=tuple(
            (
                *_award_cells(each, language),
                *_amounts(of, language, (each.locked, each.value, each.paid)),
            )
            for each in of.awards
        ),
    )


def _payments_section(of: JackpotStatement, language: str) -> StatementSection:
    return StatementSection(
        title=text("book.payments", language),
        columns=_columns(language, "receipt", "award", "time", "entry", "signed", "amount"),
        amounts=5,
        rows=tuple(
            (
                str(payment.receipt),
                str(payment.award),
                local_time(payment.time),
                str(payment.position),
                format_signers(payment.signed, language),
                format_amount(payment.amount, of.currency, language),
            )
            for each in of.awards
            for payment in each.payments
        ),
    )


def _award_cells(each: AwardTotals, language: str) -> tuple[str, ...]:
    won = each.of
    return (
        str(won.award),
        local_time(won.time),
        won.table,
        str(won.session),
        str(won.round),
        won.box.removeprefix("box:"),
        word("hand", won.hand, language),
        " ".join(won.cards),
    )


def local_time(time: str) -> str:
    """A time of the ledger as local time, to the second."""
    return datetime.fromisoformat(time).astimezone().isoformat(sep=" ", timespec="seconds")


def format_signers(signed: Sequence[Signature], language: str) -> str:
    """Who signed, and as what."""
    return "; ".join(f"{each.name}, {word('role', each.role, language)}" for each in signed)


def _columns(language: str, *names: str) -> tuple[str, ...]:
    return tuple(text(f"book.{name}", language) for name in names)


def _amounts(of: JackpotStatement, language: str, amounts: Sequence[int]) -> tuple[str, ...]:
    return tuple(format_amount(each, of.currency, language) for each in amounts)


def as_text(of: JackpotStatement, language: str) -> str:
    """The book for a terminal or a printer with a fixed pitch."""
    lines = [*header_lines(of, language), ""]
    for section in sections(of, language):
        lines += [section.title.upper(), *_table(section, language), ""]
    return "\n".join([*lines, *footer_lines(of, language), ""])


def _table(section: StatementSection, language: str) -> Iterator[str]:
    if not section.rows:
        yield f"  {text('book.none', language)}"
        return
    rows = [section.columns, *section.rows, *([section.total] if section.total else [])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  " + "  ".join("-" * width for width in widths)
    for number, row in enumerate(rows):
        if section.total and number == len(rows) - 1:
            yield rule
        cells = (
            cell.rjust(width) if at >= section.amounts else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()
        if number == 0:
            yield rule


CSV_COLUMNS = (
    "section", "table", "what", "award", "receipt", "time", "session", "round", "box", "hand",
    "cards", "signed", "position", "stakes", "meter", "reserve", "house", "awarded", "value",
    "paid",
)  # fmt: skip


def as_csv(of: JackpotStatement, language: str) -> str:
    """The book as CSV (RFC 4180), amounts in minor units, what stands above and below it in lines
    that begin with #. ``section`` says what a line is: ``begin``, ``table``, ``movement``,
    ``award``, ``payment`` or ``end``.
    """
    page = io.StringIO()
    for line in header_lines(of, language):
        page.write(f"# {line}\r\n")
    writer = csv.DictWriter(page, CSV_COLUMNS)
    writer.writeheader()
    writer.writerows(_csv_records(of))
    for line in footer_lines(of, language):
        page.write(f"# {line}\r\n")
    return page.getvalue()


def _csv_records(of: JackpotStatement) -> Iterator[dict[str, object]]:
    yield {"section": "begin", "meter": of.before.meter, "reserve": of.before.reserve}
    for table in of.tables:
        yield {
            "section": "table",
            "table": table.table,
            "stakes": table.stakes,
            "meter": table.rise,
            "reserve": table.reserve,
            "house": table.house,
            "awarded": table.awarded,
            "paid": table.paid,
        }
    for what, sums in of.movements.items():
        yield {"section": "movement", "what": what, "meter": sums.meter, "reserve": sums.reserve}
    for award in of.awards:
        won = award.of
        yield {
            "section": "award",
            "table": won.table,
            "award": won.award,
            "time": won.time,
            "session": won.session,
            "round": won.round,
            "box": won.box,
            "hand": won.hand,
            "cards": " ".join(won.cards),
            "awarded": award.locked,
            "value": award.value,
            "paid": award.paid,
        }
        for payment in award.payments:
            yield {
                "section": "payment",
                "table": won.table,
                "award": won.award,
                "receipt": payment.receipt,
                "time": payment.time,
                "signed": "; ".join(f"{each.name} ({each.role})" for each in payment.signed),
                "position": payment.position,
                "paid": payment.amount,
            }
    yield {"section": "end", "meter": of.after.meter, "reserve": of.after.reserve}
