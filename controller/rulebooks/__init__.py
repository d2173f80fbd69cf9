"""The decrees as data: a folder per decree with one TOML file per game, and tables of tab-separated
values.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def rows(table: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of one of our tables by column. Raises ``ValueError`` that names the file, the line
    and what is wrong.
    """
    head, *lines = (FOLDER / table).read_text(encoding="utf-8").splitlines()
    if tuple(head.split("\t")) != columns:
        raise ValueError(f"{table}: line 1: the columns must be {', '.join(columns)}")
    found = []
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise ValueError(
                f"{table}: line {number}: {len(cells)} cells, there must be {len(columns)}"
            )
        found.append(dict(zip(columns, cells, strict=True)))
    return found
