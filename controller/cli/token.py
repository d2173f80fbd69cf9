"""``novamas token``: makes, revokes and lists the tokens of programs that read over HTTP."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from common import clock
from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT_CONFIG, configuration_at

ACTIONS = {
    "add": "make a token for the program NAME, and print it once",
    "revoke": "revoke the token of NAME; its streams end within seconds",
    "list": "print who has a token, as JSON lines",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION [NAME] and its options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "actions:\n" + "\n".join(f"  {name:8}{what}" for name, what in ACTIONS.items())
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help="see below")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the program: 1 to 48 characters a-z, 0-9, hyphens"
    )
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        metavar="TABLE",
        help="for add: a table that it may read; may be repeated (default: all tables)",
    )
    parser.add_argument(
        "--until", metavar="TIME", help="for add: when it expires, as 2027-01-01T00:00:00Z"
    )
    parser.add_argument(
        "--config",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="CONFIG",
        help="the configuration with [api] (default: novamas.toml)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the action. Raises :class:`CommandLineError`."""
    from common.people.tokens import TokensError

    try:
        HANDLERS[arguments.action](arguments)
    except TokensError as error:
        raise CommandLineError(str(error)) from None
    return 0


def _add(arguments: argparse.Namespace) -> None:
    from common.people.tokens import add_token
    from common.suggestions import unknown_word

    path, name = _file(arguments), _name(arguments)
    tables = [table.id for table in configuration_at(arguments.config).table]
    for table in arguments.table:
        if table not in tables:
            raise CommandLineError(f"--table: {unknown_word('table', table, tables)}")
    _, token = add_token(path, name, arguments.table, arguments.until, clock.wall())
    print(token)


def _revoke(arguments: argparse.Namespace) -> None:
    from common.people.tokens import revoke_token

    revoke_token(_file(arguments), _name(arguments))


def _list(arguments: argparse.Namespace) -> None:
    import msgspec

    from common.people.tokens import read_tokens

    path = _file(arguments)
    for token in read_tokens(path) if path.exists() else ():
        print(msgspec.json.encode(token).decode())


def _file(arguments: argparse.Namespace) -> Path:
    """Return the file of tokens that the configuration names."""
    tokens = configuration_at(arguments.config).api.tokens
    if tokens is None:
        raise CommandLineError(
            f'{arguments.config}: there is no HTTP API; write `tokens = "tokens.jsonl"` into [api]'
        )
    return Path(tokens)


def _name(arguments: argparse.Namespace) -> str:
    if arguments.name is None:
        raise CommandLineError("NAME is missing: which program has the token?", 2)
    return str(arguments.name)


HANDLERS: dict[str, Callable[[argparse.Namespace], None]] = {
    "add": _add,
    "revoke": _revoke,
    "list": _list,
}
