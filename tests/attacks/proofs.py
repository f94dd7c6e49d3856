"""Statements and proofs, as docs/protocol/wire.md section 5.2 has them.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import json
import struct

from tls import base64url_decode, verify_with


def sha256(data):
    return hashlib.sha256(data).digest()


def statement(label, *fields):
    out = label.encode() + b"\0"
    for field in fields:
        field = struct.pack("<Q", field) if isinstance(field, int) else field.encode() if isinstance(field, str) else field
        out += struct.pack("<I", len(field)) + field
    return out


def claims_of(token):
    """What a token says, unchecked."""
    return json.loads(base64url_decode(token.split(".")[1]))


def greeting(pool, token, route, name, binding):
    return statement("roost greeting 2", pool, sha256(token.encode()), route, name, binding)


def relay(pool, token, caller, receiver, instance, verb, deadline_ms, number, body):
    return statement("roost relay 2", pool, sha256(token.encode()), caller, receiver, instance, verb, deadline_ms, number, sha256(body))


def answer(pool, token, receiver, request, number, more, status, text, body):
    """request: the statement that asked; number: of the part, from 0."""
    return statement("roost answer 2", pool, sha256(token.encode()), receiver, sha256(request), number, int(more), status & 0xFFFFFFFF, text, sha256(body))


def revocation(pool, token, revoked, expires):
    return statement("roost revocation 2", pool, sha256(token.encode()), revoked, expires)


def proved(token, said, proof):
    """Is it signed by the key that the token names?"""
    jwk = claims_of(token)["cnf"]["jwk"]
    return verify_with(base64url_decode(jwk["x"]) + base64url_decode(jwk["y"]), said, proof)
