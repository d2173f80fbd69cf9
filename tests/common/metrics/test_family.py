"""Counting of durations."""

from __future__ import annotations

from functools import reduce
from operator import add

from hypothesis import given
from hypothesis import strategies as st

from common.metrics.family import DURATION_BUCKETS_SECONDS, Histogram, MetricFamily
from common.metrics.text import exposition


@given(st.lists(st.floats(0, 100)))
def test_each_bound_counts_all_durations_up_to_it(durations: list[float]) -> None:
    histogram = Histogram()
    for duration in durations:
        histogram.add(duration)
    buckets, total = histogram.buckets()
    # sum() of Python 3.12 corrects the rounding of each addition
    assert total == reduce(add, durations, 0.0)
    for (bound, count), most in zip(
        buckets, (*DURATION_BUCKETS_SECONDS, float("inf")), strict=True
    ):
        assert float(bound) == most
        assert count == sum(duration <= most for duration in durations)


async def test_a_metric_is_exposed_with_its_type() -> None:
    histogram = Histogram()
    histogram.add(0.3)
    told = await exposition(
        (
            MetricFamily("a_total", "counter", "Of a.", ("table",)),
            MetricFamily("b", "gauge", "Of b."),
            MetricFamily("c_seconds", "histogram", "Of c."),
            MetricFamily("d", "gauge", "Unknown."),
        ),
        {"a_total": {("t1",): 2}, "b": {(): True}, "c_seconds": {(): histogram}, "d": {}},
    )
    lines = told.decode().splitlines()
    assert lines[:6] == [
        *("# HELP a_total Of a.", "# TYPE a_total counter", 'a_total{table="t1"} 2.0'),
        *("# HELP b Of b.", "# TYPE b gauge", "b 1.0"),
    ]
    assert 'c_seconds_bucket{le="0.25"} 0.0' in lines
    assert 'c_seconds_bucket{le="0.5"} 1.0' in lines
    assert 'c_seconds_bucket{le="+Inf"} 1.0' in lines
    assert {"c_seconds_count 1.0", "c_seconds_sum 0.3"} <= set(lines)
    assert lines[-2:] == ["# HELP d Unknown.", "# TYPE d gauge"]
