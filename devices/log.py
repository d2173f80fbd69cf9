"""structlog, loaded without the libraries that it uses where they happen to be installed.

Tracebacks with the values of variables (rich, better_exceptions) the log never shows, and no
program here runs greenlets. Of the daemon's start they were a sixth, and structlog has no switch
for them. So everybody imports it here: ``from devices.log import structlog``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

_modules = cast("dict[str, ModuleType | None]", sys.modules)
_hidden = {"better_exceptions", "greenlet", "rich"} - _modules.keys()
_modules |= dict.fromkeys(_hidden)  # an import of them fails, as where they are not installed
try:
    import structlog as structlog
finally:
    for _name in _hidden:
        del _modules[_name]
