"""A wheel that was replaced without notice."""

from __future__ import annotations

from random import Random

import pytest

from subscribers.statistics.change import MIN_MEAN_RUN_LENGTH, ChangeWatch, RankBets


def watched(
    seed: int, seconds: list[float], *, dealers: int = 3, slower: float = 2.0
) -> tuple[ChangeWatch, list[tuple[int, str]]]:
    """Watch a wheel with these mean spin durations, whose dealers each have their own pace."""
    random, watch, alarms = Random(seed), ChangeWatch(37), []
    for number, mean in enumerate(seconds):
        dealer = number // 50 % dealers
        told = {"spin_seconds": random.gauss(mean + slower * dealer, 3.0), "rotor_rpm": None}
        watch.add_spin(f"{seed}:{number}", random.randrange(37), str(dealer), told)
        if watch.alarm is not None:
            alarms.append(watch.alarm)
    return watch, alarms


@pytest.mark.parametrize("seed", range(3))
def test_another_wheel_is_reported_soon(seed: int) -> None:
    watch, _ = watched(seed, [20.0] * 1000 + [23.0] * 300)
    assert watch.alarm is not None
    at, feature = watch.alarm
    assert 1000 < at <= 1300
    assert feature == "spin_seconds"


@pytest.mark.parametrize("seed", range(3))
def test_dealers_who_take_turns_are_no_change(seed: int) -> None:
    """In 2,000 spins a sum that grows by one a spin on average reaches a million once in 500."""
    watch, alarms = watched(seed, [20.0] * 2000, slower=6.0)
    assert not alarms
    assert watch.evidence < MIN_MEAN_RUN_LENGTH


def test_the_sum_grows_by_one_a_spin_on_average() -> None:
    """Its mean after 30 even ranks is 30: of 4,000 sums, within six standard errors."""
    random, totals = Random(2), []
    for _ in range(4000):
        bets = RankBets()
        for _ in range(30):
            bets.add_rank(random.random())
        totals.append(bets.total)
    mean = sum(totals) / len(totals)
    error = (sum((each - mean) ** 2 for each in totals) / len(totals) ** 2) ** 0.5
    assert abs(mean - 30) < 6 * error


def test_ranks_are_even_for_any_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values with many ties: the smoothed ranks of later ones fill each tenth alike."""
    random, watch = Random(4), ChangeWatch(37)
    ranks: list[float] = []
    monkeypatch.setattr(watch.detectors["spin_seconds"], "add_rank", ranks.append)
    for number in range(6000):
        told = {"spin_seconds": float(random.choice([1, 1, 1, 2, 5])), "rotor_rpm": None}
        watch.add_spin(str(number), random.randrange(37), "", told)
    tenths = [sum(int(rank * 10) == tenth for rank in ranks) for tenth in range(10)]
    assert sum(tenths) == 6000 - 30
    assert all(abs(each - 597) < 6 * 23.2 for each in tenths)
