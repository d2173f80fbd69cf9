"""A journal in which any cell has any content: `verify`, `audit` and `export` report the damage,
and never fail themselves.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.chain.checkpoint import checkpoint_path, key_path, load_key, public
from controller.cli import main
from controller.proof.audit import audit
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import segments
from controller.proof.verify import verify
from tests.conftest import cases
from tests.controller.proof.test_saved_states import loosen
from tests.controller.proof.test_sealing import sealed, ten_days
from tests.support.journal.premises import evening

TABLES = {
    "entry": (
        "position",
        "table_id",
        "boot",
        "kind",
        "seq",
        "time",
        "mono_ns",
        "body",
        "previous",
        "hash",
    ),
    "saved": ("table_id", "state", "position"),
    "meta": ("key", "value"),
    "cursor": ("name", "position"),
}
ANYTHING = (
    None,
    0,
    -1,
    2**63 - 1,
    -(2**63),
    1e400,
    -0.5,
    float("nan"),
    "",
    "x" * 70_000,
    "\x1b[2J\nHOLDS",
    b"",
    b"\x00\xff\xfe",
    b"\xff" * 32,
    b"x" * 32,
    b"null",
    b"[]",
    b"17",
    b"[" * 100_000,
    b'{"sealed":"AAAA"}',
    b'{"sealed":7}',
    b'{"locked":"AAAA"}',
    b'{"type":"round.result","session":[],"round":{},"number":1e400}',
    b'{"type":"card.drawn","at":1e308,"device":"wheel","card":"7h"}',
    b'{"device":"wheel","calls":[["heard",1e308,"x"]]}',
    b'{"why":"boot","saved":{"game":"roulette-french"}}',
    b'{"software":"novamas","python":"3","site":"s","node":"n","key":"zz","tables":[{"id":"r1","game":7}]}',
    b'{"software":"a","python":"3","site":"s","node":"n","key":"z","tables":[{"id":"r1","game":"craps","decree":"x"}]}',
    b'{"at":99999999999999999999999999,"type":"session.open","by":"x","role":"table_head"}',
)

VALUES = (
    '"x"',
    "null",
    "-1",
    "9223372036854775808",
    "9" * 5000,
    "1e400",
    "NaN",
    '"\\ud800"',
    "[" * 90_000,
    "true",
    '"zz"',
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "journal.sqlite3"
    asyncio.run(_evening(path))
    loosen(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("INSERT INTO cursor VALUES ('mqtt', 3)")
    return path


async def _evening(path: Path) -> None:
    await evening(path)


def damage(path: Path, chance: random.Random) -> tuple[str, str, int, bool]:
    """Put anything into one cell. Return its place, and True if the evidence is changed."""
    table = chance.choice(["entry"] * 5 + ["saved", "meta", "cursor"])
    column = chance.choice(TABLES[table])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = bytes
        key = "rowid" if table in ("entry", "saved") else TABLES[table][0]
        rows = [
            row for (row,) in connection.execute(f"SELECT {key} FROM {table}") if row != b"created"
        ]
        row = chance.choice(rows)
        cell = f"SELECT typeof({column}), CAST({column} AS BLOB) FROM {table} WHERE {key} = ?"
        before = connection.execute(cell, (row,)).fetchone()
        value: Any = chance.choice(
            [*ANYTHING, *(chance.randbytes(chance.randrange(64)) for _ in range(8))]
        )
        as_text = "CAST(? AS TEXT)" if chance.random() < 0.3 else "?"
        try:
            connection.execute(
                f"UPDATE {table} SET {column} = {as_text} WHERE {key} = ?", (value, row)
            )
        except (sqlite3.IntegrityError, sqlite3.OperationalError):
            return table, column, 0, False  # a place that SQLite itself uses
        gone = connection.execute(cell, (row,)).fetchone()
    return (
        table,
        column,
        row,
        before != gone and table != "cursor",
    )  # the position of a reader


def test_with_any_content_of_a_cell_each_command_ends_in_a_verdict(
    whole: Path, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, cells = 0, cases(24, 120)
    key = public(load_key(key_path(whole)))
    path = memory / whole.name
    for seed in range(cells):
        shutil.copy(whole, path)
        shutil.copy(checkpoint_path(whole), checkpoint_path(path))
        table, column, row, changed = damage(path, random.Random(seed))
        verdict = verify(path, key)
        made = audit(path, key=key)
        if changed:
            assert made.outcome is not ProofOutcome.HOLDS, (seed, table, column)
            derived = (table, column) == (
                "saved",
                "state",
            )  # it is in no hash: the audit derives it
            assert derived or verdict.outcome is not ProofOutcome.HOLDS, (seed, table, column)
            found += 1
            if table == "entry" and column != "position":
                assert verdict.problems[0].position == row, (seed, column)
                assert f"entry {row}" in verdict.problems[0].what
        for words in (["verify", str(path), "--signer", key], ["audit", str(path)]):
            assert main([*words, "--text"]) == main([*words, "--json"]), (seed, words)
            assert "\x1b" not in capsys.readouterr().out, seed
        for words in (["export", str(path)], ["export", str(path), "--format", "csv"]):
            assert main(words) in (0, 1), (seed, words)
            capsys.readouterr()
    assert found > cells * 5 // 12


def test_with_any_content_of_a_sealed_day_each_command_ends_in_a_verdict(
    memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = memory / "journal.sqlite3"
    asyncio.run(ten_days(path))
    sealed(path)
    day = segments(path)[3]
    lines = gzip.decompress(day.read_bytes()).splitlines()
    for seed in range(cases(15, 80)):
        chance = random.Random(seed)
        changed = list(lines)
        at = chance.choice([0, 1, 5, -1])
        fields = json.loads(changed[at])
        name = chance.choice(list(fields))
        value = chance.choice(VALUES)
        changed[at] = (
            b"{"
            + b",".join(
                json.dumps(field).encode()
                + b":"
                + (value.encode() if field == name else json.dumps(each).encode())
                for field, each in fields.items()
            )
            + b"}"
        )
        day.write_bytes(gzip.compress(b"\n".join(changed) + b"\n", 1))
        assert verify(path).outcome is not ProofOutcome.HOLDS or at == -1 or name == "day", (
            seed,
            at,
            name,
            value,
        )
        for words in (
            ["verify", str(path), "--json"],
            ["audit", str(path), "--json"],
            ["export", str(path)],
        ):
            assert main(words) in (0, 1, 3), (seed, words)
        capsys.readouterr()
