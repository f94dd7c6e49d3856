"""Stands where systemd stands on logind's bus: takes its orders to start units, and does nothing but write them down.

usage: lib_systemd_bus.py SOCKET units FILE        each unit that is to be started becomes a line of FILE ("suspend.target")
       lib_systemd_bus.py SOCKET session UID LEADER TYPE     as pam_systemd does: begins a session, says its id and its path,
                                                             and holds it until it is ended

The few messages of D-Bus that this takes are put
together by hand: Debian's Python has no library for it.

SPDX-License-Identifier: Apache-2.0
"""
import os
import socket
import struct
import sys

CALL, RETURN, SIGNAL = 1, 2, 4
PATH, INTERFACE, MEMBER, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE = 1, 2, 3, 5, 6, 7, 8


def pad(data, to):
    return data + b"\0" * (-len(data) % to)


def text(value, kind="s"):
    raw = value.encode()
    return (bytes([len(raw)]) if kind == "g" else struct.pack("<I", len(raw))) + raw + b"\0"


class Bus:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.bytes = b""
        self.files = []
        self.serial = 0
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.line().startswith(b"OK")
        self.socket.sendall(b"NEGOTIATE_UNIX_FD\r\n")
        assert self.line().startswith(b"AGREE")
        self.socket.sendall(b"BEGIN\r\n")

    def more(self):
        data, files, _, _ = socket.recv_fds(self.socket, 65536, 8)
        if not data:
            sys.exit(0)
        self.bytes += data
        self.files += files

    def line(self):
        while b"\n" not in self.bytes:
            self.more()
        line, self.bytes = self.bytes.split(b"\n", 1)
        return line

    def take(self, length):
        while len(self.bytes) < length:
            self.more()
        data, self.bytes = self.bytes[:length], self.bytes[length:]
        return data

    def send(self, kind, fields, signature="", body=b""):
        self.serial += 1
        if signature:
            fields = fields + [(SIGNATURE, "g", signature)]
        packed = b""
        for code, sort, value in fields:
            packed = pad(packed, 8) + bytes([code, 1]) + sort.encode() + b"\0"
            packed += struct.pack("<I", value) if sort == "u" else b""
            # A field begins at a multiple of eight, so that its value is aligned after four bytes.
            packed += text(value, sort) if sort != "u" else b""
        head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), self.serial, len(packed))
        self.socket.sendall(pad(head + packed, 8) + body)
        return self.serial

    def read(self):
        head = self.take(16)
        order = "<" if head[:1] == b"l" else ">"
        kind, length, serial, fields_length = head[1], *struct.unpack(order + "III", head[4:])
        raw = self.take(fields_length + -fields_length % 8)
        body = self.take(length)
        fields, at = {}, 0
        while at < fields_length:
            at += -at % 8
            code, sort = raw[at], chr(raw[at + 2])
            at += 4
            if sort == "g":
                size, begin = raw[at], at + 1
            elif sort in "so":
                size, begin = struct.unpack(order + "I", raw[at:at + 4])[0], at + 4
            else:
                fields[code], at = struct.unpack(order + "I", raw[at:at + 4])[0], at + 4
                continue
            fields[code], at = raw[begin:begin + size].decode(), begin + size + 1
        return kind, serial, fields, body, order

    def call(self, service, path, interface, member, signature="", body=b""):
        mine = self.send(CALL, [(PATH, "o", path), (INTERFACE, "s", interface), (MEMBER, "s", member),
                                (DESTINATION, "s", service)], signature, body)
        while True:
            kind, _, fields, body, order = self.read()
            if fields.get(REPLY_SERIAL) == mine:
                if kind != RETURN:
                    sys.exit(f"{member}: {string_at(body, 0, order)[0] if body else fields}")
                return body, order


def string_at(body, at, order):
    at += -at % 4
    length = struct.unpack(order + "I", body[at:at + 4])[0]
    return body[at + 4:at + 4 + length].decode(), at + 4 + length + 1


BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
LOGIN = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")


def begin_session(bus, uid, leader, kind):
    body = struct.pack("<II", uid, leader)
    for word in ("roost-test", kind, "user", "", ""):
        body = pad(body, 4) + text(word)
    body = pad(body, 4) + struct.pack("<I", 0)
    for word in ("", ""):
        body = pad(body, 4) + text(word)
    body = pad(body, 4) + struct.pack("<I", 0)
    for word in ("", ""):
        body = pad(body, 4) + text(word)
    body = pad(pad(body, 4) + struct.pack("<I", 0), 8)
    answer, order = bus.call(*LOGIN, "CreateSession", "uusssssussbssa(sv)", body)
    session, at = string_at(answer, 0, order)
    print(session, string_at(answer, at, order)[0], flush=True)
    while True:
        bus.read()


def stand_for_systemd(bus, path):
    bus.call(*BUS, "RequestName", "su", pad(text("org.freedesktop.systemd1"), 4) + struct.pack("<I", 0))
    jobs = 0
    while True:
        kind, serial, fields, body, order = bus.read()
        if kind != CALL:
            continue
        answer = [(REPLY_SERIAL, "u", serial), (DESTINATION, "s", fields[SENDER])]
        if fields[MEMBER] not in ("StartUnit", "StopUnit", "StartTransientUnit"):
            bus.send(RETURN, answer)
            continue
        unit = string_at(body, 0, order)[0]
        jobs += 1
        job = f"/org/freedesktop/systemd1/job/{jobs}"
        bus.send(RETURN, answer, "o", text(job))
        if fields[MEMBER] == "StartUnit":
            with open(path, "a") as out:
                out.write(unit + "\n")
        # What was ordered is done.
        result = pad(pad(pad(struct.pack("<I", jobs) + text(job), 4) + text(unit), 4), 4) + text("done")
        bus.send(SIGNAL, [(PATH, "o", "/org/freedesktop/systemd1"), (INTERFACE, "s", "org.freedesktop.systemd1.Manager"),
                          (MEMBER, "s", "JobRemoved")], "uoss", result)


connection = Bus(sys.argv[1])
connection.call(*BUS, "Hello")
if sys.argv[2] == "session":
    begin_session(connection, int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
else:
    stand_for_systemd(connection, sys.argv[3])
