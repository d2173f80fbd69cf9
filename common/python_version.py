"""Ends the program in one sentence if Python is too old.

Imported before anything else of the program, and run as a script by ``make`` and by the
installation's first line: ``python3 common/python_version.py``. Old Pythons must be able to parse
it.
"""

import sys

OLDEST = (3, 11)
"""The oldest Python that can run the program; ``requires-python`` in pyproject.toml."""

if sys.version_info[:2] < OLDEST:
    sys.exit(
        f"novamas needs Python {OLDEST[0]}.{OLDEST[1]} or newer; {sys.executable} is Python "
        f"{sys.version_info[0]}.{sys.version_info[1]}. Name a newer one, as in python3.11 or "
        "make PYTHON=python3.11."
    )
