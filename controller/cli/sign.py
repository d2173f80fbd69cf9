"""``novamas sign``: the meters of jackpots on the LED signs of a configuration, from MQTT alone."""

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
    """Become the program of the signs, which knows nothing but MQTT. Raises
    :class:`CommandLineError`.
    """
    import msgspec

    settings = msgspec.json.encode(sign_settings(arguments.config)).decode()
    sys.stdout.flush()
    program = [sys.executable, "-m", "subscribers.carrousel.sign_line", f"--settings={settings}"]
    os.execv(sys.executable, program)  # noqa: S606 - no shell is wanted


def sign_settings(path: Path) -> dict[str, Any]:
    """What the program is told. No secret is in it. It is a display like those of ``[web]``, and
    has the same user at the broker.
    """
    import msgspec

    from controller.cli.web import web_settings

    configuration = configuration_at(path)
    if not configuration.sign:
        raise CommandLineError(f"{path}: no sign is configured; add [[sign]]")
    told = web_settings(path)
    return {
        "site": told["site"],
        "broker": told["broker"],
        "signs": [msgspec.to_builtins(sign) for sign in configuration.sign],
    }
