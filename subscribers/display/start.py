"""The script that stands in every page itself, and how the policy of the server allows it."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files

_SCRIPT = files("subscribers.display").joinpath("static/start.js").read_text(encoding="utf-8")
ALLOWED = f"'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'"
"""As a source of ``script-src``: this script, and no other one that stands in a page."""


def start(said: str | None = None) -> str:
    """The element, which comes first in the head. ``said``: what the page says while its own script
    does not run; None where it has none.
    """
    attribute = "" if said is None else f' data-said="{html.escape(said)}"'
    return f'<script id="start"{attribute}>{_SCRIPT}</script>'
