"""``novamas audit``: whether everything that was concluded follows from what was given."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from controller.cli import Failed
from controller.cli.progress import Percent

if TYPE_CHECKING:
    from controller.proof.audit import Audit

HELP = "derive every reading from its bytes and every event from its inputs again, and show the first that does not follow"


def arguments(parser: argparse.ArgumentParser) -> None:
    """JOURNAL [--unseal KEYFILE] [--json]."""
    parser.add_argument("journal", type=Path, metavar="JOURNAL", help="the SQLite file; a daemon may be using it")
    parser.add_argument(
        "--unseal", type=Path, metavar="KEYFILE", help="the private key of surveillance (64 digits), to prove sealed tables too"
    )
    parser.add_argument("--json", action="store_true", help="the verdict as one JSON object")


def run(given: argparse.Namespace) -> int:
    """The verdict to stdout. Gives 1 if something does not follow."""
    from controller.journal.schema import JournalUnusable
    from controller.proof.audit import audit

    unseal = None if given.unseal is None else _unseal(given.unseal)
    with Percent("auditing") as percent:
        try:
            made = audit(given.journal, unseal, percent.show)
        except JournalUnusable as error:
            raise Failed(str(error)) from error
    if given.json:
        print(msgspec.json.encode({**msgspec.structs.asdict(made), "proves": made.proves}).decode())
    else:
        _page(made)
    return 0 if made.proves else 1


def _unseal(path: Path) -> Callable[[bytes], bytes]:
    from nacl.public import PrivateKey

    from controller.confidential import open_sealed

    try:
        key = PrivateKey(bytes.fromhex(path.read_text(encoding="ascii").strip()))
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}") from error
    except Exception as error:
        raise Failed(f"{path}: not a private key (64 hexadecimal digits)") from error
    return lambda body: bytes(open_sealed(body, key).body)


def _page(made: Audit) -> None:
    unproved = made.readings - made.proved_readings, made.events - made.proved_events
    print(f"Journal   {made.journal}, {made.entries} entries")
    print(f"Readings  {made.proved_readings} of {made.readings} follow from the bytes of their device")
    print(f"Events    {made.proved_events} of {made.events} follow from readings and {made.commands} commands of persons")
    here = f"novamas {version('novamas')}"
    for run in made.runs:
        other = "" if run.software == here else f"; this is {here}, and a difference may come from that"
        print(f"Run       {run.boot} since {run.since}: {run.software}, Python {run.python}, {run.events} events{other}")
    for why, count in made.unproved.items():
        print(f"Unproved  {count}: {why}")
    if made.unheard:
        print(f"Note      {made.unheard} readings were heard and not stored any more: the daemon was ended in between")
    print()
    if made.proves:
        print(
            "PROVED: " + ("everything that can be derived is as it stands." if any(unproved) else "every reading and every event.")
        )
        return
    first = made.differences[0]
    print(f"NOT PROVED. First at entry {first.position}, {first.time}, table {first.table or '-'}: {first.what}")
    print(f"  derived: {first.derived or 'nothing'}")
    print(f"  found:   {first.found or 'nothing'}")
    for difference in made.differences[1:]:
        print(f"Also at entry {difference.position}: {difference.what}")
    if made.more:
        print(f"And {made.more} more.")
