"""Pages of play at stud and at draw: what a table saw and heard, and beside each script every event that must come of it.

Their form is that of the other circle games' scripts. To see one played: ``novamas play seven-card-stud --decree D SCRIPT``.
"""

from __future__ import annotations

import msgspec
import pytest

from tests.controller.games.test_circle_scripts import SCRIPTS, played

RULES: dict[str, tuple[str, ...]] = {
    "stud/five-cards": ("BAL09-003", "BAL09-030"),
    "stud/five-cards-by-hand": ("EUS96-203",),
    "stud/seven-cards": ("BAL09-023", "BAL09-024", "BAL09-025", "BAL09-072"),
    "stud/cards-seen": ("BAL09-044", "BAL09-045", "BAL09-046", "BAL09-047", "BAL09-048"),
    "stud/skipped-and-early": ("BAL09-026", "BAL09-032"),
    "stud/short-pack": ("BAL09-027",),
    "draw/openings": ("BAL09-060", "BAL09-061"),
    "draw/discards": ("BAL09-018", "BAL09-019", "BAL09-020"),
    "draw/short-pack": ("BAL09-021", "BAL09-022"),
    "draw/counts": ("BAL09-042", "BAL09-043"),
    "draw/euskadi": ("EUS96-212",),
}
"""Script -> the rules it proves."""


def test_every_script_is_played() -> None:
    folder = SCRIPTS.parent
    found = {f"{path.parent.name}/{path.stem}" for name in ("stud", "draw") for path in (folder / name).glob("*.jsonl")}
    assert found == set(RULES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rule(*rules)) for name, rules in RULES.items()])
def test_script(name: str) -> None:
    script = SCRIPTS.parent / f"{name}.jsonl"
    expected = script.with_suffix(".events").read_bytes().splitlines()
    assert [msgspec.json.decode(line) for line in played(script)] == [msgspec.json.decode(line) for line in expected]
