"""Proves one journal in several processes.

Each but the first begins at a seam with assumptions: that everything before it is intact, that each
table had the state that was stored as the day began, and that each decoder has the state that the
preceding bytes lead to. Its findings count only if the previous process reaches the same state.
Otherwise that one continues until both agree. So the findings, and their order, are those that one
process alone would have.
"""

from __future__ import annotations

import multiprocessing
import signal
from bisect import bisect
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from typing import Any

import msgspec

from controller.proof.pieces import Piece, cut, shares
from controller.proof.walk import Walk, WalkFindings


class PieceFindings(msgspec.Struct, frozen=True):
    """The findings of one piece, with a digest of the verifier's state ``before`` and ``after`` it.
    ``sound``: False if the piece depends on more than is known at a seam.
    """

    index: int
    before: bytes
    after: bytes
    walked: WalkFindings
    listener_findings: Any
    sound: bool


def walk_together(walk: Walk, jobs: int) -> list[PieceFindings] | None:
    """Walk the whole journal in several processes, and return the findings of each piece, in order;
    None if one process has to do it.
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
    """Return the findings of each piece from a process that began it in the right state."""
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
        )  # so that the secret key is not sent through a pipe
        self._process = context.Process(
            target=_work,
            args=(theirs, [*others, self.connection], walk, pieces, range(begin, end)),
            daemon=True,
        )
        self._process.start()
        theirs.close()

    def extend(self) -> None:
        """Let it handle one more piece."""
        try:
            self.connection.send(None)
        except OSError:
            self.left = True

    def receive(self) -> None:
        """Receive its next message."""
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
        """Terminate the process."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


class _ProcessPool:
    def __init__(self, walk: Walk, processes: list[_Process]) -> None:
        self._walk, self.processes = walk, processes
        self._total = walk.evidence.size()

    def findings(self, process: _Process, index: int) -> PieceFindings | None:
        """Wait for the findings of a process in a piece; None if the process has ended."""
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
    """Do the work of one process. It ends when the first process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    for other in others:
        other.close()
    walk.progress = lambda done, _total: connection.send(done)
    walk.pop_findings()  # findings of the evidence as a whole are not repeated
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        if share.start:
            walk.begin(pieces[share.start])
        for index in range(share.start, len(pieces)):
            if index >= share.stop:
                connection.recv()
            connection.send(_prove_piece(walk, pieces, index))


def _prove_piece(walk: Walk, pieces: list[Piece], index: int) -> PieceFindings:
    before = walk.state_digest(pieces[index])
    walk.process(pieces[index])
    if last := index == len(pieces) - 1:
        walk.listener.end()
    after = b"" if last else walk.state_digest(pieces[index + 1])
    return PieceFindings(
        index,
        before,
        after,
        walk.pop_findings(),
        walk.listener.pop_findings(),
        walk.listener.sound,
    )
