"""The language in which a command speaks to the person at its terminal."""

from __future__ import annotations

import argparse
import os

from common.contract.messages.messages import ENGLISH, LANGUAGES

LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Variables of the environment with the locale, the first that is set decides."""


def own_language() -> str:
    """Return the language of this machine's locale if there are messages in it, else English."""
    locale = next(filter(None, map(os.environ.get, LOCALE_VARIABLES)), "")
    own = locale.partition("_")[0].partition(".")[0]
    return own if own in LANGUAGES else ENGLISH


def add_language(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--language``."""
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        default=own_language(),
        help="es, ca, eu, gl or en (default: that of this machine, LC_ALL, LC_MESSAGES or LANG)",
    )
