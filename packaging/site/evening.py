"""Adds a recorded evening to the site: a simulated floor is played, its displays are recorded, and
its journal becomes the page of an inspector: ``make site``.
"""

from __future__ import annotations

import argparse
import datetime
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from nacl.public import PrivateKey
from offline import Sent, bundle, read_stream

from common.confidential.boxes import open_sealed
from common.confidential.key_file import read_key_file
from controller.inspection.export import export_page
from controller.proof.outcome import ProofOutcome

LANGUAGE = "es"
TIMEOUT_SECONDS = 120.0
"""Maximum seconds for a display to answer, and for the floor to end."""
SETTLE_SECONDS = 20.0
"""Seconds before the recording begins: after a restart each table waits for its next round."""
REPLAYED_KINDS = {"picture", "jackpot", "motion", "beat"}
INDEX = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Novamás: a recorded evening</title>
<style>body {{ margin: 2rem auto; padding: 0 1rem; max-width: 46rem; font: 16px/1.5 system-ui, \
sans-serif; color: #111; background: #fff; }} h1 {{ border-bottom: 2px solid #bea046; }} \
a {{ color: #0b5a2f; }}</style>
<h1>A recorded evening</h1>
<p>Simulated tables, played when this site was built ({made}). No page here needs a server.</p>
<h2>What an inspector takes home</h2>
<p><a href="inspection.html">The whole evening in one file that verifies itself</a>: chain,
signatures, each result with its article and its evidence.</p>
<h2>What the guests saw</h2>
<ul>
{displays}
</ul>
"""


def play(room: Path, port: int, speed: float, history: int) -> subprocess.Popen[bytes]:
    """Start a simulated floor whose displays answer at this port."""
    words = ["--floor", "--language", LANGUAGE, "--decree", "ARA02", "--state-dir", str(room)]
    words += ["--web-port", str(port), "--speed", str(speed), "--history", str(history)]
    with (room.parent / "demo.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "controller.cli", "demo", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


class Displays:
    """The displays of a web server at this address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def fetch(self, path: str) -> bytes:
        """Return what is at a path."""
        with urllib.request.urlopen(self.address + path, timeout=TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read()
            return content

    def wait(self, program: subprocess.Popen[bytes]) -> None:
        """Wait until they answer."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while program.poll() is None and time.monotonic() < end:
            try:
                self.fetch("/floor")
            except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
                time.sleep(0.2)
                continue
            return
        raise SystemExit("the simulated floor did not start; its output is above")

    def record(self, path: str, seconds: float) -> list[Sent]:
        """Return what a stream sends in this time."""
        return [each for each in read_stream(self._lines(path, seconds)) if _is_shown(each)]

    def _lines(self, path: str, seconds: float) -> Iterator[tuple[float, str]]:
        with urllib.request.urlopen(self.address + path, timeout=TIMEOUT_SECONDS) as stream:
            begin = time.monotonic()
            while (now := time.monotonic()) - begin < seconds and (line := stream.readline()):
                yield now, line.decode().rstrip("\r\n")


def _is_shown(sent: Sent) -> bool:
    return sent.kind in REPLAYED_KINDS


def of_table(sent: Sequence[Sent], table: str) -> list[Sent]:
    """Return what the display of one table receives."""
    return [
        each
        for each in sent
        if each.kind == "beat"
        or (each.kind in ("picture", "motion") and json.loads(each.data).get("table") == table)
    ]


def write_displays(displays: Displays, sent: Sequence[Sent], folder: Path) -> list[str]:
    """Write the floor and the display of each table that was recorded; return their files."""
    pictures = [json.loads(each.data) for each in sent if each.kind == "picture"]
    tables = list(dict.fromkeys(picture["table"] for picture in pictures))
    pages = {f"/table/{table}": f"{table}.html" for table in tables}
    pages["/floor"] = "floor.html"
    for path, name in pages.items():
        html = displays.fetch(f"{path}?lang={LANGUAGE}").decode()
        own = list(sent) if path == "/floor" else of_table(sent, path.rpartition("/")[2])
        (folder / name).write_text(bundle(html, displays.fetch, own, pages), encoding="utf-8")
    return ["floor.html", *(f"{table}.html" for table in tables)]


def add(site: Path, seconds: float, speed: float, history: int) -> None:
    """Play, record, and write the folder ``evening`` of the site."""
    folder = site / "evening"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        room = Path(temporary) / "floor"
        room.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        program = play(room, port, speed, history)
        try:
            displays = Displays(f"http://127.0.0.1:{port}")
            displays.wait(program)
            time.sleep(SETTLE_SECONDS)
            sent = displays.record(f"/stream?lang={LANGUAGE}", seconds)
            names = write_displays(displays, sent, folder)
        finally:
            program.terminate()
            program.wait(TIMEOUT_SECONDS)
        journal = room / "journal.sqlite3"
        key = PrivateKey(read_key_file(journal.with_name(f"{journal.name}.simulated-surveillance")))
        header = export_page(
            journal,
            f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m}",
            folder / "inspection.html",
            unseal=lambda body: bytes(open_sealed(body, key).body),
        )
    if header.audit is None or header.audit.outcome != ProofOutcome.HOLDS:
        raise SystemExit(f"the journal of the evening does not hold: {header.audit}")
    (folder / "inspection.html").chmod(0o644)
    (folder / "index.html").write_text(index(names), encoding="utf-8")


def index(names: Sequence[str]) -> str:
    """Return the page that leads to the others."""
    shown = "\n".join(
        f'<li><a href="{escape(name)}">{escape(name.removesuffix(".html"))}</a></li>'
        for name in names
    )
    made = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return INDEX.format(made=made, displays=shown)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the site")
    parser.add_argument("--seconds", type=float, default=120.0, help="what is recorded")
    parser.add_argument("--speed", type=float, default=2.0, help="of the tables")
    parser.add_argument("--history", type=int, default=10, help="rounds played before")
    arguments = parser.parse_args()
    add(arguments.site, arguments.seconds, arguments.speed, arguments.history)
    print(arguments.site / "evening" / "index.html")
