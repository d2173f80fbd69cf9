"""``novamas output``: feeds displays that were made for a Cammegh SS2, connected by MQTT only."""

from __future__ import annotations

import argparse

from controller.cli.configured import config_argument
from controller.cli.sign import display_settings, run_display_program


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG] ..."""
    config_argument(parser, ", or one with [site], [broker], [web], a table and [[output]]")


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the program of the outputs. Raises ``CommandLineError``."""
    run_display_program("subscribers.output", display_settings(arguments.config, "output"))
