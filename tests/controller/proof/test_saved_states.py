"""The table ``saved`` of a journal, which is in no hash: derived by the audit, compared with the
entries by verify.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from controller.proof.audit import audit
from controller.proof.outcome import ProofOutcome
from controller.proof.verify import verify
from tests.controller.proof.test_verify import change
from tests.support.journal.premises import Premises, evening


@pytest.mark.parametrize(
    "statement",
    [
        (
            "UPDATE saved SET state = CAST(replace(CAST(state AS TEXT), '\"seq\":', '\"seq\":9') "
            "AS "
            "BLOB)"
        ),
        "UPDATE saved SET state = '{}'",
    ],
)
async def test_saved_states_are_derived_and_compared(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    assert audit(path, key=last.key).outcome is ProofOutcome.HOLDS
    change(path, statement)
    made = audit(path)
    assert made.outcome is ProofOutcome.DOES_NOT_HOLD
    assert "the saved state of the table (table saved) does not follow" in made.differences[0].what


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM saved", "its row was removed"),
        (
            "UPDATE saved SET position = position - 3",
            "names this entry, with which no state is saved",
        ),
        ("UPDATE saved SET position = 1", "names this entry, which is not of that table"),
        (
            (
                "UPDATE saved SET position = (SELECT position FROM entry WHERE kind = 'event' "
                "ORDER "
                "BY position LIMIT 1)"
            ),
            "is older than this input",
        ),
        (
            "UPDATE saved SET position = (SELECT position FROM entry WHERE kind = 'state')",
            "is not the state with which the table continued",
        ),
        ("UPDATE saved SET position = position + 1", "and the last one is"),
        (
            "UPDATE saved SET position = (SELECT max(position) FROM entry WHERE kind = 'boot')",
            "names this entry, which is not of that table",
        ),
        ("UPDATE saved SET state = NULL", "holds what no journal does"),
        ("UPDATE saved SET table_id = 'r2'", "its row was removed"),
        ("DROP TABLE saved", "no such table"),
    ],
)
async def test_the_position_of_a_saved_state_is_compared_with_the_chain(
    tmp_path: Path, statement: str, what: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    if "NULL" in statement:
        loosen(path)
    change(path, statement)
    verdict = verify(path, last.key)
    assert verdict.outcome is ProofOutcome.DOES_NOT_HOLD
    assert any(what in problem.what for problem in verdict.problems), verdict.problems


async def test_a_saved_state_is_the_one_that_a_table_continued_with(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await run.open()
    await run.runner.drain()
    run.runner.new_day()
    await run.end()
    assert verify(path).problems == []
    change(
        path,
        "UPDATE saved SET state = CAST(replace(CAST(state AS TEXT), '\"seq\":', '\"seq\":9') AS "
        "BLOB)",
    )
    assert "is not the state with which the table continued here" in verify(path).problems[0].what


def loosen(path: Path) -> None:
    """Let every cell have any content."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(replace(sql, ' NOT NULL', ''),"
            " ' CHECK (kind IN (''boot'', ''state'', ''bytes'', ''input'', ''event''))', '')"
        )
        connection.execute("PRAGMA writable_schema = RESET")
