"""Many at once: a token is revoked while much hangs on it; strangers and members all do the worst that they can.

SPDX-License-Identifier: Apache-2.0
"""
import os
import resource
import secrets
import select
import signal
import socket
import subprocess
import threading
import time

import wire_client
from attack import attack, worked
from evil import Machine, Schedd
from pool import NAME, until
from remote_calls import RemoteCalls
from tls import Key, TlsError
from tokens import fresh, parts, signed
from wire_client import Ended, Holder, Refused

MIB = 1 << 20
CONNECTIONS, CLAIMS, SHELLS = 200, 20, 5
# How large the storm is: strangers and identities.  Smaller ones show less, and are for a machine that others use.
STRANGERS = int(os.environ.get("ATTACKS_STRANGERS", "2000"))
IDENTITIES = int(os.environ.get("ATTACKS_IDENTITIES", "500"))
GROWTH_MIB, ANSWER_S = 96, 0.5


def revoke(scene, *holders):
    """The moment at which they are revoked."""
    scene.command("token", "revoke", *(parts(holder.token)[1]["jti"] for holder in holders))
    return time.monotonic()


def still_open(connections, end):
    """Which of these have not ended by then."""
    left = list(connections)
    while left and time.monotonic() < end:
        for connection in list(left):
            try:
                while connection.turn(0.001):
                    pass
            except Ended:
                left.remove(connection)
    return left


# ---- one token, much that hangs on it


@attack("F9", "200 connections of two tokens that are revoked")
def connections_outlive_their_token(scene):
    reader, fired = scene.holder("leaver", "READ,WRITE"), scene.holder("fired", "READ,WRITE,ADMINISTRATOR")
    connections = [scene.keep(scene.greet(("collector", "schedd")[number % 2], (reader, fired)[number // 2 % 2])) for number in range(CONNECTIONS)]
    end = revoke(scene, reader, fired) + 1
    left = still_open(connections, end)
    if left:
        worked(f"a second later {len(left)} of {len(connections)} connections are open")


def is_given_its_job(claim):
    try:
        return claim.shadow().call("JOB_FETCH").status == 0
    except (Refused, Ended):
        return False


@attack("F9", "20 claims of a machine whose token is revoked")
def claims_outlive_their_token(scene):
    holder = scene.holder("gone", "READ,ADVERTISE", "gone")
    machine = scene.keep(Machine(scene, holder, "gone", scene.slot()))
    cluster = scene.submit("alice", CLAIMS, requirements='Machine == "gone"', arguments='"-c true"')
    claims = []
    ids = {number: f"slot{number}@gone#{machine.boot}#{secrets.token_hex(16)}" for number in range(1, CLAIMS + 1)}
    machine.advertise(*[machine.ad(Name=f"slot{number}@gone", SlotID=number, ClaimId=claim_id) for number, claim_id in ids.items()])
    while len(claims) < CLAIMS:
        claims.append(scene.keep(machine.claim(machine.asked("DIAL_ME", 40))))
    for claim in claims:
        claim.activate()
    end = revoke(scene, holder) + 1
    left = still_open([machine.uplink] + [claim.connection for claim in claims], end)
    if left:
        worked(f"a second later {len(left)} connections of the machine are open")
    with scene.as_user("schedd", "root") as schedd:
        jobs = schedd.call("QUERY", {"Type": "Job", "Ids": [str(cluster)], "Constraint": 'ClaimState =?= "Claimed" || JobStatus == 2'}).ads
    if jobs:
        worked(f"{len(jobs)} jobs are still thought to run there")
    if scene.ads(scene.the("READ"), "Machine", 'Machine == "gone"'):
        worked("the machine is still advertised")
    if is_given_its_job(claims[0]):
        worked("the machine is still given a job by its shadow")


@attack("F9", "a claim of a schedd whose token is revoked, and the job that it runs")
def a_claim_outlives_its_schedd(scene):
    holder = scene.holder("leaving", "READ,SCHEDD", "leaving")
    schedd = scene.keep(Schedd(scene, holder, scene.files, name="leaving"))
    job = schedd.job("alice", "wn01", "/bin/sleep", "600")
    schedd.want("alice", "wn01")
    match = schedd.matched(40)
    connection = scene.keep(schedd.claimed(match, job)[0])
    if (reply := schedd.activate(connection, match, job)).status != 0:
        raise AssertionError(f"its job is refused while its token is good: {reply.text}")
    mine = f'RemoteOwner =?= "alice@{NAME}" && Machine == "wn01"'
    until("the machine runs its job", 20, lambda: scene.ads(scene.the("READ"), "Machine", mine))
    starters = set(scene.pids("roost-starter"))
    end = revoke(scene, holder) + 1
    if still_open([schedd.uplink, connection], end):
        worked("a second later its connections are open")
    until("its starter has ended", 5, lambda: not starters & set(scene.pids("roost-starter")))
    until("the slot is free again", 10, lambda: not scene.ads(scene.the("READ"), "Machine", mine))


def shell_of(scene, job, holder):
    """A shell in that job, opened over the network."""
    with scene.greet("schedd", holder) as schedd:
        said = schedd.call("JOB_ACCESS", {"Purpose": "Shell", "JobId": job})
        if said.status != 0:
            raise AssertionError(f"no ticket: {said.text}")
    shell = scene.keep(scene.dial(said.args["ShadowRoute"]))
    shell.hello(more={"Ticket": said.args["Ticket"]})
    number = shell.call("SHELL_OPEN", {"Command": ["/bin/cat"], "Tty": False}).args["Shell"]
    shell.send("SHELL_READ", {"Shell": number}, deadline_ms=0)
    return shell


@attack("F9", "5 shells of a user whose token is revoked")
def shells_outlive_their_token(scene):
    job = scene.running("alice")
    holder = scene.holder(f"alice@{NAME}", "READ,WRITE")
    shells = [shell_of(scene, job, holder) for _ in range(SHELLS)]
    end = revoke(scene, holder) + 1
    left = still_open(shells, end)
    if left:
        worked(f"a second later {len(left)} shells are open")


@attack("F9", "a shell, and a machine's access to files, whose tokens are revoked while the schedd is away")
def what_hangs_on_a_token_outlives_it_without_a_schedd(scene):
    job = scene.running("alice")
    leaves, stays = (scene.holder(f"alice@{NAME}", "READ,WRITE") for _ in range(2))
    shell, other = (shell_of(scene, job, holder) for holder in (leaves, stays))
    machine = scene.holder("reader", "READ,ADVERTISE", "reader")
    evil = scene.keep(Machine(scene, machine, "reader", scene.slot()))
    evil.advertise()
    none = dict.fromkeys(("transfer_executable", "should_transfer_files", "when_to_transfer_output"))
    scene.submit("alice", universe="standard", requirements='Machine == "reader"', arguments='"-c true"', **none)
    claim = scene.keep(evil.claim(evil.asked("DIAL_ME", 30)))
    calls, path = scene.keep(RemoteCalls(claim.activate())), scene.at_home("work/input", "input\n")
    if calls.read(path) is None:
        raise AssertionError("the machine cannot read while its token is good")
    before = scene.pids("roost-schedd")
    os.kill(before[0], signal.SIGKILL)
    revoke(scene, leaves, machine)
    until("another schedd is there", 30, lambda: scene.pids("roost-schedd") not in ([], before))
    until("it answers at its port", 30, lambda: not ended_by(lambda: scene.greet("schedd", stays).close()))
    left = still_open([shell], time.monotonic() + 5)
    if left:
        worked("the schedd is back, and the shell of a revoked token is open")
    until("the machine is cut off from the owner's files", 5, lambda: ended_by(lambda: calls.read(path)))
    if not ended_by(lambda: scene.keep(RemoteCalls(claim.activation))):
        worked("the machine is let in to the owner's files again")
    if ended_by(lambda: other.turn(0.01)):
        raise AssertionError("a shell of the same user with another token has ended, too")
    if ended_by(lambda: shell_of(scene, job, stays)):
        raise AssertionError("the same user with another token gets no shell any more")


def ended_by(question):
    try:
        question()
    except (AssertionError, OSError, Refused, Ended, TlsError):
        return True
    return False


@attack("F9", "a machine that was away when a token was revoked takes its orders")
def a_daemon_comes_back_and_obeys(scene):
    fired = scene.holder("fired2", "READ,WRITE,ADMINISTRATOR")
    by = scene.the("ADMINISTRATOR")
    with scene.greet("collector", fired) as collector:
        if collector.relay("startd/wn01", "CONFIG", {"Action": "Get", "Names": ["ALL_DEBUG"]}).status != 0:
            raise AssertionError("its order is refused while it is good")
    pid = scene.pids("roost-startd")[0]
    os.kill(pid, 19)
    try:
        revoke(scene, fired)
    finally:
        os.kill(pid, 18)
    scene.start_anew("roost-startd", "wn01")
    with scene.greet("collector", by) as collector:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            reply = collector.relay("startd/wn01", "CONFIG", {"Action": "Get", "Names": ["ALL_DEBUG"]}, holder=fired)
            if reply.status == 0:
                worked("it obeys the revoked token")
            if reply.status in (-wire_client.EKEYREVOKED, -wire_client.EACCES):
                return
            time.sleep(0.02)
    raise AssertionError("the machine has not come back")


# ---- everybody at once


class Storm:
    """Strangers who wait, say half a frame, half a greeting; members who send the largest frames, the dearest questions, the most ads."""

    def __init__(self, scene):
        self.scene, self.stop, self.counts, self.threads = scene, threading.Event(), {}, []
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
        self.key, self.like = Key.load(scene.path("security/keys/POOL.key")), scene.the("READ")

    def add(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def strangers(self, count):
        """They come back as soon as they are sent away."""
        kinds = [b"", b"ROOST/1 collector\n", b"ROOST/1 claim\n", b"ROOST/1 claim\n\x16\x03\x01\x02\0" + bytes(100), b"ROOST/1 shadow/alice\n", b"ROOST/1 schedd\n"]
        sockets = {}
        poll = select.poll()
        number = 0
        while not self.stop.is_set():
            while len(sockets) < count and not self.stop.is_set():
                number += 1
                try:
                    plain = socket.create_connection(self.scene.address(("collector", "schedd")[number % 2]).rsplit(":", 1), 1)
                    plain.setblocking(False)
                    plain.send(kinds[number % len(kinds)])
                except OSError:
                    self.add("stranger turned away")
                    break
                sockets[plain.fileno()] = plain
                poll.register(plain, select.POLLIN | select.POLLHUP)
                self.add("stranger")
            for descriptor, _ in poll.poll(50):
                poll.unregister(descriptor)
                sockets.pop(descriptor).close()
        for plain in sockets.values():
            plain.close()

    def identity(self, number):
        """A member with a token of its own; the key is the pool's, or five hundred would take a minute to make."""
        scopes = "READ ADVERTISE" if number % 2 else "READ WRITE"
        claims = fresh(self.like.token, sub=f"member{number}@{NAME}", jti=secrets.token_hex(8), scope=scopes, pattern=f"member{number}" if number % 2 else None)
        return Holder(signed(parts(self.like.token)[0], claims, self.key), self.like.key)

    def member(self, numbers):
        """Each of these does his worst once, again and again."""
        while not self.stop.is_set():
            for number in numbers:
                if self.stop.is_set():
                    return
                try:
                    self.worst(number)
                    self.add("member")
                except (Ended, Refused, TimeoutError, OSError):
                    self.add("member turned away")

    def worst(self, number):
        holder = self.identity(number)
        kind = number % 4
        with self.scene.greet(("collector", "schedd")[number // 4 % 2], holder) as connection:
            if kind == 0:
                connection.raw(wire_client.HEADER.pack(16 * MIB - 4, wire_client.REQUEST, 0, 13, 1) + bytes(4))
                for _ in range(15):
                    connection.raw(bytes(MIB))
                self.stop.wait(2)
            elif kind == 1:
                ads = [wire_client.Ad(MyType="Machine", Name=f"slot{slot}@member{number}", Machine=f"member{number}", Fill="x" * 20000) for slot in range(200)]
                connection.call("UPDATE", {"Epoch": 1, "Sequence": 1, "Full": True}, ads)
            elif kind == 2:
                costly = 'regexp("(a+)+$", strcat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", Name, ProcId))'
                connection.cancel(connection.send("QUERY", {"Type": ("Machine", "Job")[number // 4 % 2], "Constraint": costly}))
            else:
                for _ in range(200):
                    connection.send("WATCH", {"Type": "Machine"})

    def __enter__(self):
        work = [lambda: self.strangers(STRANGERS)]
        lanes = 8
        work += [lambda lane=lane: self.member(range(lane, IDENTITIES, lanes)) for lane in range(lanes)]
        self.threads = [threading.Thread(target=one, daemon=True) for one in work]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(30)


def answer_s(scene, *command):
    began = time.monotonic()
    subprocess.run([scene.roost, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=True)
    return time.monotonic() - began


@attack("F16", "thousands of strangers and hundreds of members do their worst at once", waits="a quiet machine: it measures time")
def everybody_does_his_worst(scene):
    scene.submit("bob", 1000, requirements='Machine == "none"')
    before = {name: scene.resident_mib(name) for name in ("roost-collector", "roost-schedd")}
    most, slowest = dict(before), 0.0
    with Storm(scene) as storm:
        until("the storm is there", 60, lambda: storm.counts.get("stranger", 0) >= min(STRANGERS, 500))
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for command in (("status",), ("q",)):
                slowest = max(slowest, answer_s(scene, *command))
            most = {name: max(value, scene.resident_mib(name)) for name, value in most.items()}
            time.sleep(0.1)
    print(f"{storm.counts}; slowest answer {slowest:.2f} s; MiB before {before}, at most {most}")
    grown = {name: most[name] - before[name] for name in most if most[name] - before[name] > GROWTH_MIB}
    if grown:
        worked(f"memory has grown by {grown} MiB")
    if slowest > ANSWER_S:
        worked(f"an honest user was answered after {slowest:.1f} s")
