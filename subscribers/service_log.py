"""The log of a service beside the daemon."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from typing import BinaryIO, Literal

from devices.log import structlog


def log_lines(form: Literal["json", "console"]) -> None:
    """One line per event on standard error, as the daemon's."""
    render: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="timestamp"),
            render,
        ],
        logger_factory=structlog.WriteLoggerFactory(_Lines(sys.stderr.buffer)),
    )


class _Lines(io.TextIOWrapper):
    """A log that loses lines where the disk is full, so that the service goes on."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, encoding="utf-8", write_through=True)

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()
