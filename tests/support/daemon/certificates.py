"""Certificates made in the test: CAs, and what they sign."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


class Authority:
    """A CA, with its certificate in a file."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._key = ec.generate_private_key(ec.SECP256R1())
        made = self._builder(name, self._key, name, 90).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = self._left(f"{name}.pem", made)

    def sign(
        self, name: str, *, expired: int = 0, ends: int = 90, address: str = "127.0.0.1"
    ) -> tuple[Path, Path]:
        """A certificate and its key, as files; ``expired``: days ago, or it ``ends`` in days."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._builder(name, key, self._name, -expired or ends).add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
        )
        secret = self._folder / f"{name}.key"
        secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        secret.chmod(0o600)
        return self._left(f"{name}.pem", made), secret

    def _left(self, name: str, made: x509.CertificateBuilder) -> Path:
        file = self._folder / name
        file.write_bytes(made.sign(self._key, SHA256()).public_bytes(Encoding.PEM))
        return file

    @staticmethod
    def _builder(
        name: str, key: ec.EllipticCurvePrivateKey, issuer: str, ends: int
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 30 * DAY)
            .not_valid_after(now + ends * DAY)
        )
