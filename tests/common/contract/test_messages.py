"""The catalogue of messages is complete in five languages, and has every word that the code can
send.
"""

from __future__ import annotations

import ast
import json
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from common.contract.card_events import Hand
from common.contract.commands import AnyCommand, Role, VoidReason
from common.contract.events import (
    EVENTS,
    AlertRaised,
    Colour,
    Half,
    HandDecided,
    Parity,
    RoundUnresolved,
)
from common.contract.jackpot import Awarded, JackpotAlert, OutOfPlay, Pending
from common.contract.messages.messages import (
    ENGLISH,
    LANGUAGES,
    catalogue,
    first_of,
    text,
    word,
)
from common.contract.refusals import RejectedError
from common.contract.retained import LinkState, Status
from common.people.roles import READING_ROLES
from common.readings import READINGS, DiceFaultName, ShoeFaultName, WheelFaultName
from controller.cli import main
from controller.games.chemin.state import Fate
from controller.games.dealt.phases import Phase
from controller.games.games import GAMES
from controller.games.hands.rankings import Category
from controller.games.pai_gow.turn import WRONGLY_SET
from controller.games.poker.readings import UNREADY_STATES
from controller.games.wheels.turn import WRONG_DEVICE
from controller.rulebooks.rulebook import Decree, rulebook
from subscribers.terminal.screen import ENDINGS
from tests.support import contract

ROOT = Path(__file__).parents[3]
CONTROLLER = ROOT / "controller"
COMMON = ROOT / "common"
CARROUSEL = ROOT / "subscribers" / "carrousel"
REFUSING = ("RejectedError", "Refused", "RefusedError", "NotStoredError")
"""What carries a refusal: the errors, and a guard's answer; the last one not in the carrousel,
where it is another.
"""
PROPER = {
    "display.thrown_3": "craps",
    "display.letter_player": "P",
    "display.letter_banker": "B",
    "event.hand.decided": "{who}: {decision}",
    "hand.blackjack": "black jack",
    "hand.figures": "figures",
    "hand.natural": "natural",
    "mark.natural": "natural",
    "decision.natural": "natural",
    "hand.full_house": "full",
    "mark.refait": "refait",
    "award.jackpot": "jackpot",
    "acceptance.fault_cable": "cable",
    "acceptance.fault_sensor": "sensor",
    "acceptance.model": "model",
}
"""Terms of the trade that are the same in English and in another language."""


def fields(found: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(found) if name is not None}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a source file's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def literal(struct: type[msgspec.Struct], field: str) -> set[str]:
    """The values that a field may have."""
    of = next(each.type for each in msgspec.structs.fields(struct) if each.name == field)
    return {
        each
        for part in (of, *get_args(of))
        for each in get_args(part) or (part,)
        if isinstance(each, str)
    }


# The files


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_the_same_texts_with_the_same_fields(language: str) -> None:
    own, english = catalogue(language), catalogue(ENGLISH)
    assert list(own) == list(english)
    assert {key: fields(found) for key, found in own.items()} == {
        key: fields(found) for key, found in english.items()
    }
    assert [
        key
        for key, found in own.items()
        if not found.strip() or found != found.strip() or not found.isprintable()
    ] == []


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ENGLISH])
def test_no_text_is_left_in_english(language: str) -> None:
    same = {
        key: found for key, found in catalogue(language).items() if found == catalogue(ENGLISH)[key]
    }
    kept = {key for key in same if key.startswith("bet.") and _in_decrees(key[4:], language)}
    assert {key: same[key] for key in same.keys() - kept}.items() <= PROPER.items()


def _bets(decree: str) -> dict[str, Any]:
    """The names of the bets of a decree's roulette and craps: by language, as it prints them."""
    book = rulebook(decree)
    assert book.roulette_french is not None
    bets = {name: bet.name for name, bet in book.roulette_french.bets.items()}
    bets |= {name: bet.name for name, bet in book.craps.bets.items()} if book.craps else {}
    return {**bets, **book.roulette_french.chances}


def _plain(found: str) -> str:
    """Normalise typographical differences."""
    return found.casefold().replace("’", "'").replace("dont ", "don't ")


def _in_decrees(bet: str, language: str) -> bool:
    """True if a decree in this language uses the name of the bet, in whole or in part."""
    own = _plain(catalogue(language).get(f"bet.{bet}") or word("colour", bet, language))
    names = [_plain(names[bet][language]) for names in _BOOKS if language in names.get(bet, {})]
    return any(own in name or name in own for name in names)


_BOOKS = [_bets(decree) for decree in ("ARA02", "BAL05", "EUS96", "GAL07")]


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != ENGLISH])
def test_bets_are_called_as_the_decree_calls_them(language: str) -> None:
    named = {name for names in _BOOKS for name in names if language in names[name]}
    expected_events = {key[4:] for key in catalogue(language) if key.startswith("bet.")}
    assert [
        name for name in sorted(named & expected_events) if not _in_decrees(name, language)
    ] == []
    assert len(named) > 40


def test_no_text_has_the_word_null() -> None:
    """It is JSON's word for nothing; a round that does not count is void."""
    assert [key for key, found in catalogue(ENGLISH).items() if re.search(r"\bnull\b", found)] == []


def test_the_files_are_in_the_wheel() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-data"
    ]
    assert data["common.contract.messages"] == ["*.toml"]
    assert {path.stem for path in (COMMON / "contract" / "messages").glob("*.toml")} == set(
        LANGUAGES
    )


# Words that the code can send


def returned(node: ast.expr | None) -> Iterator[str]:
    """The texts that an expression may evaluate to."""
    match node:
        case ast.Constant(value=str(found)):
            yield found
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*returned(body), *returned(orelse))
        case ast.Subscript(value=ast.Tuple(elts=elements)):
            yield from (found for element in elements for found in returned(element))


def phases() -> set[str]:
    """Of all games, and how a round ended."""
    named = [
        function
        for path in (CONTROLLER / "games").rglob("*.py")
        for function in nodes(path)
        if isinstance(function, ast.FunctionDef)
        and function.name in ("phase", "_phase", "stage", "_stage")
    ]
    shown = {
        found
        for each in named
        for node in ast.walk(each)
        if isinstance(node, ast.Return)
        for found in returned(node.value)
    }
    return shown | set(ENDINGS) | {each.value for each in Phase} | {"unknown"}


def laws(found: Any) -> Iterator[str]:
    """The irregularities that a rulebook has a law for."""
    if isinstance(found, msgspec.Struct):
        for name in found.__struct_fields__:
            value = getattr(found, name)
            yield from value if name == "laws" else laws(value)
    elif isinstance(found, dict | tuple | list):
        for value in found.values() if isinstance(found, dict) else found:
            yield from laws(value)


def irregularities() -> set[str]:
    """Of all rulebooks, and those that the vocabulary lists beside them: breaches that a policy of
    the table decides.
    """
    documented = {
        name
        for heading, section in contract.sections("integrator/vocabulary/irregularities.md").items()
        if heading.startswith("irregularity")
        for name, _ in contract.table(section)
    }
    return documented | {law for decree in get_args(Decree) for law in laws(rulebook(decree))}


def alerts() -> set[str]:
    """Those of devices by their faults, those of games as they are raised, those of the daemon,
    which have a dot, and those of jackpots.
    """
    paths = [
        path
        for package in (COMMON, CONTROLLER)
        for path in package.rglob("*.py")
        if "cli" not in path.parts
    ]
    raised = {
        found
        for path in paths
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "raise_alert"
        for found in returned(node.args[0])
    }
    tags = {each.__struct_config__.tag for each in (*EVENTS, *READINGS, *get_args(AnyCommand))}
    dotted = {
        node.value
        for path in paths
        for node in nodes(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"(table|broker|journal|device)\.(?!json$)[a-z_]+", node.value)
    }
    faults = {
        *get_args(WheelFaultName),
        *get_args(DiceFaultName),
        *(f"dice_{fault}" for fault in get_args(DiceFaultName)),
    }
    devices = {f"shoe_{fault}" for fault in get_args(ShoeFaultName)} | {
        f"shuffler_{state}" for state in UNREADY_STATES
    }
    links = {f"link.{state}" for state in get_args(LinkState) if state != "up"}
    jackpots = {f"jackpot.{word}" for word in get_args(JackpotAlert)}
    return raised | (dotted - tags) | faults | devices | links | jackpots | {WRONG_DEVICE}


@cache
def expected_events() -> list[dict[str, Any]]:
    """The expected events of all scripts."""
    paths = (ROOT / "tests" / "scripts").rglob("*.events")
    return [
        event
        for path in paths
        for line in path.read_text().splitlines()
        if "type" in (event := json.loads(line))
    ]


@cache
def outcomes() -> list[Any]:
    return [
        event["outcome"] for event in expected_events() if isinstance(event.get("outcome"), dict)
    ]


def hand_words() -> set[str]:
    hands = (hand for outcome in outcomes() for hand in outcome.get("hands", ()))
    shown = {hand[name] for hand in hands for name in ("kind", "low_kind") if name in hand}
    return {*get_args(Category), *get_args(Fate), WRONGLY_SET, *shown}


def marks() -> set[str]:
    found = {mark for outcome in outcomes() for mark in outcome.get("marks", ())}
    return {mark.partition(" ")[2] or mark for mark in found if not mark.startswith("play ")}


def awards() -> set[str]:
    ruled = {
        page.jackpot.award
        for decree in get_args(Decree)
        for game in GAMES
        if (page := getattr(rulebook(decree), game.replace("-", "_"), None)) is not None
        and getattr(page, "jackpot", None)
    }
    return ruled | {
        event["award"] for event in expected_events() if event["type"] == "award.qualified"
    }


def receivers() -> set[str]:
    return {who for event in expected_events() if (who := event.get("to")) and ":" not in who} | {
        "tie"
    }


SENT: dict[str, Callable[[], set[str]]] = {
    "phase": phases,
    "status": lambda: {*get_args(Status), "unknown"},
    "link": lambda: set(get_args(LinkState)),
    "severity": lambda: literal(AlertRaised, "severity"),
    "role": lambda: {*get_args(Role), *READING_ROLES},
    "game": lambda: set(GAMES),
    "colour": lambda: set(get_args(Colour)),
    "parity": lambda: set(get_args(Parity)),
    "half": lambda: set(get_args(Half)),
    "dozen": lambda: {"1", "2", "3"},
    "column": lambda: {"1", "2", "3"},
    "outcome": lambda: literal(Hand, "outcome"),
    "hand": hand_words,
    "mark": marks,
    "decision": lambda: literal(HandDecided, "decision"),
    "award": awards,
    "jackpot": lambda: {
        f"{group}.{name}"
        for group, words in (("out_of_play", OutOfPlay), ("award", Awarded), ("pending", Pending))
        for name in get_args(words)
    },
    "void_reason": lambda: set(get_args(VoidReason)),
    "unresolved": lambda: literal(RoundUnresolved, "why"),
    "command": lambda: {str(each.__struct_config__.tag) for each in get_args(AnyCommand)},
    "irregularity": irregularities,
    "alert": alerts,
    "who": receivers,
}
"""Group -> function that finds its words that a display may show: called by the test, since every
process that collects the tests would pay for it.
"""


@cache
def sent(group: str) -> set[str]:
    return SENT[group]()


@pytest.mark.parametrize("group", SENT)
def test_every_word_that_can_be_sent_has_a_message(group: str) -> None:
    assert len(sent(group)) > 1
    assert {f"{group}.{name}" for name in sent(group)} - catalogue(ENGLISH).keys() == set()


def test_every_alert_of_a_jackpot_is_raised_somewhere() -> None:
    words = {
        node.value
        for path in (ROOT / "subscribers" / "carrousel").rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Constant)
    }
    assert set(get_args(JackpotAlert)) - words == set()


def test_hands_with_a_number_have_a_message() -> None:
    numbered = {
        who.partition(":")[0]
        for event in expected_events()
        if (who := event.get("to") or "") and ":" in who
    }
    assert {f"who.{name}_numbered" for name in numbered} <= catalogue(ENGLISH).keys()


def test_the_enumerations_find_known_words() -> None:
    """A few words of each kind of place, so that no enumeration goes blind when the code is
    rewritten.
    """
    assert {
        "bets_open",
        "showdown",
        "antes",
        "first_bet",
        "discards",
        "result",
        "dealing",
        "shoe_over",
    } <= sent("phase")
    assert {
        "table.fault",
        "journal.failed",
        "journal.key",
        "broker.client_id",
        "device.flood",
        "link.stale",
    } <= sent("alert")
    assert {"shoe_jam", "command.taken"}.isdisjoint(sent("alert"))
    assert {"card_while_closed", "deck_defective", "shuffler_jam", "sensor", "dice_cocked"} <= sent(
        "alert"
    )
    assert {"ball_with_rotor", "failed_launch", "deal_touched", "card_before_dice"} <= sent(
        "irregularity"
    )
    assert {"jackpot", "carrousel", "txb"} <= sent("award")


def test_the_contract_lists_every_alert_of_the_daemon_and_every_group() -> None:
    listed = contract.sections("integrator/vocabulary/irregularities.md")["alert"]
    assert [
        alert for alert in sorted(sent("alert")) if "." in alert and f"`{alert}`" not in listed
    ] == []
    page = contract.sections("integrator/words.md")["Words that people read"]
    groups = {name.strip("` ") for row in contract.table(page) for name in row[0].split(",")}
    assert groups == {key.partition(".")[0] for key in catalogue(ENGLISH)}
    example = json.loads(next(line for line in page.splitlines() if line.startswith("{")))
    assert catalogue("eu")[example["key"]] == example["text"]


# The lookup


def test_a_text_is_filled_in() -> None:
    assert text("display.round", "eu", round=7) == "7. jokaldia"
    assert text("display.wins", "es", who="{x}") == "gana {x}"


def test_a_missing_text_and_a_missing_field() -> None:
    with pytest.raises(KeyError, match="no messages in 'fr'; there are: en, es, ca, eu, gl"):
        catalogue("fr")
    with pytest.raises(KeyError):
        text("display.rond", "eu", round=7)
    with pytest.raises(KeyError):
        text("display.round", "eu")


def test_a_word_of_a_newer_daemon_is_shown_as_it_is() -> None:
    assert word("irregularity", "ball_turned_blue", "gl") == "ball turned blue"


def test_the_first_language_with_messages_is_used() -> None:
    assert first_of(("fr", "ca", "es")) == "ca"
    assert first_of(()) == ENGLISH


@pytest.mark.parametrize("decree", get_args(Decree))
def test_there_are_messages_in_the_language_of_each_decree(decree: str) -> None:
    assert first_of(rulebook(decree).languages) == rulebook(decree).languages[0]


def test_the_catalogue_as_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["messages", "--language", "eu"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["key"]: line["text"] for line in lines} == catalogue("eu")


# Refusals


def rejections() -> Iterator[tuple[Path, ast.Call]]:
    """Every refusal of the daemon, and of the controller of jackpots."""
    for path in sorted(
        (*COMMON.rglob("*.py"), *CONTROLLER.rglob("*.py"), *CARROUSEL.rglob("*.py"))
    ):
        for node in nodes(path):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in REFUSING
                and (node.func.id != "NotStoredError" or CARROUSEL not in path.parents)
            ):
                yield path, node


def refusal_keys(node: ast.Call) -> list[str]:
    """The keys that a refusal may have; those passed in a variable are not known here."""
    return list(returned(node.args[0]))


def filled(node: ast.Call) -> set[str | None]:
    """The fields that a refusal fills in; None if they are in a variable."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "Refused"):
        return {word.arg for word in node.keywords} - {"law"}
    if len(node.args) == 1:
        return set()
    named = node.args[1]
    if not isinstance(named, ast.Dict):
        return {None}
    return {str(key.value) for key in named.keys if isinstance(key, ast.Constant)}


def test_every_refusal_is_a_message_with_its_fields() -> None:
    english, seen = catalogue(ENGLISH), 0
    for path, node in rejections():
        assert not isinstance(node.args[0], ast.JoinedStr), f"{path}:{node.lineno}"
        for key in refusal_keys(node):
            seen += 1
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            assert f"refusal.{key}" in english, where
            given = filled(node)
            assert None in given or given == fields(english[f"refusal.{key}"]), where
    assert seen > 400


def test_every_message_of_a_refusal_is_used() -> None:
    """As a word that appears somewhere in the code."""
    words = {
        node.value
        for path in (*COMMON.rglob("*.py"), *CONTROLLER.rglob("*.py"), *CARROUSEL.rglob("*.py"))
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    keys = [key for key in catalogue(ENGLISH) if key.startswith("refusal.")]
    assert len(keys) > 150
    assert [key for key in keys if key.removeprefix("refusal.") not in words] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_refusals_are_sorted_by_their_key(language: str) -> None:
    keys = [key for key in catalogue(language) if key.startswith("refusal.")]
    assert keys == sorted(keys)


def test_a_refusal_is_in_each_language_with_the_law_in_its_own() -> None:
    refused = RejectedError(
        "players_too_few", players=3, fewest=4, law="EUS96-200, 277/1996 Dekretua"
    )
    assert str(refused).endswith("at least 4 must play: EUS96-200, 277/1996 Dekretua")
    assert refused.refusal is not None
    messages = {language: refused.refusal.message(language) for language in LANGUAGES}
    assert len(set(messages.values())) == len(LANGUAGES)
    assert all(each.endswith(": EUS96-200, 277/1996 Dekretua") for each in messages.values())
    nobody = RejectedError("not_seated", who="seat:3", seated=())
    assert str(nobody) == "nobody sits at seat:3; seated: –"


def test_people_read_the_names_of_roles_and_a_reply_has_the_words_of_the_wire() -> None:
    refused = RejectedError("role_not_allowed", role="croupier", roles=("table_head", "inspector"))
    assert str(refused).endswith("allowed: table_head, inspector")
    assert refused.refusal.message().endswith("allowed: table head, gaming inspector")
    assert refused.refusal.message("es").endswith("pueden: jefe de mesa, inspector")
    alone = RejectedError("void_by_others", role="croupier", others=("table_head",)).refusal
    assert "mahaiburua" in alone.message("eu")
    other = RejectedError("role_not_held", by="M. Lasa", role="x_y", roles=("reader",)).refusal
    assert other.message("gl") == "M. Lasa non está inscrito como x_y, senón como: lector"
