"""Two hundred short worlds with faults of all kinds, most of seeds that no other test has. Each
class is a part of the world; the classes run beside each other.
"""

from __future__ import annotations

import pytest

from tests.world.run import plan, run

HOURS = 0.05
FAULTS = 8
PACE = 4.0
"""As ``make world``."""
pytestmark = pytest.mark.essential


def hold(seed: int, tables: int, *parts: str, pair: bool = False) -> None:
    """Run the world of a seed; nothing may be found."""
    outcome = run(plan(seed, HOURS, tables, FAULTS, PACE, pair=pair, parts=parts))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


class TestWheels:
    """Daemons, their disks, devices and the broker."""

    @pytest.mark.parametrize("seed", range(1001, 1066))
    def test_seed(self, seed: int) -> None:
        hold(seed, 2)


class TestMoreWheels:
    """The same: in two halves, since it has most seeds."""

    @pytest.mark.parametrize("seed", range(1066, 1131))
    def test_seed(self, seed: int) -> None:
        hold(seed, 2)


class TestCards:
    """Shoes and their tables."""

    @pytest.mark.parametrize("seed", range(1, 7))
    def test_seed(self, seed: int) -> None:
        hold(seed, 0, "cards")


class TestDice:
    """Readers of dice and their tables."""

    @pytest.mark.parametrize("seed", range(1, 5))
    def test_seed(self, seed: int) -> None:
        hold(seed, 0, "dice")


class TestShufflers:
    """Shufflers beside shoes."""

    @pytest.mark.parametrize("seed", range(1, 4))
    def test_seed(self, seed: int) -> None:
        hold(seed, 0, "shufflers")


class TestJackpots:
    """The jackpot controller with its tables."""

    @pytest.mark.parametrize("seed", range(1, 5))
    def test_seed(self, seed: int) -> None:
        hold(seed, 0, "carrousel")


class TestJackpotOfEus96:
    """The same with the jackpot of five-card draw."""

    @pytest.mark.parametrize("seed", range(1, 3))
    def test_seed(self, seed: int) -> None:
        hold(seed, 0, "carrousel-eus96")


class TestPeople:
    """Signed commands."""

    @pytest.mark.parametrize("seed", range(1, 16))
    def test_seed(self, seed: int) -> None:
        hold(seed, 1, "people")


class TestReaders:
    """The archive, the audit and the floor."""

    @pytest.mark.parametrize("seed", range(1, 16))
    def test_seed(self, seed: int) -> None:
        hold(seed, 1, "recorder", "audit", "floor")


class TestStatistics:
    """The watch over wheels beside the archive."""

    @pytest.mark.parametrize("seed", range(1, 4))
    def test_seed(self, seed: int) -> None:
        hold(seed, 2, "statistics")


class TestTerminals:
    """The terminal display."""

    @pytest.mark.parametrize("seed", range(1, 4))
    def test_seed(self, seed: int) -> None:
        hold(seed, 1, "terminal")


class TestNodes:
    """A second daemon, with tables of its own or with one of the first."""

    @pytest.mark.parametrize("part", ["node", "rival"])
    @pytest.mark.parametrize("seed", range(1, 7))
    def test_seed(self, seed: int, part: str) -> None:
        hold(seed, 1, part)


class TestBackups:
    """Journals that are restored from backups."""

    @pytest.mark.parametrize("seed", range(1, 13))
    def test_seed(self, seed: int) -> None:
        hold(seed, 1, "backup")


class TestPairs:
    """Two daemons with one lease."""

    @pytest.mark.parametrize("seed", range(1, 7))
    def test_seed(self, seed: int) -> None:
        hold(seed, 1, pair=True)
