"""Run mutants against the tests that claim their rules, several at a time, and store the outcome of
each.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.mutants.child import Ran, fork
from tests.mutants.table import ROOT, Mutant

CACHE = ROOT / ".mutants"
SEED = 11
FILES_PER_RUN = 8
"""Files whose tests run in one process if nothing is mutated. Starting a run takes longer than most
of them.
"""
DECREES = ("BAL05", "BAL09", "ARA02", "EUS96", "GAL07")

Claims = dict[str, tuple[str, ...]]
"""Rule -> the tests that claim it, in the order of collection."""


class Proof(NamedTuple):
    """The outcome of a mutant. ``by``: for each rule that was proved, the test that failed."""

    mutant: Mutant
    by: dict[str, str]
    broken: str = ""

    @property
    def survived(self) -> tuple[str, ...]:
        """The rules whose tests all passed."""
        return tuple(rule for rule in self.mutant.rules if rule not in self.by)


class Task(NamedTuple):
    """Tests to run in a process of their own, each with the rules that it may prove."""

    mutant: Mutant | None
    wanted: dict[str, set[str]]


def sample(mutants: tuple[Mutant, ...], one_in: int) -> tuple[Mutant, ...]:
    """Return one in ``one_in`` mutants, the same ones each time."""
    return tuple(random.Random(SEED).sample(mutants, max(1, len(mutants) // one_in)))


def content() -> str:
    """Hash of every file that a test may read: the packages and the tests; not the mutants, nor
    their records.
    """
    told, own = hashlib.sha256(), Path(__file__).parent
    packages = ("common", "controller", "devices", "simulators", "subscribers", "benchmarks")
    for folder in (*packages, "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if (
                path.is_file()
                and path.suffix != ".pyc"
                and path.name != "proofs.tsv"
                and not path.is_relative_to(own)
            ):
                told.update(
                    f"{path.relative_to(ROOT)}\0".encode()
                    + hashlib.sha256(path.read_bytes()).digest()
                )
    return told.hexdigest()


def claims(known: str) -> Claims:
    """The claims of every test, collected once for each content of the project."""
    file = _remembered("claims", known)
    if not file.exists():
        part = file.with_name("claims.part")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-p",
            "tests.support.claims",
            "-p",
            "no:cacheprovider",
            "tests",
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "CLAIMS": str(part)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        part.rename(file)
    found: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        rule, test = line.split("\t")
        if concerns(test, rule):
            found.setdefault(rule, []).append(test)
    return {rule: tuple(tests) for rule, tests in found.items()}


def concerns(test: str, rule: str) -> bool:
    """True if the test is about the rule's decree: the case for another decree proves nothing of
    it.
    """
    named = {decree for decree in DECREES if decree in test}
    return not named or rule.partition("-")[0] in named


def _remembered(what: str, known: str) -> Path:
    """The cache file for this content of the project; files of other contents are removed."""
    CACHE.mkdir(exist_ok=True)
    file = CACHE / f"{what}-{known}"
    for old in CACHE.glob(f"{what}-*"):
        if old != file:
            old.unlink(missing_ok=True)
    return file


class Memory:
    """Outcomes of earlier runs, one line each, valid until the project or the mutant changes."""

    def __init__(self, known: str) -> None:
        self.file = _remembered("results", known)
        lines = self.file.read_bytes().splitlines(keepends=True) if self.file.exists() else []
        whole = (
            line for line in lines if line.endswith(b"\n")
        )  # the last one may have been cut off
        self.found: dict[str, Ran] = dict(
            msgspec.json.decode(line, type=tuple[str, Ran]) for line in whole
        )

    def key(self, task: Task) -> str:
        """The task's key."""
        told = msgspec.json.encode(
            (task.mutant, sorted((test, sorted(rules)) for test, rules in task.wanted.items()))
        )
        return hashlib.sha256(told).hexdigest()

    def store(self, task: Task, ran: Ran) -> None:
        """Written at once: an interrupted run continues from here."""
        self.found[self.key(task)] = ran
        with self.file.open("ab") as lines:
            lines.write(msgspec.json.encode((self.key(task), ran)) + b"\n")


def prove(
    mutants: Iterable[Mutant],
    claimed: Claims,
    memory: Memory,
    jobs: int,
    tell: Callable[[Proof], None] = lambda _: None,
) -> list[Proof]:
    """Run the mutants. A failure counts if the same test passes without the mutant."""
    proofs = []
    for task, ran in _run_all([_task(mutant, claimed) for mutant in mutants], memory, jobs):
        assert task.mutant is not None
        by = {rule: test for test in reversed(ran.failed) for rule in task.wanted[test]}
        proofs.append(Proof(task.mutant, by, ran.broken))
        tell(proofs[-1])
    sound = _pass_unchanged({test for proof in proofs for test in proof.by.values()}, memory, jobs)
    return [
        proof._replace(by={rule: test for rule, test in proof.by.items() if test in sound})
        for proof in proofs
    ]


def _task(mutant: Mutant, claimed: Claims) -> Task:
    wanted: dict[str, set[str]] = {}
    for rule in mutant.rules:
        for test in claimed.get(rule, ()):
            wanted.setdefault(test, set()).add(rule)
    return Task(mutant, wanted)


def _pass_unchanged(tests: set[str], memory: Memory, jobs: int) -> set[str]:
    """The tests that pass without any mutant."""
    files: dict[str, set[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], set()).add(test)
    groups = list(files.values())
    several = [
        set().union(*groups[first : first + FILES_PER_RUN])
        for first in range(0, len(groups), FILES_PER_RUN)
    ]
    tasks = [Task(None, {test: {test} for test in group}) for group in several]
    return {test for _, ran in _run_all(tasks, memory, jobs) for test in ran.passed}


def _run_all(tasks: list[Task], memory: Memory, jobs: int) -> Iterator[tuple[Task, Ran]]:
    """Run the tasks without a stored outcome, ``jobs`` at a time."""
    waiting = []
    for task in tasks:
        known = memory.found.get(memory.key(task))
        if known is not None:
            yield task, known
        elif not task.wanted:
            yield task, Ran(broken="no test claims these rules")
        else:
            waiting.append(task)
    with tempfile.TemporaryDirectory() as folder:
        running: dict[int, tuple[Task, Path]] = {}
        for number, task in enumerate(waiting):
            while len(running) >= jobs:
                yield _ended(running, memory)
            out = Path(folder) / str(number)
            running[fork(task.mutant, task.wanted, out)] = task, out
        while running:
            yield _ended(running, memory)


def _ended(running: dict[int, tuple[Task, Path]], memory: Memory) -> tuple[Task, Ran]:
    """Wait until one of the processes ends; return its outcome."""
    child, status = os.wait()
    task, out = running.pop(child)
    if status:
        log = out.with_suffix(".log").read_text(encoding="utf-8", errors="replace").strip()
        return task, Ran(
            broken=f"the run ended with {os.waitstatus_to_exitcode(status)}: {log[-500:]}"
        )
    ran = msgspec.json.decode(out.read_bytes(), type=Ran)
    memory.store(task, ran)
    return task, ran
