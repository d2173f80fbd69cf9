"""A picture is current, or it says why not: never both, never neither."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.messages.messages import LANGUAGES, text
from subscribers.display.picture import Picture
from subscribers.display.round_store import RoundStore
from subscribers.display.rounds import PlayedRound, merge_rounds
from subscribers.feed.floor import Floor
from subscribers.feed.table_snapshot import Outdated
from subscribers.feed.tables import ConnectionChange, FeedMessage
from subscribers.web.tables import Pictures
from tests.conftest import LONG
from tests.support.for_each import for_each
from tests.support.games.scripts import scripts
from tests.support.subscribers.real import RealTable, after, scripted, spins, spun

NOW = "2026-03-20T02:10:16.215319Z"
ALL = sorted(name for name in scripts() if name.split("/")[0] in ("roulette", "boule", "craps"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoundStore]:
    made = RoundStore(tmp_path_factory.mktemp("rounds"))
    yield made
    made.close()


def troubled(picture: Picture) -> str | None:
    assert picture.current == (picture.trouble is None)
    return None if picture.trouble is None else picture.trouble.why


def state_of(table: RealTable) -> dict[str, Any]:
    body = table.table.retained()["state"]
    assert body is not None
    return dict(json.loads(body))


@for_each("why", ["no_broker", "no_daemon", "daemon_offline", "unreadable"])
@for_each("language", LANGUAGES)
def test_nothing_is_current_of_an_unreachable_table(why: Any, language: str) -> None:
    picture = spun([17]).shown(language, Outdated(why, NOW))
    assert troubled(picture) == why
    assert picture.trouble is not None
    assert (picture.trouble.since, picture.trouble.text) == (NOW, text(f"trouble.{why}", language))
    assert picture.call is None
    assert not picture.closed
    assert picture.body.last.number == "17"


def test_no_more_bets_is_shown_as_long_as_it_applies() -> None:
    for table in scripted("roulette/evening"):
        picture = table.shown()
        assert picture.closed == (picture.phase.id == "bets_closed")
        assert not picture.closed or (picture.call and picture.call.language == "eu")


@for_each("name", ALL)
def test_a_number_is_current_only_where_its_round_is_the_last(name: str) -> None:
    """For every step of the scripts: a silent device, a fault, a round without result, a decision
    about the round in progress make the picture one of before.
    """
    for table in scripted(name):
        told, picture = state_of(table), table.shown("es")
        why = troubled(picture)
        if told["status"] in ("fault", "stale"):
            assert why == told["status"]
            continue
        last = json.loads(table.table.retained()["result"] or b"null")
        shown = told["shown"]
        of = last["round"] if last and last["session"] == shown["session"] else 0
        later = [number for number in shown["unresolved"] if number > of]
        assert (why == "unresolved") == bool(later)
        if why is None and shown["phase"] == "decision":
            assert shown["round"] <= max(
                (round_.round for round_ in table.rounds if round_.session == shown["session"]),
                default=0,
            )


@for_each("link", ["open", "stale", "lost", "unintelligible"])
def test_a_silent_device_is_named_in_every_state_of_its_link(link: str) -> None:
    table = spun([17])
    state = state_of(table)
    devices = {"wheel": {"state": link, "since": NOW}}
    table.tell("state", json.dumps({**state, "status": "stale", "devices": devices}).encode())
    trouble = table.shown().trouble
    assert trouble is not None
    assert (trouble.why, trouble.since, trouble.detail) == ("stale", NOW, "wheel")


def test_an_unresolved_round_shows_its_number_time_and_reason() -> None:
    found = [table.shown("es").trouble for table in scripted("roulette/silence")]
    trouble = next(each for each in found if each is not None and each.why == "unresolved")
    assert trouble.text == "jugada 2 sin resolver: no se sabe su resultado"
    assert trouble.detail == "el aparato no se oyó"
    assert trouble.since is not None
    assert found[-1] is None


def test_an_unresolved_round_behind_a_later_result_is_a_note() -> None:
    table = spun([17, 4])
    shown = {**state_of(table)["shown"], "unresolved": [1]}
    table.tell("state", json.dumps({**state_of(table), "shown": shown}).encode())
    assert table.shown().current
    table.tell(
        "state", json.dumps({**state_of(table), "shown": shown | {"unresolved": [3]}}).encode()
    )
    assert troubled(table.shown()) == "unresolved"


def test_a_decision_about_the_round_in_progress_is_waited_for() -> None:
    pictures = [table.shown("es") for table in scripted("roulette/ball-with-rotor")]
    [first, *_] = [picture for picture in pictures if not picture.current]
    assert first.trouble is not None
    assert (first.trouble.why, first.trouble.text) == (
        "decision",
        "la jugada 1 espera una decisión",
    )
    assert first.waits
    assert pictures[-1].current


def test_void_and_corrected_rounds_are_notes_with_their_number() -> None:
    table = after("roulette/null-spin")
    assert [(note.round, note.kind) for note in table.shown("es").notes] == [(2, "void")]
    corrected = after("roulette/correction").shown("es").notes
    assert {note.kind for note in corrected} == {"corrected"}
    assert corrected[-1].text == "jugada 1: resultado corregido · antes 0"


def test_a_correction_without_its_event_is_in_the_history(store: RoundStore) -> None:
    """The display connected later, but has received the result."""
    table = after("roulette/correction")
    corrected = next(round_ for round_ in table.rounds if round_.corrected)
    floor = Floor({table.table.id: False}, lambda: NOW)
    pictures = Pictures(floor, store)
    first = RealTable("roulette-french", "ARA02", {"phases": "person"}, name=table.table.id)
    for given_ in spins([1, 1, 1, 1]):
        for leaf, body in first.hear(given_):
            floor.on_message(False, FeedMessage(leaf, body or b"", table.table.id))
    for leaf, body in table.table.retained().items():
        floor.on_message(False, FeedMessage(leaf, body or b"", table.table.id))
    again = next(
        round_ for round_ in pictures.rounds(table.table.id) if round_.round == corrected.round
    )
    assert (again.outcome, again.corrected) == (corrected.outcome, True)


def test_a_rounds_outcome_stays_known() -> None:
    void = PlayedRound(session=1, round=1, kind="void", reason="ball_out", time="a")
    told = PlayedRound(session=1, round=1, kind="void", time=None)
    assert merge_rounds((void,), [told]) == (void,)
    result = PlayedRound(session=1, round=1, kind="result")
    assert merge_rounds((void,), [result]) == (msgspec.structs.replace(result, time="a"),)


# Whatever comes, in whatever order

STATUS = st.sampled_from(["open", "closed", "waiting", "stale", "fault"])
PHASE = st.sampled_from(["closed", "waiting", "bets_open", "bets_closed", "decision"])


@st.composite
def states(draw: st.DrawFn) -> bytes:
    told = state_of(BASE)
    told["status"] = draw(STATUS)
    told["boot"] = draw(st.sampled_from(["b1", "b2"]))
    told["shown"] |= {
        "phase": draw(PHASE),
        "round": draw(st.integers(0, 4)),
        "session": draw(st.integers(0, 2)),
        "unresolved": draw(st.lists(st.integers(1, 4), max_size=2)),
        "last_number": draw(st.none() | st.integers(-1, 40) | st.sampled_from(["00", "joker"])),
        "last_rounds": draw(st.none() | st.integers(0, 3)),
        "settings": draw(
            st.dictionaries(
                st.sampled_from(["pocket_order", "phases"]), st.lists(st.integers(0, 9)), max_size=1
            )
        ),
    }
    return json.dumps(told).encode()


BASE = spun([17, 4])
LINKS = st.builds(ConnectionChange, st.booleans())
NODES = st.builds(
    lambda status, boot: FeedMessage(
        "node/n/status", json.dumps({"status": status, "boot": boot}).encode()
    ),
    st.sampled_from(["online", "offline"]),
    st.sampled_from(["b1", "b2"]),
)
TABLE_MESSAGES = st.one_of(
    st.builds(lambda body: FeedMessage("state", body, "ruleta-1"), states()),
    st.builds(
        lambda leaf, body: FeedMessage(leaf, body, "ruleta-1"),
        st.sampled_from(["state", "result", "history", "info", "event", "alert/a", "shoe"]),
        st.sampled_from([b"", b"null", b"{", b'{"a":1}', b"\xff"]),
    ),
    st.sampled_from(
        [FeedMessage(leaf, body or b"", "ruleta-1") for leaf, body in BASE.table.retained().items()]
    ),
)


@settings(max_examples=300 if LONG in os.environ else 100)
@given(st.lists(st.one_of(LINKS, NODES, TABLE_MESSAGES), max_size=25))
def test_no_sequence_of_messages_makes_an_outdated_value_current(
    store: RoundStore, messages: list[FeedMessage | ConnectionChange]
) -> None:
    floor = Floor({"ruleta-1": False}, lambda: NOW)
    pictures = Pictures(floor, store)
    up, online = False, set[str]()
    unread = set[str]()
    for message in messages:
        floor.on_message(False, message)
        if isinstance(message, ConnectionChange):
            up, online = message.up, set()
        elif message.table is None:
            body = json.loads(message.body)
            online = {body["boot"]} if body["status"] == "online" else set()
        else:
            known = floor.known["ruleta-1"]
            unread = {*known.unreadable}
        drawn = msgspec.json.decode(pictures.json("ruleta-1", "es"))
        state = floor.known["ruleta-1"].state
        assert drawn["current"] == (drawn["trouble"] is None)
        if drawn["current"]:
            assert up
            assert state is not None
            assert state.boot in online
            assert not unread
            assert state.status not in ("fault", "stale")
        else:
            assert drawn["call"] is None
            assert drawn["trouble"]["text"]
