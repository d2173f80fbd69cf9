"""Every command of ``novamas`` with its parser, including the actions of commands that pass their
options to separate programs.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import NamedTuple

from controller.cli import carrousel, command_line, subcommands, surveillance

ACTIONS = {
    "carrousel": {
        name: (text, "subscribers.carrousel.bookkeeping")
        for name, text in carrousel.ACTIONS.items()
    },
    "surveillance": {
        name: (action.help, action.module) for name, action in surveillance.ACTIONS.items()
    },
}
"""Actions of a command: their help, and the module that implements them."""


class CommandEntry(NamedTuple):
    """``name``: ``demo``, or ``surveillance search``. ``help``: one line."""

    name: str
    help: str
    parser: argparse.ArgumentParser


def commands() -> list[CommandEntry]:
    """Return all commands, each followed by its actions."""
    found = []
    for name, parser in subcommands(command_line()).items():
        text = parser.description or ""
        if name == "simulate":  # it gives all of its options to another program
            parser = _program("simulators")
        found.append(CommandEntry(name, text, parser))
        for action, (what, module) in ACTIONS.get(name, {}).items():
            of_program = _program(module)
            own = subcommands(of_program).get(action, of_program)
            found.append(CommandEntry(f"{name} {action}", what, own))
    return found


def tree() -> argparse.ArgumentParser:
    """Return one parser with all commands. The actions of a command replace its own arguments."""
    root = command_line([])
    below = {"": subparsers(root)}
    for name, text, parser in commands():
        parent, _, own = name.rpartition(" ")
        parents = [] if name in ACTIONS else [parser]
        made = below[parent].add_parser(own, help=text, parents=parents, add_help=not parents)
        if name in ACTIONS:
            below[name] = made.add_subparsers(metavar="ACTION")
    return root


def subparsers(
    parser: argparse.ArgumentParser,
) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    """Return the action that adds parsers below a parser."""
    return next(
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )


def _program(module: str) -> argparse.ArgumentParser:
    """Return the parser of ``python -m module``."""
    found = import_module(module)
    if hasattr(found, "__path__"):
        found = import_module(f"{module}.__main__")
    parser: argparse.ArgumentParser = found.command_line()
    return parser
