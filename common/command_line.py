"""Shared by all programs: a command line that suggests a word for an unknown action, choice or
option; the signals that end a program; whether its terminal was closed; a fast exit.

Closing a terminal sends SIGHUP: the kernel sends it to the session leader and, once that has ended,
to the foreground processes; a shell also sends it to its jobs. ``kill`` and service managers send
the same signal to make a daemon reread its configuration.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, NoReturn

from common.suggestions import closest, suggest

CONTROLLING_TERMINAL = "/dev/tty"
"""The controlling terminal of the process that opens it (tty(4))."""
UNRECOGNIZED_PREFIX = "unrecognized arguments: "
"""Prefix of the message in which ``argparse`` reports unknown options."""


def escape_unencodable_output() -> None:
    """Make standard output write characters that its encoding lacks as escapes, which JSON decodes
    to the same text: es_ES.ISO-8859-1 has no card suits, and the POSIX locale no accents.
    """
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")


def end_process(status: int) -> NoReturn:
    """Exit with this status. Exit handlers run, but the final garbage collection is skipped: it
    takes longer than many a command.
    """
    gc.freeze()
    sys.exit(status)


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end a program cleanly. SIGHUP is among them unless it was ignored
    when the program started, as with ``nohup``.
    """
    attended = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (*((signal.SIGHUP,) if attended else ()), signal.SIGINT, signal.SIGTERM)


def has_terminal() -> bool:
    """Return whether this process has a controlling terminal that is still open. Under a service
    manager there is no terminal.
    """
    try:
        descriptor = os.open(CONTROLLING_TERMINAL, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    os.close(descriptor)
    return True


class CommandLine(argparse.ArgumentParser):
    """Argument parser with suggestions. Its subcommand parsers are of the same class."""

    def error(self, message: str) -> NoReturn:
        """Print the error, with similar options, and exit with status 2."""
        if message.startswith(UNRECOGNIZED_PREFIX):
            known = sorted(_long_options(self))
            near = [
                found
                for word in message.removeprefix(UNRECOGNIZED_PREFIX).split()
                if word.startswith("-")
                and (found := closest(word.partition("=")[0], known)) is not None
            ]
            if near:
                message += f"; did you mean {' '.join(f'`{option}`' for option in near)}?"
        super().error(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(
                action,
                f"invalid choice: {value!r}; {suggest(str(value), map(str, action.choices))}",
            )


def _long_options(parser: argparse.ArgumentParser) -> set[str]:
    """Long options of a parser and of its subcommands, whose errors it reports."""
    found = {option for option in parser._option_string_actions if option.startswith("--")}  # noqa: SLF001
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            found = found.union(*map(_long_options, action.choices.values()))
    return found
