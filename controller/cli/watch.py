"""``novamas watch``: shows the tables of a configuration on the terminal, connected by MQTT
only.
"""

from __future__ import annotations

import argparse
import os
import sys
from urllib.parse import urlsplit

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] [--table TABLE ...] [--username USER --password-file FILE] ..."""
    config_argument(parser, ", for the site, the tables, the broker and TLS")
    parser.add_argument(
        "--table", action="append", metavar="TABLE", help="a table; may be repeated (default: all)"
    )
    parser.add_argument("--username", metavar="USER", help="the broker's user, if not the daemon's")
    parser.add_argument(
        "--password-file", metavar="FILE", help="the file with that user's password"
    )
    parser.add_argument(
        "--cert-file", metavar="FILE", help="client certificate, if not the daemon's"
    )
    parser.add_argument("--key-file", metavar="FILE", help="the private key of that certificate")
    parser.add_argument(
        "--language", metavar="LANGUAGE", help="language of the display (default: of each decree)"
    )
    parser.add_argument("--json", action="store_true", help="print events as JSON lines")
    parser.add_argument(
        "--rounds", metavar="COUNT", help="stop after this many results at the first table"
    )


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the display. Raises :class:`CommandLineError`."""
    words = display_words(arguments)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "subscribers.terminal.display", *words])  # noqa: S606 - no shell is wanted


def display_words(arguments: argparse.Namespace) -> list[str]:
    """Return the command line of the display, without secrets."""
    from common.broker.login import BrokerUnusableError, password_path
    from common.suggestions import unknown_word

    configuration = configuration_at(arguments.config)
    tables = {table.id: table.simulated for table in configuration.table}
    for name in arguments.table or ():
        if name not in tables:
            raise CommandLineError(unknown_word("table", name, sorted(tables)), 2)
    chosen = arguments.table or list(tables)
    if len({tables[name] for name in chosen}) > 1:
        if arguments.table:
            raise CommandLineError(
                "simulated tables have separate topics: watch them in a separate command", 2
            )
        chosen = [name for name in chosen if not tables[name]]
    broker = configuration.broker
    address = urlsplit(broker.url)
    scheme = "mqtt" if address.scheme == "embedded" else address.scheme
    login = {
        "username": broker.username,
        "ca_file": broker.ca_file,
        "cert_file": broker.cert_file,
        "key_file": broker.key_file,
    }
    if arguments.username is not None:
        login |= {"username": arguments.username, "password_file": arguments.password_file}
    elif arguments.password_file is not None:
        raise CommandLineError("--password-file requires --username USER", 2)
    else:
        try:
            path = password_path(broker)
        except BrokerUnusableError as error:
            raise CommandLineError(
                f"{error}; give --username and --password-file of a display"
            ) from None
        login["password_file"] = None if path is None else str(path)
    if arguments.cert_file is not None or arguments.key_file is not None:
        login |= {"cert_file": arguments.cert_file, "key_file": arguments.key_file}
    words = [f"--broker={scheme}://{address.netloc}", f"--site={configuration.site.id}"]
    words += [f"--table={name}" for name in chosen]
    simulated = tables[chosen[0]]
    words += [
        f"--jackpot={jackpot.id}"
        for jackpot in configuration.jackpot
        if jackpot.simulated == simulated
    ]
    words += [f"--{key.replace('_', '-')}={value}" for key, value in login.items() if value]
    words += [
        f"--{key}={value}"
        for key in ("language", "rounds")
        if (value := getattr(arguments, key)) is not None
    ]
    words += ["--simulated"] if simulated else []
    return [*words, "--json"] if arguments.json else words
