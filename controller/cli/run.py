"""``novamas run``: runs the daemon."""

from __future__ import annotations

import argparse
import gc

from controller.cli.configured import config_argument

EXIT_CONFIG = 78
"""Exit status for an invalid configuration (EX_CONFIG); the service manager must not restart it."""

COLLECTION_THRESHOLDS = (100, 10, 1000)
"""Objects made, less those freed, before a collection of the youngest, and collections of each
generation before one of the next, where Python has 700, 10 and 10. With a thousand tables thousands
of objects have taken the place of others before 700 more exist, and a collection of those holds up
every device for 5 ms; a full one takes tens of milliseconds, and finds nothing.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG]."""
    config_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run until a signal. Returns 0 after a clean stop, and ``EXIT_SOFTWARE`` after a bug."""
    # imported late: the daemon has some five hundred modules that the help does not need
    import asyncio
    import errno

    from common.chain.schema import JournalUnusableError
    from common.confidential.key_file import KeyFileError
    from common.people.register import PeopleError
    from common.system_errors import describe_system_error
    from controller.cli import CommandLineError, print_error
    from controller.configuration.checks import NO_TABLE
    from controller.configuration.file import load
    from controller.configuration.settings import ConfigurationError
    from controller.service.daemon import serve
    from controller.service.ending import EXIT_SOFTWARE, Deadline, TaskDiedError
    from controller.service.logs import configure, drain
    from controller.service.privacy import keep_private
    from controller.tables.saved_state import UnrestorableStateError

    gc.freeze()  # imported modules stay: exempt them from collections
    gc.set_threshold(*COLLECTION_THRESHOLDS)

    try:
        configuration = load(arguments.config)
    except ConfigurationError as error:
        print_error(f"novamas: {error}")
        return EXIT_CONFIG
    if not (configuration.table or configuration.jackpot):  # it may be a recorder's
        print_error(f"novamas: {arguments.config}: table: {NO_TABLE}")
        return EXIT_CONFIG
    keep_private()
    configure(configuration.log.format, configuration.log.level)
    deadline = Deadline()
    try:
        asyncio.run(serve(configuration, deadline, arguments.config.absolute()))
    except (UnrestorableStateError, PeopleError) as error:
        # a restart would not help; a person has to decide
        print_error(f"novamas: {error}")
        return EXIT_CONFIG
    except (JournalUnusableError, KeyFileError) as error:
        raise CommandLineError(str(error)) from None
    except OSError as error:
        hint = (
            "; stop the program that listens there, or change the port in `url` of [broker]"
            if error.errno == errno.EADDRINUSE
            else ""
        )
        raise CommandLineError(
            f"{error.filename or configuration.broker.url}: {describe_system_error(error)}{hint}"
        ) from None
    except BaseExceptionGroup as group:
        ended, others = group.split(TaskDiedError)
        if ended is None or others is not None:
            raise
        print_error(
            f"novamas: the essential task {ended.exceptions[0]} has ended; the log says why"
        )
        return EXIT_SOFTWARE
    finally:
        deadline.lift()
        drain()
    return 0
