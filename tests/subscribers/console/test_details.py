"""What a table adds to an irregularity or an alert is read in the person's language."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.messages.messages import LANGUAGES
from subscribers.console.details import detail_text
from subscribers.console.forms import forms
from subscribers.console.outcomes import touch_outcome
from subscribers.console.sending import Touch
from subscribers.console.view import TouchOutcome
from subscribers.console.words import words
from subscribers.console.work import offers
from subscribers.display.rounds import PlayedRound
from tests.subscribers.console.test_work import known, roulette, seen
from tests.support.games import scripts
from tests.support.people.staff import LASA
from tests.support.subscribers.real import RealTable


@pytest.mark.parametrize(
    ("detail", "spanish", "basque"),
    [
        ("player 2", "punto: carta 2", "puntua: 2. karta"),
        ("seat:3", "plaza 3", "3. lekua"),
        ("box:1: jackpot", "casilla 1: carrusel", "1. laukitxoa: karrusela"),
        ("cloth:2 draw", "paño 2: carta", "2. oihala: karta"),
        ("no valid frame for 12.5 s", "sin trama válida desde hace 12,5 s", None),
        ("seat:2, a pair of T or more", "plaza 2: pareja de 10 o más", None),
        ("25, then number 17", "25; después, número 17", "25; gero, 17 zenbakia"),
        ("unplugged", "desconectado", "deskonektatuta"),
        (
            "/dev/tty0: the port is gone: it was unplugged, or its adapter was reset (gone)",
            "el puerto ha desaparecido: se desenchufó o su adaptador se reinició (/dev/tty0, gone)",
            None,
        ),
    ],
)
def test_a_detail_is_read_in_the_language_of_the_person(
    detail: str, spanish: str, basque: str | None
) -> None:
    assert detail_text(detail, "es") == spanish
    assert detail_text(detail, "en") is not None
    if basque is not None:
        assert detail_text(detail, "eu") == basque


@pytest.mark.parametrize("detail", ["of a newer table", "nobody 2", "player nonsense", "", "{who}"])
def test_a_detail_of_a_form_that_is_not_known_stays_as_it_is(detail: str) -> None:
    for language in LANGUAGES:
        assert detail_text(detail, language) is None


def test_most_details_of_the_scripted_games_are_translated() -> None:
    """Rare ones remain English, and the page says so to a screen reader."""
    found = Counter[str]()
    for name in sorted(scripts.scripts()):
        script = scripts.read(name)
        table = RealTable(script.game, script.decree, script.settings)
        for given in script.inputs:
            for _, body in table.hear(given):
                found.update(details(json.loads(body or b"null")))
    total = sum(found.values())
    unknown = {
        detail: count for detail, count in found.items() if detail_text(detail, "es") is None
    }
    assert total > 200
    assert sum(unknown.values()) / total < 0.2, sorted(unknown)


def details(body: Any) -> Iterator[str]:
    """The details anywhere in a message."""
    if isinstance(body, dict):
        if isinstance(body.get("detail"), str):
            yield body["detail"]
        for part in body.values():
            yield from details(part)
    elif isinstance(body, list):
        for part in body:
            yield from details(part)


def test_each_form_is_recognised_by_its_own_english_text() -> None:
    for key, texts in words().items():
        if key.startswith("detail."):
            fields = {"who": "banker", "decision": "stand", "rank": "K"}
            fields |= {"path": "/dev/ttyUSB0", "error": "Input/output error"}
            numbers = dict.fromkeys(("index", "seconds", "number", "other", "count"), 7)
            assert detail_text(texts["en"].format(**fields, **numbers), "es") is not None, key


def closed(*rounds: PlayedRound, phase: str = "closed") -> TouchOutcome:
    """The outcome of closing a session of three rounds."""
    context = seen(known(roulette(phase=phase, round=3)), rounds=rounds)
    touch = Touch(
        number="n" * 16,
        person=LASA,
        table="ruleta-1",
        command="session.close",
        fields={"locked": True},
        role="table_head",
        how="followed",
        at=0.0,
    )
    return touch_outcome(context, touch)


def test_a_closed_session_is_summed_up_until_the_next_one() -> None:
    rounds = (
        PlayedRound(session=1, round=1, kind="result", corrected=True),
        PlayedRound(session=1, round=2, kind="void", reason="ball_out"),
        PlayedRound(session=1, round=3, kind="unresolved", reason="silence"),
    )
    earlier = PlayedRound(session=0, round=1, kind="void")
    assert closed(earlier, *rounds).summary == (
        "Sesión 1 · jugadas: 3 · nulas: 1 · sin resolver: 1 · corregidas: 1"
    )
    assert closed(*rounds[1:]).summary == "Sesión 1 · jugadas: 3"  # not all are known here
    assert closed(*rounds, phase="waiting").summary is None


def test_the_lid_is_asked_of_a_wheel_only_and_never_preset() -> None:
    (field,) = [field for field in forms("es")["session.close"].fields if field.name == "locked"]
    assert (field.required, field.default) == (True, None)
    script = scripts.read("punto-banca/coups")
    cards = RealTable(script.game, script.decree, script.settings)
    for given in script.inputs:
        cards.hear(given)
    assert cards.known.state is not None
    for_wheel = seen(known({**roulette(), "takes": ["session.close"]}))
    open_cards = replace(cards.known.state, takes=("session.close",))
    for_cards = replace(for_wheel, known=replace(for_wheel.known, state=open_cards))
    left_out = [offer.leaves_out for context in (for_wheel, for_cards) for offer in offers(context)]
    assert left_out == [(), ("locked",)]
