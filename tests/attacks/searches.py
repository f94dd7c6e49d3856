"""Each secret that a pool mints is looked for where it must not be of use: bytes on the wire, the memory of processes, files.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import json
import os
import pwd
import re
import secrets
import socket
import struct
import subprocess

import minted
from attack import attack, needs_checkpoints, worked
from pool import NAME, until
from wire_client import Holder

DAEMONS = {"roost-collector": "collector", "roost-schedd": "schedd", "roost-negotiato": "negotiator", "roost-rooster": "rooster", "roost": "administrator"}
OF_MACHINES = ("roost-startd", "roost-starter", "roost-master", "roost-keeper")
MAP = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (r\S+) \S+ \S+ \S+\s*(.*)$")
PART = 8 << 20
FILE_MAX = 64 << 20


def found_in(data, minted_ones):
    return [one for one in minted_ones if any(form in data for form in one.texts)]


# ---- processes


def reader_of(scene, pid, accounts):
    """Whose process it is, as a holder of secrets; None: not the pool's."""
    uid, comm = os.stat(f"/proc/{pid}").st_uid, scene.words(pid, "comm").strip()
    if uid in accounts:
        return f"user {accounts[uid]}"
    said = scene.words(pid, "cmdline") + scene.words(pid, "environ")
    if scene.directory not in said:
        return None
    node = re.search(rf"{re.escape(scene.directory)}/nodes/(\w+)", said)
    if comm in OF_MACHINES:
        return f"machine {node.group(1)}" if node else "master"
    return DAEMONS.get(comm)


def memory(pid):
    """The readable memory of a process, piece by piece, with a little of the piece before."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        maps = [match for match in map(MAP.match, file) if match]
    with open(f"/proc/{pid}/mem", "rb", 0) as file:
        for match in maps:
            begin, end = int(match.group(1), 16), int(match.group(2), 16)
            # What is mapped from a file without a change of its own is a file's.
            if match.group(4).startswith("[v") or match.group(4).startswith("/") and "w" not in match.group(3):
                continue
            for at in range(begin, end, PART):
                try:
                    file.seek(at)
                    yield file.read(min(PART + 4096, end - at))
                except (OSError, ValueError):
                    break


def search_memory(scene, minted_ones, accounts):
    """(reader, where, secret) of each hit; how many processes were looked at."""
    hits, count = set(), 0
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            reader = reader_of(scene, pid, accounts)
            if reader is None or pid == os.getpid():
                continue
            where = f"the memory of {scene.words(pid, 'comm').strip()}"
            for data in memory(pid):
                hits |= {(reader, where, minted_ones.index(one)) for one in found_in(data, minted_ones)}
            count += 1
        except (OSError, UnicodeDecodeError):
            continue
    return [(reader, where, minted_ones[index]) for reader, where, index in sorted(hits)], count


# ---- files


CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWIPC = 0x20000, 0x20000000, 0x08000000
PLACES = ["/dev/shm", "/dev/mqueue", "/run", "/var/tmp", "/var/crash"]  # beside the test's directory


def enter_job(pid):
    """From here on, and for a child altogether, we are where that process of a job is."""
    libc = ctypes.CDLL(None, use_errno=True)
    spaces = [(os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY), kind) for name, kind in (("ipc", CLONE_NEWIPC), ("pid", CLONE_NEWPID), ("mnt", CLONE_NEWNS))]
    for space, kind in spaces:
        if libc.setns(space, kind) != 0:
            raise OSError(ctypes.get_errno(), f"setns {pid}")
        os.close(space)
    os.chdir("/")
    child = os.fork()  # only a child is in the process namespace
    if child != 0:
        os.waitpid(child, 0)
        os._exit(0)


def search_files(scene, minted_ones, account, job=None):
    """What this account finds in files that it can read, below the test's directory and in /proc; job: from inside of that job of it.
    And how many of these files are other users' and lie below the pool's directory."""
    uid, gid = pwd.getpwnam(account).pw_uid, pwd.getpwnam(account).pw_gid
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if job is not None:
                enter_job(job)
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            with os.fdopen(theirs, "w") as out:
                json.dump(readable_hits([scene.files, *PLACES], minted_ones, scene.directory), out)
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        said = json.loads(answer.read() or "null")
    os.waitpid(child, 0)
    if said is None:
        raise AssertionError(f"the search of {account} broke off")
    hits, count, others = said
    if others:
        worked(f"{account} may read files of other users': {others}")
    return [(f"user {account}", where + (" (seen by a job)" if job is not None else ""), minted_ones[index]) for where, index in hits], count


def readable_hits(tops, minted_ones, pool):
    hits, count, others = [], 0, []
    paths = [os.path.join(place, name) for top in tops for place, _, names in os.walk(top) for name in names]
    paths += [f"/proc/{pid}/{what}" for pid in filter(str.isdigit, os.listdir("/proc")) for what in ("cmdline", "environ")]
    for path in paths:
        try:
            if not path.startswith("/proc/") and not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                data, owner = file.read(FILE_MAX), os.fstat(file.fileno()).st_uid
        except OSError:
            continue
        count += 1
        hits += [(path, minted_ones.index(one)) for one in found_in(data, minted_ones)]
        others += [path] if path.startswith(pool + "/") and owner not in (0, os.getuid()) else []
    return hits, count, others


# ---- the wire


class Wire:
    """Records what goes over the loopback interface from and to the pool's ports."""

    def __init__(self, ports):
        self.ports, self.data = ports, []
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)  # SO_RCVBUFFORCE
        self.socket.bind(("lo", 0))
        self.socket.setblocking(False)

    def take(self):
        """What has come since."""
        while True:
            try:
                packet = self.socket.recv(1 << 17)
            except BlockingIOError:
                return
            if len(packet) < 54 or packet[12:14] != b"\x08\x00" or packet[23] != 6:
                continue
            header = 14 + (packet[14] & 15) * 4
            source, target = struct.unpack_from(">HH", packet, header)
            if source in self.ports or target in self.ports:
                self.data.append(packet[header + (packet[header + 12] >> 4) * 4 :])

    def close(self):
        self.socket.close()


# ---- all of it


WORKS = r"""
read -r word <input.txt
cp input.txt "$TMPDIR/copy"; cp input.txt /tmp/copy; cp input.txt /dev/shm/copy; echo "$word"; export word
exec sleep 600
"""


def spooled_job(scene, account):
    """A job of that account that runs, whose input was spooled and lies wherever a job may put it: (what is in it, its id, a process of it)."""
    word, home = secrets.token_hex(16), pwd.getpwnam(account).pw_dir
    script = os.path.join(scene.files, "works.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(WORKS)
    os.chmod(script, 0o644)
    scene.at_home("input.txt", f"{word}\n", account)
    needs_checkpoints()
    path = scene.at_home("spooled.sub", f"executable = /bin/sh\ntransfer_executable = false\narguments = {script}\ninitialdir = {home}\ntransfer_input_files = input.txt\n"
                         'output = said\nstream_output = true\ncheckpoint = true\nrequest_memory = 1\nrequest_disk = 1\nrequirements = Machine == "wn01"\nqueue\n', account)
    cluster = int(scene.command("submit", path, "-terse", "-spool", account=account).split(".")[0])
    scene.clusters.append((account, cluster))
    os.unlink(os.path.join(home, "input.txt"))

    def works():
        uid = pwd.getpwnam(account).pw_uid
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if os.stat(f"/proc/{pid}").st_uid == uid and f"word={word}" in scene.words(pid, "environ"):
                    return pid
            except OSError:
                pass
        return None

    return word, f"{cluster}.0", until(f"{account}'s spooled job works", 40, works)


def busy_pool(scene):
    """Everybody is there, does what he does, and has shown his token wherever he does: (given files, an open `roost ssh`, a job)."""
    given = []
    for account, scopes in (("alice", "READ,WRITE"), ("bob", "READ,WRITE")):
        path = os.path.join(pwd.getpwnam(account).pw_dir, "token")
        scene.command("token", "create", "--identity", f"{account}@{NAME}", "--scope", scopes, "--file", path)
        for made in (path, path + ".key"):
            if os.path.exists(made):
                os.chown(made, pwd.getpwnam(account).pw_uid, pwd.getpwnam(account).pw_gid)
                os.chmod(made, 0o600)
                given.append((made, f"user {account}"))
    jobs = {account: scene.running(account) for account in ("alice", "bob")}
    scene.command("power", "status")
    scene.command("config", "get", "ALL_DEBUG", "--node", "wn01")
    for route in ("collector", "schedd"):
        with open(given[0][0], encoding="ascii") as file, scene.greet(route, Holder.of_text(file.read())) as connection:
            connection.call("QUERY", {"Type": "Any"})
    shell = scene.keep(Shell(scene, jobs["alice"]))
    return given, shell, jobs["alice"]


class Shell:
    """`roost ssh` of an administrator into a user's job, open."""

    def __init__(self, scene, job):
        self.process = subprocess.Popen([scene.roost, "ssh", job, "echo here; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if b"here" not in self.process.stdout.readline():
            raise AssertionError("roost ssh does not get into the job")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@attack("secrets", "a secret is read where another identity can read, and gives it more than its own rights")
def a_secret_is_read_and_used(scene):
    wire = scene.keep(Wire({int(scene.knob("COLLECTOR_PORT")), int(scene.knob("SCHEDD_PORT"))}))
    given, _, job = busy_pool(scene)
    until("something is recorded", 10, lambda: wire.take() or wire.data)
    works = {account: spooled_job(scene, account) for account in ("alice", "bob")}
    for account, (_, spooled, _) in works.items():
        scene.command("checkpoint", spooled, account=account)
    minted_ones = minted.all_of(scene, given) + [minted.ticket(scene, "alice", job), minted.environment("ROOTS_PASSWORD")]
    minted_ones += [minted.private(account, "input", word, ["machine wn01"]) for account, (word, _, _) in works.items()]
    accounts = {pwd.getpwnam(account).pw_uid: account for account in ("alice", "bob")}
    hits, processes = search_memory(scene, minted_ones, accounts)
    own = {one.what for reader, _, one in hits if reader in one.holders}
    # A search that finds nobody's own secrets has shown nothing.
    kinds = {one.kind for reader, _, one in hits if reader in one.holders}
    if not {"token", "key", "claim id", "nonce", "environment", "data"} <= kinds:
        raise AssertionError(f"of the secrets that are where they should be, only {sorted(own)} were found")
    files = 0
    for account, inside in (("alice", None), ("bob", None), ("nobody", None), ("alice", works["alice"][2]), ("bob", works["bob"][2])):
        more, count = search_files(scene, minted_ones, account, inside)
        if account in works and not any(one.kind == "data" and reader in one.holders for reader, _, one in more):
            raise AssertionError(f"{account} does not find its own input, in {count} files")
        hits, files = hits + more, files + count
    wire.take()
    hits += [("whoever hears the network", "bytes on the wire", one) for one in found_in(b"".join(wire.data), minted_ones)]
    strange = [(reader, where, one) for reader, where, one in hits if reader not in one.holders]
    print(f"{len(minted_ones)} secrets, {processes} processes, {files} files, {sum(map(len, wire.data))} bytes on the wire: {len(strange)} hits at others")
    for reader, where, one in strange:
        print(f"    {one.what} in {where} ({reader})")
    gains = [f"{one.what}, in {where}, gives {reader} {gain}" for reader, where, one in strange if (gain := one.replay())]
    if gains:
        worked("; ".join(gains))
