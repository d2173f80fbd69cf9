"""The decrees as data: a folder per decree with one TOML file per game, and tables of tab-separated
values.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def rows(table: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Read a table, as one dict by column for each row. Raises ``ValueError`` with the file, the
    line and the problem.
    """
    head, *lines = (FOLDER / table).read_text(encoding="utf-8").splitlines()
    if tuple(head.split("\t")) != columns:
        raise ValueError(f"{table}: line 1: the columns must be {', '.join(columns)}")
    result = []
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(columns):
            raise ValueError(f"{table}: line {number}: {len(cells)} cells, expected {len(columns)}")
        result.append(dict(zip(columns, cells, strict=True)))
    return result
