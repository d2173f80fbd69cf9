"""The display in five languages: at 80 by 24 no fixed label is cut, nothing stays in English, calls
stay as they are called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from io import StringIO
from types import MappingProxyType
from typing import NamedTuple

import pytest
from rich.console import Console

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue, text, word
from subscribers.terminal.screen import (
    FAMILIES,
    FULL_HEAD_COLUMNS,
    HANDS_FAMILY,
    ScreenTrouble,
    picture,
)
from subscribers.terminal.table_view import TableView
from subscribers.terminal.words import alert, command, mark, who
from tests.common.contract.test_messages import phases
from tests.subscribers.terminal.test_card_screen import with_result
from tests.subscribers.terminal.test_game_screens import HANDS, result, seen, throw
from tests.support.for_each import for_each
from tests.support.subscribers.table import BLACK, RED, card_state, dealt, info, played, state

SIZES = ((60, 24), (80, 24), (120, 40))
GAMES = ("roulette-french", "fortune-wheel", "craps", "punto-banca", "blackjack")
"""One of each family of pictures."""


def drawn(
    view: TableView,
    language: str,
    size: tuple[int, int] = (80, 24),
    trouble: ScreenTrouble = ScreenTrouble(),  # noqa: B008
) -> str:
    view._language = language
    console = Console(
        width=size[0], height=size[1], file=StringIO(), force_terminal=True, record=True
    )
    console.print(picture(view, trouble, size[0]), height=size[1])
    found = console.export_text()
    lines = found.rstrip("\n").split("\n")
    assert len(lines) <= size[1]
    assert all(len(line) <= size[0] for line in lines)
    assert "…" not in "".join(
        lines[1:]
    )  # the title of a game may be cut, and is in the decree's words
    return found


def words(found: str) -> str:
    """The text in the panel at the left, or below, as one line: a sentence may continue in the next
    one.
    """
    return re.sub(
        r"[│─╭╮\s]+", " ", "\n".join(re.split("││|╮╭", line)[0] for line in found.splitlines())
    )


def beside(found: str) -> str:
    """The text in the panel at the right."""
    return re.sub(
        r"[│─╭╮\s]+", " ", "\n".join(re.split("││|╮╭", line)[-1] for line in found.splitlines())
    )


def roulette() -> TableView:
    view, narrator = played()
    view.retained(
        "state", state("decision", status="waiting", round=6, asks=["round.confirm", "round.void"])
    )
    view.event(
        narrator.event(
            "irregularity", round=6, what="ball_with_rotor", law="ARA02-007", article="art. 3"
        )
    )
    view.event(
        narrator.event("alert.raised", alert="wheel-link", what="link.stale", device="wheel")
    )
    return view


def craps() -> TableView:
    void = {"round": 2, "reason": "die_off_table", "law": "x", "article": "y", "last_number": None}
    point = ("point.set", {"round": 1, "point": 4})
    return seen(
        "craps",
        ("shooter.changed", {"seat": 3, "why": "first"}),
        throw(1, 2, 2),
        point,
        ("round.void", void),
    )


def fortune() -> TableView:
    void = {"round": 2, "reason": "inspector", "law": "x", "article": "y", "last_number": None}
    return seen("fortune-wheel", result(1, number="joker", cell=54), ("round.void", void))


def poker() -> TableView:
    return seen(
        "poker-no-draw",
        ("round.opened", {"round": 1}),
        result(1, hands=HANDS, marks=["dealer_qualifies"]),
    )


def boxes(*asks: str) -> TableView:
    """Nine boxes and the dealer, and every word that a box may say."""
    held = [
        ("card.dealt", {"round": 1, "to": f"box:{box}", "index": 1, "card": "7h"})
        for box in range(1, 10)
    ]
    dealer = ("card.dealt", {"round": 1, "to": "dealer", "index": 1, "card": "Th"})
    decided = ("hand.decided", {"round": 1, "who": "box:2", "decision": "double"})
    return seen(
        "blackjack",
        ("round.opened", {"round": 1}),
        *held,
        dealer,
        decided,
        round=1,
        asks=list(asks),
    )


class Picture(NamedTuple):
    """The picture and its texts: in the panel at the left or below, and in the one at the right."""

    view: Callable[[], TableView]
    left: str
    right: str = ""
    fields: Mapping[str, object] = MappingProxyType({})


KEYS = "hand.draw", "hand.stand", "hand.double", "hand.split", "hand.surrender"
PICTURES = {
    "roulette": Picture(
        roulette,
        "phase.decision colour.black parity.even half.falta dozen.1 column.2 "
        "command.round.confirm command.round.void "
        "irregularity.ball_with_rotor alert.link.stale display.session display.round "
        "display.open_alerts "
        "link.up status.waiting display.simulated",
        "display.void",
        {"session": 1, "round": 6, "count": 1},
    ),
    "a coup": Picture(
        with_result,
        "phase.result mark.natural mark.pair_banker",
        "display.naturals_pairs display.shoe display.before_cut_card",
        {"naturals": 2, "pairs": 4, "number": 1, "decks": 6},
    ),
    "the next card": Picture(
        lambda: dealt()[0],
        "phase.dealing void_reason.misdeal",
        "display.bead_plate_counted",
        {"count": 4},
    ),
    "craps": Picture(
        craps,
        "phase.void_throw display.point display.hard void_reason.die_off_table",
        "display.void",
        {"point": 4},
    ),
    "fortune": Picture(
        fortune,
        "phase.void_spin display.symbol_of_round void_reason.inspector",
        "display.latest display.void",
        {"round": 1},
    ),
    "poker": Picture(
        poker,
        "phase.result who.box_numbered who.dealer outcome.win outcome.lose hand.pair "
        "hand.high_card mark.dealer_qualifies",
        fields={"number": 10},
    ),
    "boxes": Picture(
        lambda: boxes(*KEYS),
        " ".join(f"command.{key}" for key in KEYS) + " decision.double who.box_numbered who.dealer",
        fields={"number": 9},
    ),
}
"""A picture of each family."""


@for_each("language", LANGUAGES)
@for_each("size", SIZES, ids=str)
@for_each("name", PICTURES)
def test_a_picture_has_its_labels_whole(name: str, size: tuple[int, int], language: str) -> None:
    shown = PICTURES[name]
    found = drawn(shown.view(), language, size)
    for panel, keys in ((words(found), shown.left), (beside(found), shown.right)):
        labels = [
            " ".join(text(key, language, **{"count": 15, **shown.fields}).split())
            for key in keys.split()
            if size[0] >= FULL_HEAD_COLUMNS or key != "display.session"
        ]
        assert [label for label in labels if label.casefold() not in panel.casefold()] == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ENGLISH])
@pytest.mark.parametrize("name", PICTURES)
def test_nothing_of_a_picture_stays_in_english(name: str, language: str) -> None:
    """No English text of some length is in it, unless it is one of that language too; names of
    commands aside.
    """
    drawing = drawn(PICTURES[name].view(), language)
    found = re.sub(r"\([a-z_.]+\)", "", f"{words(drawing)} {beside(drawing)}".casefold())
    own = " ".join(catalogue(language).values()).casefold()
    english = {
        each.casefold() for each in catalogue(ENGLISH).values() if "{" not in each and len(each) > 5
    }
    assert [
        each for each in english if re.search(rf"\b{re.escape(each)}\b", found) and each not in own
    ] == []


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_numbers_and_words_have_room_in_their_lanes(size: tuple[int, int]) -> None:
    view, narrator = played()
    for number, chances in ((22, BLACK), (30, RED)):
        view.event(
            narrator.event("round.result", round=number, outcome={"number": number, **chances})
        )
        view.event(
            narrator.event(
                "result.corrected",
                round=number,
                was=1,
                by="x",
                outcome={"number": number, **chances},
            )
        )
    view.event(narrator.event("round.void", round=31, reason="ball_out", law="", article=""))
    rows = [
        re.split("││", line)[1].strip("│ ").split()
        for line in drawn(view, "eu", size).splitlines()
        if "││" in line
    ]
    assert rows[:3] == [["31", "baliogabe"], ["30", "30*"], ["22", "22*"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_calls_and_articles_stay_in_the_words_of_the_decree(language: str) -> None:
    found = drawn(played()[0], language, (120, 40))
    assert "«no va más» · «prou apostes»" in found
    assert "epígrafe 1, IV.3.d)" in words(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phase_of_every_family_has_its_words(language: str) -> None:
    for game in GAMES:
        family = FAMILIES.get(game, HANDS_FAMILY)
        for phase in family.phases if family is not HANDS_FAMILY else sorted(phases()):
            view = TableView("t")
            view.retained("state", {**state(phase), "game": game})
            name = family.phases.get(phase, phase)
            assert f"phase.{name}" in catalogue(language)
            assert word("phase", name, language).upper() in drawn(view, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_trouble_is_shown_whole_on_a_slim_picture(language: str) -> None:
    for key in catalogue(language):
        group, _, what = key.partition(".")
        if group == "trouble":
            found = drawn(TableView("t"), language, (60, 24), ScreenTrouble(what, seconds=75))
            assert text(key, language, seconds=75).upper() in words(found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_winner_and_the_cards_that_are_left_out(language: str) -> None:
    found = words(drawn(with_result(), language))
    assert f"{text('display.wins', language, who=who('banker', language)).upper()} 8 - 7" in found
    view, narrator = dealt()
    view.event(narrator.event("round.unresolved", round=5, why="silence", candidate=None))
    assert text("display.unresolved", language) in words(drawn(view, language))
    view.retained(
        "state", {**card_state("waiting"), "shown": {"phase": "waiting", "session": 1, "round": 5}}
    )
    assert text("display.no_shoe", language) in beside(drawn(view, language))


def test_a_table_speaks_the_language_of_its_decree_unless_another_is_chosen() -> None:
    view = TableView("t")
    assert view.language == "en"
    view.retained(
        "info", {**info(), "about": {"title": {"eu": "Erruleta"}, "languages": ["fr", "eu", "es"]}}
    )
    assert view.language == "eu"
    assert TableView("t", "gl").language == "gl"


def test_words_of_the_wire() -> None:
    assert (who("box:3.2", "eu"), who("common:1", "es"), who("lane:2", "es")) == (
        "3.2. laukitxoa",
        "común 1",
        "lane 2",
    )
    assert mark("box:3 pair_mixed", "gl") == "casa 3: parella mixta"
    assert mark("play 2", "ca") == "joc 2"
    assert command("round.confirm", "es") == "confirmar el resultado (round.confirm)"
    assert command("moon.shoot", "es") == "moon.shoot"
    seen_by = {"what": "journal.room", "detail": "98 %", "acknowledged_by": "M. Lasa"}
    assert alert(seen_by, "ca") == "disc del diari gairebé ple (98 %), vista per M. Lasa"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_corrected_result_is_noted(language: str) -> None:
    view, narrator = played()
    view.event(
        narrator.event(
            "result.corrected", round=5, was=4, by="M. Lasa", outcome={"number": 2, **BLACK}
        )
    )
    told = text("note.corrected_result", language, was="4", right="2", person="M. Lasa")
    assert told in words(drawn(view, language, (120, 40)))
