"""Programs that a test starts, and that end with it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STOPPING = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def running(words: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program, and kill it at the end if it still runs: a test that fails leaves no program
    behind, and does not wait for one. Options are those of :class:`subprocess.Popen`.
    """
    with subprocess.Popen(words, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def with_constants(module: str, **values: float) -> str:
    """Return a statement for ``python -c`` that gives constants of a module other values. It fails
    if one is not there: else the test would pass without them, once they are renamed.
    """
    changes = (f"changed.{name}; changed.{name} = {value}; " for name, value in values.items())
    return f"import {module} as changed; {''.join(changes)}"


def restore_signals() -> None:
    """Start programs with the default actions of the signals that end them, and ignore in this
    process the ones it ignored.

    A shell starts background programs with SIGINT and SIGQUIT ignored, and ``nohup`` does so with
    SIGHUP; a program inherits that, but not a handler.
    """
    for number in _STOPPING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(number: int, frame: object) -> None:
    """Do nothing."""
