"""Programs of this project as forks of an interpreter that has imported them: a start costs a tenth
of the processor time that a new interpreter needs for its imports. The fork is a process with its
own arguments, environment, folder, umask and descriptors, which ends as any interpreter does.

``python -m tests.support.prepared DESCRIPTOR`` is that interpreter, one for each test process.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import types
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO

import msgspec

IMPORTED = (
    "controller.cli.run",
    "controller.cli.surveillance",
    "controller.cli.webhooks",
    "controller.games.roulette.game",
    "controller.service.daemon",
    "devices.links.serial_port",
    "devices.wheel.cammegh_ss2_driver",
    "prometheus_client",
    "subscribers.carrousel.service",
    "subscribers.feed.worlds",
    "subscribers.service_log",
    "subscribers.web.app",
    "subscribers.web.connections",
    "subscribers.web.receive",
    "uvicorn.lifespan.on",
)
"""Modules that import nearly all that the programs of most tests do."""
ROOT = Path(__file__).parents[2]
MAX_REQUEST_BYTES = 1 << 18
MAX_DESCRIPTORS = 1 << 12
_NUMBER = struct.Struct("q")


class _Start(msgspec.Struct, frozen=True):
    """A command line of Python without the interpreter, and where it is to run."""

    words: list[str]
    environment: dict[str, str]
    folder: str
    umask: int


class PreparedProgram:
    """A program that was forked: what tests use of :class:`subprocess.Popen`."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        stdout: IO[bytes] | int = 1,
        stderr: IO[bytes] | int = 2,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """``words``: what follows the interpreter, ``-c CODE ...`` or ``-m MODULE ...``.
        ``stdout``, ``stderr``: a file, a descriptor, or ``PIPE`` or ``STDOUT`` of
        :mod:`subprocess`.
        """
        start = _Start(list(words), dict(environment), str(Path.cwd()), _umask())
        # as a started program does: only tests with the fixture `programs` may
        sys.audit("subprocess.Popen", sys.executable, start.words, start.folder, start.environment)
        self.returncode: int | None = None
        self.stdout: IO[bytes] | None = None
        self._status, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            pipe = os.pipe() if stdout == subprocess.PIPE else None
            output = pipe[1] if pipe else _descriptor(stdout)
            error = output if stderr == subprocess.STDOUT else _descriptor(stderr)
            _interpreter().fork(start, output, error, other.fileno())
        if pipe:
            os.close(pipe[1])
            self.stdout = os.fdopen(pipe[0], "rb")
        self.pid = self._number()

    def _number(self) -> int:
        """Return the next number of the interpreter: the process id, then the exit status."""
        received = self._status.recv(_NUMBER.size)
        assert received, "the prepared interpreter has ended"
        return int(_NUMBER.unpack(received)[0])

    def poll(self) -> int | None:
        """Return the exit code once it has ended."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code: negative for a signal."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a prepared program", timeout or 0)
            self.returncode = self._number()
            self._status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # its exit code is on the way
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def may_be_forked(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Return whether a command line of Python is one of a module or of code, without what only a
    new process loads.
    """
    return words[0] in ("-c", "-m") and "LD_PRELOAD" not in environment


def _umask() -> int:
    """Return the umask of this process, which no call only reads."""
    status = Path("/proc/self/status").read_text()
    [umask] = [line.split()[1] for line in status.splitlines() if line.startswith("Umask:")]
    return int(umask, 8)


def _descriptor(file: IO[bytes] | int) -> int:
    return file if isinstance(file, int) else file.fileno()


class _Interpreter:
    """The interpreter that forks the programs of this process. It ends once it is closed."""

    def __init__(self) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            number = other.fileno()
            words = [sys.executable, "-m", __name__, str(number)]
            self._process = subprocess.Popen(
                words, pass_fds=[number], cwd=ROOT, stdin=subprocess.DEVNULL
            )

    def fork(self, start: _Start, *descriptors: int) -> None:
        """Ask for a program with these descriptors: its output, its errors, and its status."""
        socket.send_fds(self._control, [msgspec.json.encode(start)], descriptors)

    def close(self) -> None:
        self._control.close()
        self._process.wait()


@functools.cache
def _interpreter() -> _Interpreter:
    made = _Interpreter()
    atexit.register(made.close)
    return made


def _serve(control: socket.socket) -> _Start:
    """Fork for each request. Return in the fork, with what it has to run."""
    alive: dict[int, socket.socket] = {}
    ended, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakeup)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([control.fileno(), ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            _report(alive)
        if control.fileno() not in ready:
            continue
        request, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST_BYTES, 3)
        if not request:
            os._exit(0)
        start = msgspec.json.decode(request, type=_Start)
        output, error, status = descriptors
        if (pid := os.fork()) == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(output, 1)
            os.dup2(error, 2)
            for each in (control, *alive.values()):
                each.detach()
            os.closerange(3, MAX_DESCRIPTORS)
            return start
        alive[pid] = socket.socket(fileno=status)
        alive[pid].send(_NUMBER.pack(pid))
        os.close(output)
        os.close(error)


def _report(alive: dict[int, socket.socket]) -> None:
    """Report the exit code of each program that has ended."""
    while alive:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with alive.pop(pid) as asks:
            try:
                asks.send(_NUMBER.pack(os.waitstatus_to_exitcode(status)))
            except OSError:  # no test waits for it
                continue


def _run(start: _Start) -> None:
    """Run a command line in this process."""
    os.chdir(start.folder)
    os.umask(start.umask)
    os.environ.clear()
    os.environ.update(start.environment)
    time.tzset()
    kind, what, *arguments = start.words
    if kind == "-m":
        sys.argv = [what, *arguments]
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    sys.argv = ["-c", *arguments]
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(what, "<string>", "exec"), main.__dict__)


def _prepare() -> None:
    for module in IMPORTED:
        import_module(module)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _prepare()
    _run(_serve(socket.socket(fileno=int(sys.argv[1]))))
