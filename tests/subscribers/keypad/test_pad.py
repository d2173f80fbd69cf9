"""The keypad as a machine: one key, one order; none is sent twice, none is lost unnoticed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from common.contract.messages.messages import LANGUAGES, text
from subscribers.keypad.keys import KEYS_BY_VIEW, MIN_STABLE_SECONDS, SLOTS, current_meanings
from subscribers.keypad.pad import (
    DIGITS,
    MAX_KEY_AGE_SECONDS,
    Order,
    Pad,
    on_reply,
    on_timeout,
    press,
    unlock,
)

MEANINGS = current_meanings(
    "blackjack",
    ["bets.close", "hand.draw", "hand.stand", "hand.surrender"],
    ["bets.close", "hand.draw", "hand.stand", "hand.surrender"],
)
HOUSE = current_meanings("house-poker", ["hand.act"], ["hand.act"])
READY = unlock(Pad())


def test_a_key_orders_once_and_waits_for_its_answer() -> None:
    pad, order = press(READY, "enter", MEANINGS, MIN_STABLE_SECONDS)
    assert order == Order(1, "bets.close", {})
    again, none = press(pad, "enter", MEANINGS, MIN_STABLE_SECONDS)
    assert none is None
    assert again.feedback.text == "keypad.waits"
    done = on_reply(again, 1, None)
    assert (done.pending, done.feedback.sound) == (None, "done")
    assert press(done, "plus", MEANINGS, MIN_STABLE_SECONDS)[1] == Order(2, "hand.draw", {})


def test_without_an_answer_nothing_continues_until_the_person_has_seen_it() -> None:
    pad, _ = press(READY, "enter", MEANINGS, MIN_STABLE_SECONDS)
    lost = on_timeout(pad, 1)
    assert (lost.feedback.text, lost.feedback.sound) == ("keypad.unknown", "unknown")
    held, none = press(lost, "plus", MEANINGS, MIN_STABLE_SECONDS)
    assert none is None
    assert held.feedback.text == "keypad.look_first"
    seen, none = press(held, "clear", MEANINGS, MIN_STABLE_SECONDS)
    assert none is None
    assert seen.unknown is None
    assert press(seen, "plus", MEANINGS, MIN_STABLE_SECONDS)[1] == Order(2, "hand.draw", {})


def test_an_answer_that_comes_late_settles_what_was_unknown() -> None:
    pad, _ = press(READY, "enter", MEANINGS, MIN_STABLE_SECONDS)
    settled = on_reply(on_timeout(pad, 1), 1, "no session")
    assert (settled.unknown, settled.feedback.detail) == (None, "no session")
    assert on_reply(settled, 1, None) == settled


def test_a_box_is_typed_before_its_key() -> None:
    typed, none = press(READY, "3", HOUSE, MIN_STABLE_SECONDS)
    assert none is None
    assert press(typed, "plus", HOUSE, MIN_STABLE_SECONDS)[1] == Order(
        1, "hand.act", {"action": "go", "who": "box:3"}
    )
    refused, none = press(READY, "plus", HOUSE, MIN_STABLE_SECONDS)
    assert none is None
    assert refused.feedback.text == "keypad.needs_box"


def test_a_meaning_that_has_just_changed_and_a_late_key_are_not_acted_on() -> None:
    changed, none = press(READY, "enter", MEANINGS, MIN_STABLE_SECONDS / 2)
    assert (none, changed.feedback.text) == (None, "keypad.just_changed")
    late, none = press(READY, "enter", MEANINGS, MIN_STABLE_SECONDS, MAX_KEY_AGE_SECONDS * 2)
    assert (none, late.feedback.text) == (None, "keypad.late")


def test_a_locked_keypad_orders_nothing() -> None:
    for key in (*DIGITS, *SLOTS):
        pad, order = press(Pad(), key, MEANINGS, MIN_STABLE_SECONDS)
        assert order is None
        assert pad.locked
    locked, _ = press(READY, "lock", MEANINGS, MIN_STABLE_SECONDS)
    assert locked.locked


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("press"), st.sampled_from([*DIGITS, *SLOTS, "lock"])),
        st.tuples(st.just("answer"), st.sampled_from(["followed", "refused"])),
        st.tuples(st.just("silence"), st.just("")),
        st.tuples(st.just("unlock"), st.just("")),
    ),
    max_size=40,
)


@given(STEPS, st.sampled_from(sorted(KEYS_BY_VIEW)))
def test_at_most_one_order_is_open_and_each_has_a_number_of_its_own(
    steps: list[tuple[str, str]], view: str
) -> None:
    every = {meaning.command for each in KEYS_BY_VIEW[view].values() for meaning in each}
    means = current_meanings(view, every, every)
    pad, orders = READY, []
    for what, which in steps:
        open_ = pad.pending or pad.unknown
        if what == "press":
            pad, order = press(pad, which, means, MIN_STABLE_SECONDS)  # type: ignore[arg-type]
            if order is not None:
                assert open_ is None
                assert pad.pending == order
                orders.append(order)
        elif what == "answer" and open_ is not None:
            pad = on_reply(pad, open_.number, None if which == "followed" else "no")
        elif what == "silence" and open_ is not None:
            pad = on_timeout(pad, open_.number)
            assert pad.pending is None
        elif what == "unlock":
            pad = unlock(pad)
        assert pad.pending is None or pad.unknown is None
        assert all(
            not pad.feedback.text or text(pad.feedback.text, language) for language in LANGUAGES
        )
    assert [each.number for each in orders] == list(range(1, len(orders) + 1))
