"""The command line: one module per subcommand, imported on first use.

Each module has ``HELP`` (one line), ``arguments(parser)`` and ``run(arguments) -> exit status``.
Output for machines is JSON lines on stdout. Errors go to stderr, say what is wrong and where, and
end with status 1 (2 for wrong usage; 3 if ``play`` or ``send`` had a command refused; for
``verify`` and ``audit`` see ``verdicts``).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from devices.command_line import CommandLine
from devices.errors import NovamasError
from devices.suggestions import unknown

SUBCOMMANDS = (
    "demo",
    "run",
    "init",
    "check",
    "reload",
    "doctor",
    "support",
    "devices",
    "decode",
    "profile",
    "play",
    "replay",
    "verify",
    "audit",
    "export",
    "backup",
    "restore",
    "record",
    "commission",
    "simulate",
    "rules",
    "games",
    "hand",
    "import",
    "schemas",
    "messages",
    "keygen",
    "unseal",
    "send",
    "watch",
    "web",
    "carrousel",
    "wheel",
    "surveillance",
    "sign",
    "people",
    "acl",
)

MODULES = {"import": "import_files"}
"""Subcommands whose name is a Python keyword, and their modules."""

PASSED_ON = ("simulate", "carrousel", "surveillance")
"""Subcommands that give their options unchanged to a program of their own."""


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
    """Entry point of ``novamas``. Returns the exit status."""
    for name in ("stdout", "stderr"):
        if (
            getattr(sys, name) is None
        ):  # closed by the caller; the next file opened would take its place
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            _flush()
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
        raise CommandLineError(unknown("command", chosen, SUBCOMMANDS), status=2)
    parser = command_line(SUBCOMMANDS if chosen not in SUBCOMMANDS else (chosen,))
    if words[:1] == [chosen] and chosen in SUBCOMMANDS and chosen not in PASSED_ON:
        # so that a file may follow an option
        arguments = subcommands(parser)[words[0]].parse_intermixed_args(words[1:])
    else:
        arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


def command_line(names: Iterable[str] = SUBCOMMANDS) -> argparse.ArgumentParser:
    """The parser of ``novamas`` with these subcommands."""
    parser = CommandLine(
        prog="novamas",
        description="Trustworthy, provable results from physical casino tables.",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        module = import_module(f"controller.cli.{MODULES.get(name, name)}")
        subparser = subparsers.add_parser(name, help=module.HELP, description=module.HELP)
        module.arguments(subparser)
        subparser.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Tells the version. Only then is it looked up: that takes longer than all else here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"novamas {version('novamas')}")
        parser.exit()


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
