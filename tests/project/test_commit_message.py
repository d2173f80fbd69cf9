"""The hook that checks commit messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.commit_message import mistakes


@pytest.mark.parametrize(
    "message",
    [
        "journal: reject entries without a hash",
        "carrousel tests: wait for the ledger\n\nThe first look came too early.\n",
        "\n# a comment of git's template\nlinks: reopen at once\n# On branch main\n",
        "controller/mqtt, docs: " + "x" * 49,
        "Merge branch 'main'",
        'Revert "links: reopen at once"',
        "fixup! links: reopen at once",
    ],
)
def test_a_good_message_passes(message: str) -> None:
    assert mistakes(message) == []


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("", "names no part"),
        ("fix the journal", "names no part"),
        ("journal:", "names no part"),
        ("journal: " + "x" * 64, "has 73 characters"),
        ("journal: reject entries.", "full stop"),
        ("journal: reject entries\nwithout a hash", "second line"),
    ],
)
def test_each_mistake_is_named(message: str, named: str) -> None:
    assert any(named in mistake for mistake in mistakes(message))


def test_the_hook_rejects_a_bad_message(programs: None, tmp_path: Path) -> None:
    message = tmp_path / "COMMIT_EDITMSG"
    script = Path(__file__).with_name("commit_message.py")
    for text, status in (("journal: reject entries\n", 0), ("reject entries.\n", 1)):
        message.write_text(text, encoding="utf-8")
        hook = subprocess.run([sys.executable, script, message], capture_output=True, check=False)
        assert hook.returncode == status
        assert (b"commit message:" in hook.stderr) == bool(status)
