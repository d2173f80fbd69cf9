"""Which messages on a client's own topics are its own, delivered back by the broker."""

from __future__ import annotations

from common.broker.echoes import Echoes


def test_each_message_is_expected_back_once() -> None:
    echoes = Echoes(8)
    echoes.add("a", b"1")
    assert not echoes.remove("b", b"1")
    assert echoes.remove("a", b"1")
    assert not echoes.remove("a", b"1")


def test_a_later_echo_ends_the_wait_for_earlier_ones() -> None:
    echoes = Echoes(8)
    for body in (b"1", b"2", b"3"):
        echoes.add("a", body)
    assert echoes.remove("a", b"2")
    assert not echoes.remove("a", b"1")
    assert echoes.remove("a", b"3")


def test_the_oldest_is_forgotten_first_and_all_with_the_connection() -> None:
    echoes = Echoes(2)
    for body in (b"1", b"2", b"3"):
        echoes.add("a", body)
    assert not echoes.remove("a", b"1")
    echoes.clear()
    assert not echoes.remove("a", b"3")
