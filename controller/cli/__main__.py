"""``python -m controller.cli`` runs ``novamas``."""

import sys

from controller.cli import main

sys.exit(main())
