"""Requests for tokens and the answers to them, as docs/protocol/wire.md section 5.4 has them.

SPDX-License-Identifier: Apache-2.0
"""
import re

from proofs import sha256, statement
from tls import base64url, base64url_decode

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def fingerprint(data):
    """What people compare: the first 100 bits of its SHA-256."""
    number = int.from_bytes(sha256(data), "big") >> 156
    letters = "".join(LETTERS[number >> at & 31] for at in range(95, -1, -5))
    return "-".join(letters[at : at + 4] for at in range(0, 20, 4))


def block(kind, lines):
    return f"-----BEGIN ROOST TOKEN {kind}-----\n" + "".join(lines) + f"-----END ROOST TOKEN {kind}-----\n"


class Request:
    """A wish, and whose key it is for."""

    def __init__(self, key, identity, pool="", scopes="", names="", slots=0, seconds=0):
        self.key, self.point = key, key.point()[1:]
        self.identity, self.pool, self.scopes, self.names, self.slots, self.seconds = identity, pool, scopes, names, slots, seconds

    def statement(self):
        return statement("roost key request 2", self.point, self.identity, self.pool, self.scopes, self.names, self.slots, self.seconds)

    def fingerprint(self):
        return fingerprint(self.statement())

    def text(self, proof=None):
        said = {"Identity": self.identity, "Pool": self.pool, "Scopes": self.scopes, "Names": self.names, "Slots": self.slots, "Seconds": self.seconds}
        proof = self.key.sign(self.statement()) if proof is None else proof
        return block("REQUEST", [f"{name}: {value}\n" for name, value in said.items() if value] + [f"Key: {base64url(self.point)}\n", f"Proof: {base64url(proof)}\n"])


def values(text):
    """The lines of a block that have a name."""
    folded = re.sub(r"\n[ \t]+", "", text)
    return dict(re.findall(r"^([A-Za-z]+): *(.*)$", folded, re.MULTILINE))


def point_of(request):
    return base64url_decode(values(request)["Key"])


class Answer:
    """What an administrator sent."""

    def __init__(self, text):
        said = values(text)
        self.pool, self.collector, self.token = said["Pool"], said["Collector"], said["Token"]
        inner = text[text.index("-----BEGIN CERTIFICATE") : text.index("-----END ROOST TOKEN")]
        self.trust = inner

    def text(self):
        return block("ANSWER", [f"Pool: {self.pool}\n", f"Collector: {self.collector}\n", f"Token: {self.token}\n", self.trust])

    def fingerprint(self, point):
        return fingerprint(statement("roost key answer 2", point, self.pool, sha256(self.token.encode()), self.collector, self.trust))
