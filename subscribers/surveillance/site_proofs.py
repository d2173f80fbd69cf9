"""Proofs of the journals of one site's daemons: their checkpoints, their keys, and the hashes that
they return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from common.chain.checkpoint import read_checkpoint
from common.contract.node import Checkpoint
from common.contract.times import format_utc, parse_utc
from common.log import structlog
from subscribers.surveillance import proofs
from subscribers.surveillance.findings import RecorderFinding

STORE_LAG_SECONDS = 60.0
"""Maximum lag between an event and its storage: events this much earlier are compared too."""


class SuspectPeriod(msgspec.Struct, frozen=True):
    """Events of a daemon, by its current run, between two times."""

    boot: str
    since: str | None
    until: str


class ChainQuery(msgspec.Struct, frozen=True):
    """The hashes to request from a daemon. ``name``: as in :class:`SiteProofs`."""

    name: str
    boot: str
    positions: tuple[int, ...]
    marks: tuple[Checkpoint, ...]


class SiteProofs:
    """By node; for a pair of daemons by node and key, as each has its own journal.

    ``record``: stores findings; ``compare``: requests events again, because a journal was changed
    there. ``configured_keys``: by node.
    """

    def __init__(
        self,
        site: str,
        configured_keys: Mapping[str, tuple[str, ...]],
        record: Callable[[tuple[RecorderFinding, ...]], None],
        compare: Callable[[SuspectPeriod], None],
    ) -> None:
        self._configured_keys = configured_keys
        self._record_findings, self._compare = record, compare
        self.by_name: dict[str, proofs.JournalProof] = {}
        self._unchecked: dict[str, str] = {}
        """Daemons whose file must be asked for its hashes, and their run."""
        self._log = structlog.get_logger().bind(site=site)

    def on_checkpoint(self, node: str, body: bytes) -> str | None:
        """Handle a daemon's checkpoint. Return its run; None if the checkpoint is malformed."""
        checkpoint = read_checkpoint(body)
        if checkpoint is None:
            return None
        keys = self._configured_keys.get(node, ())
        key = checkpoint.key if checkpoint.key in keys else next(iter(keys), None)
        name = node if len(keys) < 2 else f"{node}/{key}"
        previous = self.by_name.get(name, proofs.JournalProof())
        if key is not None:
            previous = proofs.trust_key(previous, key)
        proof, findings = proofs.check_checkpoint(previous, checkpoint, node)
        if proof.key != previous.key:
            self._log.warning(
                "a key is believed at first sight",
                node=node,
                key=proof.key,
                remedy="compare it with the machine of the daemon and name it in keys of [archive]",
            )
        self.by_name[name] = proof
        self._queue_suspect_period(previous, findings, checkpoint.boot)
        self._record_findings(findings)
        self._unchecked[name] = checkpoint.boot
        return checkpoint.boot

    def trust(self, node: str, key: str) -> None:
        """Trust a key that a person has vouched for, unless keys are configured."""
        if node not in self._configured_keys:
            known = self.by_name.get(node, proofs.JournalProof())
            self.by_name[node] = proofs.trust_key(known, key)

    def due_queries(self) -> list[ChainQuery]:
        """Return the hashes to request, by journal."""
        return [
            ChainQuery(name, boot, tuple(positions), self.by_name[name].marks)
            for name, boot in self._unchecked.items()
            if (positions := proofs.positions_to_query(self.by_name[name]))
        ]

    def on_queried(self, query: ChainQuery) -> None:
        """The hashes were requested."""
        del self._unchecked[query.name]

    def check_chain(
        self,
        name: str,
        marks: tuple[Checkpoint, ...],
        links: tuple[proofs.JournalHash, ...],
        boot: str,
    ) -> None:
        """Check the hashes that a daemon returned for these checkpoints."""
        previous, node = self.by_name[name], name.partition("/")[0]
        self.by_name[name], findings = proofs.check_chain(previous, links, node, marks)
        self._queue_suspect_period(previous, findings, boot)
        self._record_findings(findings)

    def _queue_suspect_period(
        self, proof: proofs.JournalProof, findings: tuple[RecorderFinding, ...], boot: str
    ) -> None:
        """If a journal was changed, queue its events since the last good mark for comparison."""
        for finding in findings:
            if finding.what in ("journal_rewritten", "journal_cut", "journal_rolled_back"):
                changed = finding.evidence.get("signed") or finding.evidence["said"]
                good = proofs.last_good_mark(proof, changed["position"])
                since = (
                    None if good is None else format_utc(parse_utc(good.time) - STORE_LAG_SECONDS)
                )
                last = proof.marks[-1].time if proof.marks else changed["time"]
                self._compare(SuspectPeriod(boot, since, format_utc(parse_utc(last) + 1)))

    @property
    def unvouched(self) -> list[str]:
        """Return the nodes whose key is trusted only because it came first."""
        return sorted(
            node
            for node, proof in list(self.by_name.items())
            if proof.key is not None
            and not proof.vouched
            and node.partition("/")[0] not in self._configured_keys
        )
