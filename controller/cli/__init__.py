"""The command line: one module per subcommand, imported only when that subcommand is called.

Each module has ``arguments(parser)`` and ``run(arguments) -> exit status``; ``SUBCOMMANDS`` has its
help. Output for machines is JSON lines on stdout. Errors go to stderr, say what is wrong and where,
and end with status 1 (2 for wrong usage; 3 if ``play`` or ``send`` had a command refused; for
``verify`` and ``audit`` see ``verdicts``).
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module

from common.command_line import CommandLine, escape_unencodable_output
from common.contract.version import SOFTWARE
from common.errors import NovamasError
from common.suggestions import unknown_word

SUBCOMMANDS: Mapping[str, str] = {
    "demo": "show it at work: a simulated wheel and shoe, the daemon and a display, until Ctrl-C",
    "setup": (
        "ask what the tables, the broker and the people are, write all files and start everything"
    ),
    "run": "run the daemon: read the devices of the tables and publish their results",
    "init": "write a first configuration from what is plugged in",
    "check": "check a configuration; report every mistake with its line",
    "reload": "make the running daemon reload its configuration; report the outcome for each table",
    "doctor": (
        "check the machine: lines, disk, clock, broker, standby, keys, units; recommend what to do"
    ),
    "health": "report whether the daemon is online at its broker, for a container's healthcheck",
    "explain": "explain an alert, a refusal or a message, and what to do about it",
    "support": "pack what support needs into a file, without secrets, cards and names",
    "devices": "list what is plugged in, and all drivers",
    "identify": "listen to a device, and name its driver and speed; nothing is sent",
    "decode": "print the readings of a recording as JSON lines",
    "profile": "check a profile, try it on a recording, or propose one for an unknown wheel",
    "play": "play a game: readings and commands in as JSON lines, events out",
    "replay": "print the events that recordings of a device lead to, as JSON lines",
    "verify": "check the chain of a journal and its sealed days, and name the first wrong entry",
    "audit": (
        "derive every reading and event again from the stored bytes and inputs, and show the "
        "first that differs"
    ),
    "export": (
        "export a day, a table or a round of a journal, with its evidence, or a page that verifies "
        "itself"
    ),
    "check-export": "check a page of `export --page` without its own code",
    "backup": "back up journal, keys and configuration while the daemon runs, and verify the copy",
    "restore": (
        "restore a backup; on its next start the daemon continues from it and announces this at "
        "every table"
    ),
    "record": "record the bytes of a device to a file",
    "commission": "guide through the acceptance of a wheel or a shoe; write a signed protocol",
    "conform": (
        "try a program or a driver from outside against the requirements of the contract; report "
        "by id what is wrong"
    ),
    "shadow": (
        "compare a table with the list of results of another system, day by day; write signed "
        "reports"
    ),
    "simulate": "simulate a device on a pseudo-terminal, a TCP port or a broker",
    "rules": "count the rules of the decrees by how the program treats them, or show some",
    "games": "list the games of each decree, or show the rules of one as JSON",
    "hand": "evaluate the best poker hand of some cards by the ranking of a decree",
    "import": (
        "read a device's own history as JSON lines, or turn a capture of its line into a recording"
    ),
    "schemas": (
        "write the JSON Schemas, the AsyncAPI document and the vocabulary pages, or check that a "
        "folder has them unchanged"
    ),
    "messages": "print the texts that people read, in one of five languages, as JSON lines",
    "keygen": "make the key pair of surveillance, for face-down cards",
    "unseal": (
        "open sealed data of surveillance: messages of the topic `sealed`, a journal, or one of "
        "its days"
    ),
    "send": "send a command to a table and wait for its reply",
    "watch": "show the tables of a configuration on the terminal, or their events as JSON lines",
    "web": "show the tables of a configuration in the browser",
    "carrousel": "run the jackpots of a configuration, or read their ledger",
    "wheel": "report how wheels, shoes and second witnesses behave, from an archive",
    "surveillance": "archive and verify all messages of the tables, or search the archive",
    "webhooks": "send the events of the tables to web addresses, or show what could not be sent",
    "sign": "show the meters of jackpots on LED signs",
    "output": "feed displays that were made for a Cammegh SS2 with the numbers of roulette tables",
    "lights": "show scenes of light, and switch relays, on a jackpot's hit or a wheel's number",
    "people": (
        "manage who may act: make keys, enrol people, revoke, rotate keys, list, sign; print what "
        "each role may do"
    ),
    "token": "make, revoke and list the tokens of programs that read over HTTP",
    "acl": "write the broker's access rules for each kind of client",
}
"""Subcommands and their help, which needs none of their modules."""

MODULES = {"check-export": "check_export", "import": "import_files"}
"""Subcommands whose name cannot be that of a module, and their modules."""

FORWARDED = ("simulate", "carrousel", "surveillance", "webhooks")
"""Subcommands that pass their options unchanged to a program of their own."""


GC_THRESHOLD = 100_000
"""Objects that a command may allocate before a collection. Importing the daemon creates 60,000
objects and no garbage; with Python's threshold of 700, repeated collections took a tenth of the
start.
"""
_HYPHEN_KEY = re.compile(r"-[A-Za-z0-9_-]{42}")
"""A public key, or the name of one, that begins with a hyphen: 32 bytes in base64url."""


class CommandLineError(NovamasError):
    """A subcommand cannot continue. The message states what is wrong, where, and what to do.

    ``status``: the exit status; 2 means wrong usage.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def main(argv: list[str] | None = None) -> int:
    """Run ``novamas`` and return the exit status. ``argv``: its words; None: those of this process,
    which then ends.
    """
    if argv is None:
        gc.set_threshold(GC_THRESHOLD)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller; the next file would get its number
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    if argv is None:
        escape_unencodable_output()
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            _flush()
            if argv is None:
                gc.freeze()  # see end_process
    except CommandLineError as error:
        print_error(f"novamas: {error}")
        return error.status
    except BrokenPipeError:  # the reader closed the pipe, which is not an error
        return 0
    except OSError as error:
        print_error(f"novamas: {error.filename or 'standard output'}: {error.strerror or error}")
        return 1
    except KeyboardInterrupt:
        return 130


def print_error(text: str) -> None:
    """Print to standard error. If that fails, only the exit status remains."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        # otherwise the flush at exit would fail too, and change the exit status
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _run(argv: list[str]) -> int:
    words = _joined(argv)
    chosen = next((word for word in words if not word.startswith("-")), None)
    if chosen is not None and words[0] == chosen and chosen not in SUBCOMMANDS:
        raise CommandLineError(unknown_word("command", chosen, SUBCOMMANDS), status=2)
    parser = command_line((chosen,)) if chosen is not None and chosen in SUBCOMMANDS else _listing()
    if words[:1] == [chosen] and chosen in SUBCOMMANDS and chosen not in FORWARDED:
        # allows a file after an option
        arguments = subcommands(parser)[words[0]].parse_intermixed_args(words[1:])
    else:
        arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


def command_line(names: Iterable[str] = SUBCOMMANDS) -> argparse.ArgumentParser:
    """Return the parser of ``novamas`` with these subcommands and their arguments."""
    parser, subparsers = _program()
    for name in names:
        module = import_module(f"controller.cli.{MODULES.get(name, name)}")
        text = SUBCOMMANDS[name]
        subparser = subparsers.add_parser(name, help=text, description=text)
        module.arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def _listing() -> argparse.ArgumentParser:
    """Return the parser for a command line without a subcommand, which can only print the list of
    subcommands, the version or an error. It imports no subcommand.
    """
    parser, subparsers = _program()
    for name, text in SUBCOMMANDS.items():
        subparsers.add_parser(name, help=text)
    return parser


def _program() -> tuple[CommandLine, argparse._SubParsersAction[CommandLine]]:
    """Return the parser of ``novamas`` itself, and the action to add subcommands to."""
    parser = CommandLine(
        prog="novamas",
        description="Trustworthy, provable results from physical casino tables.",
    )
    parser.add_argument("--version", action="version", version=SOFTWARE)
    return parser, parser.add_subparsers(metavar="COMMAND", required=True)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers below a parser, by name."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def _joined(words: list[str]) -> list[str]:
    """Join an option with a key that begins with a hyphen, as ``--public=-...``: on its own, the
    key would be parsed as an option.
    """
    joined: list[str] = []
    for word in words:
        if joined and _HYPHEN_KEY.fullmatch(word) and re.fullmatch(r"--[a-z][a-z-]*", joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _flush() -> None:
    """Flush stdout while errors can still be reported; unwritten output is not retried at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
