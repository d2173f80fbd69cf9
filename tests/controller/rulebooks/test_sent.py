"""Events and irregularities named as sent by a disposition are sent by a table: a script or a test
of a game has them.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from common.contract.events import EVENTS
from controller.rulebooks.dispositions import dispositions
from tests.support.games.scripts import expected, scripts

ROOT = Path(__file__).resolve().parents[3]
EVENT_TAGS = {str(kind.__struct_config__.tag) for kind in EVENTS}


def places(kind: str) -> dict[str, list[str]]:
    """Each word that dispositions name after ``kind``, with the rules that name it."""
    found: dict[str, list[str]] = {}
    for rule in dispositions().values():
        for place in filter(None, rule.where.split(", ")):
            first, *names = place.split()
            for name in names if first == kind else ():
                found.setdefault(name, []).append(rule.id)
    return found


def played() -> tuple[set[str], set[str]]:
    """The types of events and the irregularities in the expected events of all scripts."""
    events = [event for name in scripts() for event in expected(name) if "type" in event]
    return (
        {event["type"] for event in events},
        {event["what"] for event in events if event["type"] == "irregularity"},
    )


def documented() -> set[str]:
    """The irregularities of the vocabulary, which lists no law that only a refusal cites."""
    page = ROOT / "common" / "contract" / "irregularities.toml"
    tables = tomllib.loads(page.read_text(encoding="utf-8"))
    return {
        word for name, words in tables.items() if name.startswith("irregularity") for word in words
    }


def in_tests() -> set[str]:
    """The names that tests of games compare with; an error of a deal has them without ``deal_``."""
    words: set[str] = set()
    for path in (ROOT / "tests" / "controller" / "games").glob("test_*.py"):
        found = set(re.findall(r'"([a-z_]+)"', path.read_text(encoding="utf-8")))
        words |= found
        if path.name == "test_circle_errors.py":
            words |= {f"deal_{word}" for word in found}
    return words


def test_every_irregularity_of_a_disposition_is_one_that_a_table_sends() -> None:
    assert {
        word: rules for word, rules in places("irregularity").items() if word not in documented()
    } == {}


def test_every_irregularity_of_a_disposition_was_seen_by_a_test() -> None:
    _, seen = played()
    assert {
        word: rules
        for word, rules in places("irregularity").items()
        if word not in seen | in_tests()
    } == {}


def test_every_event_of_a_disposition_was_seen_by_a_test() -> None:
    seen, _ = played()
    named = {
        place.split()[0]
        for rule in dispositions().values()
        for place in filter(None, rule.where.split(", "))
    }
    assert named & EVENT_TAGS <= seen
