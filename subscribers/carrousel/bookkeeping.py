"""``python -m subscribers.carrousel.bookkeeping``: what reads a ledger. ``novamas carrousel``
starts it: ``verify``, ``export``, ``build_statement`` and ``read_receipt``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from datetime import date, datetime, time
from pathlib import Path

import msgspec

from controller.contract.messages.messages import LANGUAGES
from controller.contract.node import Checkpoint
from controller.proof.checkpoint import read_checkpoint
from devices.command_line import CommandLine, end_process
from devices.new_file import replace_file
from subscribers.carrousel import export, receipt, statement, statement_page
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.receipt_escpos import as_escpos
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.verification import LedgerVerdict, verify
from subscribers.days import bounds, day_of, on_wire

VERIFY = """\
Checks the file, the chain of its entries, that every transaction and all of
them sum to zero, the checkpoint that is kept beside the ledger and those given,
and takes all facts through the rules once more: the same postings and states
must follow. One finding a line.

exit status: 0 it holds, 1 it does not hold, 2 wrong usage, 3 it could not be judged"""
EXPORT = """\
csv: a line for each posting, with its cause; json: an object for each entry, on
a line of its own, with its fact, its postings and its hashes. Amounts are in
minor units."""
STATEMENT = """\
The book of a jackpot: per table what was staked, by what the meter rose, what
stayed with the house, what was awarded and paid; each award and each payment;
the meter before and after; the checkpoint that proves it. A posting belongs to
the day in which its event happened. Exit status 1: it does not balance."""
RECEIPT = """\
A receipt as it was given for a payment: text (on a terminal the default), pdf on
A6 (otherwise the default), escpos for a thermal printer with the code page PC858.
The ledger is not changed by it."""


def main(words: list[str] | None = None) -> int:
    """Returns the exit status."""
    given = command_line().parse_args(words)
    try:
        return int(given.run(given))
    except LedgerError as error:
        sys.stderr.write(f"novamas carrousel: {error}\n")
        return 1
    except BrokenPipeError:  # the reader of the output closed it, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = error.filename or "standard output"
        sys.stderr.write(f"novamas carrousel: {where}: {error.strerror}\n")
        return 1


def command_line() -> argparse.ArgumentParser:
    """What it takes on the command line."""
    parser = CommandLine(prog="novamas carrousel", description="Reads the ledger of a carrousel.")
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def action(name: str, what: str, more: str) -> argparse.ArgumentParser:
        made = actions.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog=more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.add_argument(
            "ledger", type=Path, metavar="FILE", help="the ledger; a controller may be using it"
        )
        return made

    made = action("verify", "say whether a ledger is what was written", VERIFY)
    made.add_argument(
        "--checkpoint",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a published checkpoint that somebody kept, as JSON; may be given again",
    )
    made.add_argument("--key", metavar="PUBLICKEY", help="the public key to trust (64 digits)")
    made.add_argument(
        "--chain-only", action="store_true", help="do not take the facts through the rules"
    )
    made.add_argument("--json", action="store_true", help="the verdict as one JSON object")
    made.set_defaults(run=_verify)

    made = action("export", "print every posting with its cause", EXPORT)
    made.add_argument("--format", choices=("csv", "json"), default="csv")
    made.add_argument("--jackpot", metavar="ID", help="one jackpot alone")
    _add_days(made)
    made.set_defaults(run=_export)

    made = action("statement", "print the book of a jackpot", STATEMENT)
    made.add_argument("--jackpot", metavar="ID", required=True)
    _add_days(made)
    made.add_argument("--format", choices=("text", "csv", "pdf"), default="text")
    _add_paper(made)
    made.set_defaults(run=_statement)

    made = action("receipt", "print the receipt of a payment", RECEIPT)
    made.add_argument("--jackpot", metavar="ID", required=True)
    made.add_argument("--number", type=int, metavar="N", required=True, help="of the receipt")
    made.add_argument("--format", choices=("text", "pdf", "escpos"))
    _add_paper(made)
    made.set_defaults(run=_receipt)
    return parser


def _add_days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--day", type=_day, metavar="DAY", help="one day of play, as 2026-11-19 (default: today's)"
    )
    parser.add_argument("--from", type=_day, dest="first", metavar="DAY", help="the first day")
    parser.add_argument("--to", type=_day, dest="last", metavar="DAY", help="the last day")
    parser.add_argument(
        "--day-begins",
        type=_clock,
        default=time(6, 0),
        metavar="HH:MM",
        help="when a day of play begins, in local time (default: 06:00)",
    )


def _add_paper(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--language", choices=LANGUAGES, default="en")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="a file or a printer (default: standard output)"
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day: write it as 2026-11-19") from None


def _clock(text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - a time of day has no zone
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time of day: write 06:00") from None


def _verify(given: argparse.Namespace) -> int:
    verdict = verify(
        given.ledger,
        [_checkpoint(path) for path in given.checkpoint],
        given.key,
        replayed=not given.chain_only,
    )
    if given.json:
        fields = {"holds": verdict.status == 0, **msgspec.structs.asdict(verdict)}
        page: Iterable[str] = [msgspec.json.encode(fields).decode()]
    else:
        page = _page(verdict)
    _put("".join(f"{line}\n" for line in page).encode(), None)
    return verdict.status


def _page(verdict: LedgerVerdict) -> Iterable[str]:
    yield from map(str, verdict.findings)
    if verdict.more:
        yield f"and {verdict.more} more"
    if verdict.findings:
        yield "DOES NOT HOLD"
    elif verdict.unread is not None:
        yield f"COULD NOT BE JUDGED: {verdict.unread}"
    else:
        signed = (
            "no checkpoint was found: nobody could see if its end were cut"
            if verdict.signed is None
            else f"signed up to entry {verdict.signed} with {verdict.key}"
        )
        yield (
            f"HOLDS: {verdict.entries} entries, {verdict.postings} postings, head {verdict.head}; "
            f"{signed}"
        )


def _checkpoint(path: Path) -> Checkpoint:
    if (found := read_checkpoint(path.read_bytes())) is None:
        raise LedgerError(f"{path}: no checkpoint; give one as it was published")
    return found


def _export(given: argparse.Namespace) -> int:
    begin = end = None
    if given.day or given.first or given.last:
        _, _, since, until = _days(given)
        begin, end = on_wire(since), on_wire(until)
    with closing(LedgerReader(given.ledger)) as file:
        if given.jackpot is not None:
            statement.check_jackpot(file, given.jackpot)
        found = export.select_entries(file.entries(), begin, end, given.jackpot)
        write = export.as_csv if given.format == "csv" else export.as_json
        for line in write(found):
            sys.stdout.write(line)
        sys.stdout.flush()
    return 0


def _days(given: argparse.Namespace) -> tuple[date, date, datetime, datetime]:
    if given.day and (given.first or given.last):
        raise LedgerError("--day is one day; give it alone, or --from and --to")
    today = day_of(datetime.now().astimezone(), given.day_begins)
    first = given.day or given.first or given.last or today
    last = given.day or given.last or (max(first, today) if given.first else first)
    if last < first:
        raise LedgerError(f"--to {last} is before --from {first}")
    return first, last, bounds(first, given.day_begins)[0], bounds(last, given.day_begins)[1]


def _statement(given: argparse.Namespace) -> int:
    with closing(LedgerReader(given.ledger)) as file:
        of = statement.build_statement(file, given.jackpot, *_days(given))
    if given.format == "pdf":
        from subscribers.carrousel.statement_pdf import as_pdf

        _put(as_pdf(of, given.language), given.output)
    else:
        write = statement_page.as_text if given.format == "text" else statement_page.as_csv
        _put(write(of, given.language).encode(), given.output)
    return 0 if of.balances else 1


def _receipt(given: argparse.Namespace) -> int:
    with closing(LedgerReader(given.ledger)) as file:
        of = receipt.read_receipt(file, given.jackpot, given.number)
    on_terminal = given.output is None and sys.stdout.isatty()
    wanted = given.format or ("text" if on_terminal else "pdf")
    if wanted == "pdf":
        from subscribers.carrousel.receipt_pdf import as_pdf

        _put(as_pdf(of, given.language), given.output)
    elif wanted == "text":
        _put(receipt.as_text(of, given.language).encode(), given.output)
    else:
        _put(as_escpos(of, given.language), given.output)
    return 0


def _put(data: bytes, path: Path | None) -> None:
    if path is not None:
        replace_file(path, data)
        return
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


if __name__ == "__main__":
    end_process(main())
