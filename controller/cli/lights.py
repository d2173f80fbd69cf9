"""``novamas lights``: shows scenes of light on hits and numbers, connected by MQTT only."""

from __future__ import annotations

import argparse

from controller.cli.configured import config_argument
from controller.cli.sign import display_settings, run_display_program


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] ..."""
    config_argument(parser, ", or one with [site], [broker], [web], a table and [[light]]")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the program of the lights. Raises ``CommandLineError``."""
    run_display_program("subscribers.lights", display_settings(arguments.config, "light"))
