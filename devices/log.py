"""structlog, loaded without rich.

structlog loads all of rich where that is installed, for tracebacks with the values of variables,
which our log never shows. That was a sixth of the daemon's start, and structlog has no switch for
it. So everybody imports it here: ``from devices.log import structlog``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

_modules = cast("dict[str, ModuleType | None]", sys.modules)
_rich = "rich" not in _modules
if _rich:
    _modules["rich"] = None  # an import of it fails, as where it is not installed
try:
    import structlog as structlog
finally:
    if _rich:
        del _modules["rich"]
