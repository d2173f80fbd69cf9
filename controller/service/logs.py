"""The log: one line per event on standard error, times in UTC. No secret is ever passed to it.

Use it as ``structlog.get_logger().info("device lost", device="wheel", reason="unplugged")``: a
fixed text, with everything variable in keys. Messages of libraries (through :mod:`logging`, from
warning on) appear in the same form.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal, TextIO, cast

from controller.contract.node import LogHealth
from controller.service.log_output import LogOutput
from devices.log import structlog

Format = Literal["json", "console"]
Level = Literal["debug", "info", "warning", "error"]

FAREWELL = 1.0
"""Seconds allowed for the last lines."""

_output: LogOutput | None = None


def health() -> LogHealth:
    """Whether log lines are being lost."""
    return LogHealth() if _output is None else LogHealth(lost=_output.lost, trouble=_output.trouble)


def drain() -> None:
    """Wait briefly until the last lines are written."""
    if _output is not None:
        _output.drain(FAREWELL)


def configure(format: Format = "json", level: Level = "info", stream: TextIO | None = None) -> None:  # noqa: A002 - the name of the key
    """Set up the log, once per process: ``json`` for machines, ``console`` for people. Without a
    ``stream``, lines go to standard error through a thread.
    """
    global _output
    # Tracebacks stay plain: rich ones show local variables, which may contain a face-down card.
    terminal = (sys.stderr if stream is None else stream).isatty()
    if stream is None:
        _output = LogOutput(sys.stderr.fileno())
    render: tuple[structlog.typing.Processor, ...] = (
        (
            structlog.dev.ConsoleRenderer(
                colors=terminal, exception_formatter=structlog.dev.plain_traceback
            ),
        )
        if format == "console"
        else (
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=repr, ensure_ascii=False),
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="timestamp"),
            *render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(
            cast("TextIO", _output) if stream is None else stream
        ),
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_Library()], force=True)
    logging.captureWarnings(capture=True)


class _Library(logging.Handler):
    """Forwards the log records of libraries."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno,
            record.getMessage(),
            library=record.name,
            exc_info=record.exc_info or None,
        )
