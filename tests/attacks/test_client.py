"""The client of the attacks agrees with the example of docs/protocol/wire.md, and its TLS and its keys with OpenSSL's program.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import re
import socket
import subprocess
import tempfile
import threading
import unittest

import ad_form
import proofs
import token_mail
import wire_client
from ad_form import Ad
from tls import Key, Tls, base64url_decode, verify_with
from wire_client import Connection, Message


def example_frames():
    """The bytes of section 9, block by block."""
    with open(os.path.join(wire_client.SOURCE, "docs/protocol/wire.md"), encoding="utf-8") as page:
        blocks = re.findall(r"```hex\n(.*?)```", page.read(), re.DOTALL)
    for block in blocks:
        yield bytes.fromhex("".join(re.match(r"(?:[0-9a-f]{2}(?: |$))*", line).group() for line in block.splitlines()))


class Tape:
    """A stream that gives what it was made of and keeps what is sent."""

    def __init__(self, data=b""):
        self.data, self.sent = data, b""

    def settimeout(self, _seconds):
        pass

    def recv(self, count):
        data, self.data = self.data[:count], self.data[count:]
        return data

    def sendall(self, data):
        self.sent += data


class TheExample(unittest.TestCase):
    def test_its_frames_are_written_as_the_page_has_them(self):
        hello, _, query, _, _, _ = example_frames()
        tape = Tape()
        connection = Connection(tape)
        version = int.from_bytes(hello[16:18], "little")
        oldest = int.from_bytes(hello[18:20], "little")
        connection.send_hello(Message.decode(hello[20:]).args, version, oldest)
        self.assertEqual(tape.sent, hello)
        tape.sent = b""
        connection.send("QUERY", {"Type": "Machine", "Constraint": "Cpus>=8", "Limit": 1}, deadline_ms=30000)
        self.assertEqual(tape.sent, query)

    def test_its_answers_are_read(self):
        _, welcome, _, part, last, refusal = example_frames()
        connection = Connection(Tape(welcome))
        self.assertEqual(connection.hello()["Identity"], "alice@pool")
        self.assertEqual(connection.scopes(), {"READ"})
        connection.stream.data = part + last
        reply = connection.call("QUERY")
        self.assertEqual((reply.status, reply.args["Count"], reply.ads), (0, 1, [{"Name": "slot1@wn01"}]))
        connection.last, connection.stream.data = 0, refusal
        self.assertEqual(connection.call("QUERY").text, "token is too weak")


class Proofs(unittest.TestCase):
    def test_the_example_of_a_statement_has_the_digest_that_the_page_says(self):
        said = proofs.greeting("campus", "e30.e30.AA", "collector", "startd/wn01", bytes(range(32)))
        with open(os.path.join(wire_client.SOURCE, "docs/protocol/wire.md"), encoding="utf-8") as page:
            text = " ".join(page.read().split())
        self.assertIn(f"a statement of {len(said)} bytes", text)
        self.assertIn(hashlib.sha256(said).hexdigest(), text)

    def test_the_example_of_a_fingerprint_is_what_the_page_says(self):
        with open(os.path.join(wire_client.SOURCE, "docs/protocol/wire.md"), encoding="utf-8") as page:
            text = " ".join(page.read().split())  # however its lines are broken
        self.assertIn(f'of the three bytes "abc" is `{token_mail.fingerprint(b"abc")}`', text)


class Ads(unittest.TestCase):
    def test_what_is_written_is_read(self):
        ad = Ad(A=None, B=True, C=-300, D=1.5, E="text \xe9", F=[1, "two", [3]], G=Ad(X="y"), H=1 << 62, I="")
        self.assertEqual(ad_form.decode(ad_form.encode(ad)), ad)

    def test_expressions_keep_their_bytes(self):
        owner = ad_form.reference("Owner", ad_form.reference("TARGET"))
        ad = Ad(Machine=ad_form.conditional(ad_form.chain(owner, ("=?=", None)), "evil", ad_form.call("strcat", "wn", "01")))
        back = ad_form.decode(ad_form.encode(ad))
        self.assertEqual(back["Machine"].data, ad["Machine"].data)
        self.assertEqual(ad_form.encode(back), ad_form.encode(ad))

    def test_a_cut_ad_is_refused(self):
        data = ad_form.encode(Ad(A="text", B=[1, 2]))
        for length in range(len(data)):
            with self.assertRaises((ad_form.Malformed, IndexError)):
                ad_form.decode(data[:length])


class Cryptography(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.key, self.certificate = self.directory.name + "/key.pem", self.directory.name + "/cert.pem"
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test",
                     "-keyout", self.key, "-out", self.certificate)

    def tearDown(self):
        self.directory.cleanup()

    @staticmethod
    def openssl(*arguments, data=None):
        return subprocess.run(["openssl", *arguments], input=data, check=True, capture_output=True, timeout=20).stdout

    def test_openssl_verifies_a_signature(self):
        key = Key.generate()
        r, s = (int.from_bytes(half, "big") for half in (lambda raw: (raw[:32], raw[32:]))(key.sign(b"some bytes")))
        with open(self.directory.name + "/public", "wb") as file:
            file.write(key.public_der())
        with open(self.directory.name + "/form", "w", encoding="ascii") as file:
            file.write(f"asn1=SEQUENCE:both\n[both]\nr=INTEGER:{r}\ns=INTEGER:{s}\n")
        self.openssl("asn1parse", "-genconf", file.name, "-noout", "-out", self.directory.name + "/signature")
        said = self.openssl("dgst", "-sha256", "-verify", self.directory.name + "/public", "-keyform", "DER", "-signature",
                            self.directory.name + "/signature", data=b"some bytes")
        self.assertIn(b"Verified OK", said)

    def test_a_signature_is_verified_and_a_changed_one_is_not(self):
        key = Key.generate()
        for number in range(20):
            data = bytes([number])
            signature = key.sign(data)
            self.assertTrue(verify_with(key.point()[1:], data, signature))
            self.assertFalse(verify_with(key.point()[1:], data + b"x", signature))
            self.assertFalse(verify_with(Key.generate().point()[1:], data, signature))

    def test_a_key_is_read_as_it_was_written(self):
        key = Key.generate()
        self.assertEqual(Key.of_pem(key.pem()).public_der(), key.public_der())
        self.assertEqual(base64url_decode(key.jwk()["x"]), key.point()[1:33])

    def test_both_sides_of_a_connection_export_the_same_value(self):
        ours, theirs = socket.socketpair()
        got = {}

        def serve():
            server = Tls(theirs, server=True, certificate=self.certificate, key=self.key)
            got["exporter"] = server.exporter()
            got["data"] = server.recv(100)
            server.sendall(b"back")
            got["end"] = server.recv(100)
            server.close()
            theirs.close()

        thread = threading.Thread(target=serve)
        thread.start()
        client = Tls(ours)
        client.sendall(b"there")
        self.assertEqual(client.recv(100), b"back")
        exporter, certificate = client.exporter(), client.peer_certificate()
        client.close()
        thread.join()
        self.assertEqual((exporter, got["data"], got["end"], len(exporter)), (got["exporter"], b"there", b"", 32))
        der = self.openssl("x509", "-in", self.certificate, "-outform", "DER")
        self.assertEqual(hashlib.sha256(certificate).digest(), hashlib.sha256(der).digest())


if __name__ == "__main__":
    unittest.main()
