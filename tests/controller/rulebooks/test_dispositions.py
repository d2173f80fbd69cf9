"""Each rule's answer is valid: its id exists, its reference exists, and a test proves each enforced
rule.
"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from common.contract.commands import COMMANDS, CardDecide, VoidReason
from common.contract.events import EVENTS
from common.contract.jackpot import JackpotState
from common.contract.outcomes import AnyOutcome
from controller.games.games import make_game, settings_of
from controller.games.hands.evaluator import RANKINGS
from controller.rulebooks.dispositions import (
    Disposition,
    coverage,
    dispositions,
    own_rules,
    subjects,
)
from subscribers.carrousel.statement import TableTotals
from subscribers.carrousel.terms import Terms
from tests.rings.marks import COLLECTED
from tests.support.claims import claimed
from tests.support.for_each import for_each

KINDS_BY_TAG: dict[str, Any] = {
    str(kind.__struct_config__.tag): kind for kind in (*COMMANDS, *EVENTS)
}
CARD_DECISIONS = get_args(get_type_hints(CardDecide)["action"])
COMMAND_TAGS = {str(kind.__struct_config__.tag) for kind in COMMANDS}
DECREES = ("BAL05", "BAL09", "ARA02", "EUS96", "GAL07")
"""In the order of their files."""
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def numbered(shared: Path) -> list[dict[str, str]]:
    """The numbered rules, as digested from the decrees."""
    with (shared / "rules" / "rules.tsv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def claims(request: pytest.FixtureRequest) -> dict[str, str]:
    """Rule -> one of the tests that claim it, over all tests, also those that this run leaves out
    after collecting them.
    """
    collected = request.config.stash[COLLECTED]
    if {item.path for item in collected} != set((ROOT / "tests").rglob("test_*.py")):
        pytest.skip("needs all tests to be collected: name no files, choose with -k")
    return dict(claimed(collected))


def test_every_rule_is_counted_once(numbered: list[dict[str, str]]) -> None:
    assert [
        rule for subject in subjects() for rule in subject.ids if rule not in own_rules()
    ] == sorted(
        (row["id"] for row in numbered),
        key=lambda rule: ([s.decree for s in subjects()].index(rule[:5]), rule),
    )


def test_subjects_are_the_sections_of_the_digests(numbered: list[dict[str, str]]) -> None:
    """Two digests do not divide their rules in the table; their subjects are their headings."""
    for decree in ("BAL05", "ARA02", "EUS96"):
        rows = [row for row in numbered if row["id"].startswith(decree)]
        sections = [len(list(rows)) for _, rows in groupby(rows, key=lambda row: row["section"])]
        digested = [
            subject
            for subject in subjects()
            if subject.decree == decree and not set(subject.ids) & set(own_rules())
        ]
        assert sections == [len(subject.ids) for subject in digested]


def test_own_rules_are_numbered_apart_and_name_their_printed_place(shared: Path) -> None:
    for decree in DECREES:
        ids = [rule for rule in own_rules() if rule.startswith(decree)]
        numbers = [int(rule.removeprefix(f"{decree}-E")) for rule in ids]
        assert numbers == sorted(set(numbers))
        assert ids == [f"{decree}-E{number:02}" for number in numbers]
    for rule in own_rules().values():
        [printed] = (shared / "seeds").glob(f"{DECREES.index(rule.id[:5]):03}_*")
        length = len(printed.read_text(encoding="utf-8").splitlines())
        assert rule.rule
        for span in rule.lines.split(", "):
            first, last = (
                int(line.removeprefix("L")) for line in (*span.split("-"), span.split("-")[0])[:2]
            )
            assert min(first, last) > 0
            assert max(first, last) <= length


def test_answers_are_for_rules_that_exist() -> None:
    assert set(dispositions()) <= {rule for subject in subjects() for rule in subject.ids}


@pytest.mark.parametrize("subject", ["roulette", "punto-banca", "blackjack"])
def test_every_rule_of_the_subject_has_an_answer(subject: str) -> None:
    there = {rule for each in subjects() if each.subject == subject for rule in each.ids}
    assert there == {rule for rule, answer in dispositions().items() if answer.game == subject}


def test_every_rule_of_both_games_of_a_held_bank_has_an_answer() -> None:
    games = {"chemin-de-fer", "baccarat-two-cloths"}
    there = {
        rule for each in subjects() if games & set(each.subject.split(" and ")) for rule in each.ids
    }
    assert there <= {rule for rule, answer in dispositions().items() if answer.game in games}


def test_counts_add_up() -> None:
    for count in coverage():
        kinds = (
            count.enforced,
            count.published,
            count.asserted_by_person,
            count.out_of_reach,
            count.not_yet,
        )
        assert sum(kinds) == count.total
    assert sum(count.total for count in coverage()) == 750 + len(own_rules())
    assert sum(count.total - count.not_yet for count in coverage()) == len(dispositions())


@for_each("answer", dispositions().values(), ids=lambda answer: answer.id)
def test_an_answer_names_a_place_or_a_reason(answer: Disposition) -> None:
    assert answer.wording
    assert bool(answer.reason) == (answer.disposition == "out_of_reach")
    assert answer.where or answer.reason
    for place in filter(None, answer.where.split(", ")):
        _check_place(place, answer)
    if answer.disposition == "asserted_by_person":
        assert COMMAND_TAGS & {place.split()[0] for place in answer.where.split(", ")}


RESULT_FIELDS = {name for family in get_args(AnyOutcome) for name in family.__struct_fields__}
"""The fields of outcomes of all families."""
JACKPOT: dict[str, Any] = {"jackpot": JackpotState, "terms": Terms, "book": TableTotals}
"""The fields of a jackpot's controller: published, its terms, and its book of each table."""
GAME_OF = {"roulette": "roulette-french", "casino": "roulette-french", "shoe": "punto-banca"}
"""The game whose rulebook and settings carry an answer, where it is not named itself."""


def _check_place(place: str, answer: Disposition) -> None:
    """A place is a setting, an irregularity, a key of the rulebook or of the retained state, a
    ranking of poker hands, the state, the terms or the book of a jackpot, or a command or event
    with fields, void reasons or decisions about cards.
    """
    kind, *names = place.split()
    if kind in JACKPOT:
        assert set(names) <= set(JACKPOT[kind].__struct_fields__), place
        return
    if kind == "ranking":
        assert set(names) <= set(RANKINGS), place
        return
    game, decree = GAME_OF.get(answer.game, answer.game), answer.id.split("-")[0]
    made: Any = make_game(game, decree, {})
    if kind == "setting":
        assert set(names) <= set(settings_of(game).__struct_fields__), place
    elif kind == "irregularity":
        assert set(names) <= set(made.book.laws), place
    elif kind == "state":
        assert set(names) <= set(made.view(made.begin()).shown.__struct_fields__), place
    elif kind == "rulebook":
        assert names[0] in made.book.__struct_fields__, place
    else:
        outcome = RESULT_FIELDS if kind in ("round.result", "result.corrected") else set()
        assert set(names) <= outcome | {
            *KINDS_BY_TAG[kind].__struct_fields__,
            *get_args(VoidReason),
            *CARD_DECISIONS,
        }, place


def test_every_enforced_rule_is_proved_by_a_test(claims: dict[str, str]) -> None:
    enforced = {rule for rule, answer in dispositions().items() if answer.disposition == "enforced"}
    assert sorted(enforced - set(claims)) == []


def test_tests_claim_only_rules_with_an_answer_within_reach(claims: dict[str, str]) -> None:
    within = {
        rule for rule, answer in dispositions().items() if answer.disposition != "out_of_reach"
    }
    assert {rule: test for rule, test in claims.items() if rule not in within} == {}
