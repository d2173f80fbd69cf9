"""Writes metrics in the text format of Prometheus, with its own library."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from common import clock
from common.metrics.family import Histogram, MetricFamily, Values

if TYPE_CHECKING:
    from prometheus_client import Metric

TEXT_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _MetricsCollector:
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


async def exposition(families: Iterable[MetricFamily], values: Mapping[str, Values]) -> bytes:
    """Return all families as text. Yields to the event loop after each family, which takes about a
    millisecond.
    """
    library: Any = await asyncio.to_thread(import_module, "prometheus_client")
    parts = []
    for family in families:
        parts.append(
            library.generate_latest(_MetricsCollector([_metric(family, values[family.name])]))
        )
        await clock.sleep(0)
    return b"".join(parts)


def _metric(family: MetricFamily, values: Values) -> Metric:
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    if family.kind == "histogram":
        metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        for labels, value in values.items():
            assert isinstance(value, Histogram)
            metric.add_metric(labels, *value.buckets())
        return metric
    family_class = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    simple = family_class(family.name, family.help, labels=family.labels)
    for labels, value in values.items():
        assert not isinstance(value, Histogram)
        simple.add_metric(labels, value)
    return simple
