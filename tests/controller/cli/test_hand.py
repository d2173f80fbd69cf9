"""``novamas hand``: one JSON line for cards, a clear error for anything else."""

from __future__ import annotations

import json

import pytest

from controller.cli import main
from tests.support.for_each import for_each


def evaluate(words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["hand", *words.split()]) == 0
    line = json.loads(capsys.readouterr().out)
    assert isinstance(line, dict)
    return line


@pytest.mark.rule("BAL09-059")
def test_it_prints_category_rank_and_the_cards_that_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert evaluate("--game omaha --decree BAL09 Ah Ad 2c 3d Kh Kd 4s 9c 9d", capsys) == {
        "game": "omaha",
        "decree": "BAL09",
        "ranking": "five-52",
        "category": "two_pair",
        "rank": "two pair, aces and kings, nine",
        "key": [3, 12, 12, 11, 11, 7],
        "cards": ["Ad", "Ah", "Kd", "Kh", "9c"],
    }


SYNTHETIC_2005 = (
    "--game synthetic-poker --decree BAL05 Qs Ah 8d 9d Td Jd Ac",
    "five-28",
    "straight, queen high",
)


@for_each(
    ("words", "ranking", "rank"),
    [
        ("--game texas-holdem --decree EUS96 Ah Kh Qh Jh Th 2c 2d", "five-52", "royal flush"),
        ("--game texas-holdem --decree EUS96 Ah Kh Qh Jh Th", "five-52", "royal flush"),
        (
            "--game omaha --decree EUS96 --own 2 Ah Kh Qh Jh 2c 9h",
            "five-52",
            "flush, ace, king, queen, jack, nine",
        ),
        (
            "--game circle-draw --decree BAL09 Ac Ad Ks Qs Jd",
            "five-52-figures",
            "figures, a pair of aces, king, queen, jack",
        ),
        (
            "--game circle-draw --decree BAL09 --pack 32 Ac 7d 8s 9s Td",
            "five-32-figures",
            "straight, ten high",
        ),
        (
            "--game poker-no-draw --decree ARA02 Ac Ad Ah Ks Kd",
            "five-52-flush",
            "full house, aces over kings",
        ),
        (
            "--game trijoker --decree BAL05 Jc Jd 2h 3s 4d",
            "five-52",
            "a pair of jacks, four, three, two",
        ),
        ("--game pai-gow --decree BAL09 X Ad Ac As Ah 2c 3c", "five-53", "five aces"),
        ("--game pai-gow --decree EUS96 --low X Ad", "two-53", "a pair of aces"),
        (
            "--game omaha-hi-lo --decree EUS96 --low Ah 2d Kc Kd 3h 4d 8s 8c 9d",
            "low-8",
            "low, eight, four, three, two, ace",
        ),
        ("--game omaha-hi-lo --decree EUS96 --low Ah 2d Kc Kd 3h 4d Ts 9c 9d", "low-8", None),
        pytest.param(*SYNTHETIC_2005, marks=pytest.mark.rule("BAL05-139")),
        (
            "--game synthetic-poker --decree BAL09 Qs Ah 8d 9d Td Jd Ac",
            "five-28",
            "a pair of aces, queen, jack, ten",
        ),
        (
            "--game synthetic-poker --decree ARA02 Qs Ah 8d 9d Td Jd Ac",
            "five-28",
            "a pair of aces, queen, jack, ten",
        ),
        (
            "--game synthetic-poker --decree EUS96 Qs Ah 8d 9d Td Jd Ac",
            "five-28",
            "a pair of aces, queen, jack, ten",
        ),
        ("Ac Kd --game three-card-poker --decree BAL09 Qs", "three", "straight, ace high"),
    ],
)
def test_hands_are_compared_as_the_decree_does(
    words: str, ranking: str, rank: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    line = evaluate(words, capsys)
    assert (line["ranking"], line["rank"]) == (ranking, rank)


@for_each(
    ("words", "says"),
    [
        ("--game omaha --decree GAL07 Ah", "GAL07 has no game of poker"),
        (
            "--game omaha --decree BAL10 Ah",
            "no decree 'BAL10'; there are: BAL05, BAL09, ARA02, EUS96, GAL07",
        ),
        (
            "--game boule --decree BAL05 Ah",
            "BAL05 has no game of poker 'boule'; it has: poker-no-draw, synthetic-poker, trijoker",
        ),
        (
            "--game trijoker --decree BAL05 Ah Kh 1h",
            "trijoker under BAL05: '1h' is not a card of five-52: allowed are A 2 3 4 ",
        ),
        (
            "--game synthetic-poker --decree ARA02 7h",
            "'7h' is not a card of five-28: allowed are A 8 9 T J Q K of c d h s",
        ),
        ("--game trijoker --decree BAL05 Ah Ah Kh Qh Jh", "'Ah' is named twice"),
        ("--game trijoker --decree BAL05 Ah Kh", "5 cards must be chosen, and there are only 2"),
        (
            "--game trijoker --decree BAL05 Ah Kh Qh Jh Th 9h",
            "3 own and 3 common cards; at most 3 and 2 are dealt",
        ),
        ("--game omaha --decree BAL09 --own 5 Ah Kh", "at most 4 and 5 are dealt"),
        (
            "--game omaha --decree BAL09 --own 1 Ah Kh Qh Jh",
            "2 own cards must be chosen, and there are only 1",
        ),
        ("--game omaha --decree BAL09 --low Ah", "there is no low hand"),
        (
            "--game circle-draw --decree BAL09 --pack 28 Ah",
            "not played with 28 cards; allowed are: 52, 32",
        ),
    ],
)
def test_a_wrong_word_is_an_error_that_names_it(
    words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hand", *words.split()]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("novamas: ")
    assert says in err


def test_cards_may_be_one_word(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--game", "poker-no-draw", "--decree", "ARA02"]
    assert main(["hand", *words, "Ah Kh Qh", "Jh Th"]) == 0
    assert json.loads(capsys.readouterr().out)["category"] == "royal_flush"
