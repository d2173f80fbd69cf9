"""Public tools accept the contract: AsyncAPI's own parser, ajv in strict mode, and a client
generated in TypeScript compiles.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import contract

NPM = Path(__file__).parents[2] / "npm"
TSC = NPM / "node_modules" / ".bin" / "tsc"
STRICTLY = ("--ignoreConfig", "--noEmit", "--strict", "--lib", "es2022", "--skipLibCheck")
"""All generated files are checked; TypeScript's own declarations are not, and those of browsers are
not read.
"""

SUBSCRIBER = """
import type { RoundResult, RoundVoid, TheEventsOfATableTheTopicEvent as Event } from './events'

export function told(event: Event): string {
  switch (event.type) {
    case 'round.result':
      return `${event.table} ${event.seq}: ${(event satisfies RoundResult).frames.length} frames`
    case 'round.void':
      return `${event.table} ${event.seq}: ${(event satisfies RoundVoid).reason}`
    default:
      return event.type
  }
}
"""
"""An integrator's code over the generated types: the tag narrows the event's type."""


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=NPM, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def parsed(programs: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Results of AsyncAPI's parser for the document, and for a wrong one, in one run."""
    folder, document = tmp_path_factory.mktemp("asyncapi"), contract.INTEGRATOR / "asyncapi.json"
    wrong = document.read_text().replace('"action": "send"', '"action": "shout"', 1)
    (folder / "asyncapi.json").write_text(wrong)
    (folder / "schemas").symlink_to(contract.INTEGRATOR / "schemas")
    done = run("node", "asyncapi.js", document, folder / "asyncapi.json")
    assert done.returncode == 0, done.stderr
    ours, others = map(json.loads, done.stdout.splitlines())
    return {"ours": ours, "wrong": others}


def test_the_asyncapi_parser_finds_nothing(parsed: dict[str, dict[str, Any]]) -> None:
    assert parsed["ours"]["found"] == []
    assert parsed["ours"]["valid"] is True


def test_the_asyncapi_parser_finds_what_is_wrong(parsed: dict[str, dict[str, Any]]) -> None:
    assert parsed["wrong"]["valid"] is False


@pytest.mark.usefixtures("programs")
def test_ajv_accepts_every_schema_in_strict_mode() -> None:
    found = run("node", "schemas.js", contract.INTEGRATOR / "schemas")
    assert (found.stdout, found.returncode) == ("", 0), found.stderr


@pytest.fixture(scope="module")
def client(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generated types."""
    folder = tmp_path_factory.mktemp("client")
    made = run("node", "typescript.js", contract.INTEGRATOR / "schemas", folder)
    assert made.returncode == 0, made.stderr
    return folder


def test_a_generated_client_compiles(client: Path) -> None:
    (client / "subscriber.ts").write_text(SUBSCRIBER)
    found = run(TSC, *STRICTLY, *client.glob("*.ts"))
    assert (found.stdout, found.returncode) == ("", 0)


def test_a_generated_client_rejects_a_type_that_no_event_has(client: Path) -> None:
    (client / "subscriber.ts").write_text(SUBSCRIBER.replace("'round.void'", "'round.nil'"))
    found = run(TSC, *STRICTLY, client / "subscriber.ts")
    assert "round.nil" in found.stdout
    assert found.returncode != 0
