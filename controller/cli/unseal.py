"""``novamas unseal``: opens data sealed for surveillance."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import BinaryIO

from controller.cli import CommandLineError
from controller.cli.verdicts import public_key

SQLITE_MAGIC, GZIP_MAGIC = b"SQLite format 3\0", b"\x1f\x8b"
"""The first bytes of a journal, and of a segment."""

SIGNATURE_TEXTS = {
    "key_given": "signed with the key given",
    "unknown_key": "signed with an unknown key (give the daemon's key as --signer PUBLICKEY)",
    "not_signed": "not signed (made by anybody, or by an old release that did not sign)",
    "bad_signature": "with an invalid signature (they were changed)",
}
"""Descriptions of the values of ``signed``: anybody can seal a box for surveillance, but only a
daemon can sign with its key.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """--key FILE [--signer PUBLICKEY] [SOURCE...]."""
    parser.add_argument(
        "--key",
        type=Path,
        required=True,
        metavar="FILE",
        help="the private key that `novamas keygen` made",
    )
    parser.add_argument(
        "--signer",
        type=public_key,
        metavar="PUBLICKEY",
        help="the public key of the daemon, as a checkpoint shows it (64 digits)",
    )
    parser.add_argument(
        "source",
        nargs="*",
        metavar="SOURCE",
        help="messages, one per line; a journal; or one of its days; - is stdin",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one JSON line for each box; on stderr, print who made them, and the boxes that could
    not be opened.

    Returns 1 if a box could not be opened, or was not made by the daemon whose key was given.
    """
    import msgspec
    from nacl.public import PrivateKey

    from common.confidential.boxes import UnopenedBoxError, open_sealed
    from common.confidential.key_file import KeyFileError, read_key_file

    try:
        key = PrivateKey(read_key_file(arguments.key))
    except KeyFileError as error:
        raise CommandLineError(str(error)) from None
    unopened, counts = 0, Counter[str]()
    for where, body in _bodies(arguments.source or ["-"]):
        try:
            opened = open_sealed(body, key)
        except UnopenedBoxError as error:
            unopened += 1
            print(f"novamas: {where}: {error}", file=sys.stderr)
            continue
        signed, signer = _made_by(body, arguments.signer)
        counts[signed] += 1
        print(
            msgspec.json.encode(
                {**msgspec.structs.asdict(opened), "signed": signed, "signer": signer}
            ).decode(),
            flush=True,
        )
    if counts:
        summary = ", ".join(
            f"{counts[signed]} {words}"
            for signed, words in SIGNATURE_TEXTS.items()
            if counts[signed]
        )
        print(f"novamas: {counts.total()} boxes: {summary}", file=sys.stderr)
    others = (
        counts.total() - counts["key_given"]
        if arguments.signer is not None
        else counts["bad_signature"]
    )
    return 1 if unopened or others else 0


def _made_by(body: bytes, expected: str | None) -> tuple[str, str | None]:
    """Return who made a box: one of :data:`SIGNATURE_TEXTS`, and the key that signed it."""
    from common.confidential.boxes import BadSignatureError, verified_signer

    try:
        signer = verified_signer(body)
    except BadSignatureError:
        return "bad_signature", None
    if signer is None:
        return "not_signed", None
    return ("key_given" if signer == expected else "unknown_key"), signer


def _bodies(sources: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the sealed bodies in these sources, and where each one is."""
    for source in sources:
        if source == "-":
            yield from _messages("standard input", sys.stdin.buffer)
            continue
        path = Path(source)
        try:
            with path.open("rb") as file:
                head = file.read(len(SQLITE_MAGIC))
                if not head.startswith((SQLITE_MAGIC, GZIP_MAGIC)):
                    file.seek(0)
                    yield from _messages(source, file)
                    continue
        except OSError as error:
            raise CommandLineError(f"{path}: {error.strerror}") from None
        yield from _entries(path, segment=head.startswith(GZIP_MAGIC))


def _messages(source: str, lines: BinaryIO) -> Iterator[tuple[str, bytes]]:
    from controller.proof.segment import MAX_LINE_BYTES

    for number, line in enumerate(iter(partial(lines.readline, MAX_LINE_BYTES), b""), 1):
        if line.strip():
            yield f"{source}: line {number}", line.strip()


def _entries(path: Path, *, segment: bool) -> Iterator[tuple[str, bytes]]:
    from common.confidential.bodies import is_sealed
    from controller.proof.live import LiveFile
    from controller.proof.segment import BrokenSegmentError, Segment

    try:
        with closing(Segment(path) if segment else LiveFile(path)) as source:
            for entry in source.entries():
                if is_sealed(entry.body):
                    yield f"{path}: entry {entry.position}", entry.body
    except BrokenSegmentError as error:
        raise CommandLineError(str(error)) from None
