"""``python -m subscribers.carrousel.bookkeeping``: commands that read a ledger. ``novamas
carrousel`` starts it: ``verify``, ``export``, ``statement`` and ``receipt``.
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

from common import clock
from common.chain.checkpoint import read_checkpoint
from common.command_line import CommandLine, end_process
from common.contract.messages.messages import LANGUAGES
from common.contract.node import Checkpoint
from common.days import bounds, day_of, on_wire
from common.new_file import replace_file
from common.own_language import add_language
from subscribers.carrousel import export, receipt, statement, statement_page
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.receipt_escpos import as_escpos
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.verification import LedgerVerdict, verify

VERIFY = """\
Checks the file, the hash chain of its entries, that every transaction and all of
them together sum to zero, the checkpoint beside the ledger and those given, and
replays all facts: they must give the same postings and states. One finding a line.

exit status: 0 verified, 1 not verified, 2 wrong usage, 3 could not be read"""
EXPORT = """\
csv: a line for each posting, with its cause; json: a line with an object for each
entry, with its fact, its postings and its hashes. Amounts are in minor units."""
STATEMENT = """\
The book of a jackpot: per table the stakes, the rise of the meter, the house's
part, awards and payments; each award and each payment; the meter before and
after; the checkpoint that proves it. A posting belongs to the day in which its
event happened. Exit status 1: it does not balance."""
RECEIPT = """\
The receipt of a payment: text (the default on a terminal), pdf on A6 (otherwise
the default), escpos for a thermal printer with the code page PC858. The ledger is
not changed."""
FORMAT_HELP = "default: by the ending of --output, as .pdf"
FORMATS = {".txt": "text", ".pdf": "pdf", ".csv": "csv"}
"""Format of the output by the ending of its name."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command. Return the exit status."""
    options = command_line().parse_args(arguments)
    try:
        return int(options.run(options))
    except LedgerError as error:
        sys.stderr.write(f"novamas carrousel: {error}\n")
        return 1
    except BrokenPipeError:  # the reader of the output closed it: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = error.filename or "standard output"
        sys.stderr.write(f"novamas carrousel: {where}: {error.strerror}\n")
        return 1


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(prog="novamas carrousel", description="Reads the ledger of a carrousel.")
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def action(name: str, summary: str, details: str) -> argparse.ArgumentParser:
        command = actions.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=details,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument(
            "ledger", type=Path, metavar="FILE", help="the ledger; a controller may be using it"
        )
        return command

    command = action("verify", "verify that a ledger has not been altered", VERIFY)
    command.add_argument(
        "--checkpoint",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a stored copy of a published checkpoint, as JSON; may be repeated",
    )
    command.add_argument(
        "--signer", metavar="PUBLICKEY", help="the public key to trust (64 digits)"
    )
    command.add_argument("--chain-only", action="store_true", help="do not replay the facts")
    command.add_argument("--json", action="store_true", help="the verdict as one JSON object")
    command.set_defaults(run=_verify)

    command = action("export", "print every posting with its cause", EXPORT)
    command.add_argument("--format", choices=("csv", "json"), default="csv")
    command.add_argument("--jackpot", metavar="ID", help="only this jackpot")
    _add_days(command)
    command.set_defaults(run=_export)

    command = action("statement", "print the book of a jackpot", STATEMENT)
    command.add_argument("--jackpot", metavar="ID", required=True)
    _add_days(command)
    command.add_argument("--format", choices=("text", "csv", "pdf"), help=FORMAT_HELP)
    _add_paper(command)
    command.set_defaults(run=_statement)

    command = action("receipt", "print the receipt of a payment", RECEIPT)
    command.add_argument("--jackpot", metavar="ID", required=True)
    command.add_argument(
        "--number", type=int, metavar="N", required=True, help="number of the receipt"
    )
    command.add_argument("--format", choices=("text", "pdf", "escpos"), help=FORMAT_HELP)
    _add_paper(command)
    command.set_defaults(run=_receipt)
    return parser


def _add_days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--day", type=_day, metavar="DAY", help="one gaming day, as 2026-11-19 (default: today's)"
    )
    parser.add_argument("--from", type=_day, dest="first", metavar="DAY", help="the first day")
    parser.add_argument("--to", type=_day, dest="last", metavar="DAY", help="the last day")
    parser.add_argument(
        "--day-begins",
        type=_clock,
        default=time(6, 0),
        metavar="HH:MM",
        help="when a gaming day begins, in local time (default: 06:00)",
    )


def _add_paper(parser: argparse.ArgumentParser) -> None:
    add_language(parser, LANGUAGES)
    parser.add_argument(
        "--house",
        action="append",
        default=[],
        metavar="LINE",
        help="a line of the letterhead, as name, address or tax number; may be repeated",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="a file or a printer (default: standard output)"
    )


def _format(options: argparse.Namespace, default: str) -> str:
    """Return the requested format, or that of the output's name."""
    ending = "" if options.output is None else options.output.suffix.lower()
    return str(options.format or FORMATS.get(ending, default))


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a date: write it as 2026-11-19"
        ) from None


def _clock(text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 - a time of day has no zone
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time of day: write it as 06:00"
        ) from None


def _verify(options: argparse.Namespace) -> int:
    verdict = verify(
        options.ledger,
        [_checkpoint(path) for path in options.checkpoint],
        options.signer,
        replayed=not options.chain_only,
    )
    if options.json:
        fields = {"holds": verdict.status == 0, **msgspec.structs.asdict(verdict)}
        lines: Iterable[str] = [msgspec.json.encode(fields).decode()]
    else:
        lines = _page(verdict)
    _put("".join(f"{line}\n" for line in lines).encode(), None)
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
            "no checkpoint was found: a truncated end cannot be detected"
            if verdict.signed is None
            else f"signed up to entry {verdict.signed} with {verdict.key}"
        )
        yield (
            f"HOLDS: {verdict.entries} entries, {verdict.postings} postings, head {verdict.head}; "
            f"{signed}"
        )


def _checkpoint(path: Path) -> Checkpoint:
    if (checkpoint := read_checkpoint(path.read_bytes())) is None:
        raise LedgerError(f"{path}: not a checkpoint; give one as it was published")
    return checkpoint


def _export(options: argparse.Namespace) -> int:
    begin = end = None
    if options.day or options.first or options.last:
        _, _, since, until = _days(options)
        begin, end = on_wire(since), on_wire(until)
    with closing(LedgerReader(options.ledger)) as file:
        if options.jackpot is not None:
            statement.check_jackpot(file, options.jackpot)
        entries = export.select_entries(file.entries(), begin, end, options.jackpot)
        write = export.as_csv if options.format == "csv" else export.as_json
        for line in write(entries):
            sys.stdout.write(line)
        sys.stdout.flush()
    return 0


def _days(options: argparse.Namespace) -> tuple[date, date, datetime, datetime]:
    if options.day and (options.first or options.last):
        raise LedgerError("--day is one day; give it alone, or --from and --to")
    today = day_of(clock.now().astimezone(), options.day_begins)
    first = options.day or options.first or options.last or today
    last = options.day or options.last or (max(first, today) if options.first else first)
    if last < first:
        raise LedgerError(f"--to {last} is before --from {first}")
    return first, last, bounds(first, options.day_begins)[0], bounds(last, options.day_begins)[1]


def _statement(options: argparse.Namespace) -> int:
    with closing(LedgerReader(options.ledger)) as file:
        result = statement.build_statement(file, options.jackpot, *_days(options))
    output_format = _format(options, "text")
    if output_format == "pdf":
        from subscribers.carrousel.statement_pdf import as_pdf

        _put(as_pdf(result, options.language, options.house), options.output)
    else:
        write = statement_page.as_text if output_format == "text" else statement_page.as_csv
        _put(write(result, options.language).encode(), options.output)
    return 0 if result.balances else 1


def _receipt(options: argparse.Namespace) -> int:
    with closing(LedgerReader(options.ledger)) as file:
        result = receipt.read_receipt(file, options.jackpot, options.number)
    on_terminal = options.output is None and sys.stdout.isatty()
    output_format = _format(options, "text" if on_terminal else "pdf")
    if output_format == "pdf":
        from subscribers.carrousel.receipt_pdf import as_pdf

        _put(as_pdf(result, options.language, options.house), options.output)
    elif output_format == "text":
        _put(receipt.as_text(result, options.language, options.house).encode(), options.output)
    else:
        _put(as_escpos(result, options.language, options.house), options.output)
    return 0


def _put(data: bytes, path: Path | None) -> None:
    if path is not None:
        replace_file(path, data)
        return
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


if __name__ == "__main__":
    end_process(main())
