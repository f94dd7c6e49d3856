"""One attack, or more, for each way in that was found: what was done then, and what must be seen now.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pwd
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

import wire_client
from ad_form import Ad, call, chain, conditional, reference
from attack import attack, is_instrumented, worked
from evil import NAMES, Machine, Server
from pool import NAME, until
from remote_calls import OPEN_CREATE, OPEN_WRITE, WRITE, RemoteCalls
from scene import refused
from tls import Key, base64url
from tokens import fresh, parts, rights, signed
from wire_client import NOBODY, Ended, Holder, Refused, dial

MIB = 1 << 20


def carried(scene, holder, by):
    """Does a machine do what somebody has carried in the name of this holder?"""
    with scene.greet("collector", by) as collector:
        return collector.relay("startd/wn01", "CONFIG", {"Action": "Get", "Names": ["ALL_DEBUG"]}, holder=holder).status == 0


def used_again(scene, request, by):
    """What a machine that was shown this request can do with what came along."""
    name = NAMES[request.verb]
    if rights(scene, request.token):
        worked(f"{name} brought a token that is good for {rights(scene, request.token)}")
    for key in (None, Key.generate()):
        if carried(scene, Holder(request.token, key), by):
            worked(f"the token of {name} lets another's request be carried")
    with scene.greet("collector", by) as collector:
        _, instance = collector.whose("startd/wn01")
        for said in (instance, request.instance):
            args = {"Uplink": "startd/wn01", "Verb": request.verb, "Deadline": request.deadline_ms, "Token": request.token, "Instance": said, "Number": request.once}
            reply = collector.wait(collector.send("RELAY", {**args, "Proof": base64url(request.proof)}, blob=request.body))
            if reply.status >= 0:
                worked(f"{name}, as it came, is done by another machine")
    with scene.dial("collector") as collector:
        collector.send_hello({"Token": request.token, "Proof": base64url(request.proof)})
        frame = collector.next_frame()
        if frame is not None and frame.kind == wire_client.WELCOME:
            worked(f"the proof of {name} is good for a greeting")


# ---- F1, F15, F9: tokens that travel


@attack("F1", "a machine uses what a schedd's DIAL_ME brought")
def a_machine_uses_what_dial_me_brought(scene):
    evil = scene.evil_machine()
    evil.advertise()
    scene.submit("alice", requirements=f'Machine == "{evil.name}"', arguments='"-c true"')
    used_again(scene, evil.asked("DIAL_ME", 30), scene.the("WRITE"))


@attack("F1", "a machine uses what an administrator's order brought")
def a_machine_uses_what_an_order_brought(scene):
    evil = scene.evil_machine()
    evil.advertise()
    with subprocess.Popen([scene.roost, "drain", evil.name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as order:
        try:
            used_again(scene, evil.asked("START_DRAINING"), scene.the("WRITE"))
        finally:
            order.kill()


@attack("F15", "a schedd, or a shadow, is shown the token of a machine or of its starter")
def whoever_is_dialled_is_shown_a_token(scene):
    schedd = scene.evil_schedd()
    schedd.want("alice", "wn01")
    match = schedd.matched(40)
    job = schedd.job("alice", "wn01")
    connection, hello = schedd.claimed(match, job)
    try:
        if hello.get("Token") or hello.get("Proof"):
            worked("the startd greets a schedd with its token")
        reply = schedd.activate(connection, match, job)
        if reply.status == 0:
            hello, _ = schedd.starter(job, 15)
            if hello is not None and (hello.get("Token") or hello.get("Proof")):
                worked("the starter greets a shadow with its machine's token")
        connection.call("RELEASE_CLAIM", {"ClaimId": match["ClaimId"]})
    finally:
        connection.close()


@attack("F9", "a revoked administrator goes on at the schedd and through the hub")
def a_revoked_token_is_used(scene):
    fired = scene.holder("fired", "READ,WRITE,ADMINISTRATOR")
    open_connections = {route: scene.keep(scene.greet(route, fired)) for route in ("collector", "schedd")}
    scene.command("token", "revoke", parts(fired.token)[1]["jti"])
    end = time.monotonic() + 1
    for route, connection in open_connections.items():
        try:
            while connection.turn(max(end - time.monotonic(), 0.01)):
                pass
            worked(f"a second after it was revoked its connection to the {route} is still open")
        except Ended:
            pass
    for route in ("collector", "schedd"):
        if not refused(lambda where=route: scene.keep(scene.greet(where, fired))):
            worked(f"it is revoked, and welcome at the {route}")
    if carried(scene, fired, scene.the("WRITE")):
        worked("it is revoked, and a machine answers a request that was carried with it")


@attack("F9", "a schedd that is started while the collector is away welcomes a revoked token")
def a_schedd_starts_without_the_collector(scene):
    fired = scene.holder("fired3", "READ,WRITE,ADMINISTRATOR")
    before, collector = scene.pids("roost-schedd"), scene.pids("roost-collector")[0]
    with scene.greet("schedd", fired) as schedd:
        scene.command("token", "revoke", parts(fired.token)[1]["jti"])
        until("its connection to the schedd is closed", 10, lambda: ended(schedd))
    until("the schedd has noted it", 10, lambda: parts(fired.token)[1]["jti"] in revoked_there(scene))
    os.kill(collector, signal.SIGSTOP)
    try:
        os.kill(before[0], signal.SIGKILL)
        until("another schedd is there", 30, lambda: scene.pids("roost-schedd") not in ([], before))
        until("it answers at its port", 30, lambda: answers(scene, scene.the("READ")))
        if answers(scene, fired):
            worked("it is revoked, and welcome at the schedd")
    finally:
        os.kill(collector, signal.SIGCONT)


@attack("F9", "a machine claims without having signed for its claim, so that no revocation would end it")
def a_machine_claims_without_a_signature(scene):
    machine = scene.holder("unsigned", "READ,ADVERTISE", "unsigned")
    evil = scene.keep(Machine(scene, machine, "unsigned", scene.slot()))
    evil.advertise()
    scene.submit("alice", requirements=f'Machine == "{evil.name}"', arguments='"-c true"')
    dial_me = evil.asked("DIAL_ME", 30)
    said = dial_me.message().args
    with dial(said["ScheddAddress"].removeprefix("tcp:"), "claim") as schedd:
        schedd.hello(NOBODY)
        reply = schedd.call("CLAIM", {"ClaimId": said["ClaimId"], "Machine": evil.name, "SlotName": f"slot1@{evil.name}", "BootId": evil.boot, "Resume": False}, [evil.ad()])
    if reply.status == 0:
        worked(f"it has job {reply.args.get('JobId')}, and its token is not known")
    claim = scene.keep(evil.claim(dial_me))
    scene.command("token", "revoke", parts(machine.token)[1]["jti"])
    until("the claim that it has signed for is over", 1, lambda: ended(claim.connection))


@attack("F9", "a machine whose token is revoked goes on with its owner's files")
def a_revoked_machine_reads_on(scene):
    machine = scene.holder("remote", "READ,ADVERTISE", "remote")
    evil = scene.keep(Machine(scene, machine, "remote", scene.slot()))
    evil.advertise()
    home = pwd.getpwnam("alice").pw_dir
    scene.at_home("work/input", "input\n")
    none = dict.fromkeys(("transfer_executable", "should_transfer_files", "when_to_transfer_output"))
    scene.submit("alice", requirements=f'Machine == "{evil.name}"', arguments='"-c true"', universe="standard", initialdir=f"{home}/work", **none)
    claim = scene.keep(evil.claim(evil.asked("DIAL_ME", 30)))
    claim.activate()
    calls, second = (scene.keep(RemoteCalls(claim.activation)) for _ in range(2))
    handle = calls.open(f"{home}/work/kept", OPEN_WRITE | OPEN_CREATE)
    if handle < 0 or calls.ask(WRITE, struct.pack("<QHQI", handle, 1, 0, 1) + b"x")[0] != 0 or second.read(f"{home}/work/input") is None:
        raise AssertionError("what is offered cannot be used")
    scene.command("token", "revoke", parts(machine.token)[1]["jti"])
    end = time.monotonic() + 1

    def is_over(session, what):
        try:
            return what(session) is None
        except (Ended, OSError):
            return True

    def writes(session):
        status, _ = session.ask(WRITE, struct.pack("<QHQI", handle, 1, 1, 1) + b"y")
        return status if status == 0 else None

    time.sleep(max(end - time.monotonic(), 0))
    if not is_over(calls, writes):
        worked("a second after it was revoked it writes into a file that it has open")
    if not is_over(second, lambda session: session.read(f"{home}/work/input")):
        worked("a second after it was revoked it reads its owner's files")
    try:
        scene.keep(RemoteCalls(claim.activation))
        worked("it is revoked, and the ticket of its run is taken")
    except (AssertionError, Ended, OSError):
        pass


def ended(connection):
    try:
        connection.turn(0.01)
    except Ended:
        return True
    return False


def revoked_there(scene):
    try:
        with open(scene.path("spool", "revoked.schedd"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def answers(scene, holder):
    try:
        with scene.greet("schedd", holder):
            return True
    except (OSError, Refused, Ended):
        return False


# ---- F2: what constraints see


@attack("F2", "a constraint asks for secrets of another's running job")
def a_constraint_sees_a_nonce(scene):
    job = scene.running("bob")
    names = ["_roost_priv_Nonce", "ClaimId", "_roost_privNonce", "Nonce", "PublicClaimId"]
    with scene.greet("schedd", scene.the("READ")) as schedd:
        for name in names:
            for question in (f"{name} =!= undefined", f"size({name}) > 0", f"MY.{name} =!= undefined", f'strcat("x", {name}) != "x"'):
                for kind in ("Job", "JobBatch"):
                    if question.startswith("strcat") and name == "Nonce":
                        continue
                    reply = schedd.call("QUERY", {"Type": kind, "Constraint": question})
                    if reply.status == 0 and reply.ads and "strcat" not in question:
                        worked(f"QUERY {kind} with '{question}' tells jobs with secrets from others")
    with scene.as_user("schedd", "alice") as schedd:
        for name in names:
            reply = schedd.call("ACT", {"Action": "Hold", "Constraint": f"ClusterId == {job.split('.')[0]} && size({name}) > 0"})
            if reply.args.get("PermissionDenied", 0) + reply.args.get("Success", 0) > 0:
                worked(f"ACT counts another's jobs by {name}")
            reply = schedd.call("EDIT", {"Constraint": f"ClusterId == {job.split('.')[0]} && size({name}) > 0"}, [Ad(Tested=1)])
            if reply.args.get("PermissionDenied", 0) + reply.args.get("Success", 0) > 0:
                worked(f"EDIT counts another's jobs by {name}")


# ---- F3, F4: whose share, whose jobs


@attack("F3", "jobs are charged to another user")
def jobs_are_charged_to_another(scene):
    ways = [{"accounting_group_user": "bob"}, {"accounting_group": "admins", "accounting_group_user": "bob"}, {"+AccountingGroup": '"bob"'},
            {"+AccountingGroup": '"admins.bob"'}, {"+AcctGroupUser": '"bob"', "+AcctGroup": '"admins"'}]
    for way in ways:
        try:
            cluster = scene.submit("alice", requirements='Machine == "none"', **way)
        except subprocess.CalledProcessError:
            continue
        job = scene.job(f"{cluster}.0")
        charged = [str(job.get(name, "")) for name in ("AcctGroupUser", "AccountingGroup")]
        if any(value.split("@")[0].split(".")[-1] == "bob" for value in charged):
            worked(f"alice's job with {way} is charged to {charged}")
    cluster = scene.submit("alice", requirements='Machine == "none"')
    with scene.as_user("schedd", "alice") as schedd:
        for name, value in (("AcctGroupUser", "bob"), ("AccountingGroup", "bob"), ("AccountingGroup", "admins.bob")):
            schedd.call("EDIT", {"Ids": [str(cluster)]}, [Ad({name: value})])
            job = scene.job(f"{cluster}.0")
            if any(str(job.get(attribute, "")).split("@")[0].split(".")[-1] == "bob" for attribute in ("AcctGroupUser", "AccountingGroup")):
                worked(f"EDIT of {name} charges alice's job to bob")


@attack("F4", "root of another domain is a super user of the queue")
def root_of_another_domain_is_a_super_user(scene):
    cluster = scene.submit("bob", requirements='Machine == "none"')
    for identity in ("root@elsewhere", "root@evil.example"):
        holder = scene.holder(identity, "READ,WRITE")
        with scene.greet("schedd", holder) as schedd:
            reply = schedd.call("EDIT", {"Ids": [f"{cluster}.0"]}, [Ad(Tested=1)])
            if reply.args.get("Success", 0) > 0:
                worked(f"{identity} edits bob's job")
            reply = schedd.call("ACT", {"Action": "Hold", "Ids": [f"{cluster}.0"], "Reason": "test"})
            if reply.args.get("Success", 0) > 0:
                worked(f"{identity} holds bob's job")


@attack("F4", "a user of another domain has the jobs of whom he shares a name with")
def one_of_another_domain_is_a_namesake(scene):
    cluster = scene.submit("bob", requirements='Machine == "none"')
    for identity in ("bob@elsewhere", f"bob@{NAME}.elsewhere"):
        holder = scene.holder(identity, "READ,WRITE")
        with scene.greet("schedd", holder) as schedd:
            for verb, args, ads in (("EDIT", {"Ids": [f"{cluster}.0"]}, [Ad(Tested=1)]), ("ACT", {"Action": "Hold", "Ids": [f"{cluster}.0"], "Reason": "test"}, []),
                                    ("SUBMIT", {}, [Ad(Cmd="/bin/sh", Iwd="/", Out="own.out", JobUniverse=5)])):
                reply = schedd.call(verb, args, ads)
                if reply.status == 0 and reply.args.get("Success", 1) > 0:
                    worked(f"{identity} is bob to {verb}")


# ---- F5: what is run later


# What shells, interpreters and tools read by themselves when their user starts them.
START_UP = [".bash_aliases", ".inputrc", ".tmux.conf", ".pam_environment", ".k5login", ".rhosts", ".shosts", ".Rprofile", ".exrc", ".vimrc", ".npmrc", ".curlrc", ".wgetrc",
            ".vim/plugin/evil.vim", ".emacs.d/init.el", ".gitconfig", ".local/lib/python3.11/site-packages/usercustomize.py", ".local/bin/ls", "bin/ls", "anything"]


@attack("F5", "a machine that runs a standard-universe job writes what its owner runs later")
def a_machine_writes_start_up_files(scene):
    home = pwd.getpwnam("alice").pw_dir
    scene.at_home("bin/tool", "#!/bin/sh\n", mode=0o755)
    calls = scene.remote_calls(initialdir=f"{home}/work")
    if not calls.write(f"{home}/work/made", b"made"):
        raise AssertionError("nothing can be written below the initial directory")
    written = []
    for name in START_UP:
        for length in range(1, name.count("/") + 1):
            calls.mkdir(f"{home}/" + "/".join(name.split("/")[:length]))
        if calls.write(f"{home}/{name}", b"evil"):
            written.append(name)
    if written:
        worked(f"it writes {' '.join(written)}")


@attack("F5", "a machine opens its owner's directories to others of the submit host")
def a_machine_opens_directories(scene):
    home = pwd.getpwnam("alice").pw_dir
    scene.at_home("work/input", "input\n")
    scene.at_home("work/tools/run", "#!/bin/sh\n", mode=0o755)
    for name in ("work", "work/tools"):
        os.chmod(f"{home}/{name}", 0o755)
    calls = scene.remote_calls(initialdir=f"{home}/work")
    if not (calls.mkdir(f"{home}/work/own") and calls.chmod(f"{home}/work/own", 0o777)):
        raise AssertionError("the job cannot set the mode of what it made")
    for name in ("work", "work/tools"):
        if calls.chmod(f"{home}/{name}", 0o777):
            worked(f"everybody may write to {name}, and so replace the programs in it")
    shutil.rmtree(f"{home}/work/tools")


@attack("F5", "a machine puts a link in place of the job's event log")
def a_machine_puts_a_link_for_the_log(scene):
    home = pwd.getpwnam("alice").pw_dir
    calls = scene.remote_calls(initialdir=f"{home}/work", log="job.log")
    log, found = f"{home}/work/job.log", f"{home}/keys"
    until("the event log is begun", 10, lambda: os.path.exists(log))
    if not (calls.rename(log, f"{log}.old") and calls.symlink(log, found)):
        raise AssertionError("the machine cannot take the log's name, which is below the initial directory")
    scene.act("alice", "Hold", scene.clusters[-1][1])
    until("the next event is written, or refused", 20, lambda: os.path.lexists(found) or "events.not_written" in scene.logs("spool/owner/*/*Log*"))
    if os.path.lexists(found):
        with open(found, encoding="utf-8") as file:
            worked(f"the job's events are in another file of its owner's: {file.read()}")


# ---- F6, F7: what a machine says of itself


@attack("F6", "a name is an expression that is another's beside a job")
def a_name_is_an_expression(scene):
    evil = scene.evil_machine()
    beside = chain(reference("Owner", reference("TARGET")), ("=?=", None))
    for name, mine, other in (("Machine", evil.name, "wn01"), ("StartdUplink", f"startd/{evil.name}", "startd/wn01"), ("UidDomain", "evil", NAME),
                              ("FileSystemDomain", "evil", NAME), ("Name", f"slot1@{evil.name}", "slot1@wn01"), ("Machine", evil.name, call("strcat", "wn", "01"))):
        reply = evil.advertise(evil.ad(**{name: conditional(beside, mine, other)}))
        shown = scene.ads(scene.the("READ"), "Machine", f'Name == "slot1@{evil.name}"')
        if reply.status == 0 and not reply.args.get("Rejected") and any(isinstance(ad.get(name), wire_client.ad_form.Expr) for ad in shown):
            worked(f"a machine's {name} is an expression: {shown[0].get(name)}")


@attack("F7", "a machine's token fills the collector with slots")
def a_machine_has_thousands_of_slots(scene):
    evil = scene.evil_machine()
    ads = [evil.ad(Name=f"slot{number}@{evil.name}", ClaimId=secrets.token_hex(8)) for number in range(1, 401)]
    for begin in range(0, len(ads), 100):
        evil.advertise(*ads[begin : begin + 100])
    count = len(scene.ads(scene.the("READ"), "Machine", f'Machine == "{evil.name}"'))
    if count > 64:
        worked(f"one machine has {count} slots in the collector")


# ---- F8, F16: strangers who wait


def watched(pid):
    """How many descriptors the daemon's event loop watches; a connection in the line (base/stream/wait_line.h) is not among them."""
    folder, count = f"/proc/{pid}/fd", 0
    for number in os.listdir(folder):
        try:
            if "eventpoll" in os.readlink(f"{folder}/{number}"):
                with open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as info:
                    count += sum(line.startswith("tfd:") for line in info)
        except FileNotFoundError:
            pass  # closed meanwhile
    return count


def hold_open(scene, route, count, program):
    """The most connections that the daemon has served at once while so many strangers wait at that route."""
    address, pid, sockets, most = scene.address("collector" if route == "collector" else "schedd").rsplit(":", 1), scene.pids(program)[0], [], 0
    try:
        for number in range(count):
            plain = socket.create_connection(address, 10)
            plain.sendall(f"ROOST/1 {route}\n".encode())
            sockets.append(plain)
            if number % 50 == 49:
                most = max(most, watched(pid))
        with scene.greet("collector" if route == "collector" else "schedd", scene.the("READ")) as honest:
            honest.call("PING")
        return max(most, watched(pid))
    finally:
        for plain in sockets:
            plain.close()


@attack("F16", "strangers are served on more connections than 512")
def strangers_hold_many_connections(scene):
    for route, program in (("collector", "roost-collector"), ("schedd", "roost-schedd"), ("claim", "roost-schedd")):
        held = hold_open(scene, route, 700, program)
        if held > 580:
            worked(f"{program} serves {held} connections")


def unfinished_frames(scene, route, holder, program, count=14, size=15 * MIB, numbers=(30, 600)):
    """MiB that the daemon has grown by when so many callers have sent a part of a frame each."""
    before = scene.resident_mib(program)
    connections = []
    try:
        for _ in range(count):
            try:
                connection = scene.greet(route, holder)
                connections.append(connection)
                connection.raw(wire_client.HEADER.pack(16 * MIB - 4, wire_client.REQUEST, 0, numbers[0], 1) + bytes(4))
                for _ in range(size // MIB):
                    connection.raw(bytes(MIB))
            except (Ended, Refused, TimeoutError):
                pass  # sent away: as it should be
        return scene.resident_mib(program) - before
    finally:
        for connection in connections:
            connection.close()


@attack("F16", "strangers on route claim fill the schedd's memory with unfinished frames")
def strangers_send_unfinished_frames(scene):
    grown = unfinished_frames(scene, "claim", wire_client.NOBODY, "roost-schedd")
    if grown > 32 and not is_instrumented():
        worked(f"the schedd has grown by {grown:.0f} MiB")


@attack("F16", "one reader fills the collector's memory with unfinished frames")
def a_reader_sends_unfinished_frames(scene):
    grown = unfinished_frames(scene, "collector", scene.the("READ"), "roost-collector")
    if grown > 96 and not is_instrumented():
        worked(f"the collector has grown by {grown:.0f} MiB")


@attack("F8", "strangers with made-up runs keep a user from his shadow")
def strangers_wait_at_a_shadow(scene):
    job = scene.running("alice")
    connections = []
    try:
        for number in range(120):
            try:
                connection = scene.dial("shadow/alice")
                connections.append(connection)
                connection.hello(more={"JobId": f"{9000 + number}.0", "ClaimEpoch": 1, "Nonce": secrets.token_hex(16)})
            except (Refused, Ended):
                pass
        left = len(still_there(connections))
        if left > 64:
            worked(f"{left} of {len(connections)} strangers with made-up runs are at alice's shadow")
        with scene.as_user("schedd", "alice") as schedd:
            said = schedd.call("JOB_ACCESS", {"Purpose": "Tail", "JobId": job})
        if said.status != 0:
            worked(f"alice gets no ticket to her job: {said.text}")
        with scene.dial(said.args["ShadowRoute"]) as shadow:
            shadow.hello(more={"Ticket": said.args["Ticket"]})
            if shadow.call("PING").status != 0:
                worked("alice's client is not answered by her shadow")
    finally:
        for connection in connections:
            connection.close()


def still_there(connections):
    """Those that have not been ended."""
    there = []
    for connection in connections:
        try:
            while connection.turn(0.001):
                pass
            there.append(connection)
        except (Ended, OSError):
            pass
    return there


# ---- F17: work for others


@attack("F17", "one reader's query stops the schedd for everybody")
def one_query_stops_the_schedd(scene):
    scene.submit("bob", 1500, requirements='Machine == "none"')
    costly = 'regexp("(a+)+$", strcat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", ProcId))'

    def heavy(stop):
        with scene.greet("schedd", scene.the("READ")) as schedd:
            number = schedd.send("QUERY", {"Type": "Job", "Constraint": costly})
            while not stop.is_set():
                schedd.turn(0.2)
            schedd.cancel(number)

    slowest = slowest_ping(scene, 4, heavy)
    if slowest > 0.5:
        worked(f"another's PING took {slowest:.1f} s")


def slowest_ping(scene, seconds, work):
    """How long another's PING takes at most while work(stop) is under way, which is repeated."""
    slowest, stop = 0.0, threading.Event()

    def repeat():
        while not stop.is_set():
            work(stop)

    thread = threading.Thread(target=repeat, daemon=True)
    with scene.greet("schedd", scene.the("WRITE")) as other:
        thread.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            other.call("PING", timeout=60)
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.02)
        stop.set()
        thread.join(120)
    return slowest


@attack("F17", "a submitter's costly and many jobs stop the schedd for everybody")
def many_jobs_stop_the_schedd(scene):
    costly = call("strcat", "a", call("regexp", "(a+)+$", "aaaaaaaaab"))
    plain = {"Cmd": "/bin/true", "Iwd": "/", "TransferExecutable": False, "ShouldTransferFiles": "NO", "Requirements": False}
    connection = scene.keep(scene.as_user("schedd", "bob"))

    def done(verb, args, ads=()):
        reply = connection.call(verb, args, list(ads), timeout=60, deadline_ms=60000)
        if reply.status != 0:
            raise AssertionError(f"bob's {verb}: {reply.status} {reply.text}")
        return reply

    def work(_):
        few = done("SUBMIT", plain, [Ad(In=costly, Out=costly, Err=costly, Args=costly, Env=costly) for _ in range(500)]).args["ClusterId"]
        many = done("SUBMIT", {**plain, "ProcCount": 10000}).args["ClusterId"]
        ids = {"Ids": [f"{many}", f"{few}"]}
        for verb, args, ads in (("ACT", {"Action": "Hold"}, ()), ("EDIT", {}, [Ad(Tested=7)]), ("ACT", {"Action": "Release"}, ()), ("ACT", {"Action": "Remove"}, ())):
            done(verb, {**ids, **args}, ads)

    slowest = slowest_ping(scene, 6, work)
    if slowest > 0.5:
        worked(f"another's PING took {slowest:.1f} s")


@attack("F17", "jobs with costly Requirements keep another's job from its slot")
def costly_requirements_stop_the_negotiator(scene):
    plain = {"Cmd": "/bin/true", "Iwd": "/", "TransferExecutable": False, "ShouldTransferFiles": "NO"}
    with scene.as_user("schedd", "bob") as schedd:
        def backtracks(letters, *more):
            return call("regexp", "(a+)+$", call("strcat", "a" * letters + "b", reference("Name", reference("TARGET")), reference("MyNumber"), *more))

        ads = [Ad(MyNumber=number, Requirements=chain(backtracks(29), ("=!=", 1))) for number in range(300)]
        below = [chain(backtracks(10, part), ("=!=", True)) for part in range(40)]
        ads += [Ad(MyNumber=number, Requirements=chain(below[0], *(("&&", one) for one in below[1:]))) for number in range(200)]
        reply = schedd.call("SUBMIT", plain, ads, timeout=60)
        if reply.status != 0:
            raise AssertionError(f"bob's jobs: {reply.status} {reply.text}")
        scene.clusters.append(("bob", reply.args["ClusterId"]))
    cluster = scene.submit("alice", 1, arguments='"-c true"')
    until("alice's job has run", 30, lambda: scene.job(f"{cluster}.0") is None)
    until("the negotiator says whose jobs are costly", 10, lambda: "cycle.costly_request" in scene.logs("log/NegotiatorLog"))


# ---- F10: tokens that should not be


@attack("F10", "tokens of another pool, for another pool, not valid yet, without an id")
def tokens_that_are_signed_and_wrong(scene):
    key = Key.load(scene.path("security/keys/POOL.key"))
    good = scene.the("READ")
    head, _, _ = parts(good.token)
    if not rights(scene, signed(head, fresh(good.token), key), good.key):
        raise AssertionError("a token that is signed here, and as it should be, is not accepted: nothing is shown by the others")
    for what, changes in (("not valid before tomorrow", {"nbf": int(time.time()) + 86400}), ("of another issuer", {"iss": "elsewhere"}),
                          ("for another pool", {"aud": "elsewhere"}), ("for other pools", {"aud": ["one", "two"]}), ("without an id", {"jti": None}),
                          ("with an empty id", {"jti": ""})):
        if rights(scene, signed(head, fresh(good.token, **changes), key), good.key):
            worked(f"a token {what} is accepted")
    if rights(scene, signed({**head, "crit": ["unknown"], "unknown": 1}, fresh(good.token), key), good.key):
        worked("a token whose header has a critical part that nobody knows is accepted")


# ---- F14: who answers


@attack("F14", "the schedd's certificate is shown at the collector's address")
def the_schedd_answers_for_the_collector(scene):
    server = scene.keep(Server([scene.path("security/schedd.pem"), scene.path("security/schedd-key.pem")]))
    config = os.path.join(scene.files, "other.conf")
    with open(scene.path("roost.conf"), encoding="utf-8") as file:
        text = file.read()
    with open(config, "w", encoding="utf-8") as file:
        file.write(text + f'COLLECTOR_HOST = {{"{server.address}"}}\nRUN = "{scene.files}/nowhere"\n')
    with subprocess.Popen([scene.roost, "status"], env={**os.environ, "ROOST_CONFIG": config}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        try:
            caller = server.accept(8)
        finally:
            client.kill()
    if caller is not None:
        worked(f"it was greeted as the collector, with {sorted(caller[2])}")
    if not server.refused:
        raise AssertionError("nobody has dialled")


# ---- F13, F18, F19: on one host


def attack_own_pool(scene, prepare, commands, look):
    """A job of bob's in a pool of his own does these commands: does that change what `look` sees?"""
    home = pwd.getpwnam("bob").pw_dir
    pool = os.path.join(home, "own")
    mine = {"ROOST_CONFIG": f"{pool}/roost.conf", "HOME": home}
    scene.command("init", pool, "--nodes", "1", account="bob", **mine)
    prepare(home, pool)
    scene.command("start", account="bob", **mine)
    try:
        before = look(home, pool)
        script = scene.at_home("script", f"{commands(home, pool, before)}\necho END\n", "bob", 0o644)
        path = scene.at_home("own.sub", f"executable = /bin/sh\ntransfer_executable = false\narguments = {script}\ninitialdir = {home}\noutput = own.out\nerror = own.err\n"
                             "request_memory = 1\nqueue\n", "bob")
        scene.command("submit", path, account="bob", **mine)
        out = os.path.join(home, "own.out")
        said = until("the job has ended", 60, lambda: os.path.exists(out) and scene.words_of(out))
        if "END" not in said:
            raise AssertionError(f"the job did not get to its end: {said}")
        after = look(home, pool)
        if before != after:
            worked(f"changed, gone or new: {sorted(name for name in {*before, *after} if before.get(name) != after.get(name))}")
    finally:
        scene.end_all(pool)
        for place in (pool, f"{pool}.old", f"{home}/tools", f"{home}/tools.old", f"{home}/dotfiles"):
            shutil.rmtree(place, ignore_errors=True)
        for name in ("own.out", "own.err", "own.sub", "script"):
            if os.path.exists(f"{home}/{name}"):
                os.remove(f"{home}/{name}")


@attack("F13", "a job of a personal pool changes how the pool is run")
def a_job_changes_a_personal_pool(scene):
    def commands(home, pool, before):
        return (f"mkdir -p {pool}/config {pool}/nodes/wn01/config\n"
                f"for file in {' '.join(before)} {pool}/config/startd.conf {pool}/config/schedd.conf {pool}/nodes/wn01/config/startd.conf; do\n"
                'echo "# evil" >>"$file"\nrm -f "$file"\ndone\n'
                f"mv {pool}/security {pool}/secret\nmv {pool}/roost.conf {pool}/other\nmv {pool} {pool}.old\ncp {pool}.old/other {pool}/roost.conf")

    attack_own_pool(scene, lambda home, pool: None, commands, lambda home, pool: configuration(pool))


@attack("F13", "a job of a personal pool changes what its configuration leads to")
def a_job_changes_what_a_configuration_names(scene):
    """A configuration that is a link, and programs that other daemons than the starter run."""
    def prepare(home, pool):
        def bobs(path, text=None, mode=0o755):
            if text is None:
                os.mkdir(path, mode)
            else:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, mode)
            os.chown(path, pwd.getpwnam("bob").pw_uid, -1)

        bobs(f"{home}/dotfiles")
        bobs(f"{home}/tools")
        for name in ("mail", "wake", "status"):
            bobs(f"{home}/tools/{name}", "#!/bin/sh\n")
        os.symlink("mail", f"{home}/tools/linked")
        with open(f"{pool}/roost.conf", encoding="utf-8") as file:
            said = file.read()
        bobs(f"{home}/dotfiles/roost.conf", f'''{said}
SENDMAIL = "{home}/tools/linked"
TOOLS = "{home}/tools"
node "far" {{
    method = command
    wake_command = "{home}/tools/wake now"
    status_command = "$(TOOLS)/status"
}}
''', 0o644)
        os.remove(f"{pool}/roost.conf")
        os.symlink("../dotfiles/roost.conf", f"{pool}/roost.conf")

    def commands(home, pool, before):
        return (f"for file in {' '.join(before)}; do\n"
                'echo "# evil" >>"$file"\nrm -f "$file"\necho "# evil" >"$file"\ndone\n'
                f"ln -sf /bin/true {home}/tools/linked\nln -sf {home}/evil {pool}/roost.conf\n"
                f"mv {home}/dotfiles {home}/dotfiles.old\nmv {home}/tools {home}/tools.old\nmv {pool} {pool}.old")

    def look(home, pool):
        found = {}
        for name in ("dotfiles/roost.conf", "tools/mail", "tools/wake", "tools/status", "tools/linked", "own/roost.conf"):
            path = f"{home}/{name}"
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    found[path] = file.read()
        return found

    attack_own_pool(scene, prepare, commands, look)


def configuration(pool):
    """{path: text} of what configures a pool."""
    found = {}
    for place, _, names in os.walk(pool):
        for name in names:
            if name.endswith(".conf"):
                with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                    found[os.path.join(place, name)] = file.read()
    return found


@attack("F18", "another account reads and writes in a job's /tmp")
def another_reads_a_jobs_scratch(scene):
    scene.running("alice", arguments='"-c \'echo secret >/var/tmp/mine; sleep 600\'"')
    execute = scene.path("nodes/wn01/execute")
    os.seteuid(pwd.getpwnam("bob").pw_uid)
    try:
        for directory in os.listdir(execute):
            for scratch in ("scratch0", "scratch1", "sandbox"):
                place = os.path.join(execute, directory, scratch)
                try:
                    worked_with = os.listdir(place)
                except OSError:
                    continue
                worked(f"bob sees {worked_with} in {scratch} of alice's job")
    finally:
        os.seteuid(0)


@attack("F19", "a second greeting of the same user replaces his shadow")
def a_second_shadow_replaces_the_first(scene):
    job = scene.running("alice")
    with scene.as_user("shadow", "alice") as second:
        second.call("SHADOW_HELLO", {"Owner": "alice", "Pid": os.getpid(), "ShadowPin": "0" * 64, "PassAddress": "pass:/nowhere"})
    with scene.as_user("schedd", "alice") as schedd:
        number = schedd.send("JOB_ACCESS", {"Purpose": "Tail", "JobId": job})
        reply = schedd.wait(number, 15)
        if reply is None or reply.status != 0:
            worked(f"alice cannot reach her job any more: {'no answer' if reply is None else reply.text}")
