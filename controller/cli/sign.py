"""``novamas sign``: shows jackpot meters on the LED signs of a configuration, connected by MQTT
only.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] ..."""
    config_argument(parser, ", or one with [site], [broker], [web], a table and [[sign]]")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the program of the signs. Raises :class:`CommandLineError`."""
    import msgspec

    settings = msgspec.json.encode(sign_settings(arguments.config)).decode()
    sys.stdout.flush()
    program = [sys.executable, "-m", "subscribers.carrousel.sign_line", f"--settings={settings}"]
    os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted


def sign_settings(path: Path) -> dict[str, Any]:
    """Return the settings of the program, without secrets. It uses the broker user of the displays
    in ``[web]``.
    """
    import msgspec

    from controller.cli.web import web_settings

    configuration = configuration_at(path)
    if not configuration.sign:
        raise CommandLineError(f"{path}: no sign is configured; add [[sign]]")
    web = web_settings(path)
    return {
        "site": web["site"],
        "broker": web["broker"],
        "signs": [msgspec.to_builtins(sign) for sign in configuration.sign],
    }
