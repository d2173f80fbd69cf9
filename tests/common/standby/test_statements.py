"""Statements of the daemons of a pair about themselves, as read by the other."""

from __future__ import annotations

from typing import Any

import msgspec
from nacl.signing import SigningKey

from common.standby.seal import StructSigner
from common.standby.statements import (
    BROKER,
    DEVICES,
    FORGET_LEASES,
    JOURNAL,
    MAX_DAEMONS,
    Board,
    DaemonStatement,
    Peer,
    differences,
    find_rival,
    observe_peers,
    read_board,
    reason_to_yield,
    without_silent,
)

LEASE_SECONDS = 10.0
SOUTH = DaemonStatement(
    instance="south",
    boot="b2",
    journal="j2",
    machine="m2",
    beat=1,
    lease=LEASE_SECONDS,
)


def south(**more: Any) -> DaemonStatement:
    return DaemonStatement(**{**msgspec.structs.asdict(SOUTH), **more})


def seen(*beats: tuple[float, DaemonStatement]) -> dict[str, Peer]:
    peers: dict[str, Peer] = {}
    for at, statement in beats:
        peers = observe_peers(peers, {statement.journal: statement}, "j1", at)
    return peers


def test_a_daemon_runs_while_its_statement_changes() -> None:
    """One that is seen for the first time may be of a daemon that has ended."""
    once = seen((0.0, SOUTH))
    assert find_rival(once, 1.0, LEASE_SECONDS) is None
    again = seen((0.0, SOUTH), (2.0, south(beat=2)))
    assert find_rival(again, 2.0 + LEASE_SECONDS, LEASE_SECONDS) == south(beat=2)
    assert find_rival(again, 2.1 + LEASE_SECONDS, LEASE_SECONDS) is None
    assert find_rival(seen((0.0, SOUTH), (2.0, south(boot="b3"))), 2.0, LEASE_SECONDS) is not None
    assert find_rival(seen((0.0, SOUTH), (2.0, SOUTH)), 2.0, LEASE_SECONDS) is None
    unable = south(beat=2, troubles={JOURNAL: "full"})
    assert find_rival(seen((0.0, SOUTH), (2.0, unable)), 2.0, LEASE_SECONDS) is None
    assert observe_peers({}, {"j1": south(journal="j1")}, "j1", 0.0) == {}


def test_statements_of_daemons_that_have_ended_are_removed() -> None:
    board: Board = {"j2": SOUTH, "j1": south(journal="j1")}
    peers = seen((0.0, SOUTH))
    assert without_silent(board, peers, FORGET_LEASES * LEASE_SECONDS, LEASE_SECONDS) == {
        "j2": SOUTH
    }
    assert without_silent(board, peers, FORGET_LEASES * LEASE_SECONDS + 0.1, LEASE_SECONDS) == {}


def test_an_invalid_statement_counts_as_none() -> None:
    key = SigningKey.generate()
    seal = StructSigner("palma/pit-1.daemons", lambda: key)
    signed = seal.sign(SOUTH)
    good = {"j2": signed}
    encoded = msgspec.json.decode(msgspec.json.encode(good))
    assert read_board(msgspec.json.encode(good), seal) == good
    assert read_board(msgspec.json.encode({"j2": SOUTH}), seal) == {}
    wrong = (
        {"lease": 1e9},
        {"beat": -1},
        {"beat": 2**53},
        {"instance": "x" * 301},
        {"troubles": {"journal": 3}},
        {"journal": "j9"},
        {"missing": {"r1/wheel": "gone"}},
        {"beat": 2},
    )
    for each in wrong:
        assert read_board(msgspec.json.encode({"j2": encoded["j2"] | each}), seal) == {}
    for body in (b"", b"[]", b"[" * 100_000, b"{", b"7"):
        assert read_board(body, seal) == {}
    many = {f"n{number}": seal.sign(south(journal=f"n{number}")) for number in range(100)}
    assert len(read_board(msgspec.json.encode(many), seal)) == MAX_DAEMONS


def test_tables_are_given_to_one_that_can_do_what_this_one_cannot() -> None:
    lost: Any = {"r1/wheel": "lost"}
    none: Any = {}
    devices = {DEVICES: "no wheel"}
    reaches = south(reached=("r1/wheel",))
    rows: tuple[tuple[dict[str, str], Any, DaemonStatement | None, str | None], ...] = (
        ({}, none, SOUTH, None),
        ({JOURNAL: "full"}, none, None, None),
        ({JOURNAL: "full"}, none, SOUTH, "full"),
        ({BROKER: "away"}, none, SOUTH, "away"),
        ({BROKER: "away", JOURNAL: "full"}, none, SOUTH, "full"),
        ({BROKER: "away"}, none, south(serves=True), None),
        (devices, lost, SOUTH, None),
        (devices, lost, reaches, "no wheel"),
        (devices, {"r2/wheel": "lost"}, reaches, None),
    )
    for troubles, missing, other, why in rows:
        assert reason_to_yield(troubles, missing, other) == why


def test_differences_between_two_machines_are_named() -> None:
    facts = {"release": "1.0", "people file": "number 3, ab", "[broker]": "12"}
    north = south(instance="north", journal="j1", facts=facts, tables={"r1": False, "r2": False})
    alike = south(facts=facts, tables={"r1": False, "r2": False})
    assert differences(north, alike) == []
    assert differences(north, south()) == [], "it has not stated anything yet"
    assert differences(north, south(instance="north", facts=facts, tables=alike.tables)) == [
        "both machines are called north: set standby.instance"
    ]
    other = facts | {"people file": "number 4, cd", "[broker]": "34"}
    assert differences(north, south(facts=other, tables={"r1": False, "r3": False})) == [
        "people file: number 3, ab here, number 4, cd at south",
        "[broker]: 12 here, 34 at south",
        "only here: r2",
        "only at south: r3",
    ]
