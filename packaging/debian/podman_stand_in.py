"""podman, as far as a stranger needs it where no engine runs: `load --input ARCHIVE`, and
`run OPTIONS IMAGE WORDS` with crun, in the network of the caller.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from engine import ROOT, Engine, Image

FOLDER = Path(os.environ["PODMAN_STAND_IN"])


def main(action: str, words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"podman {action}")
    if action == "load":
        parser.add_argument("--input", type=Path, required=True)
        image = Image(parser.parse_args(words).input, FOLDER)
        print("Loaded image:", *image.names)
        return 0
    assert action == "run", action
    parser.add_argument("-it", action="store_true")
    parser.add_argument("--rm", action="store_true")
    parser.add_argument("--network", choices=["host"], required=True)
    parser.add_argument("--user", choices=["root"], required=True)
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("-v", "--volume", action="append", default=[])
    parser.add_argument("image")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    image = Image.loaded(FOLDER)
    assert f"{given.image}:latest" in image.names, image.names
    engine = Engine(image, FOLDER / "engine")
    devices = {path: Path(os.environ.get("STAND_IN_DEVICE", path)) for path in given.device}
    container = engine.start(
        "setup",
        given.words,
        user=ROOT,
        volumes=[engine.volume(*each.split(":")) for each in given.volume],
        devices=devices,
        read_only=False,
        attached=True,
    )
    try:
        return container.process.wait()
    except KeyboardInterrupt:
        return container.process.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], sys.argv[2:]))
