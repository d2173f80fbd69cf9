"""``novamas messages``: prints the texts shown to people, for a custom display or console."""

from __future__ import annotations

import argparse

import msgspec

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue


def arguments(parser: argparse.ArgumentParser) -> None:
    """[--language L]."""
    parser.add_argument(
        "--language", choices=LANGUAGES, default=ENGLISH, help="es, ca, eu, gl or en (the default)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the catalogue of one language."""
    for key, text in catalogue(arguments.language).items():
        print(msgspec.json.encode({"key": key, "text": text}).decode())
    return 0
