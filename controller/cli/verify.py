"""``novamas verify``: whether a journal is what was written."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from controller.cli import Failed
from controller.cli.progress import Percent

HELP = "walk the chain of a journal and its sealed days, and name the first entry that does not hold"


def arguments(parser: argparse.ArgumentParser) -> None:
    """JOURNAL [--key K] [--witness ARCHIVE] [--json]."""
    parser.add_argument("journal", type=Path, metavar="JOURNAL", help="the SQLite file; a daemon may be using it")
    parser.add_argument("--key", metavar="PUBLICKEY", help="the public key to trust, as a checkpoint shows it (64 digits)")
    parser.add_argument(
        "--witness", type=Path, metavar="ARCHIVE", help="a subscriber's archive: events and checkpoints as JSON lines, in any order"
    )
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON object")


def run(given: argparse.Namespace) -> int:
    """The verdict to stdout. Gives 1 if something is wrong."""
    from controller.journal.schema import JournalUnusable
    from controller.proof.verify import verify
    from controller.proof.witness import Witness

    if given.key is not None and (len(given.key) != 64 or not set(given.key.lower()) <= set("0123456789abcdef")):
        raise Failed(f"--key {given.key}: a public key is 64 hexadecimal digits")
    try:
        witness = None if given.witness is None else Witness(given.witness)
    except OSError as error:
        raise Failed(f"{given.witness}: {error.strerror}") from error
    with Percent("verifying") as percent:
        try:
            verdict = verify(
                given.journal,
                None if given.key is None else given.key.lower(),
                () if witness is None else witness.checkpoints.values(),
                (lambda _: None) if witness is None else witness.hear,
                percent.show,
            )
        except JournalUnusable as error:
            raise Failed(str(error)) from error
    if witness is not None:
        witness.testify(verdict)
    if given.json:
        print(msgspec.json.encode({**msgspec.structs.asdict(verdict), "holds": verdict.holds}).decode())
    else:
        _page(verdict, given.witness)
    sys.stdout.flush()
    return 0 if verdict.holds else 1


def _page(verdict: object, witness: Path | None) -> None:
    from controller.proof.verify import Verdict

    assert isinstance(verdict, Verdict)
    print(f"Journal     {verdict.journal}")
    print(
        f"Entries     {verdict.entries}, from {verdict.first or '-'} to {verdict.last or '-'}; {verdict.segments} sealed segments"
    )
    signed = verdict.checkpoints - verdict.unsigned
    print(f"Checkpoints {signed} signed, {verdict.unsigned} not; vouched for up to entry {verdict.through} of {verdict.head}")
    whose = "as given" if verdict.trusted else "named by the journal itself; give --key to rely on no word of it"
    print(f"Keys        {', '.join(verdict.keys) or 'none'} ({whose})")
    if witness is not None:
        print(f"Witness     {witness}: {verdict.witnessed} events as they stand in the journal")
    for note in verdict.notes:
        print(f"Note        {note}")
    print()
    if verdict.holds:
        print("HOLDS: every entry is the one that was written, and none is missing.")
        if verdict.through < verdict.head:
            print(f"No checkpoint vouches for entries after {verdict.through}: the chain cannot tell if some were cut off there.")
        return
    first = verdict.problems[0]
    print(f"DOES NOT HOLD. First: {first.what}")
    print(f"               in {first.source}")
    for problem in verdict.problems[1:]:
        print(f"Also: {problem.what}")
    if verdict.more:
        print(f"And {verdict.more} more.")
