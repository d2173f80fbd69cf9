"""The script that stands in every page itself, and how the policy of the server allows it."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files

from controller.contract.messages.messages import text

_SCRIPT = files("subscribers.display").joinpath("static/start.js").read_text(encoding="utf-8")
ALLOWED = f"'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'"
"""As a source of ``script-src``: this script, and no other one that stands in a page."""
DRAWING = "(container-type: size) and selector(:has(p))"
"""What the style sheets of the displays cannot do without, as a condition of ``@supports``."""


def no_modules(base: str) -> str:
    """The element for browsers that cannot run the page's own script; it comes last. ``base``: the
    prefix of all addresses, as ``/novamas``; empty: none.
    """
    return f'<script nomodule src="{base}/static/no-modules.js"></script>'


def start(language: str | None = None, display: bool = False) -> str:
    """The element, which comes first in the head. ``language``: of what the page says while its own
    script does not run, or cannot; None where it has none. ``display``: it is one of the displays.
    """
    if language is None:
        return f'<script id="start">{_SCRIPT}</script>'
    cannot = "page.browser_display" if display else "page.browser"
    attributes = {"said": text("trouble.no_server", language), "cannot": text(cannot, language)}
    if display:
        attributes["needs"] = DRAWING
    told = "".join(f' data-{name}="{html.escape(each)}"' for name, each in attributes.items())
    return f'<script id="start"{told}>{_SCRIPT}</script>'
