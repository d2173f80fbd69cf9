"""A journal of three runs, and the ways in which someone may forge it: with what anyone can do who
may write the file, and with the signing key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from common.chain.checkpoint import checkpoint_path, key_path, load_key, sign, write_checkpoint
from common.chain.schema import ChainHead, entry_hash, genesis
from common.randomness import token_bytes
from tests.support.journal.premises import Premises, entries, evening

Forgery = Callable[[Path], None]
DROPPED = 10
"""Entries that are cut off at the end."""


async def three_runs(path: Path) -> None:
    """The journal of three runs, with five results."""
    await evening(path)
    third = Premises(path, at=9.0)
    third.receive(*[b"*X;6;004; 0;0;000;0"] * 4)
    third.spin(5, 21, 0)
    third.spin(6, 8, 21)
    await third.end()


def chain_again(connection: sqlite3.Connection) -> None:
    """Number and chain all entries again."""
    (journal,) = connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    previous = genesis(journal)
    rows = connection.execute(
        "SELECT table_id, boot, kind, seq, time, mono_ns, CAST(body AS BLOB) FROM entry "
        "ORDER BY position"
    ).fetchall()
    connection.execute("DELETE FROM entry")
    for position, row in enumerate(rows, 1):
        digest = entry_hash(previous, *row)
        connection.execute(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (position, *row, previous, digest),
        )
        previous = digest


def change(path: Path, statement: str, *values: Any, chained: bool = True) -> None:
    """Change the entries, and chain them again."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)
        if chained:
            chain_again(connection)


def replace(path: Path, old: str, new: str, where: str = "1", *, chained: bool = True) -> None:
    """Replace a text in the bodies."""
    change(
        path,
        f"UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), ?, ?) AS BLOB) WHERE {where}",
        old,
        new,
        chained=chained,
    )


def sign_again(path: Path) -> None:
    """Sign the end with the machine's key."""
    last = entries(path)[-1]
    with closing(sqlite3.connect(path)) as connection:
        (journal,) = connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    head = ChainHead(last.position, last.hash)
    key = load_key(key_path(path))
    write_checkpoint(sign(key, journal, last.boot, last.time, head), path)


def unsign(path: Path) -> None:
    checkpoint_path(path).unlink()


NUMBER = '"number":17', '"number":18'
RESULT = "kind = 'event' AND CAST(body AS TEXT) LIKE '%round.result%'"
DROP = f"DELETE FROM entry WHERE position > (SELECT max(position) - {DROPPED} FROM entry)"


def _together(path: Path) -> None:
    replace(path, ";002;17;", ";002;18;")
    replace(path, *NUMBER)


def _swap(path: Path) -> None:
    at = next(entry.position for entry in entries(path) if b"round.result" in entry.body)
    change(path, "UPDATE entry SET position = -1 WHERE position = ?", at, chained=False)
    change(
        path, "UPDATE entry SET position = position + 1 WHERE position = ?", at - 1, chained=False
    )
    change(path, "UPDATE entry SET position = ? WHERE position = -1", at - 1)


def _twice(path: Path) -> None:
    at = next(entry.position for entry in entries(path) if b"round.result" in entry.body)
    change(path, "UPDATE entry SET position = -position WHERE position > ?", at, chained=False)
    change(path, "UPDATE entry SET position = 1 - position WHERE position < 0", chained=False)
    change(
        path,
        "INSERT INTO entry SELECT position + 1, table_id, boot, kind, seq, time, mono_ns, body, "
        "previous, hash FROM entry WHERE position = ?",
        at,
    )


def _replace_key(path: Path) -> None:
    key_path(path).write_text(f"{token_bytes(32).hex()}\n")


def _date_back(path: Path) -> None:
    year = int(entries(path)[0].time[:4])
    change(path, "UPDATE entry SET time = ? || substr(time, 5)", str(year - 1), chained=False)
    replace(path, f'"{year}-', f'"{year - 1}-')


def _edit_saved(path: Path) -> None:
    change(
        path,
        "UPDATE saved SET state = CAST(replace(CAST(state AS TEXT), '\"round\":5', '\"round\":6') "
        "AS BLOB)",
        chained=False,
    )


def _signed(forge: Forgery) -> Forgery:
    def forged(path: Path) -> None:
        forge(path)
        sign_again(path)

    return forged


def _unsigned(forge: Forgery) -> Forgery:
    def forged(path: Path) -> None:
        forge(path)
        unsign(path)

    return forged


def _second_run(path: Path) -> str:
    return list(dict.fromkeys(entry.boot for entry in entries(path)))[1]


FORGERIES: Mapping[str, Forgery] = {
    "nothing": lambda _: None,
    "a number changed": lambda path: replace(path, *NUMBER, RESULT, chained=False),
    "a number changed, chained": lambda path: replace(path, *NUMBER, RESULT),
    "chained, checkpoint deleted": _unsigned(lambda path: replace(path, *NUMBER, RESULT)),
    "chained and signed": _signed(lambda path: replace(path, *NUMBER, RESULT)),
    "bytes, inputs and event together, signed": _signed(_together),
    "the last entries dropped": lambda path: change(path, DROP),
    "the last entries dropped, checkpoint deleted": _unsigned(lambda path: change(path, DROP)),
    "the last entries dropped, signed": _signed(lambda path: change(path, DROP)),
    "two entries swapped, signed": _signed(_swap),
    "an event put in twice, signed": _signed(_twice),
    "an event taken out, signed": _signed(
        lambda path: change(
            path,
            f"DELETE FROM entry WHERE position = (SELECT min(position) FROM entry WHERE {RESULT})",
        )
    ),
    "a run taken out, signed": _signed(
        lambda path: change(path, "DELETE FROM entry WHERE boot = ?", _second_run(path))
    ),
    "the key replaced": _signed(_replace_key),
    "the saved state edited": _edit_saved,
    "a name changed, signed": _signed(lambda path: replace(path, "M. Lasa", "M. Losa")),
    "dated back, signed": _signed(_date_back),
    "the cursor set back": lambda path: change(
        path, "UPDATE cursor SET position = 1", chained=False
    ),
}
"""The forgeries, each of a journal whose entries are all signed."""
