"""The version of the program, as the journal, health, backups and protocols record it.

It is a constant, since looking up the metadata of the installed package takes longer than most
commands. ``pyproject.toml`` has the same version; a test compares them.
"""

VERSION = "0.2.0.dev0"
SOFTWARE = f"novamas {VERSION}"
