"""``novamas schemas``: the contract for machines, written out or checked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from controller.cli import CommandLineError

HELP = (
    "write the JSON Schemas and the AsyncAPI document, or check that a folder has them as they are"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--check] DIR."""
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="where asyncapi.json and schemas/ are, or shall be"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 where a file differs or is missing",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files, or name those that are not as they should be."""
    from controller.contract.schemas import documents

    differing = [
        path for path, content in documents().items() if _read(arguments.folder / path) != content
    ]
    if arguments.check:
        for path in differing:
            print(
                f"{arguments.folder / path}: not what the types say; write it with `novamas "
                "schemas DIR`",
                file=sys.stderr,
            )
        return 1 if differing else 0
    found = documents()
    for path in differing:
        target = arguments.folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(found[path])
        except OSError as error:
            raise CommandLineError(f"{target}: {error.strerror}") from error
        print(target)
    return 0


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
