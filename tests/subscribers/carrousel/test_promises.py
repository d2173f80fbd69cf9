"""The tests that docs/engineer/evidence-carrousel.md names exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_promise_names_tests_that_exist() -> None:
    named = set(
        re.findall(
            r"`(test_\w+)`", (ROOT / "docs" / "engineer" / "evidence-carrousel.md").read_text()
        )
    )
    found = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert len(named) > 10
    assert named <= found
