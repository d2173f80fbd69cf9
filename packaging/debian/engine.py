"""Containers for tests: crun, the runtime below podman, starts what an archive of ``make image``
says, with the restrictions of `--read-only --cap-drop=all --security-opt=no-new-privileges`. All
containers share one network, in which nothing but they and the test is.
"""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

CHECKOUT = Path(__file__).parents[2]
_WITHOUT_CGROUPS = 'umount -q /sys/fs/cgroup/unified; exec crun "$@"'
CRUN = ("unshare", "--mount", "sh", "-c", _WITHOUT_CGROUPS, "crun")
"""crun without control groups, which the machine of a test may not have."""
ROOT = "0"
ROOT_CAPABILITIES = (
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
)
"""What a container has whose user is root; engines give it these and some more."""


class Volume(NamedTuple):
    """A folder outside, mounted in a container."""

    source: Path
    target: str
    writable: bool = True


class Image:
    """An image of the format of Docker, unpacked below ``folder``."""

    def __init__(self, archive: Path, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        with tarfile.open(archive) as packed:
            (listed,) = json.loads(_read(packed, "manifest.json"))
            self.names: list[str] = listed["RepoTags"]
            self.whole: dict[str, Any] = json.loads(_read(packed, listed["Config"]))
            (layer,) = listed["Layers"]
            packed.extract(layer, folder, filter="data")
        run("tar", "--extract", "--file", folder / layer, "--directory", self.root)
        (folder / layer).unlink()
        (folder / "image.json").write_text(json.dumps([self.names, self.whole]))

    @classmethod
    def loaded(cls, folder: Path) -> Image:
        """Return the image that is unpacked there."""
        made = cls.__new__(cls)
        made.root = folder / "root"
        made.names, made.whole = json.loads((folder / "image.json").read_text())
        return made

    @property
    def config(self) -> dict[str, Any]:
        """What is started, and how."""
        config: dict[str, Any] = self.whole["config"]
        return config

    def user(self, uid: str) -> dict[str, Any]:
        """Return a user with the groups that the image gives it."""
        users = (line.split(":") for line in (self.root / "etc/passwd").read_text().splitlines())
        ((name, gid),) = [(user[0], int(user[3])) for user in users if user[2] == uid]
        groups = (line.split(":") for line in (self.root / "etc/group").read_text().splitlines())
        more = [int(group[2]) for group in groups if name in group[3].split(",")]
        return {"uid": int(uid), "gid": gid, "additionalGids": more}


def _read(packed: tarfile.TarFile, name: str) -> bytes:
    file = packed.extractfile(name)
    assert file is not None
    return file.read()


class Network:
    """A network in which nothing is but its own loopback, and what is started in it."""

    def __init__(self) -> None:
        self.name = f"novamas-{os.getpid()}"
        run("ip", "netns", "add", self.name)
        run("ip", "-n", self.name, "link", "set", "lo", "up")

    def close(self) -> None:
        run("ip", "netns", "delete", self.name)

    def inside(self, *words: str | Path) -> list[str]:
        """Return the words of a command of this machine in it."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *map(str, words)]


class Engine:
    """Starts containers below ``folder``, and ends them with the test. Without ``network`` they are
    in that of the caller.
    """

    def __init__(self, image: Image, folder: Path, network: Network | None = None) -> None:
        self.image, self.folder, self.network = image, folder, network
        self.hosts = folder / "hosts"
        """Names in the network, all of its own loopback."""
        self.containers: list[Container] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.hosts.write_text("127.0.0.1 localhost\n")

    def close(self) -> None:
        for container in self.containers:
            container.kill()

    def outside(self, *words: str | Path) -> list[str]:
        """Return the words of a command of this machine in the network of the containers."""
        return [*map(str, words)] if self.network is None else self.network.inside(*words)

    def namespaces(self) -> list[dict[str, str]]:
        if self.network is None:
            return []
        return [{"type": "network", "path": f"/run/netns/{self.network.name}"}]

    def results(self, topic: str, count: int = 1, *login: str) -> list[dict[str, Any]]:
        """Wait for messages at the broker, and return those that are results."""
        words = ("mosquitto_sub", "-h", "127.0.0.1", *login, "-t", topic, "-C", str(count))
        done = subprocess.run(
            self.outside(*words, "-W", "120"), capture_output=True, text=True, check=False
        )
        return [found for found in map(json.loads, done.stdout.splitlines()) if found]

    def volume(self, name: str, target: str) -> Volume:
        """Return a volume; a new one has what the image has in its place, with the same owner."""
        source = self.folder / "volumes" / name
        if not source.exists():
            source.parent.mkdir(exist_ok=True)
            run("cp", "--archive", self.image.root / target.lstrip("/"), source)
        return Volume(source, target)

    def start(self, name: str, command: Sequence[str] = (), **how: Any) -> Container:
        made = Container(self, name, command, **how)
        self.containers.append(made)
        return made


class Container:
    """One container. What is not given is as in the image. ``devices``: files of this machine by
    their paths inside.
    """

    def __init__(
        self,
        engine: Engine,
        name: str,
        command: Sequence[str] = (),
        *,
        entrypoint: Sequence[str] | None = None,
        volumes: Sequence[Volume] = (),
        devices: Mapping[str, Path] | None = None,
        environment: Mapping[str, str] | None = None,
        user: str | None = None,
        read_only: bool = True,
        attached: bool = False,
    ) -> None:
        config = engine.image.config
        self._id = f"novamas-{os.getpid()}-{name}"
        self._folder = engine.folder / name
        self._folder.mkdir(exist_ok=True)
        self._state = ("--root", str(engine.folder / "crun"), "--cgroup-manager=disabled")
        self.healthcheck: list[str] = config["Healthcheck"]["Test"][1:]
        words = [*(config["Entrypoint"] if entrypoint is None else entrypoint)]
        words += command or (config["Cmd"] if entrypoint is None else ())
        set_here = [f"{key}={value}" for key, value in (environment or {}).items()]
        mounts = [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            *(_tmpfs(target) for target in ("/dev", "/tmp", "/run")),
            {
                "destination": "/dev/pts",
                "type": "devpts",
                "source": "devpts",
                "options": ["newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
            },
            _bind(Volume(engine.hosts, "/etc/hosts", writable=False)),
            *map(_bind, volumes),
            *(_bind(Volume(file, target)) for target, file in (devices or {}).items()),
        ]
        self._process = {
            "user": engine.image.user(user or config["User"]),
            "cwd": config["WorkingDir"],
            "args": words,
            "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", *config["Env"], *set_here],
            "noNewPrivileges": user != ROOT,
            "capabilities": dict.fromkeys(
                ("bounding", "effective", "permitted"), [*ROOT_CAPABILITIES] if user == ROOT else []
            ),
        }
        bundle = {
            "ociVersion": "1.0.2",
            "hostname": name,
            "root": {"path": str(engine.image.root), "readonly": read_only},
            "process": self._process,
            "mounts": mounts,
            "linux": {
                "namespaces": [
                    *({"type": each} for each in ("pid", "ipc", "uts", "mount")),
                    *engine.namespaces(),
                ]
            },
        }
        (self._folder / "config.json").write_text(json.dumps(bundle))
        self._log = (self._folder / "log").open("ab")
        self.process = subprocess.Popen(
            [*CRUN, *self._state, "run", "--bundle", str(self._folder), self._id],
            stdin=None if attached else subprocess.DEVNULL,
            stdout=None if attached else self._log,
            stderr=None if attached else self._log,
        )

    def log(self) -> str:
        return (self._folder / "log").read_text()

    def check(self) -> subprocess.CompletedProcess[str]:
        """Run the healthcheck of the image, as the engine would."""
        return self.run(*self.healthcheck)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in it, as the user of the container."""
        file = self._folder / "exec.json"
        file.write_text(json.dumps({**self._process, "args": words}))
        return subprocess.run(
            [*CRUN, *self._state, "exec", "--process", str(file), self._id],
            capture_output=True,
            text=True,
            check=False,
        )

    def signal(self, name: str) -> None:
        run(*CRUN, *self._state, "kill", self._id, name)

    def stop(self) -> int:
        """End it with the stop signal of the image, and return its exit code."""
        self.signal("TERM")
        return self.process.wait(60)

    def kill(self) -> None:
        subprocess.run(
            [*CRUN, *self._state, "delete", "--force", self._id], check=False, capture_output=True
        )
        self.process.wait(60)
        self._log.close()


def _tmpfs(target: str) -> dict[str, Any]:
    options = ["nosuid", "nodev", "mode=1777"] if target == "/tmp" else ["nosuid", "mode=755"]
    return {"destination": target, "type": "tmpfs", "source": "tmpfs", "options": options}


def _bind(volume: Volume) -> dict[str, Any]:
    return {
        "destination": volume.target,
        "type": "bind",
        "source": str(volume.source),
        "options": ["rbind", "rw" if volume.writable else "ro"],
    }


def run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout
