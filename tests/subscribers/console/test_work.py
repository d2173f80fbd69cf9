"""What waits for a person and what may be done, made of what is known; and its words."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from common.contract.commands import COMMANDS, tag_of
from common.contract.messages.messages import LANGUAGES
from common.contract.refusals import Refusal
from common.people.register import Person
from subscribers.console.evidence import MAX_EVIDENCE, TableEvidence, add_evidence
from subscribers.console.forms import (
    COMMAND_GROUPS,
    JACKPOT_ORDER_TYPES,
    OTHER_GROUP,
    PIN_COMMANDS,
    forms,
    is_readable,
)
from subscribers.console.hands import hand_text
from subscribers.console.outcomes import touch_outcome
from subscribers.console.rights import role_for
from subscribers.console.sending import SecondPersonWait, Touch
from subscribers.console.view import TableContext
from subscribers.console.words import words
from subscribers.console.work import SUGGESTED_REASONS, VOID_REASONS, console_view
from subscribers.feed.table_snapshot import Outdated, TableSnapshot, fold
from subscribers.laws import PrintedRule
from tests.support.for_each import for_each
from tests.support.people.staff import LASA, RIERA, VIDAL
from tests.support.subscribers.table import ENVELOPE

IN_CHARGE = ["table_head", "inspector", "director"]
LEAF = {**ENVELOPE, "site": "casino-mayor", "simulated": False}
TAKES = ["session.close", "round.void", "round.confirm", "result.correct", "alert.acknowledge"]
AT = "2026-03-20T02:10:16Z"
WITH_ROTOR = {
    **LEAF,
    "type": "irregularity",
    "seq": 3,
    "time": AT,
    "session": 1,
    "round": 3,
    "what": "ball_with_rotor",
    "law": "ARA02-007",
    "article": "art. 3",
    "asks": ["round.void", "round.confirm"],
    "frames": [{"at": 1.0, "frame": "*X;3;001", "device": "wheel"}],
}


def roulette(**shown: Any) -> dict[str, Any]:
    seen = {
        "view": "roulette",
        "phase": "decision",
        "session": 1,
        "round": 3,
        "asks": [],
        "minimum": 500,
        "currency": "EUR",
        "settings": {},
        "spin": 3,
        "relaunch": False,
        "last_of_session": False,
        "unresolved": [],
        "bets": [],
        "last_number": 17,
        "last_rounds": None,
        "rounds_at_this_minimum": None,
        "last_colour": "black",
        "zeros": 0,
        "zero_choices": [],
        **shown,
    }
    told = {"status": "open", "seq": 3, "time": AT, "fault": None, "staff": {}, "takes": TAKES}
    return {**LEAF, **told, "devices": {}, "alerts": [], "shown": seen}


def known(state: dict[str, Any], *more: tuple[str, Any]) -> TableSnapshot:
    about = {"commands": {name: {"roles": IN_CHARGE} for name in TAKES}}
    found = TableSnapshot(table="ruleta-1")
    for leaf, body in (("info", {**LEAF, "about": about}), ("state", state), *more):
        found = fold(found, leaf, msgspec.json.encode(body), AT)
    assert found.unreadable == {}
    return found


def seen(
    table: TableSnapshot, person: Person = LASA, events: tuple[Any, ...] = (), **more: Any
) -> TableContext:
    evidence = TableEvidence()
    for event in events:
        evidence = add_evidence(evidence, "event", msgspec.json.encode(event))
    given: dict[str, Any] = {
        "outdated": None,
        "language": "es",
        "touches": (),
        "waits": (),
        "laws": {"ARA02-007": PrintedRule("lanzar la bola", "es")},
        **more,
    }
    return TableContext(known=table, evidence=evidence, person=person, **given)


def touch(**more: Any) -> Touch:
    given: dict[str, Any] = {
        "number": "n" * 16,
        "person": LASA,
        "table": "ruleta-1",
        "command": "result.correct",
        "fields": {"round": 2, "number": 12},
        "role": "table_head",
        "how": "waiting",
        "at": 0.0,
    }
    return Touch(**{**given, **more})


def test_a_question_has_its_evidence_and_the_answer_that_it_suggests() -> None:
    table = known(roulette(asks=["round.void", "round.confirm"]))
    (item,) = console_view(seen(table, events=(WITH_ROTOR,))).items
    assert (item.what, item.title, item.round) == ("ask", "bola en el sentido del cilindro", 3)
    assert (item.article, item.printed) == (
        "ARA02-007, art. 3",
        PrintedRule("lanzar la bola", "es"),
    )
    assert item.frames[0].frame == "*X;3;001"
    first = item.answers[0]
    assert (first.command, first.fields, first.grave, first.open) == (
        "round.void",
        {"round": 3, "reason": "ball_with_rotor"},
        True,
        False,
    )


def test_evidence_of_another_round_or_session_is_not_shown_for_this_one() -> None:
    table = known(roulette(asks=["round.void"]))
    for other in ({"round": 2}, {"session": 2}, {"asks": ["shoe.start"]}):
        (item,) = console_view(seen(table, events=({**WITH_ROTOR, **other},))).items
        assert item.article is None
        assert item.answers[0].fields == {"round": 3, "reason": "inspector"}


def test_an_unauthorised_person_sees_whose_decision_it_is() -> None:
    table = known(roulette(asks=["round.void"]))
    (item,) = console_view(seen(table, RIERA)).items
    assert item.answers == ()
    assert "jefe de mesa" in item.others
    assert console_view(seen(table, RIERA)).offers == ()


def test_a_person_who_decides_sees_what_second_witnesses_saw() -> None:
    """The last report of each, beside a question and beside a round without a result."""
    report = {**LEAF, "type": "witness.reported", "seq": 5, "time": AT, "session": 1, "frames": []}
    events = (
        {**report, "round": 3, "device": "camera", "number": 20},
        {**report, "round": 3, "device": "camera", "number": 17},
        {**report, "round": 3, "device": "keypad", "number": 0},
        {**report, "round": 2, "device": "camera", "dice": [3, 4]},
        {**report, "round": 3, "session": 2, "device": "camera", "number": 36},
    )
    told = roulette(asks=["round.void"], unresolved=[2])
    ask, unresolved = console_view(seen(known(told), events=events)).items
    assert [(word.id, word.text) for word in ask.says] == [("camera", "17"), ("teclado", "0")]
    assert [(word.id, word.text) for word in unresolved.says] == [("camera", "3 + 4")]


def test_a_person_who_decides_sees_what_the_log_of_the_wheel_has() -> None:
    """Beside a round without a result; it never becomes a candidate."""
    found = {**LEAF, "type": "wheel.difference", "seq": 5, "time": AT, "device": "wheel"}
    events = (
        {**found, "session": 1, "what": "ambiguous", "wheel": [7, 8], "rounds": [2, 3]},
        {**found, "session": 1, "what": "unresolved", "wheel": [8], "rounds": [3]},
        {**found, "session": 1, "what": "unresolved", "rounds": [4]},
        {**found, "session": 2, "what": "unresolved", "wheel": [9], "rounds": [5]},
        {**found, "session": 1, "what": "different", "wheel": [9], "rounds": [5]},
    )
    told = roulette(unresolved=[2, 3, 4, 5])
    items = console_view(seen(known(told), events=events)).items
    assert [[(word.id, word.text) for word in item.says] for item in items] == [
        [("registro del propio cilindro, ambiguo", "7 8")],
        [("registro del propio cilindro", "8")],
        [("registro del propio cilindro", "-")],
        [],
    ]
    assert all("number" not in answer.fields for item in items for answer in item.answers)


def test_an_unresolved_round_has_its_candidate_from_the_event_or_the_history() -> None:
    event = {
        **LEAF,
        "type": "round.unresolved",
        "session": 1,
        "round": 2,
        "why": "restart",
        "candidate": 22,
        "time": AT,
    }
    history = {
        **LEAF,
        "session": 1,
        "results": [{"kind": "unresolved", "round": 2, "candidate": 22}],
    }
    for given in (
        seen(known(roulette(unresolved=[2])), events=(event,)),
        seen(known(roulette(unresolved=[2]), ("history", history))),
    ):
        (item,) = console_view(given).items
        assert item.answers[0].fields == {"round": 2, "number": 22}
    (unseen,) = console_view(seen(known(roulette(unresolved=[2])))).items
    assert all(answer.open for answer in unseen.answers if answer.command == "round.confirm")


def test_the_gravest_is_first_and_then_the_oldest() -> None:
    def alert(name: str, severity: str, raised: str) -> tuple[str, Any]:
        return f"alert/{name}", {
            "alert": name,
            "what": "link.stale",
            "severity": severity,
            "raised": raised,
        }

    table = known(
        roulette(asks=["round.void"], unresolved=[2]),
        alert("new", "fault", "2026-03-20T03:00:00Z"),
        alert("old", "fault", "2026-03-20T01:00:00Z"),
        alert("soft", "warning", "2026-03-20T00:00:00Z"),
    )
    waits = SecondPersonWait(touch=touch(), roles=("director",), until=120.0)
    found = console_view(seen(table, VIDAL, waits=(waits,))).items
    assert [each.what for each in found] == [
        "second",
        "fault",
        "fault",
        "ask",
        "unresolved",
        "warning",
    ]
    assert "old" in found[1].id


def test_an_acknowledged_alert_waits_for_no_one() -> None:
    alert = {"alert": "a", "what": "link.stale", "severity": "fault", "raised": AT}
    table = known(roulette(), ("alert/a", {**alert, "acknowledged_by": "M. Lasa"}))
    assert console_view(seen(table)).items == ()


def test_the_second_person_is_a_different_authorised_one() -> None:
    waits = SecondPersonWait(touch=touch(), roles=("director", "table_head"), until=120.0)
    table = known(roulette())
    (called,) = console_view(seen(table, VIDAL, waits=(waits,))).items
    assert called.answers[0].fields == {"round": 2, "number": 12}
    assert [each.text for each in called.says] == ["2", "12"]
    for person in (LASA, RIERA):  # the first signer, and the role that is missing
        (told,) = console_view(seen(table, person, waits=(waits,))).items
        assert told.answers == ()
        assert told.others


def test_nothing_can_be_done_at_an_unreachable_table() -> None:
    table = known(roulette(asks=["round.void"]))
    found = console_view(seen(table, outdated=Outdated("daemon_offline", AT)))
    assert (found.items, found.offers) == ((), ())
    assert found.trouble is not None
    unknown = console_view(seen(TableSnapshot(table="ruleta-1"), outdated=Outdated("no_table", AT)))
    assert (unknown.items, unknown.offers) == ((), ())


def test_a_refusal_is_shown_in_the_persons_language_and_an_unknown_one_in_english() -> None:
    table = seen(known(roulette()))
    said = Refusal("signed_before_start", {"seconds": 7})
    outcome = touch_outcome(table, touch(how="refused", refusal=said, error="english"))
    assert outcome.why == said.message("es") != "english"
    assert outcome.wait == 7
    strange = touch_outcome(
        table, touch(how="refused", refusal=Refusal("of_next_year"), error="english")
    )
    assert (strange.why, strange.wait) == ("english", None)


def test_a_command_has_a_button_while_the_table_accepts_it() -> None:
    back = {"roles": IN_CHARGE, "undone_by": {"command": "hand.act", "fields": {"valid": False}}}
    about = {"commands": {"hand.act": back}}
    state = roulette()
    table = known({**state, "takes": ["hand.act"]}, ("info", {**LEAF, "about": about}))
    act = {"who": "box:1", "action": "go"}
    given = touch(command="hand.act", fields=act, how="followed")
    undo = touch_outcome(seen(table), given).undo
    assert undo is not None
    assert (undo.command, undo.fields) == ("hand.act", {**act, "valid": False})
    taken_back = touch(command="hand.act", fields={**act, "valid": False}, how="followed")
    assert touch_outcome(seen(table), taken_back).undo is None
    assert (
        touch_outcome(seen(table), touch(command="hand.act", fields=act, how="refused")).undo
        is None
    )
    over = known(state, ("info", {**LEAF, "about": about}))
    assert touch_outcome(seen(over), given).undo is None


def test_hands_are_named_in_words_and_unknown_ones_as_on_the_wire() -> None:
    found = {who: hand_text(who, "es") for who in ("box:3", "banker", "right:4", "dont_win")}
    assert found["box:3"].endswith("3")
    assert not found["box:3"].startswith("box")
    assert found["banker"] == "banca"
    assert (found["right:4"], found["dont_win"]) == ("right 4", "dont win")


def test_only_the_latest_evidence_is_kept() -> None:
    evidence = TableEvidence()
    for seq in range(MAX_EVIDENCE + 5):
        evidence = add_evidence(evidence, "event", msgspec.json.encode({**WITH_ROTOR, "seq": seq}))
    assert len(evidence.irregularities) == MAX_EVIDENCE
    assert add_evidence(evidence, "event", b'{"irregularity": 1}') is evidence
    assert add_evidence(evidence, "event", b"irregularity round.unresolved {") is evidence


def test_every_command_has_its_form_and_its_place_on_the_page() -> None:
    names = {tag_of(kind) for kind in COMMANDS} | JACKPOT_ORDER_TYPES.keys()
    assert forms("eu").keys() == names
    assert {name for name in names if forms("en")[name].group == OTHER_GROUP} == {
        "alert.acknowledge"
    }
    assert {name for group in COMMAND_GROUPS.values() for name in group} <= names
    assert set(PIN_COMMANDS) <= names
    assert set(SUGGESTED_REASONS.values()) <= VOID_REASONS


def test_fields_that_no_command_has_are_not_sent() -> None:
    assert is_readable("round.void", {"reason": "ball_out"})
    for fields in ({}, {"reason": "x"}, {"reason": "ball_out", "by": "x"}, {"reason": 7}):
        assert not is_readable("round.void", fields)
    assert not is_readable("command.refused", {})
    assert not is_readable("device.command", {"device": "wheel", "command": "x"})


@for_each("key", sorted(words()))
def test_each_word_is_in_five_languages_with_the_same_fields(key: str) -> None:
    texts = words()[key]
    assert texts.keys() == set(LANGUAGES)
    assert len({frozenset(re.findall(r"\{(\w+)\}", text)) for text in texts.values()}) == 1
    assert all(text.strip() for text in texts.values())


def test_of_two_roles_the_one_that_the_decree_names_for_the_reason_is_used() -> None:
    may = {"roles": IN_CHARGE, "reasons": {"inspector": ["inspector"]}}
    table = known(roulette())
    table = fold(
        table,
        "info",
        msgspec.json.encode({**LEAF, "about": {"commands": {"round.void": may}}}),
        AT,
    )
    assert LASA.roles == ("table_head", "inspector")
    assert role_for(seen(table), "round.void", "inspector") == "inspector"
    assert role_for(seen(table), "round.void", "warning") == "table_head"
    assert role_for(seen(table), "round.void") == "table_head"
    assert role_for(seen(table), "round.confirm", "inspector") is None
