"""The decorator that makes one test of a table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rings import marks
from tests.support.for_each import for_each

ROOT = Path(__file__).parents[2]
TABLE = f"""
import sys
import pytest
sys.path.insert(0, {str(ROOT)!r})
from tests.support.for_each import for_each

seen = []

@pytest.fixture
def base():
    return 10

@pytest.fixture
def twice():
    seen.append("fixture")

class TestOfAClass:
    @for_each("number", [1, pytest.param(2, id="two"), 3])
    @pytest.mark.usefixtures("twice")
    @for_each(("word", "other"), [("a", b"x"), ("b", object)])
    def test_table(self, base, number, word, other):
        seen.append((number, word, other))
        assert (base, number, word) not in [(10, 2, "a"), (10, 3, "b")]
        if (number, word) == (1, "b"):
            pytest.fail("one and b")

def test_each_row_was_called():
    assert len(seen) == 7
"""


@pytest.mark.usefixtures("programs")
def test_each_row_that_fails_is_reported_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "test_table.py").write_text(TABLE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    *_, first, second, third, test, counts = done.stdout.splitlines()
    assert first.startswith("SUBFAILED[a-b'x'-two] test_table.py::TestOfAClass::test_table - ")
    assert second.startswith("SUBFAILED[b-object-1] ")
    assert " - Failed: one a" in second
    assert third.startswith("SUBFAILED[b-object-3] ")
    assert test.endswith("::test_table - contains 3 failed subtests")
    assert counts.startswith("4 failed, 1 passed")
    assert ">       assert (base, number, word) not in [" in done.stdout


def test_a_test_claims_the_rules_of_its_rows() -> None:
    rule = pytest.mark.rule

    def test(number: int) -> None:
        assert number

    rows = [1, pytest.param(2, marks=rule("B", "A")), pytest.param(3, marks=[rule("B")])]
    table = rule("C")(for_each("number", rows)(test))
    assert [mark.args for mark in vars(table)["pytestmark"]] == [("B", "A"), ("C",)]


def test_only_a_slow_row_makes_a_test_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    def test(number: int) -> None:
        assert number

    monkeypatch.setattr(marks, "seconds", lambda: {"a.py::test": marks.Seconds(1.0, 1.0)})
    assert marks.is_slow("a.py::test[x]", test)
    assert marks.is_slow("a.py::test[x]", for_each("number", range(4))(test))
    assert not marks.is_slow("a.py::test[x]", for_each("number", range(5))(test))


def test_an_invalid_table_is_refused() -> None:
    with pytest.raises(TypeError, match="claims rules alone"):
        for_each("number", [pytest.param(1, marks=pytest.mark.essential)])
    with pytest.raises(ValueError, match="proves nothing"):
        for_each("number", [])
    with pytest.raises(TypeError, match="2 values are needed, for one, other"):
        for_each("one, other", [(1, 2, 3)])

    async def test(number: int) -> None:
        assert number

    with pytest.raises(TypeError, match="parametrize it"):
        for_each("number", [1])(test)
