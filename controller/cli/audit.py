"""``novamas audit``: checks that every conclusion follows from its inputs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from controller.cli import CommandLineError
from controller.cli.progress import Percent
from controller.cli.verdicts import (
    add_journal,
    conclude,
    lacks,
    on_a_page,
    proof,
    share,
    witness_wanted,
)
from controller.contract.version import SOFTWARE

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


def run(given: argparse.Namespace) -> int:
    """Print the verdict. Returns its exit status."""
    from controller.proof.audit import audit

    unseal = None if given.unseal is None else _unseal(given.unseal)
    with Percent("auditing") as percent:
        made = audit(given.journal, unseal, percent.show, given.key, given.jobs)
    page = _page(made, given.journal) if on_a_page(given) else [_as_json(made)]
    return conclude(made.outcome, page)


def _unseal(path: Path) -> Callable[[bytes], bytes]:
    from nacl.public import PrivateKey

    from controller.confidential.boxes import open_sealed
    from controller.confidential.key_file import KeyFileError, read_key_file

    try:
        key = PrivateKey(read_key_file(path))
    except KeyFileError as error:
        raise CommandLineError(
            f"--unseal: {error}; name the file that `novamas keygen` made", status=2
        ) from None
    return lambda body: bytes(open_sealed(body, key).body)


def _as_json(made: Audit) -> str:
    whole = {"outcome": made.outcome, "proves": made.proves, **msgspec.structs.asdict(made)}
    chain = {
        "outcome": made.chain.outcome,
        "holds": made.chain.holds,
        **msgspec.structs.asdict(made.chain),
    }
    return msgspec.json.encode({**whole, "chain": chain}).decode()


def _page(made: Audit, journal: Path) -> list[str]:
    if not made.entries and not made.chain.problems:
        return _headline(made)
    lines = [
        f"Journal   {made.journal}, {made.entries} entries",
        (
            f"Readings  {made.proved_readings} of {made.readings} follow from the bytes of their "
            "device"
        ),
        (
            f"Events    {made.proved_events} of {made.events} follow from readings and "
            f"{made.commands} commands of persons"
        ),
    ]
    if made.named:
        lines.append(
            f"Evidence  {made.named - made.unkept} of {made.named} readings that events name are "
            "in the journal"
        )
    if made.unkept:
        lines.append(
            f"Note      {made.unkept} readings that events name are not kept: their days were "
            "removed after keep_days, or could not be read"
        )
    if made.site_keys:
        lines.append(
            f"Signed    {made.signed} of {made.commands} commands are signed by enrolled persons; "
            f"the site's key: {', '.join(made.site_keys)}"
        )
    for run in made.runs:
        other = (
            ""
            if run.software == SOFTWARE
            else f"; this is {SOFTWARE}, and a difference may come from that"
        )
        lines.append(
            f"Run       {run.boot} since {run.since}: {run.software}, Python {run.python}, "
            f"{run.events} events{other}"
        )
    lines += [f"Unproved  {count}: {why}" for why, count in made.unproved.items()]
    lines += [f"Note      {note}" for note in made.notes]
    if made.unheard:
        lines.append(
            f"Note      {made.unheard} readings were heard and not stored any more: the daemon "
            "was ended in between"
        )
    return [*lines, "", *_headline(made), *witness_wanted(made.chain, journal)]


def _headline(made: Audit) -> list[str]:
    from controller.proof.findings import OTHER_KEY
    from controller.proof.outcome import Outcome

    chain = made.chain
    if made.outcome is Outcome.DOES_NOT_HOLD:
        return _against(made)
    derived = (
        f"{made.derived} of {made.derivable} readings and events "
        f"({share(made.derived, made.derivable)})"
    )
    if made.outcome is Outcome.HOLDS:
        whole = made.derived == made.derivable
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
    if OTHER_KEY in made.unproved:
        lines.append(
            f"{made.sealed} entries are sealed for another key than that of --unseal: audit again "
            "with the right one."
        )
    elif made.sealed:
        lines.append(
            f"{made.sealed} entries are sealed: audit again with --unseal KEYFILE, the private "
            "key of surveillance."
        )
    elif made.unproved_tables:
        lines.append(
            f"No event could be derived of the tables {', '.join(made.unproved_tables)}, for the "
            "reasons above."
        )
    elif not made.derived:
        lines.append("It has neither a reading nor an event yet that could be derived.")
    return [*lines, *lacks(chain), *proof(chain)]


def _of_another_release(made: Audit, boot: str) -> list[str]:
    return [
        f"It was written by {run.software}, and this is {SOFTWARE}: audit it with that release."
        for run in made.runs
        if run.boot == boot and run.software != SOFTWARE
    ]


def _against(made: Audit) -> list[str]:
    lines = []
    if made.chain.problems:
        first = made.chain.problems[0]
        lines.append(
            f"NOT PROVED. The journal does not hold, whatever follows from it. First: {first.what}"
        )
        lines.append(f"  in {first.source}; `novamas verify` shows all")
    for index, difference in enumerate(made.differences):
        if index or lines:
            lines.append(f"Also at entry {difference.position}: {difference.what}")
            continue
        at = f"{difference.position}, {difference.time}, table {difference.table or '-'}"
        lines += [
            f"NOT PROVED. First at entry {at}: {difference.what}",
            f"  derived: {difference.derived or 'nothing'}",
            f"  found:   {difference.found or 'nothing'}",
            *_of_another_release(made, difference.boot),
        ]
    return [*lines, *([f"And {made.more} more."] if made.more else []), *lacks(made.chain)]
