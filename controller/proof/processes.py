"""Several processes that prove one journal together.

Each but the first begins at a seam with a guess: that all before it is as it was written, that each
table knew what was stored as the day began, and that each device's decoder knows what it makes of
the bytes just before. Its findings count only if the process before it has reached the same state.
Otherwise that one continues, until both agree. So what is found is what one process alone would
find, in the same order.
"""

from __future__ import annotations

import multiprocessing
import signal
from bisect import bisect
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

import msgspec

from controller.proof.pieces import Piece, cut, shares

if TYPE_CHECKING:
    from controller.proof.verify import Walk, WalkFindings


class PieceFindings(msgspec.Struct, frozen=True):
    """A piece, by its index: a digest of what was known ``before`` and ``after`` it, and what was
    found in it. Not ``sound``: more would have to be known than is at a seam.
    """

    index: int
    before: bytes
    after: bytes
    walked: WalkFindings
    listener_findings: Any
    sound: bool


def walk_together(walk: Walk, jobs: int) -> list[PieceFindings] | None:
    """Process the whole journal in several processes, and yield the findings of each piece, in
    order. None: one process has to do it.
    """
    pieces = cut(walk.evidence)
    begins = shares(walk.evidence, pieces, jobs)
    processes: list[_Process] = []
    try:
        for begin, end in pairwise([*begins, len(pieces)]):
            ours = [process.connection for process in processes]
            processes.append(_Process(walk, pieces, begin, end, ours))
        return _in_order(_ProcessPool(walk, processes), begins, len(pieces))
    finally:
        for process in processes:
            process.stop()


def _in_order(together: _ProcessPool, begins: list[int], count: int) -> list[PieceFindings] | None:
    """Each piece from a process that knew what is true before it."""
    holder, after, accepted = together.processes[0], b"", list[PieceFindings]()
    for index in range(count):
        owner = together.processes[bisect(begins, index) - 1]
        if owner is not holder:
            guessed = together.findings(owner, index)
            if guessed is not None and guessed.before == after:
                holder = owner
        if index >= holder.end:
            holder.extend()
        findings = together.findings(holder, index)
        if findings is None or not findings.sound:
            return None
        accepted.append(findings)
        after = findings.after
    return accepted


class _Process:
    """One process: handles the pieces from ``begin`` to before ``end``, then as many more as
    requested.
    """

    def __init__(
        self, walk: Walk, pieces: list[Piece], begin: int, end: int, others: list[Connection]
    ) -> None:
        self.end = end
        self.findings: dict[int, PieceFindings] = {}
        self.done = 0
        self.left = False
        self.connection, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context(
            "fork"
        )  # the key that unseals is passed on by no pipe
        self._process = context.Process(
            target=_work,
            args=(theirs, [*others, self.connection], walk, pieces, range(begin, end)),
            daemon=True,
        )
        self._process.start()
        theirs.close()

    def extend(self) -> None:
        """Have it take one piece more."""
        try:
            self.connection.send(None)
        except OSError:
            self.left = True

    def receive(self) -> None:
        """Take its next message."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.left = True
            return
        if isinstance(message, PieceFindings):
            self.findings[message.index] = message
        else:
            self.done = message

    def stop(self) -> None:
        """End it."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


class _ProcessPool:
    def __init__(self, walk: Walk, processes: list[_Process]) -> None:
        self._walk, self.processes = walk, processes
        self._total = walk.evidence.size()

    def findings(self, process: _Process, index: int) -> PieceFindings | None:
        """What that process has found in a piece, once it has; None if it is gone."""
        while index not in process.findings and not process.left:
            ready = wait([each.connection for each in self.processes if not each.left])
            for each in self.processes:
                if each.connection in ready:
                    each.receive()
            done = sum(each.done for each in self.processes)
            self._walk.progress(min(done, self._total), self._total)
        return process.findings.get(index)


def _work(
    connection: Connection, others: list[Connection], walk: Walk, pieces: list[Piece], share: range
) -> None:
    """The work of one process. It ends when the first one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    for other in others:
        other.close()
    walk.progress = lambda done, _total: connection.send(done)
    walk.take_findings()  # findings of the evidence as a whole are not repeated
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        if share.start:
            walk.begin(pieces[share.start])
        for index in range(share.start, len(pieces)):
            if index >= share.stop:
                connection.recv()
            connection.send(_prove_piece(walk, pieces, index))


def _prove_piece(walk: Walk, pieces: list[Piece], index: int) -> PieceFindings:
    before = walk.state_digest(pieces[index])
    walk.take(pieces[index])
    if last := index == len(pieces) - 1:
        walk.listener.end()
    after = b"" if last else walk.state_digest(pieces[index + 1])
    return PieceFindings(
        index,
        before,
        after,
        walk.take_findings(),
        walk.listener.take_findings(),
        walk.listener.sound,
    )
