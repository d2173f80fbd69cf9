"""The same situation is reported in the same words at every dealt game.

Where games differ, docs/inspector/rules-situations.md documents it: its table is compared with what
they publish.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from common.contract.commands import COMMANDS, SessionOpen, tag_of
from common.contract.events import AlertCleared, AlertRaised, CardExpected, Irregularity
from common.contract.notation import Input, read_input
from common.contract.topics import level
from common.readings import (
    AnyReading,
    CardDrawn,
    LinkLost,
    ShoeReset,
    ShufflerPacket,
    ShufflerState,
)
from controller.games.games import make_game
from tests.controller.mqtt.test_integrator_pages import PERSON, ROUNDS, Round
from tests.support import contract
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS
from tests.support.games.outcomes import shown

DEALT = (
    "trente-et-quarante",
    "punto-banca",
    "chemin-de-fer",
    "baccarat-two-cloths",
    "blackjack",
    "blackjack-triple",
    "texas-holdem",
    "omaha",
    "omaha-five",
    "omaha-hi-lo",
    "holdem-double",
    "synthetic-poker",
    "five-card-stud",
    "seven-card-stud",
    "circle-draw",
    "poker-no-draw",
    "poker-draw-house",
    "three-card-poker",
    "texas-house",
    "trijoker",
    "pai-gow",
)
CARD = CardDrawn(at=1.0, device="shoe", card="4d")
PACKET = ShufflerPacket(at=1.0, device="shuffler", size=5)


def irregularities(events: Any) -> list[str]:
    """The words of irregularities."""
    words: list[str] = []
    for event in events:
        match event:
            case Irregularity(what=what):
                words.append(what)
            case AlertRaised(alert=alert) | AlertCleared(alert=alert):
                words.append(f"{event.__struct_config__.tag} {alert}")
    return words


SHOE = (
    "trente-et-quarante",
    "punto-banca",
    "chemin-de-fer",
    "baccarat-two-cloths",
    "blackjack",
    "blackjack-triple",
)
"""Games that accept no packets of a shuffler."""
CLOSED = [
    (*pair, given)
    for pair in PAIRS
    if pair[0] in DEALT
    for given in ((CARD,) if pair[0] in SHOE else (CARD, PACKET))
]


@for_each(("game", "decree", "given"), CLOSED)
def test_cards_while_the_table_is_closed_are_reported_once(
    game: str, decree: str, given: CardDrawn | ShufflerPacket
) -> None:
    machine = make_game(game, decree, {})
    state, events = machine.step(machine.begin(), given)
    assert irregularities(events) == ["card_out_of_round", "alert.raised card_while_closed"]
    state, events = machine.step(state, given)
    assert irregularities(events) == []
    opening = SessionOpen(at=2.0, by="M. Lasa", role="table_head", minimum=500, currency="EUR")
    state, events = machine.step(state, opening)
    assert irregularities(events) == ["alert.cleared card_while_closed"]


@for_each(("game", "decree"), [pair for pair in PAIRS if pair[0] in DEALT and pair[0] not in SHOE])
def test_packets_between_rounds_are_reported_once(game: str, decree: str) -> None:
    machine = make_game(game, decree, {})
    opening = SessionOpen(at=1.0, by="M. Lasa", role="table_head", minimum=500, currency="EUR")
    state, _ = machine.step(machine.begin(), opening)
    state, events = machine.step(state, PACKET)
    assert irregularities(events) == ["card_out_of_round", "alert.raised card_out_of_round"]
    state, events = machine.step(state, PACKET)
    assert irregularities(events) == []


class Situation(NamedTuple):
    """An input and its moment: the first moment of a round of the page that matches."""

    name: str
    when: str
    given: AnyReading


AT: dict[str, Any] = {"at": 1000.0, "device": "device"}
LATER = CardDrawn(**AT, card="9d")
SITUATIONS = (
    Situation("Card while closed", "closed", LATER),
    Situation("Card between rounds", "waiting", LATER),
    Situation("Card before no more bets", "bets_open", LATER),
    Situation("Unread card", "cards come", CardDrawn(**AT, card=None)),
    Situation("Exposed card", "cards come", CardDrawn(**AT, card="9d", exposed=True)),
    Situation("Unsure card", "cards come", CardDrawn(**AT, card="9d", unsure=True)),
    Situation("Link lost while cards come", "cards come", LinkLost(**AT, reason="unplugged")),
    Situation("Late card", "cards come", CardDrawn(**AT, card="9d", late=True)),
    Situation("Shoe reset", "cards come", ShoeReset(**AT)),
    Situation("Shuffler jam", "cards come", ShufflerState(**AT, state="jam")),
)
PAGE = {
    (row[0], row[1]): row[2]
    for row in contract.table(contract.sections("inspector/rules-situations.md")["Situations"])
}
WHEN = {"antes": "bets_open"}
"""Circle poker has antes in place of bets."""
NAMES = {level(tag_of(kind)): tag_of(kind) for kind in COMMANDS}
PLAYED = [each for each in ROUNDS if each.game in DEALT]


def inputs(played: Round) -> Iterator[Input]:
    """The inputs of a round of docs/integrator."""
    for at, (name, body) in enumerate(played.lines, 1):
        if name == "device":
            told: dict[str, Any] = {"device": "device", **body}
        else:
            told = {**PERSON, **body, "type": NAMES[name.removeprefix("command/")]}
            del told["client"]
        yield read_input(json.dumps({"at": float(at), **told}))


def moments(played: Round) -> dict[str, Any]:
    """The first states in which the situations occur."""
    machine = make_game(played.game, played.decree, played.settings)
    state = machine.begin()
    found: dict[str, Any] = {}
    for given in inputs(played):
        now = shown(machine, state)
        comes = now["phase"] == "dealing" and now["expected"]
        found.setdefault("cards come" if comes else WHEN.get(now["phase"], now["phase"]), state)
        state, _ = machine.step(state, given)
    return found


def row(situation: Situation) -> dict[str, list[str]]:
    """The words that report it, with the rule of each game."""
    rows: dict[str, list[str]] = {}
    for played in PLAYED:
        state = moments(played)[situation.when]
        machine = make_game(played.game, played.decree, played.settings)
        _, events = machine.step(state, situation.given)
        words: list[str] = []
        rules: list[str] = []
        for event in events:
            match event:
                case CardExpected():
                    continue
                case Irregularity(what=what):
                    words.append(f"`{what}`")
                case AlertRaised(what=what):
                    words.append(f"alert `{what}`")
                case _:
                    words.append(f"event `{event.__struct_config__.tag}`")
            if law := getattr(event, "law", None):
                rules.append(law)
        where = " ".join((f"`{played.game}`", *rules)) if rules else f"`{played.game}`"
        rows.setdefault(", ".join(words) or "nothing", []).append(where)
    return rows


@for_each("situation", SITUATIONS, ids=lambda each: each.name)
def test_the_page_matches_the_published_words(situation: Situation) -> None:
    told = {
        words.strip("`"): ", ".join(where).strip("`") for words, where in row(situation).items()
    }
    assert {words: where for (name, words), where in PAGE.items() if name == situation.name} == told


def test_the_page_has_every_situation() -> None:
    assert {name for name, _ in PAGE} == {each.name for each in SITUATIONS}
