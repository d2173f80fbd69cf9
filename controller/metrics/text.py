"""The numbers of a service in the text format of Prometheus, as its library writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from controller.metrics.family import Family, Histogram, Values

if TYPE_CHECKING:
    from prometheus_client import Metric

TEXT = "text/plain; version=0.0.4; charset=utf-8"


class _Told:
    """Metrics as the library collects them."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


async def exposition(families: Iterable[Family], values: Mapping[str, Values]) -> bytes:
    """All families. Between two of them, of which each is a millisecond of work or so, the event
    loop serves whoever waits.
    """
    library: Any = await asyncio.to_thread(import_module, "prometheus_client")
    told = []
    for family in families:
        told.append(library.generate_latest(_Told([_metric(family, values[family.name])])))
        await asyncio.sleep(0)
    return b"".join(told)


def _metric(family: Family, values: Values) -> Metric:
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    if family.kind == "histogram":
        metric = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        for labels, value in values.items():
            assert isinstance(value, Histogram)
            metric.add_metric(labels, *value.told())
        return metric
    made = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    simple = made(family.name, family.help, labels=family.labels)
    for labels, value in values.items():
        assert not isinstance(value, Histogram)
        simple.add_metric(labels, value)
    return simple
