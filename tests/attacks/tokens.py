"""Tokens as an attacker has them: taken apart, changed, signed anew with whatever key is at hand.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import hmac
import json
import time

from tls import base64url, base64url_decode


def parts(token):
    """(header, claims, signature)"""
    head, claims, signature = token.split(".")
    return json.loads(base64url_decode(head)), json.loads(base64url_decode(claims)), base64url_decode(signature)


def text(head, claims):
    return ".".join(base64url(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))


def signed(head, claims, key):
    said = text(head, claims)
    return f"{said}.{base64url(key.sign(said.encode()))}"


def with_hmac(head, claims, secret):
    said = text(head, claims)
    return f"{said}.{base64url(hmac.new(secret, said.encode(), hashlib.sha256).digest())}"


def fresh(token, **changes):
    """The claims of a token with changes; None takes one away."""
    _, claims, _ = parts(token)
    claims.update(iat=int(time.time()), **changes)
    return {name: value for name, value in claims.items() if value is not None}
