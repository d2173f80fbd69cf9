"""``novamas sign``: shows jackpot meters on the LED signs of a configuration, connected by MQTT
only.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Literal, NoReturn

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at

Section = Literal["sign", "output", "light"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] ..."""
    config_argument(parser, ", or one with [site], [broker], [web], a table and [[sign]]")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the program of the signs. Raises :class:`CommandLineError`."""
    run_display_program("subscribers.carrousel.sign_line", sign_settings(arguments.config))


def sign_settings(path: Path) -> dict[str, Any]:
    """Return the settings of the program, without secrets."""
    return display_settings(path, "sign")


def display_settings(path: Path, section: Section) -> dict[str, Any]:
    """Return the settings of a program that shows something by the tables of a ``section``, without
    secrets. It uses the broker user of the displays in ``[web]``.
    """
    import msgspec

    from controller.cli.web import settings_of

    configuration = configuration_at(path)
    shown = getattr(configuration, section)
    if not shown:
        raise CommandLineError(f"{path}: no {section} is configured; add [[{section}]]")
    web = settings_of(configuration)
    return {
        "site": web["site"],
        "broker": web["broker"],
        f"{section}s": [msgspec.to_builtins(one) for one in shown],
    }


def run_display_program(module: str, program_settings: dict[str, Any]) -> NoReturn:
    """Replace this process by such a program."""
    import msgspec

    settings = msgspec.json.encode(program_settings).decode()
    sys.stdout.flush()
    program = [sys.executable, "-m", module, f"--settings={settings}"]
    os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted
