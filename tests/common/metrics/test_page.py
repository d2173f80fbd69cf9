"""docs/technician/metrics.md lists every metric, and nothing else."""

from __future__ import annotations

from tests.support.metrics_page import EVERY, PAGE, SECTIONS, written


def test_the_page_has_every_metric() -> None:
    page = PAGE.read_text()
    assert page == written(page), "rewrite it: python -m tests.support.metrics_page"


def test_names_follow_the_conventions() -> None:
    assert len(EVERY) == sum(map(len, SECTIONS.values())), "a name occurs twice"
    for name, family in EVERY.items():
        assert name.startswith("novamas_")
        assert name.endswith("_total") == (family.kind == "counter"), name
        if family.kind == "histogram":
            assert name.endswith("_seconds")
        assert family.help.endswith(".")
