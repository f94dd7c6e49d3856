"""Members of a pool that became enemies: an execute machine, a schedd, each with the token that it was given and no more.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import secrets
import socket
import struct
import subprocess
import threading
import time

import wire_client
from ad_form import Ad
from tls import Tls, TlsError
from wire_client import NOBODY, Connection, Ended, Message, Refused, VERBS, dial

NAMES = {verb.number: verb.name for verb in VERBS.values()}


def certificate(directory, name):
    """A certificate and a key of one's own: (paths, pin)."""
    paths = [os.path.join(directory, f"{name}.{end}") for end in ("pem", "key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-keyout", paths[1], "-out", paths[0]], check=True, capture_output=True, timeout=20)
    der = subprocess.run(["openssl", "x509", "-in", paths[0], "-outform", "DER"], check=True, capture_output=True, timeout=20).stdout
    return paths, hashlib.sha256(der).hexdigest()


class Machine:
    """An execute machine: it shows a slot that many jobs fit, and hears what it is told."""

    def __init__(self, pool, holder, name="evil", like=None):
        self.pool, self.holder, self.name = pool, holder, name
        self.boot, self.claim_id = secrets.token_hex(8), ""
        self.uplink = pool.greet("collector", holder, name=f"startd/{name}")
        self.sequence, self.epoch = 0, int(time.time() * 1000)
        self.like = Ad(like or {})

    def close(self):
        self.uplink.close()

    def ad(self, **changes):
        # What a slot says of its claim, of where it is and who tells of it is left out.
        other = ("LastHeardFrom", "MyAddress", "ClaimId", "ClaimIdList", "RemoteUser", "RemoteOwner", "JobId", "GlobalJobId", "CurrentRank", "ClientMachine", "AccountingGroup")
        ad = Ad({name: value for name, value in self.like.items() if name not in other})
        ad.update(State="Unclaimed", Activity="Idle")
        ad.update(Name=f"slot1@{self.name}", Machine=self.name, StartdUplink=f"startd/{self.name}", BootId=self.boot, ClaimId=self.claim_id)
        ad.update(changes)
        return ad

    def advertise(self, *ads, **changes):
        self.claim_id = f"slot1@{self.name}#{self.boot}#{secrets.token_hex(16)}"
        self.sequence += 1
        return self.uplink.call("UPDATE", {"Epoch": self.epoch, "Sequence": self.sequence, "Full": True}, ads or [self.ad(**changes)])

    def asked(self, verb, seconds=20):
        """The next relayed request of that verb; others are answered with an error."""
        until = time.monotonic() + seconds
        while True:
            request = self.uplink.next_request(until - time.monotonic())
            if request is None:
                raise AssertionError(f"no {verb} came to the machine {self.name}")
            if NAMES.get(request.verb) == verb:
                return request
            self.uplink.answer(request, -wire_client.EAGAIN, "not now")

    def claim(self, dial_me):
        """Answers DIAL_ME, dials the schedd, claims: a Claim."""
        nonce = secrets.token_hex(16)
        self.promise(dial_me, nonce)
        return Claim(self, dial_me.message().args, nonce, patience_s=20)

    def promise(self, dial_me, nonce):
        """Takes the job, and says by which nonce the schedd will know the machine."""
        self.uplink.answer(dial_me, args={"NonceDigest": hashlib.sha256(nonce.encode()).hexdigest()})


class Claim:
    def __init__(self, machine, dial_me, nonce, patience_s=0):
        self.id, self.machine, self.dial_me = dial_me["ClaimId"], machine, dial_me
        self.connection = dial(dial_me["ScheddAddress"].removeprefix("tcp:"), "claim")
        self.connection.hello(NOBODY)
        until = time.monotonic() + patience_s
        while True:
            reply = self.connection.call("CLAIM", {"ClaimId": self.id, "Nonce": nonce, "Machine": machine.name, "SlotName": f"slot1@{machine.name}",
                                                   "BootId": machine.boot, "Resume": False}, [machine.ad()])
            # Our answer to DIAL_ME goes another way, through the collector, and may be slower: a startd asks again, too.
            if reply.status != -wire_client.EAGAIN or time.monotonic() > until:
                break
        if reply.status != 0:
            raise AssertionError(f"CLAIM: {reply.status} {reply.text}")
        self.job, self.epoch = reply.args["JobId"], reply.args["ClaimEpoch"]

    def activate(self, seconds=20):
        """Waits for ACTIVATE and accepts it: its arguments, with the nonce of the run."""
        until = time.monotonic() + seconds
        while True:
            request = self.connection.next_request(until - time.monotonic())
            if request is None:
                raise AssertionError("no ACTIVATE came")
            self.connection.answer(request)
            if NAMES.get(request.verb) == "ACTIVATE":
                self.activation = request.message().args
                self.job_ad = request.message().ads[0]
                return self.activation

    def shadow(self, **changes):
        """A connection to the job's shadow, as its starter."""
        run = {"JobId": self.activation["JobId"], "ClaimEpoch": self.activation["ClaimEpoch"], "Nonce": self.activation["Nonce"], **changes}
        connection = dial(self.activation["ShadowAddress"].removeprefix("tcp:"), self.activation["ShadowRoute"])
        connection.hello(NOBODY, more=run)
        return connection

    def close(self):
        self.connection.close()


class Server:
    """Listens on a port of its own; each caller's preface, greeting and requests go to whoever asks for them."""

    def __init__(self, files):
        self.certificate, self.key = files
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.refused = []

    def close(self):
        self.listener.close()

    def accept(self, seconds=20):
        """(route, connection, arguments of HELLO) of the next caller who greets; None: nobody did."""
        until = time.monotonic() + seconds
        while True:
            self.listener.settimeout(max(until - time.monotonic(), 0.01))
            try:
                plain, peer = self.listener.accept()
            except TimeoutError:
                return None
            try:
                return self.greeting(plain, str(peer), max(until - time.monotonic(), 0.5))
            except (TlsError, Ended, OSError) as error:  # TimeoutError is an OSError
                self.refused.append(str(error))
                plain.close()

    def greeting(self, plain, peer, seconds):
        plain.settimeout(seconds)
        route = b""
        while not route.endswith(b"\n"):
            byte = plain.recv(1)
            if not byte or len(route) > 300:
                raise Ended(0, "no preface")
            route += byte
        connection = Connection(Tls(plain, server=True, certificate=self.certificate, key=self.key, timeout=seconds), peer)
        frame = connection.next_frame(seconds)
        if frame is None or frame.kind != wire_client.HELLO:
            raise Ended(0, "no HELLO")
        connection.version = struct.unpack_from("<H", frame.payload)[0]
        return route.decode().split(" ")[1].strip(), connection, Message.decode(frame.payload[4:]).args

    @staticmethod
    def welcome(connection, **args):
        said = {"Identity": "somebody@pool", "Scopes": "READ,WRITE,ADVERTISE,SCHEDD,ROOSTER,MASTER,NEGOTIATOR,ADMINISTRATOR", "ServerTime": int(time.time()), **args}
        connection.frame(wire_client.WELCOME, struct.pack("<HH", min(connection.version, wire_client.VERSION), 0) + Message(said).encode())


class Schedd:
    """A submit host: it has jobs of whomever it likes, is given slots, and has machines dial it."""

    def __init__(self, pool, holder, directory, name="evilsched", domain="personal"):
        self.pool, self.holder, self.name, self.domain = pool, holder, name, domain
        files, self.pin = certificate(directory, name)
        self.server = Server(files)
        self.uplink = pool.greet("collector", holder, name=f"schedd/{name}")
        self.sequence, self.epoch = 0, int(time.time() * 1000)

    def close(self):
        self.uplink.close()
        self.server.close()

    def update(self, *ads):
        self.sequence += 1
        return self.uplink.call("UPDATE", {"Epoch": self.epoch, "Sequence": self.sequence, "Full": True}, ads)

    def want(self, owner, machine):
        """One idle job of that owner, for that machine; the reply of the collector to the ads that say so."""
        user = f"{owner}@{self.domain}"
        place = Ad(ScheddName=self.name, MyAddress=f"tcp:{self.server.address}", Machine="evilhost")
        job = self.job(owner, machine)
        request = Ad(MyType="Request", Name=f"{self.name}#1", ScheddName=self.name, ScheddUplink=f"schedd/{self.name}", AutoClusterId=1, SubmitterName=user,
                     JobCount=1, JobPrio=0, QDate=int(time.time()), **{name: job[name] for name in ("Owner", "User", "Requirements", "Rank", "RequestCpus",
                                                                                                     "RequestMemory", "RequestDisk", "JobUniverse")})
        return self.update(Ad(MyType="Scheduler", Name=self.name, ScheddPin=self.pin, ScheddUplink=f"schedd/{self.name}", TotalIdleJobs=1, NumUsers=1, **place),
                           Ad(MyType="Submitter", Name=f"{user}#{self.name}", User=user, SubmitterTag="", IdleJobs=1, RunningJobs=0, HeldJobs=0, WantedJobs=1,
                              WeightedIdleJobs=1.0, WeightedRunningJobs=0.0, **place), request)

    def job(self, owner, machine, program="/bin/true", arguments=""):
        from ad_form import chain, reference
        return Ad(MyType="Job", ClusterId=1, ProcId=0, Owner=owner, User=f"{owner}@{self.domain}", Requirements=chain(reference("Machine"), ("==", machine)),
                  Rank=0.0, RequestCpus=1, RequestMemory=1, RequestDisk=1, JobUniverse=5, Cmd=program, Arguments=arguments, Args=arguments, Iwd="/",
                  TransferExecutable=False, ShouldTransferFiles="NO", Out="/dev/null", Err="/dev/null", In="/dev/null", UidDomain=self.domain,
                  FileSystemDomain=self.domain, JobStatus=1, QDate=int(time.time()))

    def matched(self, seconds=20):
        """The arguments of the next MATCH, which is accepted."""
        until = time.monotonic() + seconds
        while True:
            request = self.uplink.next_request(until - time.monotonic())
            if request is None:
                raise AssertionError("no MATCH came to the schedd")
            if NAMES.get(request.verb) == "MATCH":
                self.uplink.answer(request, args={"Accepted": True, "JobCount": 0})
                return request.message().args
            self.uplink.answer(request)

    def send_dial_me(self, match, job, **changes):
        said = {"ClaimId": match["ClaimId"], "ScheddAddress": f"tcp:{self.server.address}", "ScheddName": self.name, "ScheddPin": self.pin, "LeaseDuration": 60,
                "JobId": "1.0", **changes}
        return self.uplink.send_relay(match["StartdUplink"], "DIAL_ME", said, [job])

    def claimed(self, match, job):
        """Has the machine dial and claim: (its connection, arguments of its HELLO)."""
        number = self.send_dial_me(match, job)
        reply = self.uplink.wait(number)
        if reply is None or reply.status != 0:
            raise Refused(reply.status if reply else 0, reply.text if reply else "no answer to DIAL_ME")
        caller = self.server.accept()
        if caller is None:
            raise Refused(0, "the machine has not dialled")
        _, connection, hello = caller
        self.server.welcome(connection)
        request = connection.next_request()
        if request is None or NAMES.get(request.verb) != "CLAIM":
            raise AssertionError("no CLAIM came")
        connection.answer(request, args={"LeaseDuration": 60, "JobId": "1.0", "ClaimEpoch": 1})
        return connection, hello

    def activate(self, connection, match, job):
        """ACTIVATE: the reply."""
        said = {"ClaimId": match["ClaimId"], "JobId": "1.0", "ClaimEpoch": 1, "ShadowAddress": f"tcp:{self.server.address}", "ShadowRoute": "shadow/x", "ShadowPin": self.pin,
                "Nonce": secrets.token_hex(16)}
        return connection.call("ACTIVATE", said, [job], timeout=30)

    def starter(self, job, seconds=20):
        """Serves the starter that dials as its shadow until it has the job: what its HELLO said, and how it went on."""
        caller = self.server.accept(seconds)
        if caller is None:
            return None, []
        _, connection, hello = caller
        self.server.welcome(connection)
        calls = []
        while True:
            try:
                request = connection.next_request(seconds)
            except Ended:
                break
            if request is None:
                break
            name = NAMES.get(request.verb, str(request.verb))
            calls.append((name, request.message().args))
            connection.answer(request, ads=[job] if name == "JOB_FETCH" else [])
            if name == "JOB_DONE":
                break
        connection.close()
        return hello, calls


class Thread(threading.Thread):
    """What goes on beside; stop() ends it, and raises what it raised."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.stopped, self.error = work, threading.Event(), None
        self.start()

    def run(self):
        try:
            self.work(self.stopped)
        except Exception as error:  # noqa: BLE001 - handed on
            self.error = error

    def stop(self):
        self.stopped.set()
        self.join(20)
        if self.error is not None:
            raise self.error
