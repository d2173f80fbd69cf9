"""``novamas schemas``: writes or checks the schemas for programs and the vocabulary pages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from common.new_file import replace_file
from controller.cli import CommandLineError


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--check] DIR."""
    parser.add_argument(
        "folder",
        type=Path,
        metavar="DIR",
        help="the folder of asyncapi.json, openapi.json, schemas/ and vocabulary/",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 if a file differs or is missing",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the files, or list those that differ."""
    from common.contract.openapi import openapi
    from common.contract.schemas import documents, to_bytes
    from common.contract.vocabulary import pages

    contents = documents() | {"openapi.json": to_bytes(openapi())} | pages()
    differing = [
        path for path, content in contents.items() if _read(arguments.folder / path) != content
    ]
    if arguments.check:
        for path in differing:
            print(
                f"{arguments.folder / path}: differs from the types; write it with "
                "`novamas schemas DIR`",
                file=sys.stderr,
            )
        return 1 if differing else 0
    for path in differing:
        target = arguments.folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, contents[path])
        except OSError as error:
            raise CommandLineError(f"{target}: {error.strerror}") from error
        print(target)
    return 0


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
