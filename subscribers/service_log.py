"""Logging set-up of the services beside the daemon."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from typing import BinaryIO, Literal

from common.log import add_remedy, add_time, structlog


def log_lines(form: Literal["json", "console"]) -> None:
    """Log one line per event to standard error, as the daemon does."""
    render: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            add_time,
            add_remedy,
            render,
        ],
        logger_factory=structlog.WriteLoggerFactory(_LossyStream(sys.stderr.buffer)),
    )


class _LossyStream(io.TextIOWrapper):
    """A stream that drops lines instead of failing when the disk is full."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, encoding="utf-8", write_through=True)

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()
