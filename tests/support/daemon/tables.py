"""Tables of a configuration file, beside the roulette of ``process.py``."""

from __future__ import annotations


def poker_table(link: str) -> str:
    """A poker table with a card reader."""
    return f"""
[[table]]
id = "p1"
game = "poker-no-draw"
decree = "ARA02"

[[table.device]]
id = "reader"
driver = "bee-tek"
link = "{link}"
options = {{ min_draw = 0.0 }}
"""


def mini_table(id: str, driver: str, link: str, options: str, settings: str = "") -> str:  # noqa: A002
    """A small simulated table of punto y banca without keys, its cards face up. ``options``: of the
    shoe, in TOML; ``settings``: further lines of the table.
    """
    return f"""
[[table]]
id = "{id}"
game = "punto-banca"
decree = "GAL07"
simulated = true
{settings}
settings.table = "mini"
settings.rounds = "shoe"
settings.dealt = "face_up"
settings.third_card = "face_up"
settings.turn = "when_complete"

[[table.device]]
id = "shoe"
driver = "{driver}"
link = "{link}"
options = {{ {options} }}
"""
