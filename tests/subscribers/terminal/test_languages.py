"""The display in five languages: at 80 by 24 no fixed label is cut, nothing stays in English, calls
and articles stay in the words of the decree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue, text, word
from common.contract.retained import Alert
from subscribers.display.hands import HandPicture
from subscribers.terminal.hands_screen import MAX_HANDS, hands_of
from subscribers.terminal.screen import FAMILIES, HANDS_FAMILY
from subscribers.terminal.words import alert, command, mark, who
from tests.conftest import cases
from tests.support.for_each import for_each
from tests.support.games import scripts
from tests.support.subscribers.played import BY, Play, steps
from tests.support.subscribers.terminal import Size, TerminalScreen, after, roulette, spin

SIZES = ((60, 24), (80, 24), (120, 40))
STORIES = (
    "roulette/ball-with-rotor",
    "roulette/silence",
    "boule/evening",
    "fortune-wheel/jokers",
    "craps/series",
    "punto-banca/coups",
    "baccarat-two-cloths/rounds",
    "trente-et-quarante/afresh",
    "blackjack/evening",
    "poker-draw-house/draw",
    "pai-gow/bank",
)
"""At least one for each family of pictures."""
EACH = cases(5, 25)
"""One in this number of steps is drawn."""


def panels(found: str) -> tuple[str, str]:
    """The text in the panel at the left, or below, and in the one at the right, each as one line: a
    sentence may continue in the next one.
    """
    lines = [re.split("││|╮╭", line) for line in found.splitlines()]
    left, right = ("\n".join(line[side] for line in lines) for side in (0, -1))
    return re.sub(r"[│─╭╮╰╯\s]+", " ", left), re.sub(r"[│─╭╮╰╯\s]+", " ", right)


def story(name: str, language: str | None) -> Iterator[TerminalScreen]:
    """The terminal at some steps of a script."""
    read, screen = scripts.read(name), TerminalScreen(language)
    play = Play(read.game, read.decree, read.settings, others=(screen,))
    for step, _ in enumerate(steps(play, read.inputs)):
        if step % EACH == 0:
            yield screen
    yield screen


def labels(screen: TerminalScreen) -> Iterator[str]:
    """Texts of a picture that must be read whole at the left."""
    picture = screen.table.picture
    if picture.trouble is not None:
        yield picture.trouble.text
    yield from (command(task.id, picture.language) for task in picture.waits)
    if type(picture.body) not in FAMILIES:
        hands: list[HandPicture] = hands_of(picture.body)[:MAX_HANDS]
        if any(hand.cards for hand in hands):
            yield from (hand.name for hand in hands)
            yield from (hand.outcome.text for hand in hands if hand.outcome)


@for_each("language", LANGUAGES)
@for_each("size", SIZES, ids=str)
@for_each("name", STORIES)
def test_a_picture_has_its_labels_whole(name: str, size: Size, language: str) -> None:
    for screen in story(name, language):
        left, _ = panels("\n".join(screen.drawn(size).splitlines()[1:]))
        assert "…" not in left, "only the title of a game and the list of rounds may be cut"
        missing = [
            label for label in labels(screen) if " ".join(label.split()).upper() not in left.upper()
        ]
        assert missing == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ENGLISH])
@pytest.mark.parametrize("name", STORIES)
def test_nothing_of_a_picture_stays_in_english(name: str, language: str) -> None:
    """No English text of some length is in it, unless it is one of that language too; names of
    commands aside.
    """
    own = " ".join(catalogue(language).values()).casefold()
    english = {
        each.casefold() for each in catalogue(ENGLISH).values() if "{" not in each and len(each) > 5
    }
    strange = {each for each in english if each not in own}
    for screen in story(name, language):
        found = re.sub(r"\([a-z_.]+\)", "", " ".join(panels(screen.drawn())).casefold())
        assert [each for each in strange if re.search(rf"\b{re.escape(each)}\b", found)] == []


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_numbers_and_words_have_room_in_their_lanes(size: Size) -> None:
    play, screen = roulette("eu")
    play.say("round.void", reason="bad_launch", **BY)
    play.say("result.correct", round=5, number=30, **BY)
    rows = [
        re.split("││", line)[1].strip("│ ").split()
        for line in screen.drawn(size).splitlines()
        if "││" in line
    ]
    if rows:
        assert rows[:2] == [["6", "baliogabe"], ["5", "30*"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_calls_and_articles_stay_in_the_words_of_the_decree(language: str) -> None:
    found = roulette(language)[1].drawn((120, 40))
    assert "«no va más»" in found
    assert "Decreto 159/2002, anexo I, art. 3" in " ".join(panels(found))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phase_of_every_family_has_its_words(language: str) -> None:
    for family in (*FAMILIES.values(), HANDS_FAMILY):
        for name in family.phases.values():
            assert f"phase.{name}" in catalogue(language)
    play, screen = roulette(language)
    assert word("phase", "bets_closed", language).upper() in panels(screen.drawn())[0]
    play.say("round.void", reason="bad_launch", **BY)
    assert word("phase", "relaunch", language).upper() in panels(screen.drawn())[0]
    play.say("bets.open", **BY)
    assert word("phase", "bets_open", language).upper() in panels(screen.drawn())[0]
    play.say("round.void", reason="bad_launch", **BY)
    spin(play, 4)
    assert word("phase", "result", language).upper() in panels(screen.drawn())[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_winner_is_named(language: str) -> None:
    screen = after("punto-banca/coups", language=language)
    ended = screen.table.picture.body.finish.ended
    assert ended is not None
    assert ended.text.upper() in panels(screen.drawn())[0]


def test_a_table_speaks_the_language_of_its_decree_unless_another_is_chosen() -> None:
    assert roulette(None)[1].table.picture.language == "es"
    assert roulette("gl")[1].table.picture.language == "gl"
    assert TerminalScreen(None).table.picture.language == ENGLISH


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
    raised = {"alert": "journal-room", "severity": "warning", "raised": "now", **seen_by}
    told = alert(msgspec.convert(raised, Alert), "ca")
    assert told == "disc del diari gairebé ple (98 %), vista per M. Lasa"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_corrected_result_is_noted(language: str) -> None:
    play, screen = roulette(language)
    play.say("result.correct", round=5, number=4, **BY)
    told = text("note.corrected_result", language, was="2", right="4", person="M. Lasa")
    assert told in panels(screen.drawn((120, 40)))[0]
