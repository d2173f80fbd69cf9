"""structlog, imported without the optional libraries that it picks up when they are installed.

The log never shows tracebacks with the values of variables (rich, better_exceptions), and no
program here runs greenlets. Importing them took a sixth of the daemon's start, and structlog has no
switch against it. Import it everywhere as ``from common.log import structlog``.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from types import ModuleType
from typing import Any, cast

from common import clock

_modules = cast("dict[str, ModuleType | None]", sys.modules)
_hidden = {"better_exceptions", "greenlet", "rich"} - _modules.keys()
_modules |= dict.fromkeys(_hidden)  # importing one fails, as if it were not installed
try:
    import structlog as structlog
finally:
    for _name in _hidden:
        del _modules[_name]


def add_time(
    _logger: object, _method: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add the time of day to a line of the log, as ``timestamp``."""
    line["timestamp"] = clock.now().isoformat().replace("+00:00", "Z")
    return line


def add_remedy(
    _logger: object, _method: str, line: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add the command that explains the alert of a line, as ``remedy``."""
    if alert := line.get("alert"):
        line["remedy"] = f"novamas explain {alert}"
    return line
