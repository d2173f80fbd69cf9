"""Signs and verifies a JWS in the compact form (RFC 7515), EdDSA with an Ed25519 key (RFC 8037)."""

from __future__ import annotations

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from common.people.register import thumbprint

_JWS = jwt.PyJWS(algorithms=["EdDSA"])


def sign(key: bytes, payload: bytes) -> str:
    """Sign a payload with a secret key (32 bytes). ``kid`` is the thumbprint of the key."""
    secret = Ed25519PrivateKey.from_private_bytes(key)
    public = secret.public_key().public_bytes_raw()
    kid = thumbprint(jwt.utils.base64url_encode(public).decode())
    return _JWS.encode(payload, secret, "EdDSA", headers={"kid": kid})


def is_signed(token: bytes, x: str) -> bool:
    """Return True if the token is signed with the secret key of this public key, the ``x`` of its
    JWK.
    """
    key = Ed25519PublicKey.from_public_bytes(jwt.utils.base64url_decode(x))
    try:
        _JWS.decode_complete(token, key, ["EdDSA"])
    except jwt.PyJWTError:
        return False
    return True


def unverified(token: bytes) -> tuple[str, bytes]:
    """Return the ``kid`` and the payload of a token without looking at its signature. Raise
    ``ValueError``.
    """
    try:
        found = _JWS.decode_complete(token, options={"verify_signature": False})
    except jwt.PyJWTError as error:
        raise ValueError(str(error)) from None
    return str(found["header"].get("kid")), found["payload"]
