"""``python -m tests.support.games.alone``: the scripts of each table and each recording of a device
in a process that has loaded the modules of a daemon with this table or device. Prints the modules
loaded after its game or codec was made, one line for each script or recording that loaded any.
"""

from __future__ import annotations

import gc
import os
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

import controller.service.daemon  # noqa: F401 - what a daemon has loaded
from controller.games.games import make_game
from devices.drivers import driver
from devices.recording import read_recording
from tests.support.games.scripts import played, read, scripts

RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"


Play = tuple[str, Callable[[], object]]
"""A name, and what is run: it may load no module."""


def of_scripts(names: Sequence[str]) -> Iterator[Play]:
    """Make the game of scripts, all of one table, and yield what plays each of them."""
    for name in names:
        script = read(name)
        make_game(script.game, script.decree, script.settings)
        yield name, partial(played, script)


def of_recording(path: Path) -> Iterator[Play]:
    """Make the codec of a recording, and yield what feeds it."""
    recording = read_recording(path)
    found = driver(recording.header["driver"])
    options = tomllib.loads("\n".join(recording.header.get("options", "").split(", ")))
    if found.described is not None:
        options["text"] = (RECORDINGS / options["file"]).read_text(encoding="utf-8")
    codec = found.make("device", msgspec.convert(options, found.options))
    yield (
        path.stem,
        lambda: [codec.feed(chunk.data, chunk.at) for chunk in recording if not chunk.sent],
    )


def alone(plays: Iterator[Play]) -> None:
    """Make and run them in a separate process, and print the modules that each run loaded."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for name, run in plays:
                known = frozenset(sys.modules)
                run()
                if found := sorted(sys.modules.keys() - known):
                    os.write(1, f"{name}: {' '.join(found)}\n".encode())
            status = 0
        finally:
            if status:
                traceback.print_exc()
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if ended:
        os.write(1, b"failed\n")


def tables() -> Iterator[list[str]]:
    """Yield the names of the scripts that are played at tables which load the same: those of one
    game and decree with the same settings.
    """
    alike: dict[str, list[str]] = {}
    for name in sorted(scripts()):
        script = read(name)
        alike.setdefault(repr((script.game, script.decree, script.settings)), []).append(name)
    yield from alike.values()


if __name__ == "__main__":
    gc.freeze()  # else each process copies all memory when it collects
    for names in tables():
        alone(of_scripts(names))
    for file in sorted(RECORDINGS.glob("*.txt")):
        alone(of_recording(file))
