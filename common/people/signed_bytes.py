"""Signatures of persons over documents of a kind, such as the protocol of an acceptance: Ed25519
over the kind, a line end and the bytes of the document.
"""

from __future__ import annotations

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from common.people.register import from_base64url, to_base64url


def sign_bytes(kind: str, body: bytes, key: SigningKey) -> tuple[str, str]:
    """Return the public key and the signature, both in base64url."""
    signature = key.sign(_signed(kind, body)).signature
    return to_base64url(key.verify_key.encode()), to_base64url(signature)


def is_signed(kind: str, body: bytes, key: str, signature: str) -> bool:
    """Return whether this key signed the document as a document of this kind. Raises ``ValueError``
    for a key or a signature that is none.
    """
    try:
        VerifyKey(from_base64url(key)).verify(_signed(kind, body), from_base64url(signature))
    except BadSignatureError:
        return False
    except TypeError as error:
        raise ValueError(str(error)) from None
    return True


def _signed(kind: str, body: bytes) -> bytes:
    return kind.encode() + b"\n" + body
