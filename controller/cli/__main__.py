"""``python -m controller.cli``: the same as ``novamas``."""

import sys

from controller.cli import main

sys.exit(main())
