"""HTML templates of the pages. Those of a room are in its folder ``templates``; each extends
``frame.html`` of this room. Values are escaped, except those that a template marks as safe.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def _hash_of_files() -> str:
    """Return a hash of the static files of all pages: scripts import each other across rooms."""
    rooms = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(rooms.glob("*/static/**/*")):
        if path.is_file():
            found.update(f"{path.relative_to(rooms)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:12]


FILES = f"/files-{_hash_of_files()}"
"""The prefix of the addresses of static files, after the prefix of all addresses."""


def templates(room: str) -> Environment:
    """Return the templates of a room. ``room``: its package, such as ``subscribers.console``."""
    environment = Environment(
        autoescape=True,
        auto_reload=False,
        loader=ChoiceLoader([PackageLoader(room), PackageLoader("subscribers.display")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["files"] = FILES
    return environment
