"""The packages for integrators: novamas-client puts any stream of messages in order, and both
packages are built, install, and type-check a program of their README.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from novamas_client import Follower, Gap, Position, Refusal, Step

from common.contract.version import RELEASE

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "packaging" / "clients"
SITE = "novamas/v1/palma"
TABLE = "r1"


def event(boot: str, seq: int) -> dict[str, Any]:
    return {"type": "data.late", "table": TABLE, "boot": boot, "seq": seq}


class Daemon:
    """A table's daemon as a subscriber sees it: it numbers events, is restarted, and returns what
    its journal has.
    """

    def __init__(self) -> None:
        self.journal: list[Position] = []
        self.boots = 1
        self.forgotten: set[Position] = set()

    def happens(self) -> Position:
        boot = f"b{self.boots}"
        seq = sum(1 for at in self.journal if at.boot == boot) + 1
        self.journal.append(Position(boot, seq))
        return self.journal[-1]

    def state(self) -> bytes:
        boot = f"b{self.boots}"
        return json.dumps(
            {"boot": boot, "seq": sum(at.boot == boot for at in self.journal)}
        ).encode()

    def answer(self, body: bytes, limit: int) -> bytes:
        """The answer to a recall, at most ``limit`` events long."""
        order = json.loads(body)
        boot, first = order["boot"], order["from"]
        found = [at for at in self.journal if at.boot == boot and at.seq >= first]
        if order.get("onward"):  # in the order of the journal, all of it if the run is unknown
            before = [i for i, at in enumerate(self.journal) if at.boot == boot and at.seq < first]
            own = [i for i, at in enumerate(self.journal) if at.boot == boot]
            found = self.journal[max(before, default=min(own, default=0) - 1) + 1 :]
        else:
            found = [at for at in found if at.seq <= order["to"]]
        found = [at for at in found if at not in self.forgotten][:limit]
        events = [event(*at) for at in found]
        return json.dumps({"id": order["id"], "ok": True, "events": events}).encode()


class Line:
    """A follower, and what reaches it of a daemon's messages."""

    def __init__(self, positions: dict[str, list[Position]] | None = None) -> None:
        self.daemon = Daemon()
        self.follower = Follower(SITE, "shop-1", positions)
        self.items: list[Any] = []
        self.recalls: list[bytes] = []

    @classmethod
    def begun(cls) -> Line:
        """A line that has received its first event."""
        line = cls()
        line.receive("state", line.daemon.state())
        line.receive("event", json.dumps(event(*line.daemon.happens())).encode())
        return line

    def receive(self, leaf: str, payload: bytes) -> Step:
        step = self.follower.on_message(f"{SITE}/{TABLE}/{leaf}", payload)
        self.items += step.items
        self.recalls += [body for _, body in step.publish]
        assert all(topic == f"{SITE}/{TABLE}/command/recall" for topic, _ in step.publish)
        return step

    def settle(self, limit: int = 100) -> None:
        """Everything that was asked for is answered, and asked again what got lost."""
        self.receive("state", self.daemon.state())
        self.recalls = [body for _, body in self.follower.retry()]
        while self.recalls:
            self.receive("reply/shop-1", self.daemon.answer(self.recalls.pop(), limit))

    def delivered(self) -> list[Position]:
        return [
            Position(item["boot"], item["seq"]) for item in self.items if isinstance(item, dict)
        ]


ACTIONS = st.lists(
    st.sampled_from(
        (
            "event",
            "event",
            "event",
            "lost",
            "doubled",
            "late",
            "state",
            "restart",
            "answer",
            "retry",
        )
    ),
    max_size=60,
)


@given(ACTIONS, st.integers(1, 7))
def test_any_stream_comes_once_and_in_order(actions: list[str], limit: int) -> None:
    line = Line.begun()
    held: list[Position] = []
    for action in actions:
        match action:
            case "event" | "doubled":
                happened = line.daemon.happens()
                for _ in range(1 + (action == "doubled")):
                    line.receive("event", json.dumps(event(*happened)).encode())
            case "lost":
                line.daemon.happens()
            case "late":
                held.append(line.daemon.happens())
            case "state":
                line.receive("state", line.daemon.state())
            case "restart":
                line.daemon.boots += 1
                line.receive("state", line.daemon.state())
            case "answer" if line.recalls:
                line.receive("reply/shop-1", line.daemon.answer(line.recalls.pop(0), limit))
            case "retry":
                line.recalls += [body for _, body in line.follower.retry()]
    for at in held:
        line.receive("event", json.dumps(event(*at)).encode())
    line.settle(limit)
    assert line.delivered() == line.daemon.journal
    assert [item for item in line.items if not isinstance(item, dict)] == []


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 7))
def test_a_program_that_ends_continues_with_the_next_event(kept: list[bool], limit: int) -> None:
    """After each event the program may end; what it missed meanwhile comes from the journal."""
    line = Line.begun()
    delivered: list[Position] = []
    for number, here in enumerate(kept):
        if number % 5 == 4:
            line.daemon.boots += 1
        happened = line.daemon.happens()
        if here:
            line.receive("event", json.dumps(event(*happened)).encode())
            continue
        daemon, positions = line.daemon, line.follower.positions()
        delivered += line.delivered()
        line = Line(json.loads(json.dumps(positions)))
        line.daemon = daemon
    line.settle(limit)
    assert delivered + line.delivered() == line.daemon.journal


def test_what_the_daemon_no_longer_has_is_a_gap_once() -> None:
    line = Line()
    line.receive("state", line.daemon.state())
    for _ in range(6):
        line.daemon.happens()
    line.daemon.forgotten = {Position("b1", 2), Position("b1", 3), Position("b1", 6)}
    line.settle()
    line.settle()
    gaps = [item for item in line.items if isinstance(item, Gap)]
    assert gaps == [Gap(TABLE, "b1", 2, 3), Gap(TABLE, "b1", 6, 6)]
    assert line.delivered() == [Position("b1", seq) for seq in (1, 4, 5)]


def test_a_refused_recall_is_reported_and_tried_again() -> None:
    line = Line()
    line.receive("state", line.daemon.state())
    line.daemon.happens()
    line.receive("state", line.daemon.state())
    number = json.loads(line.recalls.pop())["id"]
    refused = json.dumps({"id": number, "ok": False, "error": "sign it"}).encode()
    assert line.receive("reply/shop-1", refused).items == [Refusal(TABLE, "sign it")]
    line.settle()
    assert line.delivered() == line.daemon.journal


def test_a_site_may_want_a_signed_recall() -> None:
    follower = Follower(
        SITE, "shop-1", body=lambda topic, fields: f"{topic} {fields['from']}".encode()
    )
    follower.on_message(f"{SITE}/r1/state", b'{"boot":"b1","seq":4}')
    step = follower.on_message(f"{SITE}/r1/event", json.dumps(event("b1", 7)).encode())
    recall = f"{SITE}/r1/command/recall"
    assert step.publish == [(recall, f"{recall} 5".encode())]


def test_a_removed_table_is_no_message() -> None:
    assert Follower(SITE, "shop-1").on_message(f"{SITE}/r1/state", b"") == Step()


# The packages


def readme(language: str) -> str:
    text = (CLIENTS / language / "README.md").read_text()
    found = re.search(r"^```(?:python|ts)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_versions_are_that_of_the_program() -> None:
    python = tomllib.loads((CLIENTS / "python" / "pyproject.toml").read_text())
    assert python["project"]["version"] == RELEASE
    assert json.loads((CLIENTS / "typescript" / "package.json").read_text())["version"] == RELEASE


@pytest.fixture(scope="module")
def built(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both packages."""
    folder = tmp_path_factory.mktemp("packages")
    before = {
        file: file.read_bytes() for file in (CLIENTS / "python" / "novamas_client").glob("*.py")
    }
    made = subprocess.run(
        [CLIENTS / "build", folder],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "BIN": str(Path(sys.executable).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert {file: file.read_bytes() for file in before} == before, "written with `make packages`"
    return folder


def test_the_python_package_installs_and_checks_a_program(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("novamas_client-*.whl")
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", site, wheel], check=True, capture_output=True)
    program = tmp_path / "program.py"
    program.write_text(
        "from novamas_client import Follower, Gap, Refusal\n\n"
        "for item in Follower('a', 'b').on_message('a/r1/event', b'{}').items:\n"
        "    if not isinstance(item, Gap | Refusal) and item['type'] == 'round.result':\n"
        "        reveal_type(item['outcome'])\n"
        "        print(item['session'] + item['round'], item['color'])\n"
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", program],
        env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "RouletteOutcome" in checked.stdout
    assert "'color'" in checked.stdout.replace('"', "'"), "a field that no result has"
    assert checked.stdout.count("error:") == 1, checked.stdout


def test_the_typescript_package_checks_a_program(built: Path, tmp_path: Path) -> None:
    (packed,) = built.glob("novamas-types-*.tgz")
    modules = tmp_path / "node_modules" / "@novamas"
    modules.mkdir(parents=True)
    with tarfile.open(packed) as archive:
        archive.extractall(modules, filter="data")
    (modules / "package").rename(modules / "types")
    (tmp_path / "program.ts").write_text(readme("typescript"))
    tsc = ROOT / "tests" / "npm" / "node_modules" / ".bin" / "tsc"
    options = ("--ignoreConfig", "--noEmit", "--strict", "--lib", "es2022", "--module", "nodenext")
    checked = subprocess.run(
        [tsc, *options, "program.ts"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (checked.stdout, checked.returncode) == ("", 0)
