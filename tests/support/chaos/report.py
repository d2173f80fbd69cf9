"""The report of a run on standard output: pytest shows it where a test fails, and always in the
long form.
"""

from __future__ import annotations

import sys


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
