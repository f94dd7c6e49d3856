#!/usr/bin/env python3
"""Clients that are enemies of a server of remote system calls, beside one that works.

lib_rsys_hostile.py SOCKET PID INSIDE OUTSIDE [SECONDS]
lib_rsys_hostile.py tcp:HOST:PORT/ROUTE PID INSIDE OUTSIDE SECONDS TICKET_FILE   as a starter that has become one: a shadow's, of a pool

PID is the server's: it offers INSIDE as / to who has the ticket "enemy" or "friend".  OUTSIDE, beside INSIDE, has a file
`secret`.  While a friend stats, writes and reads, each attack goes on for SECONDS.  Then: nothing outside was read or
changed, the server's memory is within bounds, the friend's answers were right, and came as before.

SPDX-License-Identifier: Apache-2.0
"""
import multiprocessing
import os
import random
import resource
import socket
import ssl
import struct
import sys
import time

HELLO, PING, BYE, STAT, SETATTR, READLINK, OPEN, CLOSE, READ, WRITE = 1, 2, 3, 4, 5, 7, 8, 9, 11, 12
READDIR, MKDIR, SYMLINK, LINK, RENAME, UNLINK, RMDIR, FALLOCATE, COPY = 13, 14, 16, 17, 18, 19, 20, 25, 27
SECRET = b"what nobody outside may read"
NO_ATTR = bytes(96)
ANY_FILE = NO_ATTR + bytes(8) + struct.pack("<Q", 4096)  # no attributes, no time of birth: whatever file it is; its beginning, too
ENEMY = "enemy"
if len(sys.argv) > 6:
    with open(sys.argv[6]) as ticket_file:
        ENEMY = ticket_file.read().strip()
RATE = 1000  # requests a second, where nobody else wants the processors; so many of them in any case
AT_ONCE = 32
MEMORY_KIB = 96 << 10


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<H", len(value)) + value + b"\0"


def at(path, handle=0):
    return struct.pack("<Q", handle) + text(path)


class Cut(Exception):
    pass


class Client:
    def __init__(self, path, ticket):
        self.path, self.ticket, self.seq = path, ticket, {}
        self.dial()

    def dial(self):
        if self.path.startswith("tcp:"):
            address, route = self.path[4:].split("/", 1)
            plain = socket.create_connection(address.rsplit(":", 1), 30)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the real client does
            plain.sendall(f"ROOST/1 {route}\n".encode())
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self.socket = context.wrap_socket(plain)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(30)
            self.socket.connect(self.path)
            self.socket.sendall(b"ROOST/1 rsys\n")
        self.seq = {}
        self.send_raw(HELLO, 0, 0, struct.pack("<II", 2, 64) + bytes(16) + text(self.ticket))
        return self.reply()

    def send_raw(self, op, slot, seq, fields, length=None, flags=0):
        frame = struct.pack("<IHHII", len(fields) + 16 if length is None else length, op, slot, seq, flags) + fields
        try:
            self.socket.sendall(frame)
        except OSError as error:
            raise Cut from error

    def send(self, op, fields, slot=0):
        self.seq[slot] = self.seq.get(slot, 0) + 1
        self.send_raw(op, slot, self.seq[slot], fields)

    def take(self, count):
        parts = b""
        while len(parts) < count:
            try:
                part = self.socket.recv(min(count - len(parts), 1 << 20))
            except OSError as error:
                raise Cut from error
            if not part:
                raise Cut
            parts += part
        return parts

    def reply(self):
        """(slot, status, fields)"""
        length, _op, slot, _seq, status = struct.unpack("<IHHIi", self.take(16))
        return slot, status, self.take(length - 16)

    def ask(self, op, fields):
        self.send(op, fields)
        _, status, rest = self.reply()
        return status, rest

    def open(self, path, how):
        status, rest = self.ask(OPEN, at(path) + struct.pack("<II", how, 0o600) + ANY_FILE)
        return struct.unpack_from("<Q", rest)[0] if status == 0 else status


def extents(data):
    return struct.pack("<HQI", 1, 0, len(data)) + data


# ---- the friend


def friend(path, stop, moments):
    """Three calls at a time, looked at; when each began and how long it took."""
    client = Client(path, "friend")
    handle = client.open("friend", 1 | 2 | 8)
    number = 0
    while not stop.is_set():
        number += 1
        data = b"%012d" % number
        began = time.monotonic()
        status, _ = client.ask(WRITE, struct.pack("<Q", handle) + extents(data))
        read, back = client.ask(READ, struct.pack("<QQQ", handle, 0, 12))
        found, _ = client.ask(STAT, at("friend"))
        if (status, read, found) != (0, 0, 0) or not back.endswith(data):
            moments.put(f"call {number}: {status}, {read}, {found}, {back!r}")
            return
        moments.put((began, time.monotonic() - began))
        time.sleep(0.002)


# ---- the enemies: each for some seconds; how many requests that were


PATHS = ["secret", "../outside/secret", "..", ".", "a/../../outside/secret", "/etc/passwd", "/", "//", "a//b", "out/secret", "abs/secret", "up/outside/secret",
         "out", "abs/new", "out/new", "loop/loop", "d/up/secret", "proc/self/mem", "a\0b", "x" * 256, "d/" * 2000, "a" * 5000, "swap/secret", "swap/new", ""]


def wild_paths(client, rng):
    path, other = rng.choice(PATHS), rng.choice(PATHS)
    op = rng.choice([STAT, OPEN, READLINK, UNLINK, RMDIR, MKDIR, SYMLINK, LINK, RENAME, SETATTR])
    if path == "out" or other == "out":  # it stays where it is: much leads through it
        op = rng.choice([STAT, READLINK])
    fields = at(path)
    if op == OPEN:
        fields += struct.pack("<II", rng.choice([1, 2, 3, 2 | 8, 2 | 8 | 32, 1 | 64, 128, 2 | 512]), 0o666) + ANY_FILE
    elif op == MKDIR:
        fields += struct.pack("<I", 0o777)
    elif op == SYMLINK:
        fields += text(rng.choice(["../outside", "/", "/etc/passwd"]))
    elif op in (LINK, RENAME):
        fields += at(other) + (struct.pack("<I", rng.choice([0, 1, 2])) if op == RENAME else b"")
    elif op == SETATTR:
        fields += struct.pack("<I", rng.choice([1, 8, 16, 0xFF])) + struct.pack("<I", 0o777) + NO_ATTR[4:]
    return op, fields


def foreign_handles(_client, rng):
    handle = rng.choice([rng.randrange(2000), rng.randrange(1 << 64)])
    op = rng.choice([READ, WRITE, CLOSE, READDIR, FALLOCATE, COPY])
    fields = struct.pack("<Q", handle)
    if op == WRITE:
        fields += extents(b"hostile")
    elif op != CLOSE:
        fields += struct.pack("<QQ", rng.randrange(1 << 63), rng.choice([0, 4096, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]))
        fields += struct.pack("<I", 0) if op in (READDIR, FALLOCATE) else struct.pack("<QQ", handle, 1 << 50) if op == COPY else b""
    return op, fields


def wild_bytes(client, rng):
    kind = rng.randrange(300)
    if kind == 0:  # a length, a slot, a number that cannot be: the connection ends
        client.send_raw(STAT, rng.choice([0, 64, 65535]), rng.choice([0, 7, 1 << 31]), at("a"), rng.choice([0, 15, 1 << 21, (1 << 32) - 1, 40]))
        client.socket.settimeout(0.02)  # it may wait for the rest
        client.take(1 << 24)
    op, fields = wild_paths(client, rng)
    fields = bytearray(fields)
    for _ in range(rng.randrange(4)):
        fields[rng.randrange(len(fields))] ^= 1 << rng.randrange(8)
    return rng.choice([op, op, rng.randrange(2, 40)]), bytes(fields[: rng.randrange(len(fields) + 1)] if kind == 1 else fields)


def looked_at(rest, op, fields):
    if SECRET in rest:
        raise SystemExit(f"{op} {fields!r} told the secret")


def ask_many(client, requests):
    """All on their way at once, each in a slot; (status, rest) of each."""
    answers = [None] * len(requests)
    for slot, (op, fields) in enumerate(requests):
        client.send(op, fields, slot)
    for _ in requests:
        slot, status, rest = client.reply()
        looked_at(rest, *requests[slot])
        answers[slot] = (status, rest)
    return answers


def ask_wildly(path, seconds, what, seed):
    """For so long, and RATE times as many requests."""
    rng, asked, until = random.Random(seed), 0, time.monotonic() + seconds
    client = Client(path, ENEMY)
    while time.monotonic() < until or asked < RATE * seconds:
        try:
            requests = [request for request in (what(client, rng) for _ in range(AT_ONCE)) if request[0] not in (HELLO, BYE)]
            answers = ask_many(client, requests)
            handles = [rest[:8] for (op, _), (status, rest) in zip(requests, answers) if op == OPEN and status == 0]
            ask_many(client, [(READ, handle + struct.pack("<QQ", 0, 4096)) for handle in handles])
            ask_many(client, [(CLOSE, handle) for handle in handles])
            asked += len(requests) + 2 * len(handles)
        except Cut:
            asked += 1
            client.dial()
    return asked


def swap(path, seconds, inside, seed):
    """Somebody at the submit machine makes a directory a link and back, as fast as can be, while it is asked for."""
    other = multiprocessing.Process(target=swap_for, args=(seconds, inside))
    other.start()
    asked = ask_wildly(path, seconds, swap_paths, seed)
    other.join()
    return asked


def swap_for(seconds, inside):
    until = time.monotonic() + seconds
    link, folder, name = (os.path.join(inside, name) for name in ("swap.link", "swap.folder", "swap"))
    os.symlink("../outside", link)
    while time.monotonic() < until:
        for one in (folder, link):
            os.rename(one, name) if not os.path.lexists(name) else None
            os.rename(name, one)


def swap_paths(_client, rng):
    op = rng.choice([OPEN, OPEN, OPEN, STAT, UNLINK, RENAME, MKDIR, LINK])
    fields = at(rng.choice(["swap/secret", "swap/new"]))
    if op == OPEN:
        fields += struct.pack("<II", rng.choice([1, 2, 2 | 8, 2 | 32]), 0o666) + ANY_FILE
    elif op == MKDIR:
        fields += struct.pack("<I", 0o777)
    elif op in (LINK, RENAME):
        fields += at(rng.choice(["swap/two", "taken"])) + (struct.pack("<I", 0) if op == RENAME else b"")
    return op, fields


def never_read(path, seconds, _inside, _seed):
    """All slots ask for a MiB each, and nobody takes the answers."""
    clients, asked, until = [], 0, time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            client = Client(path, ENEMY)
            handle = client.open("big", 1)
            client.socket.settimeout(0.2)
            for slot in range(64):
                client.send(READ, struct.pack("<QQQ", handle, 0, 1 << 20), slot)
                asked += 1
            for slot in range(64):  # before it was answered: the connection ends
                client.send(WRITE, struct.pack("<Q", handle) + extents(bytes(1 << 20)), slot)
                asked += 1
        except (Cut, OSError, struct.error):
            pass
        clients = clients[-8:] + [client]
    return asked


def connect_often(path, _seconds, _inside, seed):
    """Ten thousand connections: silent ones, rubbish, wrong tickets."""
    rng, kept = random.Random(seed), []
    for number in range(10000):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(10)
        try:
            one.connect(path)
            one.sendall(rng.choice([b"", b"ROOST/1 rsys\n", b"ROOST/1 rsys\n" + rng.randbytes(300), rng.randbytes(100),
                                    b"ROOST/1 rsys\n" + struct.pack("<IHHII", 16 + 24 + 8, 1, 0, 0, 0) + struct.pack("<II", 1, 64) + bytes(16) + text("wrong")]))
        except OSError:
            pass
        kept = kept[-600:] + [one]
    return number + 1


ATTACKS = {
    "paths": lambda *given: ask_wildly(given[0], given[1], wild_paths, given[3]),
    "handles and sizes": lambda *given: ask_wildly(given[0], given[1], foreign_handles, given[3]),
    "bytes": lambda *given: ask_wildly(given[0], given[1], wild_bytes, given[3]),
    "links that change": swap,
    "answers nobody takes": never_read,
    "connections": connect_often,
}


# ---- what came of it


def peak_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def prepare(inside, outside):
    for name, target in (("out", "../outside"), ("abs", outside), ("loop", "loop"), ("up", "..")):
        os.symlink(target, os.path.join(inside, name))
    for name in ("d", "swap.folder"):
        os.mkdir(os.path.join(inside, name))
    os.symlink("../../outside", os.path.join(inside, "d", "up"))
    with open(os.path.join(inside, "big"), "wb") as big:
        big.write(bytes(8 << 20))
    with open(os.path.join(outside, "secret"), "wb") as secret:
        secret.write(SECRET)
    os.utime(os.path.join(outside, "secret"), (1000, 1000))


def check_outside(outside):
    about = os.stat(os.path.join(outside, "secret"))
    with open(os.path.join(outside, "secret"), "rb") as secret:
        if secret.read() != SECRET or (about.st_mtime, about.st_nlink) != (1000, 1) or os.listdir(outside) != ["secret"]:
            sys.exit(f"what is outside is not as it was: {os.listdir(outside)}, {about}")


def run_attack(attack, results, *given):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    results.put(attack(*given))


def attack_a_shadow(path, pid, inside, outside, seconds):
    prepare(inside, outside)
    before_kib, total = peak_kib(pid), 0
    began = time.monotonic()
    for seed, name in enumerate(["paths", "handles and sizes", "bytes", "links that change"]):
        started = time.monotonic()
        asked = ATTACKS[name](path, seconds, inside, seed)
        total += asked
        print(f"{name}: {asked / (time.monotonic() - started):.0f} a second", flush=True)
        check_outside(outside)
    print(f"{total / (time.monotonic() - began):.0f} a second; the shadow had {before_kib} KiB, now {peak_kib(pid)} KiB at most")
    if peak_kib(pid) - before_kib > MEMORY_KIB:
        sys.exit("that is much of memory")


def main():
    if len(sys.argv) > 6:
        attack_a_shadow(*sys.argv[1:5], float(sys.argv[5]))
        return
    path, pid, inside, outside = sys.argv[1:5]
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 1.0
    prepare(inside, outside)
    stop, moments, results = multiprocessing.Event(), multiprocessing.Queue(), multiprocessing.Queue()
    working = multiprocessing.Process(target=friend, args=(path, stop, moments), daemon=True)
    working.start()
    spans, taken = [("before", time.monotonic(), time.monotonic() + seconds)], []

    def drain():
        while not moments.empty():
            moment = moments.get()
            if isinstance(moment, str):
                sys.exit(f"the friend: {moment}")
            taken.append(moment)

    time.sleep(seconds)
    drain()
    before_kib = peak_kib(pid)
    for seed, (name, attack) in enumerate(ATTACKS.items()):
        began = time.monotonic()
        enemy = multiprocessing.Process(target=run_attack, args=(attack, results, path, seconds, inside, seed))
        enemy.start()
        while enemy.is_alive():
            drain()
            enemy.join(0.05)
        if enemy.exitcode != 0:
            sys.exit(f"{name}: {enemy.exitcode}")
        asked, took = results.get(), time.monotonic() - began
        spans.append((name, began, time.monotonic()))
        print(f"{name}: {asked / took:.0f} a second; {peak_kib(pid) >> 10} MiB at most", flush=True)
        check_outside(outside)
    stop.set()
    while working.is_alive():
        drain()
        working.join(0.05)
    drain()
    for name, began, ended in spans:
        times = sorted(took for when, took in taken if began <= when < ended)
        if not times:
            sys.exit(f"{name}: the friend was not answered at all")
        print(f"friend, {name}: {len(times)} times three calls, median {times[len(times) // 2] * 1e3:.2f} ms, most {times[-1] * 1e3:.1f} ms", flush=True)
        if times[-1] > 2:
            sys.exit("the friend had to wait")
    if "ASAN_OPTIONS" not in os.environ and peak_kib(pid) - before_kib > MEMORY_KIB:
        sys.exit(f"memory: {before_kib} KiB before, {peak_kib(pid)} KiB now")
    os.kill(int(pid), 0)


if __name__ == "__main__":
    main()
