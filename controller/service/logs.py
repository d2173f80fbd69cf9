"""The log: one line per event on standard error, times in UTC. Secrets are never logged.

Use it as ``structlog.get_logger().info("device lost", device="wheel", reason="unplugged")``: a
fixed event name, with everything variable in fields. A line about an alert has its id in ``alert``,
and gets the command that explains it. Messages of libraries (through :mod:`logging`,
from warning on) appear in the same form.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal, TextIO, cast

from common.contract.node import LogHealth
from common.log import add_remedy, add_time, structlog
from controller.service.log_output import LogOutput

Format = Literal["json", "console"]
Level = Literal["debug", "info", "warning", "error"]

DRAIN_TIMEOUT_SECONDS = 1.0
"""Seconds allowed at the end to write the last lines."""

_output: LogOutput | None = None


def health() -> LogHealth:
    """Return whether log lines are being lost."""
    return LogHealth() if _output is None else LogHealth(lost=_output.lost, trouble=_output.trouble)


def drain() -> None:
    """Wait briefly until the last lines are written."""
    if _output is not None:
        _output.drain(DRAIN_TIMEOUT_SECONDS)


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
            add_time,
            add_remedy,
            *render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(
            cast("TextIO", _output) if stream is None else stream
        ),
    )
    logging.basicConfig(level=logging.WARNING, handlers=[_LibraryHandler()], force=True)
    logging.captureWarnings(capture=True)


class _LibraryHandler(logging.Handler):
    """Forwards the log records of libraries."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno,
            record.getMessage(),
            library=record.name,
            exc_info=record.exc_info or None,
        )
