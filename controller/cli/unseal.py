"""``novamas unseal``: what surveillance may read of cards that lay face down."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from controller.cli import Failed

HELP = "open what is sealed for surveillance: messages of the topic `sealed`, a journal, or a sealed day of it"

SQLITE, GZIP = b"SQLite format 3\0", b"\x1f\x8b"
"""With what a journal begins, and with what a segment."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """--key FILE [SOURCE...]."""
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the private key that `novamas keygen` made")
    parser.add_argument(
        "source", nargs="*", metavar="SOURCE", help="messages one on a line, a journal, or a segment of it; -: stdin"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one JSON line for each box. What does not open is named on stderr; gives 1 then."""
    import msgspec
    from nacl.public import PrivateKey

    from controller.confidential import Unopened, open_sealed
    from controller.key_file import KeyFileUnusable, read_key_file

    try:
        key = PrivateKey(read_key_file(arguments.key))
    except KeyFileUnusable as error:
        raise Failed(str(error)) from None
    unopened = 0
    for where, body in _bodies(arguments.source or ["-"]):
        try:
            print(msgspec.json.encode(open_sealed(body, key)).decode(), flush=True)
        except Unopened as error:
            unopened += 1
            print(f"novamas: {where}: {error}", file=sys.stderr)
    return 1 if unopened else 0


def _bodies(sources: list[str]) -> Iterator[tuple[str, bytes]]:
    """What is sealed in these sources, and where it stands."""
    for source in sources:
        if source == "-":
            yield from _messages("standard input", sys.stdin.buffer)
            continue
        path = Path(source)
        try:
            with path.open("rb") as file:
                head = file.read(len(SQLITE))
                if not head.startswith((SQLITE, GZIP)):
                    file.seek(0)
                    yield from _messages(source, file)
                    continue
        except OSError as error:
            raise Failed(f"{path}: {error.strerror}") from None
        yield from _entries(path, segment=head.startswith(GZIP))


def _messages(source: str, lines: Any) -> Iterator[tuple[str, bytes]]:
    yield from ((f"{source}: line {number}", line.strip()) for number, line in enumerate(lines, 1) if line.strip())


def _entries(path: Path, *, segment: bool) -> Iterator[tuple[str, bytes]]:
    from controller.confidential import is_sealed
    from controller.journal.reader import JournalReader
    from controller.journal.schema import JournalUnusable
    from controller.proof.segment import Broken, Segment

    try:
        with closing(Segment(path) if segment else JournalReader(path)) as source:
            for entry in source.entries():
                if is_sealed(entry.body):
                    yield f"{path}: entry {entry.position}", entry.body
    except (JournalUnusable, Broken) as error:
        raise Failed(str(error)) from None
