"""The script that is inlined in every page, and its entry in the content security policy."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files

from common.contract.messages.messages import text

_SCRIPT = files("subscribers.display").joinpath("static/start.js").read_text(encoding="utf-8")
SCRIPT_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'"
"""A source of ``script-src`` that allows this inline script and no other."""
REQUIRED_CSS = "(container-type: size) and selector(:has(p))"
"""CSS features that the display style sheets require, as a condition of ``@supports``."""


def no_modules_element(base: str) -> str:
    """Return the element for browsers that cannot run modules; it comes last. ``base``: the prefix
    of all addresses, such as ``/novamas``, or empty.
    """
    return f'<script nomodule src="{base}/static/no-modules.js"></script>'


def start_element(language: str | None = None, display: bool = False) -> str:
    """Return the element that comes first in the head. ``language``: of messages shown while the
    page's own script does not run; None for no messages. ``display``: the page is a display.
    """
    if language is None:
        return f'<script id="start">{_SCRIPT}</script>'
    message_key = "page.browser_display" if display else "page.browser"
    attributes = {
        "said": text("trouble.no_server", language),
        "cannot": text(message_key, language),
    }
    if display:
        attributes["needs"] = REQUIRED_CSS
    data = "".join(f' data-{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<script id="start"{data}>{_SCRIPT}</script>'
