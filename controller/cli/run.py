"""``novamas run``: the daemon."""

from __future__ import annotations

import argparse
import gc

CONFIGURATION = 78
"""Exit status for an unusable configuration (EX_CONFIG); the service manager must not restart
it.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG."""
    parser.add_argument("configuration", metavar="CONFIG", help="the configuration file (TOML)")


def run(given: argparse.Namespace) -> int:
    """Run until a signal. Returns 0 after a clean stop, and ``EXIT_SOFTWARE`` if a defect ended
    it.
    """
    # here: the daemon is half a thousand modules, and its help needs none of them
    import asyncio
    from pathlib import Path

    from controller.cli import COLLECTOR, CommandLineError, tell
    from controller.confidential.key_file import KeyFileError
    from controller.configuration.checks import NO_TABLE
    from controller.configuration.file import load
    from controller.configuration.settings import ConfigurationError
    from controller.journal.schema import JournalUnusableError
    from controller.people.register import PeopleError
    from controller.service.daemon import serve
    from controller.service.ending import EXIT_SOFTWARE, Deadline, TaskDiedError
    from controller.service.logs import configure, drain
    from controller.service.privacy import keep_private
    from controller.tables.table import UnrestorableStateError

    gc.freeze()  # what was imported stays: the collector need not search it
    gc.set_threshold(*COLLECTOR)  # so that no collection takes long enough to delay a device

    try:
        configuration = load(given.configuration)
    except ConfigurationError as error:
        tell(f"novamas: {error}")
        return CONFIGURATION
    if not (configuration.table or configuration.jackpot):  # it may be that of a recorder
        tell(f"novamas: {given.configuration}: table: {NO_TABLE}")
        return CONFIGURATION
    keep_private()
    configure(configuration.log.format, configuration.log.level)
    deadline = Deadline()
    try:
        asyncio.run(serve(configuration, deadline, Path(given.configuration).absolute()))
    except (UnrestorableStateError, PeopleError) as error:
        # a restart would not help; a person has to decide
        tell(f"novamas: {error}")
        return CONFIGURATION
    except (JournalUnusableError, KeyFileError) as error:
        raise CommandLineError(str(error)) from None
    except OSError as error:
        raise CommandLineError(
            f"{error.filename or configuration.broker.url}: {error.strerror or error}"
        ) from None
    except BaseExceptionGroup as group:
        died, others = group.split(TaskDiedError)
        if died is None or others is not None:
            raise
        tell(f"novamas: the essential task {died.exceptions[0]} has ended; the log says why")
        return EXIT_SOFTWARE
    finally:
        deadline.lift()
        drain()
    return 0
