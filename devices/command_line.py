"""What every program shares: a command line that names the word to write instead of an unknown
action, choice or option; the signals that end it, and whether the terminal from which it was
started has been closed; and an end without the garbage collector.

A terminal that is closed sends SIGHUP: the kernel to the session's leader and, once that has ended,
to what runs in the foreground; a shell also to its jobs. ``kill`` and service managers send the
same signal to a daemon that is to read its configuration again.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, NoReturn

from devices.suggestions import closest, suggest

CONTROLLING_TERMINAL = "/dev/tty"
"""The controlling terminal of whichever process opens it (tty(4))."""
UNRECOGNIZED_PREFIX = "unrecognized arguments: "
"""How ``argparse`` begins what it says of words that it does not know."""


def escape_unencodable_output() -> None:
    """Let standard output write what its encoding lacks as an escape, which JSON reads as the same
    text: a locale such as es_ES.ISO-8859-1 has no card suits, and POSIX no accents.
    """
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="backslashreplace")


def end_process(status: int) -> NoReturn:
    """End this process with this exit status. Exit handlers run, but the interpreter does not
    search all that is loaded for garbage, which takes longer than many a command.
    """
    gc.freeze()
    sys.exit(status)


def stop_signals() -> tuple[signal.Signals, ...]:
    """The signals at which a program ends cleanly. SIGHUP is one unless it was ignored when the
    program started, as with ``nohup``.
    """
    attended = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    return (*((signal.SIGHUP,) if attended else ()), signal.SIGINT, signal.SIGTERM)


def has_terminal() -> bool:
    """Whether this process has a controlling terminal that is open at its other end. A service
    manager gives none.
    """
    try:
        descriptor = os.open(CONTROLLING_TERMINAL, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    os.close(descriptor)
    return True


class CommandLine(argparse.ArgumentParser):
    """A parser with suggestions. Parsers of subcommands below it are of the same kind."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, with the options that are meant, and end with status 2."""
        if message.startswith(UNRECOGNIZED_PREFIX):
            known = sorted(_long_options(self))
            near = [
                found
                for word in message.removeprefix(UNRECOGNIZED_PREFIX).split()
                if word.startswith("-")
                and (found := closest(word.partition("=")[0], known)) is not None
            ]
            if near:
                message += f"; did you mean {' '.join(f'`{each}`' for each in near)}?"
        super().error(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(
                action,
                f"invalid choice: {value!r}; {suggest(str(value), map(str, action.choices))}",
            )


def _long_options(parser: argparse.ArgumentParser) -> set[str]:
    """The long options of a parser, and of those below it, for which it is the one to complain."""
    found = {each for each in parser._option_string_actions if each.startswith("--")}  # noqa: SLF001
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            found = found.union(*map(_long_options, action.choices.values()))
    return found
