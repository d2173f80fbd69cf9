"""HTML templates of the pages. Those of a room are in its folder ``templates``; each extends
``frame.html`` of this room. Values are escaped, except those that a template marks as safe.
"""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def templates(room: str) -> Environment:
    """Return the templates of a room. ``room``: its package, such as ``subscribers.console``."""
    return Environment(
        autoescape=True,
        auto_reload=False,
        loader=ChoiceLoader([PackageLoader(room), PackageLoader("subscribers.display")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
