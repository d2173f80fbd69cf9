"""``novamas run``: the daemon."""

from __future__ import annotations

import argparse
import sys

HELP = "read the devices of the tables and publish their results, until stopped"

CONFIGURATION = 78
"""Exit code for a configuration that cannot be used (EX_CONFIG); the service manager must not try again."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("configuration", metavar="CONFIG", help="the configuration file (TOML)")


def run(given: argparse.Namespace) -> int:
    """Run until a signal. Gives 0 after a clean stop."""
    import asyncio

    from controller.cli import Failed
    from controller.configuration import Mistaken, load
    from controller.daemon import serve
    from controller.journal.schema import JournalUnusable
    from controller.key_file import KeyFileUnusable
    from controller.logs import configure
    from controller.table import Unrestorable

    try:
        configuration = load(given.configuration)
    except Mistaken as error:
        print(f"novamas: {error}", file=sys.stderr)
        return CONFIGURATION
    configure(configuration.log.format, configuration.log.level)
    try:
        asyncio.run(serve(configuration))
    except Unrestorable as error:  # trying again is of no use, a person has to decide
        print(f"novamas: {error}", file=sys.stderr)
        return CONFIGURATION
    except (JournalUnusable, KeyFileUnusable) as error:
        raise Failed(str(error)) from None
    except OSError as error:
        raise Failed(f"{error.filename or configuration.broker.url}: {error.strerror or error}") from None
    return 0
