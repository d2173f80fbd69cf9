"""The scripts that dpkg runs before and after an installation and at a purge, in a folder that
serves as the root of a machine, with stand-ins for debconf and systemd.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PARTS = Path(__file__).parents[2] / "packaging" / "debian"
CONFMODULE = """
db_input() { :; }
db_go() { :; }
db_get() { RET=$(cat ROOT/answer 2>/dev/null); }
db_purge() { rm -f ROOT/answer; }
db_stop() { :; }
"""
"""Standard output is debconf's: nothing else may be written there."""
FOLDERS = (
    *("etc/novamas", "etc/credstore", "var/lib/novamas/recordings/2026"),
    *("var/lib/private/novamas-surveillance", "usr/share/debconf"),
)
DATA = (
    *("etc/novamas/surveillance.key", "etc/credstore/novamas.mqtt.password"),
    *("var/lib/novamas/journal.sqlite3", "var/lib/novamas/recordings/2026/wheel.raw"),
    "var/lib/private/novamas-surveillance/archive.sqlite3",
)


WORDS = {
    "UNITS": "novamas.service novamas-web.service",
    "RELEASE": "12",
    "PYTHON": "python3.11",
    "ARCHITECTURE": "amd64",
}
SYSTEMCTL = """#!/bin/sh
case "$1" in
    list-units) ls ROOT/units | sed 's/$/ loaded active running/' ;;
    show) [ "$(cat ROOT/stage)" = later ] && cat "ROOT/later/$3" || cat "ROOT/soon/$3" ;;
esac
"""
"""Says of a unit what ``soon`` has, and after the script has slept, what ``later`` has."""


class Machine:
    """``before`` runs as root in a separate mount namespace, before the script."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in FOLDERS:
            (root / folder).mkdir(parents=True)
        for file in DATA:
            (root / file).write_text("evidence")
        link = root / "var/lib/novamas-surveillance"
        link.symlink_to("private/novamas-surveillance")
        (root / "answer").write_text("true")
        confmodule = CONFMODULE.replace("ROOT", str(root))
        (root / "usr/share/debconf/confmodule").write_text(confmodule)

    def run(self, script: str, *words: str, before: str = ":") -> tuple[int, str]:
        """The exit status of a script, and what it says."""
        text = (PARTS / script).read_text()
        for name, value in WORDS.items():
            text = text.replace(f"@{name}@", value)
        tops = ("/etc/", "/var/lib/", "/usr/share/debconf", "/usr/lib/os-release", "/run/")
        for top in tops:
            text = text.replace(top, f"{self.root}{top}")
        path = self.root / script
        path.write_text(text)
        commands = f"cd {self.root} && {before} && exec sh {path} {' '.join(words)}"
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", commands],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "LC_ALL": "C"},
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    def purge(self, before: str = ":") -> tuple[int, str]:
        return self.run("postrm", "purge", before=before)

    def left(self) -> list[str]:
        """The files of the package that are there."""
        folders = ("etc", "var", "srv")
        found = (path for folder in folders for path in (self.root / folder).rglob("*"))
        return sorted(
            str(each.relative_to(self.root))
            for each in found
            if each.is_symlink() or each.is_file()
        )

    def user(self, entry: str, group: str = "novamas", groups: str = "novamas dialout") -> None:
        """Let the machine have a user ``novamas``."""
        (self.root / "bin").mkdir(exist_ok=True)
        answers = {
            "getent": f"echo '{entry}'",
            "id": f'[ "$1" = -gn ] && echo {group} || echo {groups}',
        }
        for name, answer in answers.items():
            (self.root / "bin" / name).write_text(f"#!/bin/sh\n{answer}\n")
            (self.root / "bin" / name).chmod(0o755)


@pytest.fixture
def machine(programs: None, tmp_path: Path) -> Machine:
    return Machine(tmp_path / "root")


def test_a_yes_deletes_everything(machine: Machine) -> None:
    assert machine.purge() == (0, "")
    assert machine.left() == []
    assert not (machine.root / "answer").exists()


def test_a_no_deletes_nothing_that_was_recorded(machine: Machine) -> None:
    (machine.root / "answer").write_text("false")
    assert machine.purge() == (0, "")
    assert set(DATA) <= {*machine.left()}


DISK = "mount -t tmpfs disk var/lib/novamas/recordings/2026 && echo more >{}/more"


def test_disks_in_the_state_are_emptied_at_any_depth(machine: Machine) -> None:
    """And answered "no"."""
    folder = "var/lib/novamas/recordings/2026"
    keeping = f"mkdir kept && {DISK.format(folder)} && mount --bind {folder} kept"
    code, output = machine.purge(f"{keeping} && mkdir {folder}/a && ln -s nowhere {folder}/a/link")
    assert code == 0, output
    assert f"{machine.root}/{folder} is emptied, and stays" in output
    assert not set(DATA[:3] + DATA[4:]) & {*machine.left()}


def test_a_failed_deletion_is_reported_and_the_next_purge_continues(machine: Machine) -> None:
    """The disk is there for reading alone; all else goes at once, and the answer stays."""
    folder = "var/lib/novamas/recordings/2026"
    code, output = machine.purge(f"{DISK.format(folder)} && mount -o remount,ro {folder}")
    assert code == 1
    assert f"NOT deleted: {machine.root}/{folder}/more" in output
    assert "not all is deleted" in output
    assert "is emptied" not in output
    assert machine.left() == [
        DATA[3]
    ]  # files beneath the mount point, which only the script could reach
    assert machine.purge() == (0, "")
    assert machine.left() == []


Lay = Callable[[Path], None]


def moved(root: Path) -> None:
    (root / "srv").mkdir()
    (root / "var/lib/novamas").rename(root / "srv/novamas")
    (root / "var/lib/novamas").symlink_to(root / "srv/novamas")


def recordings_moved(root: Path) -> None:
    (root / "srv").mkdir()
    (root / "var/lib/novamas/recordings").rename(root / "srv/recordings")
    (root / "var/lib/novamas/recordings").symlink_to(root / "srv/recordings")


@pytest.mark.parametrize(
    ("lay", "link", "there"),
    [
        (moved, "var/lib/novamas", "srv/novamas"),
        (recordings_moved, "var/lib/novamas/recordings", "srv/recordings"),
    ],
)
def test_a_link_to_data_elsewhere_is_named_not_followed(
    machine: Machine, lay: Lay, link: str, there: str
) -> None:
    lay(machine.root)
    code, output = machine.purge()
    assert code == 1
    named = f"{machine.root}/{link} is a link to {machine.root}/{there}"
    assert f"NOT deleted: {named}" in output
    assert any(each.startswith(there) for each in machine.left())
    assert not set(DATA[:2] + DATA[4:]) & {*machine.left()}
    subprocess.run(["rm", "-r", machine.root / there, machine.root / link], check=True)
    assert machine.purge() == (0, "")
    assert machine.left() == []


def test_a_link_to_a_file_elsewhere_goes_and_the_file_stays(machine: Machine) -> None:
    """The certificate of the web server is not the package's. A link within the state is."""
    (machine.root / "srv").mkdir()
    (machine.root / "srv/web.pem").write_text("certificate")
    (machine.root / "etc/novamas/web.pem").symlink_to(machine.root / "srv/web.pem")
    (machine.root / "var/lib/novamas/latest").symlink_to("journal.sqlite3")
    (machine.root / "var/lib/novamas/today").symlink_to("recordings/2026")
    code, output = machine.purge()
    assert (code, machine.left()) == (0, ["srv/web.pem"])
    (line,) = output.splitlines()
    assert line.endswith(f"web.pem alone, not {machine.root}/srv/web.pem")


OWN = "novamas:x:994:994:Novamas:/var/lib/novamas:/usr/sbin/nologin"


def test_an_installation_uses_a_user_that_is_the_daemons_own(machine: Machine) -> None:
    machine.user(OWN)
    for words in (("install",), ("install", "1.0"), ("upgrade", "1.0")):
        assert machine.run("preinst", *words) == (0, "")


@pytest.mark.parametrize(
    ("entry", "group", "groups", "why"),
    [
        (
            OWN.replace("/usr/sbin/nologin", "/bin/bash"),
            "novamas",
            "novamas",
            "log in with /bin/bash",
        ),
        (OWN.replace("/usr/sbin/nologin", ""), "novamas", "novamas", "log in with /bin/sh"),
        (OWN.replace(":994:", ":1001:", 1), "novamas", "novamas", "its id is 1001"),
        (OWN.replace(":994:", ":0:", 1), "novamas", "novamas", "it is root"),
        (OWN, "nogroup", "nogroup", "its group is nogroup"),
        (OWN, "novamas", "novamas sudo dialout adm", "in the groups sudo adm"),
    ],
)
def test_a_foreign_user_is_refused(
    machine: Machine, entry: str, group: str, groups: str, why: str
) -> None:
    """At a first installation; an upgrade is warned."""
    machine.user(entry, group, groups)
    code, output = machine.run("preinst", "install")
    assert code == 1
    assert why in output
    assert "nothing was installed" in output
    code, output = machine.run("preinst", "upgrade", "1.0")
    assert code == 0
    assert why in output


@pytest.mark.parametrize("folder", ["etc/novamas", "var/lib/novamas"])
def test_an_installation_onto_a_link_or_a_file_is_refused(machine: Machine, folder: str) -> None:
    machine.user(OWN)
    place = machine.root / folder
    place.rename(machine.root / "elsewhere")
    place.symlink_to(machine.root / "elsewhere")
    code, output = machine.run("preinst", "install")
    assert code == 1
    assert f"{place} is a link to {machine.root}/elsewhere" in output
    assert machine.run("preinst", "upgrade", "1.0")[0] == 0
    place.unlink()
    place.write_text("")
    assert machine.run("preinst", "install")[0] == 1


RUNS = "ActiveState=active\nNRestarts=0\n"
RUNS_AGAIN = "ActiveState=active\nNRestarts=1\n"
WAITS = "ActiveState=activating\nNRestarts=0\n"
FAILED = "ActiveState=failed\nNRestarts=0\n"


def systemd(machine: Machine, soon: str, later: str) -> None:
    """Let ``novamas.service`` run before an upgrade, and be thus after it. ``novamas-web.service``
    is always well.
    """
    root = machine.root
    for folder in ("bin", "units", "soon", "later", "run/systemd/system", "usr/lib"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for unit, states in {
        "novamas.service": (soon, later),
        "novamas-web.service": (RUNS, RUNS),
    }.items():
        (root / "units" / unit).touch()
        for folder, state in zip(("soon", "later"), states, strict=True):
            (root / folder / unit).write_text(state)
    (root / "stage").write_text("soon")
    (root / "usr/lib/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
    record = f'echo "$(basename $0) $@" >>{root}/calls\n'
    programs = {
        "systemctl": SYSTEMCTL.replace("ROOT", str(root)),
        "sleep": f"#!/bin/sh\necho later >{root}/stage\n",
        "deb-systemd-invoke": f"#!/bin/sh\n{record}",
        "journalctl": "#!/bin/sh\necho 'an open session cannot be read'\n",
        "systemd-sysusers": "#!/bin/sh\n",
        "systemd-tmpfiles": "#!/bin/sh\n",
    }
    for name, text in programs.items():
        (root / "bin" / name).write_text(text)
        (root / "bin" / name).chmod(0o755)


@pytest.mark.parametrize(
    ("soon", "later"),
    [(FAILED, FAILED), (WAITS, WAITS), (RUNS, WAITS), (RUNS, RUNS_AGAIN), (WAITS, FAILED)],
)
def test_an_upgrade_fails_and_names_the_service_that_did_not_come_back(
    machine: Machine, soon: str, later: str
) -> None:
    systemd(machine, soon, later)
    code, output = machine.run("postinst", "configure", "1.0")
    assert code == 1
    assert "novamas.service RAN BEFORE THE UPGRADE AND DID NOT COME BACK" in output
    assert "an open session cannot be read" in output
    assert "systemctl restart novamas.service; dpkg --configure novamas" in output
    assert "novamas-web" not in output


def test_an_upgrade_prints_nothing_where_all_came_back_or_nothing_ran(machine: Machine) -> None:
    systemd(machine, RUNS, RUNS)
    assert machine.run("postinst", "configure", "1.0") == (0, "")
    calls = "deb-systemd-invoke try-restart novamas.service novamas-web.service\n"
    assert (machine.root / "calls").read_text() == calls
    systemd(machine, FAILED, FAILED)
    (machine.root / "bin/systemctl").write_text("#!/bin/sh\n")
    assert machine.run("postinst", "configure", "1.0") == (0, "")
    assert machine.run("postinst", "configure", "''") == (0, "")
    assert (machine.root / "calls").read_text() == calls


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ('ID=debian\nVERSION_ID="12"', False),
        ('ID=debian\nVERSION_ID="13"', True),
        ("ID=debian", False),
        ('ID=ubuntu\nVERSION_ID="26.04"', False),
    ],
)
def test_debian_upgraded_below_the_package_is_reported(
    machine: Machine, system: str, told: bool
) -> None:
    """And by the next upgrade of the package for the release before."""
    systemd(machine, RUNS, RUNS)
    (machine.root / "usr/lib/os-release").write_text(f"{system}\n")
    for words in (("triggered", "/usr/lib/os-release"), ("configure", "1.0")):
        code, output = machine.run("postinst", *words)
        assert code == 0
        assert ("THIS PACKAGE IS FOR DEBIAN 12, and this is now Debian 13." in output) == told
        assert ("novamas_VERSION+deb13_amd64.deb" in output) == told
        assert told or output == ""
