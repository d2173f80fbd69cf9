"""``novamas audit``: verifies that every conclusion follows from its inputs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from common.contract.version import SOFTWARE
from controller.cli import CommandLineError
from controller.cli.extensions import enable_extensions, extension_argument
from controller.cli.progress import Percent
from controller.cli.verdicts import (
    add_journal,
    conclude,
    missing_parts,
    proof,
    share,
    wants_page,
    witness_wanted,
)

if TYPE_CHECKING:
    from controller.proof.findings import Audit


def arguments(parser: argparse.ArgumentParser) -> None:
    """JOURNAL [--key K] [--unseal KEYFILE] [--json | --text] [--jobs N]."""
    add_journal(parser)
    parser.add_argument(
        "--unseal",
        type=Path,
        metavar="KEYFILE",
        help="the private key of surveillance (64 digits), to prove sealed tables too",
    )
    extension_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict and return its exit status."""
    from controller.proof.audit import audit

    enable_extensions(arguments)
    unseal = None if arguments.unseal is None else read_unseal(arguments.unseal)
    with Percent("auditing") as percent:
        result = audit(arguments.journal, unseal, percent.show, arguments.signer, arguments.jobs)
    page = _page(result, arguments.journal) if wants_page(arguments) else [_as_json(result)]
    return conclude(result.outcome, page)


def read_unseal(path: Path) -> Callable[[bytes], bytes]:
    """Return what opens sealed bodies with the private key in a file. Raises
    :class:`CommandLineError`.
    """
    from nacl.public import PrivateKey

    from common.confidential.boxes import open_sealed
    from common.confidential.key_file import KeyFileError, read_key_file

    try:
        key = PrivateKey(read_key_file(path))
    except KeyFileError as error:
        raise CommandLineError(
            f"--unseal: {error}; name the file that `novamas keygen` made", status=2
        ) from None
    return lambda body: bytes(open_sealed(body, key).body)


def _as_json(result: Audit) -> str:
    whole = {"outcome": result.outcome, "proves": result.proves, **msgspec.structs.asdict(result)}
    chain = {
        "outcome": result.chain.outcome,
        "holds": result.chain.holds,
        **msgspec.structs.asdict(result.chain),
    }
    return msgspec.json.encode({**whole, "chain": chain}).decode()


def _page(result: Audit, journal: Path) -> list[str]:
    if not result.entries and not result.chain.problems:
        return _headline(result)
    lines = [
        f"Journal   {result.journal}, {result.entries} entries",
        (
            f"Readings  {result.proved_readings} of {result.readings} follow from the bytes of "
            "their device"
        ),
        (
            f"Events    {result.proved_events} of {result.events} follow from readings and "
            f"{result.commands} commands of persons"
        ),
    ]
    if result.named:
        lines.append(
            f"Evidence  {result.named - result.unkept} of {result.named} readings that events name "
            "are in the journal"
        )
    if result.unkept:
        lines.append(
            f"Note      {result.unkept} readings that events name are not stored: their days were "
            "removed after keep_days, or could not be read"
        )
    if result.site_keys:
        lines.append(
            f"Signed    {result.signed} of {result.commands} commands are signed by enrolled "
            f"persons; the site's key: {', '.join(result.site_keys)}"
        )
    for run in result.runs:
        other = (
            ""
            if run.software == SOFTWARE
            else f"; this is {SOFTWARE}, and a difference may come from that"
        )
        lines.append(
            f"Run       {run.boot} since {run.since}: {run.software}, Python {run.python}, "
            f"{run.events} events{other}"
        )
        lines += [f"Extension {used}" for used in run.extensions]
    lines += [f"Unproved  {count}: {why}" for why, count in result.unproved.items()]
    lines += [f"Note      {note}" for note in result.notes]
    if result.unheard:
        lines.append(
            f"Note      {result.unheard} readings were received but not stored: the daemon ended "
            "in between"
        )
    return [*lines, "", *_headline(result), *witness_wanted(result.chain, journal)]


def _headline(result: Audit) -> list[str]:
    from controller.proof.findings import OTHER_KEY
    from controller.proof.outcome import ProofOutcome

    chain = result.chain
    if result.outcome is ProofOutcome.DOES_NOT_HOLD:
        return _differences(result)
    derived = (
        f"{result.derived} of {result.derivable} readings and events "
        f"({share(result.derived, result.derivable)})"
    )
    if result.outcome is ProofOutcome.HOLDS:
        whole = result.derived == result.derivable
        return [
            "PROVED: every reading and every event."
            if whole
            else f"PROVED: {derived}; the others cannot be derived, for the reasons above.",
            *proof(chain),
        ]
    if not chain.entries:
        return [
            f"COULD NOT BE JUDGED: {'; '.join(chain.unread) or 'the journal has no entries yet'}."
        ]
    lines = [f"COULD NOT BE JUDGED: nothing speaks against it, and {derived} follow."]
    if OTHER_KEY in result.unproved:
        lines.append(
            f"{result.sealed} entries are sealed for another key than that of --unseal: audit "
            "again with the right one."
        )
    elif result.sealed:
        lines.append(
            f"{result.sealed} entries are sealed: audit again with --unseal KEYFILE, the private "
            "key of surveillance."
        )
    elif result.unproved_tables:
        lines.append(
            f"No event could be derived of the tables {', '.join(result.unproved_tables)}, for the "
            "reasons above."
        )
    elif not result.derived:
        lines.append("It has no reading and no event yet that could be derived.")
    return [*lines, *missing_parts(chain), *proof(chain)]


def _release_hint(result: Audit, boot: str) -> list[str]:
    return [
        f"It was written by {run.software}, and this is {SOFTWARE}: audit it with that release."
        for run in result.runs
        if run.boot == boot and run.software != SOFTWARE
    ]


def _differences(result: Audit) -> list[str]:
    lines = []
    if result.chain.problems:
        first = result.chain.problems[0]
        lines.append(
            f"NOT PROVED. The journal does not hold, whatever follows from it. First: {first.what}"
        )
        lines.append(f"  in {first.source}; `novamas verify` shows all")
    for index, difference in enumerate(result.differences):
        if index or lines:
            lines.append(f"Also at entry {difference.position}: {difference.what}")
            continue
        at = f"{difference.position}, {difference.time}, table {difference.table or '-'}"
        lines += [
            f"NOT PROVED. First at entry {at}: {difference.what}",
            f"  derived: {difference.derived or 'nothing'}",
            f"  found:   {difference.found or 'nothing'}",
            *_release_hint(result, difference.boot),
        ]
    return [
        *lines,
        *([f"And {result.more} more."] if result.more else []),
        *missing_parts(result.chain),
    ]
