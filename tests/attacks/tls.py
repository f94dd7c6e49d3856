"""TLS 1.3 and P-256 keys by way of the system's OpenSSL (libssl.so.3), called with ctypes.

Python's ssl module gives no exported keying material (RFC 8446 section 7.5, RFC 9266), which a greeting signs; so the few
calls that are needed are made here.  A connection has one lock around each call, so that one thread may read while
another writes.  No certificate is checked by itself: a client of the attacks looks at the peer's certificate, and goes
on whatever it is.

SPDX-License-Identifier: Apache-2.0
"""
import base64
import ctypes
import select
import threading
import time

ssl = ctypes.CDLL("libssl.so.3")
crypto = ctypes.CDLL("libcrypto.so.3")
EXPORTER_LABEL = b"EXPORTER-Channel-Binding"
EXPORTER_BYTES = 32
WANT_READ, WANT_WRITE, ZERO_RETURN = 2, 3, 6
FILE_PEM = 1
TLS_1_3 = 0x0304
SET_MIN_VERSION, SET_MAX_VERSION = 123, 124
NO_TICKETS = 0x4000  # SSL_OP_NO_TICKET


def declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


P, INT, LONG, BYTES, SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p, ctypes.c_size_t
tls_client_method = declare(ssl, "TLS_client_method", P)
tls_server_method = declare(ssl, "TLS_server_method", P)
ctx_new = declare(ssl, "SSL_CTX_new", P, P)
ctx_free = declare(ssl, "SSL_CTX_free", None, P)
ctx_ctrl = declare(ssl, "SSL_CTX_ctrl", LONG, P, INT, LONG, P)
ctx_set_options = declare(ssl, "SSL_CTX_set_options", ctypes.c_uint64, P, ctypes.c_uint64)
ctx_use_chain = declare(ssl, "SSL_CTX_use_certificate_chain_file", INT, P, BYTES)
ctx_use_key = declare(ssl, "SSL_CTX_use_PrivateKey_file", INT, P, BYTES, INT)
ssl_new = declare(ssl, "SSL_new", P, P)
ssl_free = declare(ssl, "SSL_free", None, P)
ssl_set_fd = declare(ssl, "SSL_set_fd", INT, P, INT)
ssl_connect = declare(ssl, "SSL_connect", INT, P)
ssl_accept = declare(ssl, "SSL_accept", INT, P)
ssl_read = declare(ssl, "SSL_read", INT, P, P, INT)
ssl_write = declare(ssl, "SSL_write", INT, P, BYTES, INT)
ssl_shutdown = declare(ssl, "SSL_shutdown", INT, P)
ssl_get_error = declare(ssl, "SSL_get_error", INT, P, INT)
ssl_peer = declare(ssl, "SSL_get1_peer_certificate", P, P)
ssl_export = declare(ssl, "SSL_export_keying_material", INT, P, P, SIZE, BYTES, SIZE, BYTES, SIZE, INT)
err_get = declare(crypto, "ERR_get_error", ctypes.c_ulong)
err_text = declare(crypto, "ERR_error_string_n", None, ctypes.c_ulong, P, SIZE)
err_clear = declare(crypto, "ERR_clear_error", None)
x509_free = declare(crypto, "X509_free", None, P)
i2d_x509 = declare(crypto, "i2d_X509", INT, P, ctypes.POINTER(P))
i2d_pubkey = declare(crypto, "i2d_PUBKEY", INT, P, ctypes.POINTER(P))
crypto_free = declare(crypto, "CRYPTO_free", None, P, BYTES, INT)
bio_new_mem = declare(crypto, "BIO_new_mem_buf", P, BYTES, INT)
bio_new = declare(crypto, "BIO_new", P, P)
bio_s_mem = declare(crypto, "BIO_s_mem", P)
bio_read = declare(crypto, "BIO_read", INT, P, P, INT)
bio_free = declare(crypto, "BIO_free", INT, P)
pem_read_key = declare(crypto, "PEM_read_bio_PrivateKey", P, P, P, P, P)
pem_write_key = declare(crypto, "PEM_write_bio_PrivateKey", INT, P, P, P, P, INT, P, P)
pkey_free = declare(crypto, "EVP_PKEY_free", None, P)
md_ctx_new = declare(crypto, "EVP_MD_CTX_new", P)
md_ctx_free = declare(crypto, "EVP_MD_CTX_free", None, P)
sign_init = declare(crypto, "EVP_DigestSignInit", INT, P, P, P, P, P)
sign_once = declare(crypto, "EVP_DigestSign", INT, P, P, ctypes.POINTER(SIZE), BYTES, SIZE)
verify_init = declare(crypto, "EVP_DigestVerifyInit", INT, P, P, P, P, P)
verify_once = declare(crypto, "EVP_DigestVerify", INT, P, BYTES, SIZE, BYTES, SIZE)
d2i_pubkey = declare(crypto, "d2i_PUBKEY", P, P, ctypes.POINTER(BYTES), LONG)
sha256 = declare(crypto, "EVP_sha256", P)
SPKI_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")  # what stands before x and y in a public key's DER form


class TlsError(Exception):
    """The other side went away, or what it sent is no TLS 1.3."""


def reason(what):
    text = ctypes.create_string_buffer(200)
    code = err_get()
    err_clear()
    if code == 0:
        return what
    err_text(code, text, len(text))
    return f"{what}: {text.value.decode()}"


def der(encode, thing):
    """The bytes that one of OpenSSL's i2d_ functions makes of a thing."""
    out = P()
    length = encode(thing, ctypes.byref(out))
    if length <= 0:
        raise TlsError(reason("no DER form"))
    data = ctypes.string_at(out, length)
    crypto_free(out, b"", 0)
    return data


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def base64url_decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Key:
    """A private key on P-256."""

    def __init__(self, pkey):
        self.pkey = pkey

    @classmethod
    def generate(cls):
        pkey = crypto.EVP_PKEY_Q_keygen
        pkey.restype = P
        return cls(pkey(None, None, b"EC", b"P-256"))

    @classmethod
    def load(cls, path):
        with open(path, "rb") as file:
            return cls.of_pem(file.read())

    @classmethod
    def of_pem(cls, pem):
        bio = bio_new_mem(pem, len(pem))
        pkey = pem_read_key(bio, None, None, None)
        bio_free(bio)
        if not pkey:
            raise TlsError(reason("no private key"))
        return cls(pkey)

    def __del__(self):
        pkey_free(self.pkey)

    def pem(self):
        bio = bio_new(bio_s_mem())
        pem_write_key(bio, self.pkey, None, None, 0, None, None)
        data = ctypes.create_string_buffer(4096)
        length = bio_read(bio, data, len(data))
        bio_free(bio)
        return data.raw[:length]

    def public_der(self):
        return der(i2d_pubkey, self.pkey)

    def point(self):
        """The public key as a point: 4, X, Y, which end its DER form."""
        return self.public_der()[-65:]

    def jwk(self):
        point = self.point()
        return {"kty": "EC", "crv": "P-256", "x": base64url(point[1:33]), "y": base64url(point[33:])}

    def sign(self, data):
        """r and s, 32 bytes each (RFC 7518 section 3.4), over SHA-256 of data."""
        context = md_ctx_new()
        size = SIZE(256)
        text = ctypes.create_string_buffer(size.value)
        if sign_init(context, None, sha256(), None, self.pkey) != 1 or sign_once(context, text, ctypes.byref(size), data, len(data)) != 1:
            raise TlsError(reason("no signature"))
        md_ctx_free(context)
        return raw_of_der(text.raw[: size.value])


def raw_of_der(signature):
    """DER's SEQUENCE of two INTEGERs, as 64 bytes."""
    at, numbers = 2, []
    for _ in range(2):
        length = signature[at + 1]
        numbers.append(int.from_bytes(signature[at + 2 : at + 2 + length], "big"))
        at += 2 + length
    return b"".join(number.to_bytes(32, "big") for number in numbers)


def der_of_raw(signature):
    """The opposite."""
    out = b""
    for half in (signature[:32], signature[32:]):
        number = int.from_bytes(half, "big")
        data = number.to_bytes(number.bit_length() // 8 + 1, "big")
        out += bytes([2, len(data)]) + data
    return bytes([0x30, len(out)]) + out


def verify_with(point, data, signature):
    """Is it the signature, 64 bytes, of data by the key whose x and y these are?"""
    encoded = SPKI_P256 + point
    pkey = d2i_pubkey(None, ctypes.byref(BYTES(encoded)), len(encoded))
    if not pkey or len(signature) != 64:
        err_clear()
        return False
    context, form = md_ctx_new(), der_of_raw(signature)
    good = verify_init(context, None, sha256(), None, pkey) == 1 and verify_once(context, form, len(form), data, len(data)) == 1
    md_ctx_free(context)
    pkey_free(pkey)
    err_clear()
    return good


class Tls:
    """One side of TLS 1.3 over a connected socket, with deadlines."""

    def __init__(self, connection, server=False, certificate=None, key=None, timeout=20):
        self.socket, self.timeout, self.lock = connection, timeout, threading.Lock()
        self.context = ctx_new(tls_server_method() if server else tls_client_method())
        for which in (SET_MIN_VERSION, SET_MAX_VERSION):
            ctx_ctrl(self.context, which, TLS_1_3, None)
        ctx_set_options(self.context, NO_TICKETS)
        if certificate is not None:
            if ctx_use_chain(self.context, certificate.encode()) != 1 or ctx_use_key(self.context, key.encode(), FILE_PEM) != 1:
                raise TlsError(reason(f"certificate {certificate}, key {key}"))
        connection.setblocking(False)
        self.ssl = ssl_new(self.context)
        ssl_set_fd(self.ssl, connection.fileno())
        self.run(lambda: (ssl_accept if server else ssl_connect)(self.ssl), "handshake")

    def run(self, call, what, timeout=None):
        """Calls until OpenSSL has what it wants; the lock is free while it waits."""
        until = time.monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            with self.lock:
                if self.ssl is None:
                    raise TlsError(f"{what}: closed")
                err_clear()
                result = call()
                if result > 0:
                    return result
                error = ssl_get_error(self.ssl, result)
            if error == ZERO_RETURN:
                return 0
            if error not in (WANT_READ, WANT_WRITE):
                raise TlsError(reason(f"{what}: the connection is cut"))
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(what)
            poll = select.poll()
            poll.register(self.socket, select.POLLIN if error == WANT_READ else select.POLLOUT)
            poll.poll(min(left, 1) * 1000)

    def recv(self, count, timeout=None):
        """Up to count bytes; none: the other side has ended the connection."""
        data = ctypes.create_string_buffer(count)
        length = self.run(lambda: ssl_read(self.ssl, data, count), "read", timeout)
        return data.raw[:length]

    def sendall(self, data):
        data = bytes(data)
        while data:
            written = self.run(lambda: ssl_write(self.ssl, data, len(data)), "write")
            data = data[written:]

    def exporter(self, label=EXPORTER_LABEL, length=EXPORTER_BYTES):
        out = ctypes.create_string_buffer(length)
        with self.lock:
            if ssl_export(self.ssl, out, length, label, len(label), None, 0, 0) != 1:
                raise TlsError(reason("exporter"))
        return out.raw

    def peer_certificate(self):
        """DER, or None."""
        with self.lock:
            certificate = ssl_peer(self.ssl, None)
        if not certificate:
            return None
        data = der(i2d_x509, certificate)
        x509_free(certificate)
        return data

    def close(self):
        with self.lock:
            if self.ssl is not None:
                err_clear()
                ssl_shutdown(self.ssl)
                ssl_free(self.ssl)
                ctx_free(self.context)
                self.ssl = None
        self.socket.close()
