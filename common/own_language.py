"""The language in which a command speaks to the person at its terminal."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Variables of the environment with the locale; the first that is set decides."""


def own_language(languages: Sequence[str]) -> str:
    """Return the language of this machine's locale if it is one of these, else the first of
    them.
    """
    locale = next(filter(None, map(os.environ.get, LOCALE_VARIABLES)), "")
    own = locale.partition("_")[0].partition(".")[0]
    return own if own in languages else languages[0]


def add_language(parser: argparse.ArgumentParser, languages: Sequence[str]) -> None:
    """Add the option ``--language``; by default it is :func:`own_language`."""
    parser.add_argument(
        "--language",
        choices=languages,
        default=own_language(languages),
        help=f"{', '.join(languages)} (default: that of this machine, LC_ALL, LC_MESSAGES or LANG)",
    )
