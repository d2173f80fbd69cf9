"""``novamas rules`` and ``novamas games``: JSON lines for machines, a table on a terminal, clear
errors.
"""

from __future__ import annotations

import json
import re
import sys

import msgspec
import pytest

from controller.cli import main
from controller.games.games import GAMES
from controller.rulebooks import rows
from controller.rulebooks.dispositions import own_rules
from tests.support.for_each import for_each


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_rules_are_counted_by_decree_and_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    counts = lines(capsys)
    assert sum(int(str(count["total"])) for count in counts) == 750 + len(own_rules())
    boule = next(
        count for count in counts if (count["decree"], count["subject"]) == ("GAL07", "boule")
    )
    assert {"enforced": 7, "published": 1, "total": 8}.items() <= boule.items()


def test_rules_of_a_decree_are_listed_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--decree", "ARA02", "--list"]) == 0
    listed = {line["id"]: line for line in lines(capsys)}
    assert len(listed) == 150 + sum(rule.startswith("ARA02") for rule in own_rules())
    assert listed["ARA02-006"]["where"] == "irregularity rotor_not_reversed"
    assert listed["ARA02-150"]["disposition"] == "enforced"


def test_rules_are_chosen_by_decree_game_and_disposition(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(["rules", "--decree", "ara02", "--game", "Roulette", "--disposition", "out of reach"])
        == 0
    )
    chosen = lines(capsys)
    assert chosen
    assert {(line["decree"], line["game"], line["disposition"]) for line in chosen} == {
        ("ARA02", "roulette", "out_of_reach")
    }


def test_one_rule_is_shown_with_its_words_and_its_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "ara02-006"]) == 0
    (rule,) = lines(capsys)
    assert str(rule["article"]).endswith("anexo I, art. 3, 1 Ruleta francesa, IV.3.a)")
    assert "accionar cada vez el cilindro en un sentido opuesto a la anterior" in str(
        rule["printed"]
    )
    [proof] = msgspec.convert(rule["proofs"], list[dict[str, str]])
    assert proof["test"].startswith("tests/controller/games/test_scripts.py::")
    assert proof["mutant"] == "the rotor is reported when it was reversed, not when it was not"


@pytest.mark.parametrize(
    "words", [["rules"], ["rules", "--list"], ["rules", "ARA02-006", "EUS96-155"]]
)
def test_nothing_is_cut_at_80_columns(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(words) == 0
    narrow = without_style(capsys.readouterr().out)
    assert max(len(line) for line in narrow.splitlines()) <= 80
    monkeypatch.setenv("COLUMNS", "2000")
    assert main(words) == 0
    wide = without_style(capsys.readouterr().out)
    assert "…" not in wide.replace("[…]", "")
    assert letters(narrow) == letters(wide)


def without_style(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def letters(text: str) -> list[str]:
    """Letters of the output, however its lines are broken."""
    return sorted(letter for letter in text if letter.isalnum())


def test_games_shows_which_can_be_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games"]) == 0
    pairs = lines(capsys)
    assert len(pairs) == 69
    games = {str(pair["game"]) for pair in pairs if pair["playable"]}
    assert games == set(GAMES)


def test_games_show_the_rules_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games", "roulette-american", "--decree", "EUS96"]) == 0
    book = json.loads(capsys.readouterr().out)
    assert book["announcements"]["bets_closed"] == {"eu": "besterik ez"}
    assert book["bets"]["simple"]["limits"] == [180, 360, 540, 900]


@pytest.mark.parametrize("words", [["rules"], ["rules", "--list"], ["games"]])
def test_a_table_on_a_terminal(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "EUS96" in out
    assert "{" not in out


@for_each(
    ("words", "says"),
    [
        (
            ["rules", "--decree", "XXX"],
            "no decree 'XXX'; there are: ARA02, BAL05, BAL09, EUS96, GAL07",
        ),
        (["rules", "--decree", "EUS69"], "no decree 'EUS69'; did you mean EUS96?"),
        (["rules", "--game", "rulette"], "no game 'rulette'; did you mean roulette?"),
        (["rules", "--disposition", "enforcd"], "no disposition 'enforcd'; did you mean enforced?"),
        (["rules", "EUS96-1730"], "no rule 'EUS96-1730'; did you mean EUS96-173"),
        (["rules", "173"], "no rule '173'; `novamas rules --list` shows all"),
        (
            ["games", "--decree", "XXX"],
            "no decree 'XXX'; there are: ARA02, BAL05, BAL09, EUS96, GAL07",
        ),
        (["games", "boule"], "the decree is missing; add --decree D"),
        (
            ["games", "omaha", "--decree", "ARA02"],
            "ARA02 has no game 'omaha'; it has: roulette-french",
        ),
        (["games", "GAL07"], "GAL07 is a decree; use --decree GAL07"),
        (
            ["games", "omaha", "--decree", "GAL07"],
            "GAL07 has no game 'omaha', nor any other of poker; it has: roulette-french",
        ),
        (
            ["games", "poker", "--decree", "GAL07"],
            "GAL07 has no game 'poker', nor any other of poker; it has: roulette-french",
        ),
        (
            ["play", "omaha", "--decree", "GAL07"],
            "GAL07 has no game 'omaha', nor any other of poker; it has: roulette-french",
        ),
    ],
)
def test_a_wrong_call_is_reported(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    assert says in capsys.readouterr().err


def test_a_game_that_cannot_be_played_yet_has_no_rules_to_show(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.cli.games.playable", lambda pair: pair.game != "boule")
    assert main(["games", "boule", "--decree", "ARA02"]) == 1
    assert "boule under ARA02 cannot be played yet" in capsys.readouterr().err


def test_a_table_of_data_with_other_columns_is_refused() -> None:
    with pytest.raises(ValueError, match=r"games.tsv: line 1: the columns must be id, name"):
        rows("games.tsv", ("id", "name"))


def test_a_decree_without_poker_is_noted_below_its_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["games", "--decree", "GAL07"]) == 0
    assert capsys.readouterr().out.endswith("GAL07 has no game of poker\n")
    assert main(["games", "--decree", "EUS96"]) == 0
    assert "has no game of poker" not in capsys.readouterr().out
