"""A statement as tables of text, which terminal and PDF output share; and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from common.contract.command_fields import Signature
from common.contract.messages.messages import text, word
from subscribers.cards import short
from subscribers.carrousel.amounts import format_amount
from subscribers.carrousel.statement import AwardTotals, JackpotStatement
from subscribers.money import day


class StatementSection(msgspec.Struct, frozen=True):
    """A table. ``amounts``: index of the first column with amounts; ``total``: the last row with
    their sums, if any.
    """

    title: str
    columns: tuple[str, ...]
    amounts: int
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()


def header_lines(statement: JackpotStatement, language: str) -> Iterator[str]:
    """Yield the lines above the tables, with the proof of the statement."""
    yield text("book.title", language, jackpot=statement.jackpot)
    begin, end = (
        moment.isoformat(timespec="minutes") for moment in (statement.begin, statement.end)
    )
    first, last = statement.first.isoformat(), statement.last.isoformat()
    yield text("book.days", language, first=first, last=last, begin=begin, end=end)
    authorisation = None if statement.terms is None else statement.terms.authorisation
    if authorisation is not None:
        yield text(
            "jackpot.authorisation",
            language,
            number=authorisation.number,
            date=authorisation.date,
            authority=authorisation.authority,
        )
        numerator, denominator = authorisation.percentage
        yield text("book.percentage", language, share=f"{numerator}/{denominator}")
    yield text("book.ledger", language, ledger=statement.ledger, position=statement.position)
    yield f"{text('permanency.hash', language)} {statement.hash}"
    checkpoint = statement.checkpoint
    if checkpoint is None:
        yield text("book.unproved", language)
        return
    yield text("book.checkpoint", language, position=checkpoint.position, time=checkpoint.time)
    yield f"{text('permanency.hash', language)} {checkpoint.hash}"
    yield f"{text('permanency.key', language)} {checkpoint.key or '-'}"
    yield f"{text('permanency.signature', language)} {checkpoint.signature or '-'}"


def footer_lines(statement: JackpotStatement, language: str) -> Iterator[str]:
    """Yield the lines below the tables: whether they balance, and what was written late."""
    yield text("book.balances" if statement.balances else "book.unbalanced", language)
    if statement.late:
        yield text("book.late", language, count=statement.late)


def sections(statement: JackpotStatement, language: str) -> tuple[StatementSection, ...]:
    """Return the tables of a statement."""
    return (
        _tables_section(statement, language),
        _meter_section(statement, language),
        _awards_section(statement, language),
        _payments_section(statement, language),
    )


def _tables_section(statement: JackpotStatement, language: str) -> StatementSection:
    names = ("stakes", "rise", "reserve", "house", "awarded", "paid")
    amounts = [[getattr(table, name) for name in names] for table in statement.tables]
    total = [sum(column) for column in zip(*amounts, strict=True)] if amounts else []
    return StatementSection(
        title=text("book.tables", language),
        columns=_columns(language, "table", *names),
        amounts=1,
        rows=tuple(
            (table.table, *_amounts(statement, language, row))
            for table, row in zip(statement.tables, amounts, strict=True)
        ),
        total=(text("book.total", language), *_amounts(statement, language, total))
        if total
        else (),
    )


def _meter_section(statement: JackpotStatement, language: str) -> StatementSection:
    def row(label: str, sums: Sequence[int]) -> tuple[str, ...]:
        return label, *_amounts(statement, language, sums)

    return StatementSection(
        title=text("book.movements", language),
        columns=_columns(language, "what", "meter", "reserve"),
        amounts=1,
        rows=(
            row(text("book.before", language), (statement.before.meter, statement.before.reserve)),
            *(
                row(word("book", f"what.{kind}", language), (movement.meter, movement.reserve))
                for kind, movement in statement.movements.items()
                if movement.meter or movement.reserve
            ),
        ),
        total=row(text("book.after", language), (statement.after.meter, statement.after.reserve)),
    )


def _awards_section(statement: JackpotStatement, language: str) -> StatementSection:
    where = ("award", "time", "table", "session", "round", "box", "hand", "cards")
    return StatementSection(
        title=text("book.awards", language),
        columns=_columns(language, *where, "locked", "value", "paid"),
        amounts=len(where),
        rows=tuple(
            (
                *_award_cells(award, language),
                *_amounts(statement, language, (award.locked, award.value, award.paid)),
            )
            for award in statement.awards
        ),
    )


def _payments_section(statement: JackpotStatement, language: str) -> StatementSection:
    return StatementSection(
        title=text("book.payments", language),
        columns=_columns(language, "receipt", "award", "time", "entry", "signed", "amount"),
        amounts=5,
        rows=tuple(
            (
                str(payment.receipt),
                str(payment.award),
                local_time(payment.time, language),
                str(payment.position),
                format_signers(payment.signed, language),
                format_amount(payment.amount, statement.currency, language),
            )
            for award in statement.awards
            for payment in award.payments
        ),
    )


def _award_cells(award: AwardTotals, language: str) -> tuple[str, ...]:
    details = award.of
    return (
        str(details.award),
        local_time(details.time, language),
        details.table,
        str(details.session),
        str(details.round),
        details.box.removeprefix("box:"),
        word("hand", details.hand, language),
        " ".join(map(short, details.cards)),
    )


def local_time(time: str, language: str) -> str:
    """Format a time of the ledger as local time, to the second, with its offset from UTC."""
    date, clock = datetime.fromisoformat(time).astimezone().isoformat(timespec="seconds").split("T")
    return f"{day(date, language)} {clock[:8]} {clock[8:]}"


def format_signers(signed: Sequence[Signature], language: str) -> str:
    """Name the signers, and their roles."""
    return "; ".join(
        f"{signature.name}, {word('role', signature.role, language)}" for signature in signed
    )


def _columns(language: str, *names: str) -> tuple[str, ...]:
    return tuple(text(f"book.{name}", language) for name in names)


def _amounts(statement: JackpotStatement, language: str, amounts: Sequence[int]) -> tuple[str, ...]:
    return tuple(format_amount(amount, statement.currency, language) for amount in amounts)


def as_text(statement: JackpotStatement, language: str) -> str:
    """Return a statement as text in a fixed-pitch font."""
    lines = [*header_lines(statement, language), ""]
    for section in sections(statement, language):
        lines += [section.title.upper(), *_table(section, language), ""]
    return "\n".join([*lines, *footer_lines(statement, language), ""])


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
            cell.rjust(width) if column >= section.amounts else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()
        if number == 0:
            yield rule


CSV_COLUMNS = (
    "section", "table", "what", "award", "receipt", "time", "session", "round", "box", "hand",
    "cards", "signed", "position", "stakes", "meter", "reserve", "house", "awarded", "value",
    "paid",
)  # fmt: skip


def as_csv(statement: JackpotStatement, language: str) -> str:
    """Return a statement as CSV (RFC 4180), amounts in minor units. Header and footer lines begin
    with #. ``section`` is the kind of a row: ``begin``, ``table``, ``movement``, ``award``,
    ``payment`` or ``end``.
    """
    buffer = io.StringIO()
    for line in header_lines(statement, language):
        buffer.write(f"# {line}\r\n")
    writer = csv.DictWriter(buffer, CSV_COLUMNS)
    writer.writeheader()
    writer.writerows(_csv_records(statement))
    for line in footer_lines(statement, language):
        buffer.write(f"# {line}\r\n")
    return buffer.getvalue()


def _csv_records(statement: JackpotStatement) -> Iterator[dict[str, object]]:
    yield {"section": "begin", "meter": statement.before.meter, "reserve": statement.before.reserve}
    for table in statement.tables:
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
    for kind, sums in statement.movements.items():
        yield {"section": "movement", "what": kind, "meter": sums.meter, "reserve": sums.reserve}
    for award in statement.awards:
        details = award.of
        yield {
            "section": "award",
            "table": details.table,
            "award": details.award,
            "time": details.time,
            "session": details.session,
            "round": details.round,
            "box": details.box,
            "hand": details.hand,
            "cards": " ".join(details.cards),
            "awarded": award.locked,
            "value": award.value,
            "paid": award.paid,
        }
        for payment in award.payments:
            yield {
                "section": "payment",
                "table": details.table,
                "award": details.award,
                "receipt": payment.receipt,
                "time": payment.time,
                "signed": "; ".join(
                    f"{signature.name} ({signature.role})" for signature in payment.signed
                ),
                "position": payment.position,
                "paid": payment.amount,
            }
    yield {"section": "end", "meter": statement.after.meter, "reserve": statement.after.reserve}
