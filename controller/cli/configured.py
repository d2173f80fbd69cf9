"""The CONFIG argument of subcommands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from common.suggestions import closest, unknown_word
from controller.cli import CommandLineError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from controller.configuration.settings import Configuration

DEFAULT_CONFIG = Path("novamas.toml")


def config_argument(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the argument CONFIG. ``more``: added to *the configuration of the daemon* in the help."""
    parser.add_argument(
        "config",
        nargs="?",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="CONFIG",
        help=f"the configuration of the daemon{more} (default: {DEFAULT_CONFIG})",
    )


def reject_misspelt_action(command: str, word: str, actions: Iterable[str]) -> None:
    """Raise :class:`CommandLineError` if the optional CONFIG argument is really a misspelt
    action.
    """
    near = closest(word, actions)
    if near is not None and not Path(word).suffix and not Path(word).exists():
        raise CommandLineError(f"{command}: {unknown_word('action', word, actions)}", status=2)


def configuration_at(path: Path) -> Configuration:
    """Read a configuration. Raises :class:`CommandLineError` with all its errors."""
    # imported late: the help of a command does not need it
    from controller.configuration.file import load
    from controller.configuration.settings import ConfigurationError

    try:
        return load(path)
    except ConfigurationError as mistaken:
        raise CommandLineError(str(mistaken)) from None
