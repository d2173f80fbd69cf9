"""``python -m tests.support.games.alone``: each script of play and each recording of a device in a
process that has loaded the modules of a daemon with this table or device. Prints the modules loaded
after its table or codec was made, one line for each that loaded any.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

import controller.service.daemon  # noqa: F401 - what a daemon has loaded
from controller.games.games import make_game
from devices.drivers import driver
from devices.recording import read_recording
from tests.support.games.scripts import played, read, scripts

RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"


def of_script(name: str) -> Callable[[], object]:
    """Make the game of a script. Returns a function that plays it."""
    script = read(name)
    make_game(script.game, script.decree, script.settings)
    return lambda: played(script)


def of_recording(path: Path) -> Callable[[], object]:
    """Make the codec of a recording. Returns a function that feeds it."""
    recording = read_recording(path)
    found = driver(recording.header["driver"])
    options = tomllib.loads("\n".join(recording.header.get("options", "").split(", ")))
    if found.described is not None:
        options["text"] = (RECORDINGS / options["file"]).read_text(encoding="utf-8")
    codec = found.make("device", msgspec.convert(options, found.options))
    return lambda: [codec.feed(chunk.data, chunk.at) for chunk in recording if not chunk.sent]


def alone(name: str, make: Callable[[], Callable[[], object]]) -> None:
    """Make and run it in a separate process, and print the modules that the run loaded."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run = make()
            known = frozenset(sys.modules)
            run()
            if found := sorted(sys.modules.keys() - known):
                os.write(1, f"{name}: {' '.join(found)}\n".encode())
            status = 0
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if ended:
        os.write(1, f"{name}: failed\n".encode())


if __name__ == "__main__":
    for each in sorted(scripts()):
        alone(each, partial(of_script, each))
    for file in sorted(RECORDINGS.glob("*.txt")):
        alone(file.stem, partial(of_recording, file))
