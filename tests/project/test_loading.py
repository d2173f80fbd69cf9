"""Modules that programs load at their start, beside the daemon (tests/daemon/test_loading.py). A
forbidden module made a start slow once, or would; times are never compared.
"""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.usefixtures("programs")

ROOT = Path(__file__).parents[2]
PACKAGES = ("common", "controller", "devices", "simulators", "subscribers")
CLIENT = frozenset({"aiomqtt", "asyncio", "paho", "structlog"})
"""Modules of a program that connects to a broker."""
RULES = frozenset({"controller.games", "controller.rulebooks"})


class Start(NamedTuple):
    """The work of a program, and modules that it does not need for that."""

    program: str
    needless: frozenset[str]


def command(*words: str) -> str:
    """Return a program that runs ``novamas`` with these arguments."""
    return f"""
import contextlib
from controller.cli import main
with contextlib.suppress(SystemExit):
    main({list(words)})
"""


STARTS = {
    "--help": Start(
        command("--help"),
        CLIENT | {"controller.cli.games", "controller.cli.run", "importlib.metadata", "msgspec"},
    ),
    "--version": Start(command("--version"), CLIENT | {"controller.cli.run", "importlib.metadata"}),
    "games": Start(
        command("games"),
        CLIENT
        | {"controller.configuration", "controller.games.roulette", "controller.people"}
        | {"controller.tables", "importlib.resources", "nacl", "tomllib"},
    ),
    "a command that reads a configuration, and becomes another program": Start(
        f"""
from pathlib import Path
from controller.cli import carrousel, surveillance, watch, web
from controller.cli.configured import configuration_at
configuration_at(Path({str(ROOT / "examples" / "ten-tables.toml")!r}))
""",
        CLIENT | {"controller.mqtt", "controller.tables", "devices.wheel.saturn", "starlette"},
    ),
    "carrousel": Start("import subscribers.carrousel.__main__", RULES | {"starlette", "uvicorn"}),
    "surveillance": Start(
        "import subscribers.surveillance.__main__",
        RULES | {"prometheus_client", "pyarrow", "starlette", "uvicorn"},
    ),
    "web": Start(
        "import subscribers.web.__main__", RULES | {"evdev", "prometheus_client", "pyarrow"}
    ),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_program_loads_nothing_that_it_does_not_need(name: str) -> None:
    program = f"{STARTS[name].program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = frozenset(done.stdout.splitlines()[-1].split())
    assert "common" in loaded
    assert loaded & STARTS[name].needless == frozenset()


def test_every_module_can_be_loaded() -> None:
    """Also those that are loaded late, by name or inside of a function."""
    names = [
        name
        for package in PACKAGES
        for _, name, _ in pkgutil.walk_packages([str(ROOT / package)], f"{package}.")
        if name != "controller.cli.__main__"  # which is the program
    ]
    assert len(names) > 500
    program = f"from importlib import import_module\nfor name in {names}: import_module(name)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
