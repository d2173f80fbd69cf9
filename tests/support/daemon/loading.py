"""Which modules a daemon loads, and when: before it is connected with the broker, or later."""

from __future__ import annotations

from tests.support.daemon.process import Daemon

PROGRAM = """
import os, sys
class Announced:
    def find_spec(name, path=None, target=None):
        os.write(2, f"loads {name}\\n".encode())
sys.meta_path.insert(0, Announced)
from controller.cli import main
sys.exit(main())
"""
"""``novamas``, which writes a line for each module that it looks for, on its standard error."""
_LINE = "loads "
_CONNECTED = '"event": "broker connected"'


def announced(daemon: Daemon) -> Daemon:
    """The daemon, with a log of the modules it loads."""
    daemon.program = ("-c", PROGRAM)
    daemon.prepared = False
    return daemon


def loaded(daemon: Daemon) -> tuple[frozenset[str], list[str]]:
    """The modules that it looked for until it was connected with the broker, and those later."""
    lines = daemon.log().splitlines()
    connected = next(number for number, line in enumerate(lines) if _CONNECTED in line)
    before, after = (
        [line.removeprefix(_LINE) for line in part if line.startswith(_LINE)]
        for part in (lines[:connected], lines[connected:])
    )
    return frozenset(before), after
