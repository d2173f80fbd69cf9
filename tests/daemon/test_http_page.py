"""The page docs/integrator/http.md, followed to its end: from an empty folder to a result."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.test_quickstart import NOVAMAS, SPIN, Reader, blocks
from tests.support import contract
from tests.support.waiting import until

PAGE = (contract.INTEGRATOR / "http.md").read_text()


@pytest.fixture
def reader(programs: None, tmp_path: Path) -> Iterator[Reader]:
    with ExitStack() as stack:
        yield Reader(tmp_path, stack, PAGE)


def start_site(reader: Reader) -> None:
    """Start everything of the page, with the API."""
    subprocess.run(reader.words("init"), cwd=reader.folder, check=True)
    configuration = reader.folder / "novamas.toml"
    [api] = blocks("toml", PAGE)
    configuration.write_text(reader.text(configuration.read_text() + api))
    reader.start(reader.words("simulate"), "wheel.log")
    reader.start(reader.words("run"), "daemon.log")

    def opened() -> bool:
        sent = subprocess.run(
            reader.words("send"), cwd=reader.folder, check=False, capture_output=True
        )
        return sent.returncode == 0

    until("the table is open", opened, lambda: reader.printed("daemon.log"))
    shell(reader, f"{shlex.join(NOVAMAS)} {reader.command('novamas token').split(' ', 1)[1]}")
    port = reader.text("8080")
    reader.start([*reader.words("web"), "--listen", f"127.0.0.1:{port}"], "web.log")
    until("the server", lambda: "web server answers" in reader.printed("web.log"))


def shell(reader: Reader, line: str) -> bytes:
    return subprocess.run(
        ["bash", "-c", line], cwd=reader.folder, check=True, stdout=subprocess.PIPE
    ).stdout


def test_a_reader_of_the_page_has_a_result(reader: Reader) -> None:
    start_site(reader)
    reader.start(["bash", "-c", reader.command("curl -sN -H")], "stream.log")

    def table() -> Any:
        return json.loads(shell(reader, reader.command("curl -s -H")))

    until("a result", lambda: table()["result"] is not None, lambda: str(table()), SPIN)
    body = table()
    assert body["current"]
    assert body["result"]["type"] == "round.result"
    until("its event", lambda: '"type":"round.result"' in reader.printed("stream.log"))
    lines = reader.printed("stream.log").splitlines()
    assert {line.partition(": ")[0] for line in lines} <= {"retry", "id", "data", "", ": beat"}
