"""What lives as long as the daemon is exempt from garbage collections."""

from __future__ import annotations

import gc

import pytest

from controller.service import collector
from tests.support.waiting import until_async


async def test_objects_of_links_that_open_later_are_exempt_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collector, "SETTLING_SECONDS", 0.01)
    calls: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: calls.append("collect"))
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    collector.exempt_started()
    assert calls == ["collect", "freeze"]
    await until_async(lambda: len(calls) > 2)
    assert calls == ["collect", "freeze", "freeze"]
