"""docs/technician/metrics.md: every metric as in the code.

Rewrite the tables after a change: ``python -m tests.support.metrics_page``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from common.metrics.family import MetricFamily
from controller.service import metric_families as daemon
from subscribers.carrousel import metrics as carrousel
from subscribers.surveillance import health as surveillance
from subscribers.web import metrics as web
from subscribers.webhooks import health as webhooks

PAGE = Path(__file__).parents[2] / "docs" / "technician" / "metrics.md"
SECTIONS: Mapping[str, tuple[MetricFamily, ...]] = {
    "The daemon": daemon.FAMILIES,
    "The jackpots": carrousel.FAMILIES,
    "Surveillance": surveillance.FAMILIES,
    "The webhooks": webhooks.FAMILIES,
    "The web server": web.FAMILIES,
}
"""Metrics of a service, by heading."""
EVERY: Mapping[str, MetricFamily] = {
    family.name: family for families in SECTIONS.values() for family in families
}


def table(families: Iterable[MetricFamily]) -> str:
    """The table of a service, as on the page."""
    rows = (
        f"| `{family.name}` | {family.kind} | {', '.join(family.labels)} | {family.help} |"
        for family in families
    )
    return "\n".join(("| Metric | Kind | Labels | Meaning |", "|---|---|---|---|", *rows))


def written(page: str) -> str:
    """The page with the tables of the code."""
    for heading, families in SECTIONS.items():
        page, found = re.subn(
            rf"(?<=## {heading}\n\n)\| Metric .*?(?=\n\n|\Z)",
            table(families).replace("\\", r"\\"),
            page.rstrip() + "\n\n",
            flags=re.DOTALL,
        )
        assert found == 1, heading
    return page.rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
