"""A client of remote system calls, written from docs/protocol/rsyscall.md: what a machine has that runs a standard-universe job.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import struct

from tls import TlsError
from wire_client import Ended, dial

HELLO, STAT, SETATTR, READLINK, OPEN, CLOSE, READ, WRITE, MKDIR, SYMLINK, LINK, RENAME, UNLINK = 1, 4, 5, 7, 8, 9, 11, 12, 14, 16, 17, 18, 19
OPEN_READ, OPEN_WRITE, OPEN_CREATE, OPEN_TRUNCATE = 1, 2, 8, 32
HEADER = struct.Struct("<IHHIi")
NO_ATTR = bytes(96)


def text(value):
    value = value.encode()
    return struct.pack("<H", len(value)) + value + b"\0"


def at(path, handle=0):
    return struct.pack("<Q", handle) + text(path.lstrip("/"))


class RemoteCalls:
    """A session with the ticket of a run."""

    def __init__(self, activation):
        self.stream = dial(activation["ShadowAddress"].removeprefix("tcp:"), activation["ShadowRoute"].replace("shadow/", "rsys/", 1)).stream
        self.seq = 0
        ticket = hashlib.sha256(b"roost remote system calls " + activation["Nonce"].encode()).hexdigest()
        status, _ = self.exchange(HELLO, 0, struct.pack("<II", 2, 4) + bytes(16) + text(ticket))
        if status != 0:
            raise AssertionError(f"the ticket is not taken: {status}")

    def close(self):
        self.stream.close()

    def take(self, count):
        data = b""
        while len(data) < count:
            try:
                part = self.stream.recv(count - len(data))
            except (OSError, TlsError) as error:
                raise Ended(0, str(error)) from error
            if not part:
                raise Ended(0, "the server of remote calls has hung up")
            data += part
        return data

    def exchange(self, op, seq, fields):
        self.stream.sendall(HEADER.pack(len(fields) + HEADER.size, op, 0, seq, 0) + fields)
        length, _, _, _, status = HEADER.unpack(self.take(HEADER.size))
        return status, self.take(length - HEADER.size)

    def ask(self, op, fields):
        """(status, fields of the reply)"""
        self.seq += 1
        return self.exchange(op, self.seq, fields)

    def open(self, path, how, mode=0o755):
        """A handle, or a negative error number."""
        status, rest = self.ask(OPEN, at(path) + struct.pack("<II", how, mode) + NO_ATTR + struct.pack("<QQ", 0, 0))
        return struct.unpack_from("<Q", rest)[0] if status == 0 else status

    def write(self, path, data, mode=0o755):
        """Is a file of that name written?"""
        handle = self.open(path, OPEN_WRITE | OPEN_CREATE | OPEN_TRUNCATE, mode)
        if handle < 0:
            return False
        status, _ = self.ask(WRITE, struct.pack("<QHQI", handle, 1, 0, len(data)) + data)
        self.ask(CLOSE, struct.pack("<Q", handle))
        return status == 0

    def read(self, path):
        """Its first bytes, or None."""
        handle = self.open(path, OPEN_READ)
        if handle < 0:
            return None
        status, rest = self.ask(READ, struct.pack("<QQQ", handle, 0, 4096))
        self.ask(CLOSE, struct.pack("<Q", handle))
        return rest if status == 0 else None

    def mkdir(self, path):
        return self.ask(MKDIR, at(path) + struct.pack("<I", 0o755))[0] == 0

    def chmod(self, path, mode):
        return self.ask(SETATTR, at(path) + struct.pack("<I", 1) + struct.pack("<I", mode) + NO_ATTR[4:])[0] == 0

    def rename(self, path, other):
        return self.ask(RENAME, at(path) + at(other) + struct.pack("<I", 0))[0] == 0

    def symlink(self, path, target):
        return self.ask(SYMLINK, at(path) + text(target))[0] == 0
