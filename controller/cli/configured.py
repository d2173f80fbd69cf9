"""The configuration that a subcommand is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from controller.cli import CommandLineError
from devices.suggestions import closest, unknown_word

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from controller.configuration.settings import Configuration

DEFAULT = Path("novamas.toml")


def config_argument(parser: argparse.ArgumentParser, more: str = "") -> None:
    """The argument CONFIG. ``more``: what the help adds to *the configuration of the daemon*."""
    parser.add_argument(
        "config",
        nargs="?",
        type=Path,
        default=DEFAULT,
        metavar="CONFIG",
        help=f"the configuration of the daemon{more} (default: {DEFAULT})",
    )


def no_action(command: str, word: str, actions: Iterable[str]) -> None:
    """Raises :class:`CommandLineError` if what stands where a configuration may is none, but a
    misspelt action.
    """
    near = closest(word, actions)
    if near is not None and not Path(word).suffix and not Path(word).exists():
        raise CommandLineError(f"{command}: {unknown_word('action', word, actions)}", status=2)


def configuration_at(path: Path) -> Configuration:
    """Read a configuration. Raises :class:`CommandLineError` with every mistake in it."""
    # here: a command's help needs none of it
    from controller.configuration.file import load
    from controller.configuration.settings import ConfigurationError

    try:
        return load(path)
    except ConfigurationError as mistaken:
        raise CommandLineError(str(mistaken)) from None
