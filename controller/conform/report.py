"""The report of a trial: what was tried, requirement by requirement, and the verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from nacl.signing import SigningKey

from common.contract.version import SOFTWARE
from common.errors import NovamasError
from common.people.signed_bytes import is_signed, sign_bytes
from common.plain_errors import describe
from controller.conform.requirements import Side, requirements

FORMAT = "novamas conform 1"
MAX_REPORT_BYTES = 16_000_000
MAX_PROBLEM_CHARACTERS = 400

Outcome = Literal["passed", "failed", "not tried"]
Verdict = Literal["conforms", "does not conform", "incomplete"]


class ReportError(NovamasError):
    """A file is not a report, or was changed since it was signed. The message says which."""


class TrialFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One requirement, and what was found wrong, or why it was not tried."""

    id: str
    outcome: Outcome
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, requirement: str, problems: Sequence[str]) -> TrialFinding:
        """Return a finding that failed if there are problems."""
        shown = tuple(problem[:MAX_PROBLEM_CHARACTERS] for problem in problems)
        return cls(requirement, "failed" if problems else "passed", shown)

    @classmethod
    def not_tried(cls, requirement: str, reason: str) -> TrialFinding:
        """Return a finding without an outcome."""
        return cls(requirement, "not tried", (reason[:MAX_PROBLEM_CHARACTERS],))


class TriedFile(msgspec.Struct, frozen=True):
    """A file that took part in the trial."""

    name: str
    sha256: str


class TrialReport(msgspec.Struct, frozen=True, kw_only=True):
    """One trial. ``subject``: the driver, or the command of the program; ``role``: what it was
    tried as; ``seed``: the same one repeats the trial; ``chosen``: only some requirements were
    tried.
    """

    of: Side
    subject: str
    role: str
    seed: int
    chosen: bool
    files: tuple[TriedFile, ...]
    ended: str
    findings: tuple[TrialFinding, ...]
    verdict: Verdict
    software: str = SOFTWARE


def verdict(findings: Sequence[TrialFinding], *, chosen: bool) -> Verdict:
    """Return the verdict: all requirements must have been tried and met."""
    outcomes = {finding.outcome for finding in findings}
    if "failed" in outcomes:
        return "does not conform"
    return "incomplete" if chosen or "not tried" in outcomes or not outcomes else "conforms"


def lines(report: TrialReport) -> Iterator[str]:
    """Yield the report as text for a person."""
    untried: dict[str, list[str]] = {}
    for finding in report.findings:
        if finding.outcome == "not tried":
            untried.setdefault(" ".join(finding.problems), []).append(finding.id)
            continue
        known = requirements().get(finding.id)
        yield f"{finding.outcome:8}{finding.id:18}{known.text if known is not None else ''}"
        yield from (f"{'':8}{problem}" for problem in finding.problems)
    for reason, names in untried.items():
        yield f"not tried, since {reason}:"
        yield textwrap.fill(
            ", ".join(names), 100, initial_indent=" " * 8, subsequent_indent=" " * 8
        )
    passed = sum(finding.outcome == "passed" for finding in report.findings)
    yield (
        f"{report.subject}, as a {report.role}: {passed} of {len(report.findings)} requirements "
        f"met, seed {report.seed}: {report.verdict.upper()}"
    )


class SignedReport(msgspec.Struct, frozen=True, kw_only=True):
    """The signed file. It contains the report in exactly the bytes that were signed."""

    format: str
    key: str
    """Public key, base64url."""
    signature: str
    report: msgspec.Raw


def write_signed(report: TrialReport, key: SigningKey) -> bytes:
    """Return the signed file of a report."""
    body = msgspec.json.encode(report)
    public, signature = sign_bytes(FORMAT, body, key)
    return msgspec.json.encode(
        SignedReport(format=FORMAT, key=public, signature=signature, report=msgspec.Raw(body))
    )


def read_signed(data: bytes) -> tuple[SignedReport, TrialReport]:
    """Read a report, verify its signature, and derive its verdict again. Raises
    :class:`ReportError`.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"is not a report: longer than {MAX_REPORT_BYTES} bytes")
    try:
        signed = msgspec.json.decode(data, type=SignedReport)
        body = bytes(signed.report)
        if signed.format != FORMAT:
            raise ReportError(f"has the format {signed.format[:64]!r}; this reads {FORMAT}")
        if not is_signed(FORMAT, body, signed.key, signed.signature):
            raise ReportError("is not as it was signed: the signature is wrong")
        report = msgspec.json.decode(body, type=TrialReport)
    except (ValueError, TypeError, RecursionError) as error:
        raise ReportError(f"is not a report of a trial: {describe(error, TrialReport)}") from None
    if report.verdict != verdict(report.findings, chosen=report.chosen):
        raise ReportError("has a verdict that does not follow from its findings")
    return signed, report
