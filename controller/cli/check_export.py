"""``novamas check-export``: checks a page of ``novamas export --page`` without its own code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from common.contract.version import SOFTWARE
from controller.cli import CommandLineError
from controller.cli.verdicts import STATUS_HELP, conclude, public_key, wants_page

if TYPE_CHECKING:
    from controller.inspection.checking import PageCheck


def arguments(parser: argparse.ArgumentParser) -> None:
    """[FILE] [--signer K] [--unseal KEYFILE] [--json | --text]."""
    parser.epilog = STATUS_HELP
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="the page; without it, print the digest of the code in pages of this release",
    )
    parser.add_argument(
        "--signer",
        type=public_key,
        metavar="PUBLICKEY",
        help="the public key to trust, from a checkpoint (64 digits)",
    )
    parser.add_argument(
        "--unseal",
        type=Path,
        metavar="KEYFILE",
        help="the private key of surveillance (64 digits), to prove sealed tables too",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="the findings as one JSON object, also on a terminal"
    )
    form.add_argument(
        "--text", action="store_true", help="the findings as text, also in a pipe or a file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the findings and return the exit status of the verdict."""
    from controller.cli.audit import read_unseal
    from controller.inspection.checking import check_page
    from controller.inspection.page import digest, shell

    if arguments.file is None:
        print(digest(shell()))
        return 0
    try:
        unseal = None if arguments.unseal is None else read_unseal(arguments.unseal)
        check = check_page(arguments.file, arguments.signer, unseal)
    except OSError as error:
        raise CommandLineError(f"{arguments.file}: {error.strerror}", 2) from None
    lines = _page(check) if wants_page(arguments) else [_as_json(check)]
    return conclude(check.outcome, lines)


def _as_json(check: PageCheck) -> str:
    """Encode the findings as one JSON object."""
    whole = {"outcome": check.outcome, **msgspec.structs.asdict(check)}
    return msgspec.json.encode(whole).decode()


def _page(check: PageCheck) -> list[str]:
    header = check.header
    lines = [f"Page      {check.page}"]
    if header is not None:
        lines.append(f"Days      {header.days} of {header.site}, by {header.software}")
    lines.append(
        f"Code      {check.code or '-'}, {'' if check.known else 'not '}that of {SOFTWARE}"
    )
    if not check.known:
        lines.append(
            "Note      What the page shows is not proved: compare the digest with that of the "
            "release that wrote it (`novamas check-export` there), or trust this verdict alone"
        )
    for audit in check.audits:
        chain = audit.chain
        derived = (
            f"{audit.proved_readings} of {audit.readings} readings and {audit.proved_events} of "
            f"{audit.events} events"
        )
        lines += [
            f"Entries   {chain.entries}, from {chain.first or '-'} to {chain.last or '-'}",
            f"Signed    {chain.proved} entries are covered by signed checkpoints",
            f"Derived   {derived}",
            *(f"Unproved  {count}: {why}" for why, count in audit.unproved.items()),
        ]
    lines += [f"Stated    {name}: {found.outcome}" for name, found in check.stated()]
    return [*lines, "", *_verdict(check)]


def _verdict(check: PageCheck) -> list[str]:
    from controller.proof.outcome import ProofOutcome

    if check.outcome is ProofOutcome.DOES_NOT_HOLD:
        first, *others = check.against()
        return [f"DOES NOT HOLD. First: {first}", *(f"Also: {each}" for each in others)]
    if check.outcome is ProofOutcome.NOT_JUDGED:
        return [
            "COULD NOT BE JUDGED: nothing contradicts it, but the proof is incomplete.",
            *(f"Not judged: {each}" for each in check.lacking()),
        ]
    if all(audit.chain.trusted for audit in check.audits):
        return ["HOLDS: the entries are as they were signed with the key given; none is missing."]
    keys = sorted({key for audit in check.audits for key in audit.chain.keys})
    return [
        "HOLDS TOGETHER: each entry follows from the one before, and none is missing.",
        f"Who wrote it is not proved: the journal itself names the key ({', '.join(keys)}).",
        "Check again with --signer PUBLICKEY, the key that you kept.",
    ]
