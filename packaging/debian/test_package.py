"""The package of this commit in a clean Debian, 12 or RELEASE: previous release installed,
upgraded, used, removed, purged. `make deb-test`; the tests must run in this order.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sys
import textwrap
import zipfile
from pathlib import Path

import jsonschema
import pytest
import roots
from referencing import Registry, Resource

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
ROOT = CHECKOUT / "build" / "deb-root"
JOURNAL = "/var/lib/novamas/journal.sqlite3"
RELEASE = os.environ.get("RELEASE") or "12"
CONFIGURATION = """\
[site]
id = "casino-prueba"
node = "node-1"

[broker]
url = "mqtt://127.0.0.1:1883"

[people]
required = "accept-the-risk"

[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "BAL05"
simulated = true
speed = 20

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""
BEHOLD = """
cd /srv/newcomer
mosquitto -d -p 1883 >/dev/null 2>&1
hear() {
  timeout 60 mosquitto_sub -h 127.0.0.1 -t "novamas-sim/v1/casino-prueba/$1" -C "$2"
}
fetch() {
  python3 -c "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())" "$1"
}
await() {
  for try in $(seq 60); do
    eval "$1" && return
    sleep 1
  done
  echo "not so: $1" >&2
  return 1
}
"""
"""The broker, which Debian starts at installation, and the visible results between the steps."""
STAND_INS = HERE / "stand-ins"
"""``systemctl`` and ``systemd-run`` for a root without systemd."""
PLAY = """
cd /
mosquitto -p 1883 >/dev/null 2>&1 &
for try in $(seq 60); do
  mosquitto_pub -h 127.0.0.1 -t started -n && break
  sleep 1
done
novamas simulate wheel --tcp 127.0.0.1:4001 --speed 20 </dev/null >/dev/null &
STATE_DIRECTORY=/var/lib/novamas setpriv --reuid novamas --regid novamas --init-groups \
  novamas run /etc/novamas/novamas.toml >/tmp/daemon.log 2>&1 &
daemon=$!
open="novamas send ruleta-1 session.open --by A.Riera --role inspector"
if ! [ -e /tmp/opened ]; then
  for try in $(seq 60); do
    $open --config /etc/novamas/novamas.toml && touch /tmp/opened && break
    sleep 1
  done
  [ -e /tmp/opened ] || { cat /tmp/daemon.log; exit 1; }
fi
timeout 300 mosquitto_sub -h 127.0.0.1 -t 'novamas-sim/v1/casino-prueba/ruleta-1/result' -C 5 >&2
kill $daemon
wait $daemon
"""


def first_floor() -> list[str]:
    """Return the commands of the steps in docs/technician/operations.md, as printed there."""
    page = (CHECKOUT / "docs" / "technician" / "operations.md").read_text()
    section = page.partition("## A floor in ten minutes")[2].partition("\n## ")[0]
    return [
        textwrap.dedent(step)
        for step in re.findall(r"^ *```sh\n(.*?)^ *```", section, re.MULTILINE | re.DOTALL)
    ]


run = roots.run


def inside(script: str) -> str:
    return roots.inside(ROOT, script)


@pytest.fixture(scope="session")
def present() -> Path:
    return roots.package("HEAD", "build", RELEASE)


@pytest.fixture(scope="session")
def older() -> Path:
    tags = run("git", "tag", "--sort=-creatordate", "--merged", "HEAD^").split()
    commit = os.environ.get("BASE") or (tags[0] if tags else "HEAD^")
    return roots.package(commit, "build/deb-older", RELEASE)


@pytest.fixture(scope="session", autouse=True)
def clean_root() -> None:
    if os.geteuid() != 0:
        pytest.exit("make deb-test makes a root and changes into it: run it as root", 1)
    roots.lay(RELEASE, ROOT)


def install(path: Path) -> str:
    shutil.copyfile(path, ROOT / "novamas.deb")
    return inside("dpkg --install /novamas.deb")


def results() -> list[dict[str, str]]:
    """Return the results in the journal, from the installed program."""
    rows = csv.DictReader(io.StringIO(inside(f"novamas export --format csv {JOURNAL}")))
    return [row for row in rows if row["type"] == "round.result"]


def test_the_older_one_is_installed_without_a_network_and_plays(older: Path) -> None:
    install(older)
    (ROOT / "etc/novamas/novamas.toml").write_text(CONFIGURATION)
    inside("chgrp novamas /etc/novamas/novamas.toml; chmod 640 /etc/novamas/novamas.toml")
    inside(
        "setpriv --reuid novamas --regid novamas --clear-groups novamas check /etc/novamas/*.toml"
    )
    inside(PLAY)
    assert len(results()) >= 4


def test_an_upgrade_keeps_configuration_session_journal_and_key(present: Path) -> None:
    before, key = results(), (ROOT / JOURNAL[1:]).with_name("journal.sqlite3.key").read_bytes()
    install(present)
    assert (ROOT / "etc/novamas/novamas.toml").read_text() == CONFIGURATION
    assert results() == before
    inside(PLAY)
    after = results()
    assert after[: len(before)] == before
    assert len(after) >= len(before) + 4
    assert len({row["session"] for row in after}) == 1
    numbers = [int(row["round"]) for row in after]
    assert numbers == sorted(set(numbers))
    assert (ROOT / JOURNAL[1:]).with_name("journal.sqlite3.key").read_bytes() == key
    assert "HOLDS TOGETHER" in inside(f"novamas verify --text {JOURNAL}")


def test_dpkg_finds_every_file_as_it_was_packed() -> None:
    assert inside("dpkg --verify novamas") == ""
    assert inside("find /usr/lib/novamas -name pip -o -name setuptools") == ""


def test_every_library_finds_what_it_needs() -> None:
    found = inside("find /usr/lib/novamas -name '*.so*' -exec ldd {} + 2>/dev/null || true")
    assert "libc.so.6" in found
    assert [line for line in found.splitlines() if "not found" in line] == []


def test_every_unit_is_sound_and_none_is_enabled() -> None:
    units = "/usr/lib/systemd/system/novamas*.service /usr/lib/systemd/system/novamas*.timer"
    assert inside(f"systemd-analyze verify --man=no {units} 2>&1") == ""
    assert inside("systemd-analyze verify --man=no novamas-surveillance@palma.service 2>&1") == ""
    assert inside("find /etc/systemd/system -name 'novamas*'") == ""


def test_programs_that_a_command_starts_take_nothing_from_the_folder_of_the_caller() -> None:
    inside("mkdir -p /tmp/simulators && echo 'raise SystemExit(9)' >/tmp/simulators/__main__.py")
    assert "usage" in inside("cd /tmp && novamas simulate wheel --help")


def test_the_list_of_contents_is_cyclonedx(present: Path, tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "-qq", "download", "--no-deps", "--require-hashes")
    run(*pip, "--dest", tmp_path, "--requirement", HERE / "schema-pin.txt")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = ("bom-1.6", "spdx", "jsf-0.82")
        schemas = [
            json.loads(packed.read(f"cyclonedx/schema/_res/{name}.SNAPSHOT.schema.json"))
            for name in names
        ]
    registry = Registry().with_resources(
        [(each["$id"], Resource.from_contents(each)) for each in schemas]
    )
    listed = json.loads(present.with_suffix(".cdx.json").read_text())
    jsonschema.Draft7Validator(schemas[0], registry=registry).validate(listed)
    inside_it = json.loads((ROOT / "usr/share/doc/novamas/contents.cdx.json").read_text())
    assert inside_it == listed
    installed = json.loads(
        inside(
            "/usr/lib/novamas/bin/python3 -c 'import json, importlib.metadata as m;"
            " print(json.dumps({d.name: d.version for d in m.distributions()}))'"
        )
    )
    told = {each["name"]: each["version"] for each in listed["components"]}
    told["novamas"] = listed["metadata"]["component"]["version"]
    assert told == installed


def test_every_module_is_imported() -> None:
    absent = "psycopg", "pyarrow"  # docs/technician/install.md
    script = f"""
import importlib, pkgutil
import common, controller, devices, simulators, subscribers
for package in (common, controller, devices, simulators, subscribers):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                assert error.name in {absent}, module.name
"""
    (ROOT / "tmp/everything.py").write_text(script)
    inside("/usr/lib/novamas/bin/python3 -I -W error::SyntaxWarning /tmp/everything.py")


def test_the_site_is_there_to_read_and_search() -> None:
    site = ROOT / "usr/share/doc/novamas/html"
    assert (site / "index.html").exists()
    assert "unintellig" in (site / "searchindex.js").read_text()
    assert not list(site.rglob("*.md"))


def test_lintian_finds_no_error(present: Path) -> None:
    run("lintian", "--fail-on", "error", "--allow-root", present)


def test_a_removal_keeps_what_was_recorded() -> None:
    kept = (ROOT / JOURNAL[1:]).read_bytes()
    inside("dpkg --remove novamas")
    assert (ROOT / JOURNAL[1:]).read_bytes() == kept
    assert (ROOT / "etc/novamas/novamas.toml").exists()
    assert not (ROOT / "usr/lib/novamas").exists()
    assert not (ROOT / "usr/bin/novamas").exists()


def test_a_purge_that_nobody_answers_keeps_it_too() -> None:
    key = ROOT / "etc/novamas/surveillance.key"
    key.write_text("secret")
    inside("dpkg --purge novamas")
    assert (ROOT / JOURNAL[1:]).exists()
    assert key.exists()
    assert not (ROOT / "etc/novamas/novamas.toml").exists()


def test_a_purge_deletes_it_when_told_to(present: Path) -> None:
    install(present)
    inside("echo novamas novamas/delete-data boolean true | debconf-set-selections")
    inside("dpkg --purge novamas")
    assert not (ROOT / "var/lib/novamas").exists()
    assert not (ROOT / "etc/novamas").exists()


def test_a_newcomer_has_a_floor_from_the_page_alone(present: Path) -> None:
    """Run each step as printed, and check the result stated on the page."""
    for file in STAND_INS.iterdir():
        shutil.copy2(file, ROOT / "usr/local/bin")
    inside("useradd --create-home --home-dir /srv/newcomer --shell /bin/sh newcomer")
    (ROOT / "etc/sudoers.d/newcomer").write_text("newcomer ALL=(ALL:ALL) NOPASSWD: ALL\n")
    shutil.copyfile(present, ROOT / "srv/newcomer" / present.name)
    (ROOT / "etc/apt/apt.conf.d/yes").write_text('APT::Get::Assume-Yes "true";\n')
    steps = first_floor()
    assert len(steps) == 9
    seen = {
        3: "await 'hear node/+/status 1 | grep -q online'",
        4: """await 'hear +/state 3 | grep -c \\"status\\":\\"open\\" | grep -q 3'
        await 'fetch http://127.0.0.1:8080/floor | grep -q mesa-3'
        hear +/result 9 | grep -q round.result""",
        5: "await 'fetch http://127.0.0.1:9090/api/v1/query?query=novamas_table_results_total |"
        " grep -q mesa-2'",
        7: """await 'hear +/state 3 | grep -c \\"status\\":\\"closed\\" | grep -q 3'""",
    }
    script = [BEHOLD]
    for number, step in enumerate(steps):
        script += [f"echo 'STEP {number + 1}'", step, seen.get(number, ":")]
    (ROOT / "srv/newcomer/steps").write_text("\n".join(script))
    told = inside(
        "exec setpriv --reuid newcomer --regid newcomer --init-groups sh -e ~newcomer/steps"
    )
    said = re.split(r"^STEP \d$\n", told, flags=re.MULTILINE)[1:]
    assert "ok: site casino-prueba" in said[1]
    assert said[4].count('"ok":true') == 3
    assert "Verified    it holds" in said[6]
    assert "Restored " in said[7]
    assert json.loads(said[8].splitlines()[-1])["holds"]


def test_two_builds_of_a_commit_are_the_same(present: Path) -> None:
    again = roots.build("HEAD", "build/deb-again", RELEASE)
    assert again.read_bytes() == present.read_bytes()
