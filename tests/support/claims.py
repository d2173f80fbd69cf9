"""A pytest plugin that writes which rules the collected tests claim: ``pytest --collect-only -p
tests.support.claims``.

The file is named by the environment variable ``CLAIMS``; each line is a rule's id, a tab and the
test that claims it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    claims = [f"{rule}\t{test}" for rule, test in claimed(session.items)]
    Path(os.environ["CLAIMS"]).write_text("\n".join(claims), encoding="utf-8")


def claimed(items: list[pytest.Item]) -> list[tuple[str, str]]:
    """Each rule that one of these tests claims, with the test."""
    return [
        (rule, item.nodeid)
        for item in items
        for mark in item.iter_markers("rule")
        for rule in mark.args
    ]
