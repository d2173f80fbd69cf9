"""A real wheel's day, its silences and damaged lines included: from the bytes to the results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from common.contract.events import (
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from devices.drivers import driver
from devices.recording import Recording, read_recording
from devices.watch import Watch
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.roulette_play import PAIRS, Play

STATUS = re.compile(rb"\*X;(?P<state>\d);(?P<spin>\d{3});.{2};.;\d{3};(?P<direction>[01])")


@pytest.fixture(scope="module")
def recording(shared: Path) -> Recording:
    return read_recording(shared / "captures" / "cammegh-ss2-2025-09-23.txt")


def played(play: Play, recording: Recording) -> Play:
    """Feed the recording to the wheel's driver, and its readings to the table."""
    ss2 = driver("cammegh-ss2")
    watch = Watch(ss2.make("wheel", ss2.options()), "wheel", stale_after=5.0)
    play.open()
    watch.opened(recording.chunks[0].at)
    for chunk in recording:
        while (deadline := watch.deadline) is not None and deadline <= chunk.at:
            play.take(*watch.tick(deadline))
        if not chunk.sent:
            play.take(*watch.feed(chunk.data, chunk.at))
    return play


def not_reversed(recording: Recording) -> set[int]:
    """The spins that ran in the direction of the spin before, read directly from the lines."""
    lines = (STATUS.fullmatch(chunk.data.rstrip()) for chunk in recording if not chunk.sent)
    ran = {
        int(line["spin"]): line["direction"]
        for line in lines
        if line and line["state"] in (b"3", b"4")
    }
    return {spin for spin, direction in ran.items() if ran.get(spin - 1) == direction}


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_seen_numbers_are_results_and_unseen_ones_candidates(
    recording: Recording, game: str, decree: str
) -> None:
    play = played(Play(decree, game), recording)
    results, lost = of_kind(play.events, RoundResult), of_kind(play.events, RoundUnresolved)
    assert len(results) == 135
    assert [result.round for result in results] == sorted(result.round for result in results)
    assert len(lost) == 14
    assert all(each.why == "silence" and each.candidate is not None for each in lost)
    assert sorted(each.round for each in [*results, *lost]) == list(range(1, 150))
    assert of_kind(play.events, RoundVoid) == []
    # A launch that failed reversed the rotor, and the wheel reversed it again for the next try.
    told = {(each.spin, each.what) for each in of_kind(play.events, Irregularity)}
    failed, repeated = {7, 43, 52, 114}, {43, 52, 114}
    assert told == {(spin, "failed_launch") for spin in failed} | {
        (spin, "rotor_not_reversed") for spin in repeated
    }
    assert repeated == not_reversed(recording)


def test_every_result_is_in_its_own_frames(recording: Recording) -> None:
    """The number as the wheel wrote it is in the evidence, and the evidence is within its round."""
    play = played(Play("EUS96"), recording)
    opened = {event.round: event for event in of_kind(play.events, RoundOpened)}
    for result in of_kind(play.events, RoundResult):
        assert f"*X;5;{result.spin:03};{outcome_of(result).number:>2};" in result.frames[-1].frame
        assert [frame.at for frame in result.frames] == sorted(frame.at for frame in result.frames)
        assert opened[result.round].spin == result.spin


def test_lost_results_are_confirmed_one_by_one(recording: Recording) -> None:
    play = played(Play("BAL05"), recording)
    waiting = play.state.unresolved()
    assert waiting
    for entry in waiting:
        (result,) = of_kind(play.send("round.confirm", round=entry.round), RoundResult)
        assert (outcome_of(result).number, result.spin) == (entry.candidate, entry.spin)
    assert play.shown["unresolved"] == []
