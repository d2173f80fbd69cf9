"""A witness whose archive was written by JavaScript, where each number is a double."""

from __future__ import annotations

import json
import subprocess
from itertools import count
from pathlib import Path

import msgspec
import pytest

from common import clock, mono
from common.readings import MAX_EXACT_INTEGER
from controller.proof.audit import audit
from controller.proof.outcome import ProofOutcome
from tests.controller.proof.test_verify import archive, witnessed
from tests.support.journal.premises import entries, evening

DAY = 86_400 * 10**9
UPTIME_NANOSECONDS = 9_108_601_842_648_732_123
"""Nanoseconds since the start of a machine that is up for 105 days."""
NODE = """
const lines = require('fs').readFileSync(0, 'utf8').trimEnd().split('\\n')
for (const line of lines) console.log(JSON.stringify(JSON.parse(line)))
"""


def written_by_node(path: Path) -> Path:
    done = subprocess.run(
        ["node", "-e", NODE], input=path.read_bytes(), stdout=subprocess.PIPE, check=True
    )
    path.write_bytes(done.stdout)
    return path


def numbers(path: Path) -> list[int]:
    return [entry.mono_ns for entry in entries(path) if entry.kind == "event"]


def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count as releases without a limit did."""
    uptime_ns = clock.uptime_ns
    monkeypatch.setattr(clock, "uptime_ns", lambda: UPTIME_NANOSECONDS + uptime_ns())
    for module in (clock, mono):
        monkeypatch.setattr(module, "MONO_WRAP", 2**64)


async def test_a_year_of_one_run_holds(
    programs: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A clock that advances by eight days each time it is read."""
    moments = count(0, 8 * DAY)
    monkeypatch.setattr(clock, "uptime_ns", lambda: next(moments))
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    assert next(moments) > 365 * DAY
    counted = numbers(path)
    assert all(0 <= each <= MAX_EXACT_INTEGER for each in counted)
    assert counted != sorted(counted)
    archived = written_by_node(archive(path, msgspec.to_builtins(last)))
    verdict = witnessed(path, archived, last.key)
    assert (verdict.outcome, verdict.witnessed) == (ProofOutcome.HOLDS, len(counted))
    assert audit(path).differences == []


async def test_rounded_numbers_accuse_no_one(
    programs: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_before(monkeypatch)
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    assert min(numbers(path)) > MAX_EXACT_INTEGER
    proved = audit(path)
    assert (proved.differences, proved.proved_events) == ([], len(numbers(path)))

    whole = archive(path, msgspec.to_builtins(last)).read_bytes()
    archived = path.with_name("archive.jsonl")
    assert witnessed(path, archived, last.key).outcome is ProofOutcome.HOLDS

    written_by_node(archived)
    verdict = witnessed(path, archived, last.key)
    assert verdict.outcome is ProofOutcome.NOT_JUDGED
    assert verdict.problems == []
    (said,) = verdict.unread
    assert "cannot be judged" in said
    assert "2^53" in said

    with archived.open("ab") as lines:  # both copies: one of them lost digits
        lines.write(whole)
    assert witnessed(path, archived, last.key).problems == []


async def test_rounding_hides_no_change(
    programs: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    as_before(monkeypatch)
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    archived = written_by_node(archive(path, msgspec.to_builtins(last)))
    text = archived.read_text()
    assert '"number":17' in text
    for changed in (
        text.replace('"number":17', '"number":18'),
        text.replace(
            f'"mono_ns":{UPTIME_NANOSECONDS // 10**15}',
            f'"mono_ns":{UPTIME_NANOSECONDS // 10**15 + 1}',
        ),
    ):
        archived.write_text(changed)
        assert witnessed(path, archived, last.key).outcome is ProofOutcome.DOES_NOT_HOLD


async def test_two_spellings_of_one_number_are_equal(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    archived = archive(path)

    def spelled(value: object) -> object:
        if isinstance(value, dict):
            return {key: spelled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [spelled(each) for each in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    lines = [json.loads(line) for line in archived.read_text().splitlines()]
    archived.write_text("".join(json.dumps(spelled(line)) + "\n" for line in lines))
    assert witnessed(path, archived).problems == []
