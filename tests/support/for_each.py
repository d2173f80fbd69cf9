"""One test for all rows of a table."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., Any]
Ids = Callable[[Any], object] | Sequence[str] | None

PARAM = type(pytest.param())
ROWS = "rows_of_table"
"""The attribute of such a test that has its rows: the name and the arguments of each."""


def for_each(
    names: str | Sequence[str], rows: Iterable[Any], ids: Ids = None
) -> Callable[[Test], Test]:
    """Call a test for each row of a table, and report each row that fails, by its name.

    It is written like ``pytest.mark.parametrize``, and used for tables with many rows of which no
    single one is selected: a row costs a call, not a separate test. Two tables make their product.
    Fixtures are set up once, for all rows. The test claims the rules that its rows are marked with.
    """
    words = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = list(rows)
    table = [_row(words, number, row, ids) for number, row in enumerate(rows)]

    rules = dict.fromkeys(rule for row in rows for rule in _rules(row))
    if not table:
        raise ValueError("a table without rows proves nothing")

    def decorate(test: Test) -> Test:
        if inspect.iscoroutinefunction(test) or hasattr(test, "hypothesis"):
            raise TypeError(f"{test.__name__}: parametrize it; for_each calls it many times")
        inner: list[tuple[str, dict[str, Any]]] = getattr(test, ROWS, [("", {})])
        whole = [
            (f"{name}-{more}" if name else more, arguments | other)
            for (name, arguments), (more, other) in itertools.product(inner, table)
        ]
        called: Test = getattr(test, "__wrapped__", test) if hasattr(test, ROWS) else test

        @functools.wraps(test)
        def run(*self: object, subtests: pytest.Subtests, **fixtures: object) -> None:
            __tracebackhide__ = True
            for name, arguments in whole:
                try:
                    called(*self, **fixtures, **arguments)
                except (Exception, pytest.fail.Exception) as failure:
                    with subtests.test(name):
                        raise failure

        fixtures = [
            parameter
            for parameter in inspect.signature(test).parameters.values()
            if parameter.name not in {*words, "subtests"}
        ]
        subtests = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        signature = inspect.Signature([*fixtures, subtests])
        vars(run).update({ROWS: whole, "__wrapped__": called, "__signature__": signature})
        return pytest.mark.rule(*rules)(run) if rules else run

    return decorate


def rows_of(test: object) -> int:
    """The number of rows of a test: 1 if it has no table."""
    return len(getattr(test, ROWS, [None]))


def _rules(row: Any) -> list[str]:
    """The rules that a row is marked with."""
    marks = list(row.marks) if isinstance(row, PARAM) else []
    if any(mark.name != "rule" for mark in marks):
        raise TypeError(f"{row}: parametrize the test; a row of a table claims rules alone")
    return [rule for mark in marks for rule in mark.args]


def _row(words: list[str], number: int, row: Any, ids: Ids) -> tuple[str, dict[str, Any]]:
    """The name of a row and its arguments."""
    values, name = row, None
    if isinstance(row, PARAM):
        values, name = row.values if len(words) > 1 else row.values[0], row.id
    if len(words) == 1:
        values = (values,)
    if len(values) != len(words):
        raise TypeError(f"{row}: {len(words)} values are needed, for {', '.join(words)}")
    if name is None and isinstance(ids, Sequence):
        name = ids[number]
    if name is None:
        name = "-".join(
            _name(word, value, number, ids) for word, value in zip(words, values, strict=True)
        )
    return str(name), dict(zip(words, values, strict=True))


def _name(word: str, value: object, number: int, ids: Ids) -> str:
    if callable(ids) and (name := ids(value)) is not None:
        return str(name)
    if isinstance(value, str | bytes | int | float | None):
        return str(value)
    return getattr(value, "__name__", f"{word}{number}")
