"""Tokens as an attacker has them: taken apart, changed, signed anew with whatever key is at hand.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import hmac
import json
import time

from tls import Key, base64url, base64url_decode
from wire_client import Holder, Refused


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


def rights(pool, token, key=None):
    """What somebody who shows this token, and has this key or none, is taken for at the collector and at the schedd: "whom: scopes", or nothing."""
    for route in ("collector", "schedd"):
        for holder in [Holder(token, key)] if key is not None else [Holder(token), Holder(token, Key.generate())]:
            try:
                with pool.greet(route, holder) as connection:
                    return f"{connection.welcome.get('Identity')}: {connection.welcome.get('Scopes')} at the {route}"
            except Refused:
                pass
    return ""
