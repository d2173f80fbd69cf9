"""The option ``--extension`` of commands that read no configuration."""

from __future__ import annotations

import argparse

from controller.cli import CommandLineError


def extension_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--extension",
        dest="extensions",
        action="append",
        default=[],
        metavar="NAME",
        help="load the driver of this name from an installed package; may be repeated",
    )


def enable_extensions(arguments: argparse.Namespace) -> None:
    """Load the drivers that the option names. Raises :class:`CommandLineError`."""
    from common.extensions import ExtensionError
    from devices.drivers import enable_driver

    try:
        for name in arguments.extensions:
            enable_driver(name)
    except ExtensionError as error:
        raise CommandLineError(str(error)) from None
