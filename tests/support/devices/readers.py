"""Other programs that have a serial port open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.programs import running

PLAIN = "import os,sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)"
PYSERIAL = "import serial,sys; port = serial.Serial(sys.argv[1], 9600)"


@contextmanager
def program(code: str, path: str) -> Iterator[int]:
    """A program that has a port open, and its number."""
    waits = f"{code}\nprint(flush=True)\nsys.stdin.read()"
    with running([sys.executable, "-c", waits, path], stdin=-1, stdout=-1) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started.pid
