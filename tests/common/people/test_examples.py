"""The commands that docs/integrator/signing.md signs in a shell, in Python and in Node.js."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from common.contract.commands import RoundVoid
from common.people.seen import SeenCommands
from common.people.signed_command import command_of, verify
from tests.support.people.staff import AUDIENCE, LASA, TABLE, people, secret

pytestmark = pytest.mark.usefixtures("programs")

PAGE = (Path(__file__).parents[3] / "docs" / "integrator" / "signing.md").read_text()


@pytest.mark.parametrize(
    ("language", "program"),
    [("sh", ["sh", "-c"]), ("python", [sys.executable, "-c"]), ("js", ["node", "-e"])],
)
def test_each_example_signs_a_command_that_is_followed(
    language: str, program: list[str], tmp_path: Path
) -> None:
    key = Ed25519PrivateKey.from_private_bytes(secret("lasa"))
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "lasa.pem").write_bytes(pem)
    (code,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run([*program, code], cwd=tmp_path, capture_output=True, check=True)
    told = verify(done.stdout, time.time(), AUDIENCE, TABLE, people(), SeenCommands())
    assert told.person == LASA
    assert command_of(told, "round-void", 1.0) == RoundVoid(
        at=1.0, by="M. Lasa", role="table_head", reason="ball_out"
    )
