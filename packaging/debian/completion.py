"""Write the completions of ``novamas`` for bash, zsh and fish: completion.py FOLDER."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab
from command_tree import tree

FILES = {
    "bash": "bash-completion/completions/novamas",
    "zsh": "zsh/vendor-completions/_novamas",
    "fish": "fish/vendor_completions.d/novamas.fish",
}
"""Location of each shell's completions, below /usr/share."""


def main(folder: Path) -> None:
    """Write all completions below a folder."""
    for shell, name in FILES.items():
        parser = tree()
        for each in _all(parser):
            _say_what_is_a_file(each)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shtab.complete(parser, shell))


def _all(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    below = [each.choices for each in parser._actions if each.nargs == argparse.PARSER]
    return [
        parser,
        *(one for each in below for made in dict(each or {}).values() for one in _all(made)),
    ]


def _say_what_is_a_file(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if action.type is Path or action.metavar in {"CONFIG", "FILE", "PATH"}:
            action.complete = shtab.FILE  # type: ignore[attr-defined] # what shtab looks for
        elif action.metavar == "DIR":
            action.complete = shtab.DIR  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
