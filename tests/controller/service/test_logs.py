"""The log: one line per event, and no local variables."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import structlog

from controller.service import logs
from subscribers.service_log import log_lines


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def test_json_is_one_object_per_line() -> None:
    out = io.StringIO()
    logs.configure("json", "info", out)
    log = structlog.get_logger()
    log.debug("not shown")
    log.info("device lost", device="wheel", reason="two\nlines")
    [line] = out.getvalue().splitlines()
    told = json.loads(line)
    assert datetime.fromisoformat(told.pop("timestamp")).utcoffset() == timedelta(0)
    assert told == {
        "event": "device lost",
        "level": "info",
        "device": "wheel",
        "reason": "two\nlines",
    }


def test_a_line_about_an_alert_names_the_command_that_explains_it() -> None:
    out = io.StringIO()
    logs.configure("json", "info", out)
    structlog.get_logger().error("alert", alert="journal-room", reason="96 % full")
    assert json.loads(out.getvalue())["remedy"] == "novamas explain journal-room"


def test_a_service_names_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr("sys.stderr", io.TextIOWrapper(out))
    log_lines("json")
    structlog.get_logger().error("finding", alert="archive-stalled")
    assert json.loads(out.getvalue())["remedy"] == "novamas explain archive-stalled"


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_shows_no_local_variable(form: logs.Format) -> None:
    out = io.StringIO()
    logs.configure(form, "info", out)

    def deal(face_down: str) -> None:
        raise RuntimeError("the shoe is empty")

    try:
        deal("A" + "s")
    except RuntimeError:
        structlog.get_logger().exception("failed")
    assert "the shoe is empty" in out.getvalue()
    assert "As" not in out.getvalue()


def test_libraries_are_logged_from_warning_on() -> None:
    out = io.StringIO()
    logs.configure("json", "info", out)
    logging.getLogger("a.library").info("not shown")
    logging.getLogger("a.library").warning("client %s is gone", "a")
    [told] = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (told["event"], told["level"], told["library"]) == (
        "client a is gone",
        "warning",
        "a.library",
    )
