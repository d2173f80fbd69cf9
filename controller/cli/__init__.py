"""The command line: one module per subcommand, imported when that subcommand is the one called.

Each module has ``arguments(parser)`` and ``run(arguments) -> exit status``; its line of help is in
``SUBCOMMANDS``.
Output for machines is JSON lines on stdout. Errors go to stderr, say what is wrong and where, and
end with status 1 (2 for wrong usage; 3 if ``play`` or ``send`` had a command refused; for
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

from controller.contract.version import SOFTWARE
from devices.command_line import CommandLine, escape_unencodable_output
from devices.errors import NovamasError
from devices.suggestions import unknown_word

SUBCOMMANDS: Mapping[str, str] = {
    "demo": "show it at work: a simulated wheel and shoe, the daemon and a display, until Ctrl-C",
    "run": "run the daemon: read the devices of the tables and publish their results",
    "init": "write a first configuration from what is plugged in",
    "check": "check a configuration; report every mistake with its line",
    "reload": (
        "have the running daemon take over its configuration; say what it did, table by table"
    ),
    "doctor": (
        "look at the machine: lines, disk, clock, broker, standby, keys, units; say what to do"
    ),
    "explain": "say what an alert, a refusal or a message means, and what to do about it",
    "support": "pack what support needs to know into a file, without secrets, cards and names",
    "devices": "list what is plugged in, and every driver",
    "decode": "print the readings of a recording as JSON lines",
    "profile": "check a profile, or try it on a recording",
    "play": "play a game: readings and commands in as JSON lines, events out",
    "replay": "print the events that recordings of a device lead to, as JSON lines",
    "verify": "check the chain of a journal and its sealed days, and name the first wrong entry",
    "audit": (
        "derive every reading and event again from the stored bytes and inputs, and show the "
        "first that differs"
    ),
    "export": "export a day, a table or a round of a journal, with its evidence",
    "backup": "back up journal, keys and configuration while the daemon runs, and verify the copy",
    "restore": "restore a backup, from which the stopped daemon goes on and says so at every table",
    "record": "record the bytes of a device to a file",
    "commission": "lead through the acceptance of a wheel or a shoe; write a signed protocol",
    "simulate": "simulate a device on a pseudo-terminal, a TCP port or a broker",
    "rules": "count the rules of the decrees by what the program does with them, or show some",
    "games": "list the games of each decree, or show the rules of one as JSON",
    "hand": "evaluate the best poker hand of some cards by the ranking of a decree",
    "import": (
        "read a device's own history as JSON lines, or turn a capture of its line into a recording"
    ),
    "schemas": (
        "write the JSON Schemas, the AsyncAPI document and the pages of the vocabulary, or check "
        "that a folder has them unchanged"
    ),
    "messages": "print the texts that people read, in one of five languages, as JSON lines",
    "keygen": "make the key pair of surveillance, for face-down cards",
    "unseal": (
        "open what was sealed for surveillance: messages of the topic `sealed`, a journal, or one"
        " of its days"
    ),
    "send": "send a command to a table and wait for its answer",
    "watch": "show the tables of a configuration on the terminal, or their events as JSON lines",
    "web": "show the tables of a configuration in the browser",
    "carrousel": "keep the meters of the jackpots of a configuration, or read their ledger",
    "wheel": "say from an archive how wheels and shoes behave",
    "surveillance": "archive everything that the tables say and prove it, or search the archive",
    "sign": "show the meters of jackpots on LED signs",
    "people": (
        "who may act: make keys, enrol people, revoke, rotate keys, list, sign; what each role "
        "may say"
    ),
    "acl": (
        "write what each kind of client may read and write at the broker, as the broker's own rules"
    ),
}
"""By name, what each does: the help text needs none of their modules."""

MODULES = {"import": "import_files"}
"""Subcommands whose name is a Python keyword, and their modules."""

PASSED_ON = ("simulate", "carrousel", "surveillance")
"""Subcommands that give their options unchanged to a program of their own."""


COLLECTOR = gc.get_threshold()
"""Python's own thresholds of the garbage collector."""
ALLOCATIONS = 100_000
"""Objects that a command may allocate before the collector searches them. The modules of the daemon
are 60,000 objects, and leave no garbage; with Python's threshold of 700 the collector searched them
again and again, which took a tenth of the start.
"""
_KEY = re.compile(r"-[A-Za-z0-9_-]{42}")
"""A public key, or the name of one, that begins with a hyphen: 32 bytes in base64url."""


class CommandLineError(NovamasError):
    """A subcommand cannot continue. The message is all that its user needs: what is wrong, where,
    and what to do.

    ``status``: the exit status; 2 means wrong usage.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def main(argv: list[str] | None = None) -> int:
    """Entry point of ``novamas``. Returns the exit status. ``argv``: its words; None: those of this
    process, which ends with it.
    """
    if argv is None:
        gc.set_threshold(ALLOCATIONS)
    for name in ("stdout", "stderr"):
        if (
            getattr(sys, name) is None
        ):  # closed by the caller; the next file opened would take its place
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
        tell(f"novamas: {error}")
        return error.status
    except BrokenPipeError:  # the reader of the output closed it, which is no error
        return 0
    except OSError as error:
        tell(f"novamas: {error.filename or 'standard output'}: {error.strerror or error}")
        return 1
    except KeyboardInterrupt:
        return 130


def tell(text: str) -> None:
    """Print to standard error. If that fails, the exit status alone speaks."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno()
        )  # or else the exit would fail too, with a status of its own


def _run(given: list[str]) -> int:
    words = _joined(given)
    chosen = next((word for word in words if not word.startswith("-")), None)
    if chosen is not None and words[0] == chosen and chosen not in SUBCOMMANDS:
        raise CommandLineError(unknown_word("command", chosen, SUBCOMMANDS), status=2)
    parser = command_line((chosen,)) if chosen is not None and chosen in SUBCOMMANDS else _listing()
    if words[:1] == [chosen] and chosen in SUBCOMMANDS and chosen not in PASSED_ON:
        # so that a file may follow an option
        arguments = subcommands(parser)[words[0]].parse_intermixed_args(words[1:])
    else:
        arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


def command_line(names: Iterable[str] = SUBCOMMANDS) -> argparse.ArgumentParser:
    """The parser of ``novamas`` with these subcommands and their arguments."""
    parser, subparsers = _program()
    for name in names:
        module = import_module(f"controller.cli.{MODULES.get(name, name)}")
        text = SUBCOMMANDS[name]
        subparser = subparsers.add_parser(name, help=text, description=text)
        module.arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


def _listing() -> argparse.ArgumentParser:
    """The parser of a command line without a subcommand, which can only print the list of them, the
    version or an error. It imports no subcommand.
    """
    parser, subparsers = _program()
    for name, text in SUBCOMMANDS.items():
        subparsers.add_parser(name, help=text)
    return parser


def _program() -> tuple[CommandLine, argparse._SubParsersAction[CommandLine]]:
    """The parser of ``novamas`` itself, and where its subcommands are added."""
    parser = CommandLine(
        prog="novamas",
        description="Trustworthy, provable results from physical casino tables.",
    )
    parser.add_argument("--version", action="version", version=SOFTWARE)
    return parser, parser.add_subparsers(metavar="COMMAND", required=True)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers below a parser, by name; none if it has none."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def _joined(words: list[str]) -> list[str]:
    """Options and keys that begin with a hyphen as one word each, ``--public=-...``: alone such a
    key would be taken for an option.
    """
    joined: list[str] = []
    for word in words:
        if joined and _KEY.fullmatch(word) and re.fullmatch(r"--[a-z][a-z-]*", joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _flush() -> None:
    """Flush the output while errors can still be reported; what cannot be written is not retried at
    exit.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
