"""One attack, or more, for each "cannot" of docs/SECURITY.md, section 1, and for strangers and their tokens.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import os
import pwd
import secrets
import socket
import ssl
import struct
import subprocess

import wire_client
from ad_form import Ad, reference
from attack import attack, worked
from evil import Claim, Schedd
from pool import NAME, until
from scene import refused
from tls import Key, base64url
from token_mail import Answer, Request, point_of
from tokens import fresh, parts, signed, text, with_hmac
from wire_client import HEADER, REQUEST, Ended, Holder, Message, Refused

PURPOSES = {"Tail": "JobId", "Shell": "JobId", "Spool": "Ids", "Fetch": "Ids"}
ACTIONS = ["Remove", "Hold", "Release", "Vacate", "VacateFast", "Suspend", "Continue"]


# ---- a job

PROBE = r"""
cd "${TMPDIR:-/tmp}"
got() { echo "GOT $*"; }
for file in @POOL@/security/keys/* @POOL@/security/tokens/* @POOL@/security/*-key.pem @POOL@/security/issued.ads @POOL@/nodes/*/token @POOL@/spool/*.db \
    @POOL@/nodes/*/spool/*.db @POOL@/nodes/*/execute/*/job.record /etc/shadow; do
    cat "$file" >/dev/null 2>&1 && got "read $file"
    (echo x >>"$file") 2>/dev/null && got "wrote $file"
done
for pid in @PIDS@; do
    kill -0 "$pid" 2>/dev/null && got "may signal $pid"
    for what in mem environ maps; do
        head -c 1 "/proc/$pid/$what" >/dev/null 2>&1 && got "read /proc/$pid/$what"
    done
    ls "/proc/$pid/root/" >/dev/null 2>&1 && got "saw the root of $pid"
done
[ -e /run/user/@ALICE@/bus ] && got "reached the manager of alice's services"
[ -e /run/dbus/system_bus_socket ] && got "reached the system's bus, which starts such a manager"
[ -e /run/screen/S-alice/1.pts ] && got "reached a screen that alice has left"
[ -n "$(ls -A /dev/mqueue 2>/dev/null)" ] && got "saw the machine's message queues"
for uid in 0 @BOB@; do
    python3 -c "import os; os.setuid($uid)" 2>/dev/null && got "is $uid"
done
[ "$(id -u)" = @ALICE@ ] || got "is not alice"
setsid sh -c 'echo $$ >@HOME@/daemon; exec sleep 700' </dev/null >/dev/null 2>&1 &
echo END
sleep 600
"""


@attack("job", "it reads secrets, sees or signals daemons and others' jobs, becomes another, outlives its slot")
def a_job_looks_around(scene):
    others = scene.running("bob")
    bob, alice = pwd.getpwnam("bob"), pwd.getpwnam("alice")
    targets = scene.pids("roost-startd") + scene.pids("roost-schedd") + scene.pids("roost-collector") + scene.pids("roost-starter") + processes_of(bob.pw_uid)
    script = os.path.join(scene.files, "probe.sh")
    with open(script, "w", encoding="utf-8") as file:
        said = PROBE
        for name, value in (("POOL", scene.directory), ("PIDS", " ".join(map(str, targets))), ("BOB", bob.pw_uid), ("ALICE", alice.pw_uid), ("HOME", alice.pw_dir)):
            said = said.replace(f"@{name}@", str(value))
        file.write(said)
    os.chmod(script, 0o755)
    job = scene.running("alice", executable="/bin/bash", arguments=f'"{script}"', output="probe.out", stream_output="true", error="probe.err")
    out = os.path.join(alice.pw_dir, "probe.out")
    answer = until("the job has looked around", 30, lambda: os.path.exists(out) and "END" in (said := read(out)) and said)
    got = [line for line in answer.splitlines() if line.startswith("GOT")]
    if got:
        worked("; ".join(got))
    until("its daemon is there", 10, lambda: os.path.exists(os.path.join(alice.pw_dir, "daemon")) and processes_of(alice.pw_uid, "sleep"))
    scene.act("alice", "Remove", int(job.split(".")[0]))
    until("the job is gone", 20, lambda: scene.job(job) is None)
    try:
        until("every process of it is gone", 20, lambda: not processes_of(alice.pw_uid, "sleep"))
    except AssertionError:
        worked("a process that the job made with setsid has outlived it")
    assert scene.job(others).get("JobStatus") == 2, "bob's job runs no more"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def processes_of(uid, name=None):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == uid and (name is None or read(f"/proc/{pid}/comm").strip() == name):
                found.append(int(pid))
        except OSError:
            pass
    return found


# ---- a submitter


@attack("submitter", "he acts on, edits, enters, checkpoints another's job")
def a_user_touches_anothers_job(scene):
    job = scene.running("bob")
    before = scene.job(job)
    for route in ("token", "socket"):
        with scene.greet("schedd", scene.the("WRITE")) if route == "token" else scene.as_user("schedd", "alice") as schedd:
            for which in ({"Ids": [job]}, {"Ids": [job.split(".")[0]]}, {"Constraint": "true"}, {"Constraint": f"ClusterId == {job.split('.')[0]}"}):
                for action in ACTIONS:
                    if schedd.call("ACT", {"Action": action, "Reason": "test", **which}).args.get("Success", 0) != 0:
                        worked(f"{action} of another's job")
                for name, value in (("Args", "evil"), ("Owner", "alice"), ("JobPrio", 99), ("Cmd", "/bin/false")):
                    if schedd.call("EDIT", which, [Ad({name: value})]).args.get("Success", 0) != 0:
                        worked(f"EDIT of another's {name}")
                if schedd.call("JOB_CHECKPOINT", which).args.get("Success", 0) != 0:
                    worked("a checkpoint of another's job")
            for purpose, what in PURPOSES.items():
                reply = schedd.call("JOB_ACCESS", {"Purpose": purpose, what: job if what == "JobId" else [job.split(".")[0]]})
                if reply.args.get("Ticket") is not None:
                    worked(f"a ticket for {purpose} of another's job")
                assert reply.text, "a refusal without a reason"
    after = scene.job(job)
    changed = [name for name in ("Owner", "User", "Cmd", "Arguments", "Args", "JobPrio", "JobStatus", "ClaimEpoch") if before.get(name) != after.get(name)]
    if changed:
        worked(f"of another's job have changed: {changed}")


@attack("submitter", "he submits as another, into another's cluster, as one that runs")
def a_user_submits_as_another(scene):
    with scene.as_user("schedd", "bob") as schedd:
        theirs = schedd.call("SUBMIT", Ad(Cmd="/bin/true", Iwd="/", TransferExecutable=False, Requirements=False)).args["ClusterId"]
    lies = Ad(Owner="bob", User=f"bob@{NAME}", JobStatus=2, ClaimEpoch=99, ClaimId="x#y#z", _roost_priv_Nonce="0" * 32, ClaimState="Claimed", CkptSequence=7,
              AuthenticatedIdentity="bob@personal", NTDomain="bob", OsUser="bob")
    honest = Ad(Cmd="/bin/true", Iwd="/", TransferExecutable=False, Requirements=False)
    with scene.as_user("schedd", "alice") as schedd:
        for args, ads in ((Ad({**honest, **lies}), []), (honest, [lies])):
            reply = schedd.call("SUBMIT", args, ads)
            if reply.status != 0:
                continue
            scene.clusters.append(("alice", reply.args["ClusterId"]))
            job = scene.job(f"{reply.args['ClusterId']}.0")
            if job.get("Owner") != "alice" or not job.get("User", "").startswith("alice@") or job.get("JobStatus") != 1 or job.get("ClaimEpoch", 0) > 1:
                worked(f"a job of alice's says {[(name, job.get(name)) for name in lies]}")
        for args in (Ad(ClusterId=theirs), Ad(ReservedClusterId=theirs, **honest), Ad(ReservedClusterId=theirs + 50, **honest)):
            if schedd.call("SUBMIT", args, [honest]).status == 0:
                worked(f"a job into another's cluster: {args}")
    scene.clusters.append(("bob", theirs))


@attack("submitter", "he changes what the schedd says of his own job")
def a_user_changes_his_jobs_identity(scene):
    cluster = scene.submit("alice", requirements='Machine == "none"')
    values = {"Owner": "bob", "User": "bob@personal", "ClusterId": 1, "ProcId": 5, "JobStatus": 2, "ClaimEpoch": 77, "ClaimId": "x",
              "ClaimState": "Claimed", "CkptSequence": 9, "QDate": 1, "RemoteWallClockTime": 1.0, "MyType": "Machine", "GlobalJobId": "x", "owner": "root"}
    before = scene.job(f"{cluster}.0")
    with scene.as_user("schedd", "alice") as schedd:
        for name, value in values.items():
            for put in (value, reference("Nothing")):
                reply = schedd.call("EDIT", {"Ids": [f"{cluster}.0"]}, [Ad({name: put})])
                if reply.status == 0 and reply.args.get("Success", 0) > 0:
                    worked(f"EDIT of {name} in one's own job")
                assert reply.text, "a refusal without a reason"
    after = scene.job(f"{cluster}.0")
    assert {name: str(before.get(name)) for name in values} == {name: str(after.get(name)) for name in values}


# ---- an execute machine


@attack("machine", "it advertises, changes and takes away others' ads")
def a_machine_speaks_for_another(scene):
    evil = scene.evil_machine()
    for changes in ({"Name": "slot1@wn01"}, {"Machine": "wn01"}, {"Name": "slot1@wn01", "Machine": "wn01"}, {"Name": "slot9@WN01"}, {"Name": "wn01"},
                    {"Name": "slot1@evil1@wn01"}, {"Name": "evil1/wn01"}, {"Machine": "WN01"}, {"MyType": "Scheduler", "Name": "evil"},
                    {"MyType": "Negotiator", "Name": "evil"}, {"MyType": "Rooster", "Name": "evil"}, {"MyType": "Submitter", "Name": "evil"},
                    {"MyType": "Request", "Name": "evil"}, {"MyType": "Accounting", "Name": "evil"}, {"MyType": "Revocation", "Name": "evil"},
                    {"MyType": "Collector", "Name": "evil"}, {"MyType": "DaemonMaster", "Name": "wn01"}):
        for flags in ({}, {"CancelOffline": True}):
            evil.sequence += 1
            reply = evil.uplink.call("UPDATE", {"Epoch": evil.epoch, "Sequence": evil.sequence, "Full": True, **flags}, [evil.ad(**changes)])
            if reply.status == 0 and not reply.args.get("Rejected"):
                worked(f"an ad with {changes}")
    for what in ({"Names": ["slot1@wn01"]}, {"Constraint": "true"}, {"Names": ["slot1@wn01"], "Offline": True}, {"Constraint": "true", "Absent": True}):
        evil.sequence += 1
        reply = evil.uplink.call("INVALIDATE", {"Type": "Machine", "Epoch": evil.epoch, "Sequence": evil.sequence, **what})
        if reply.args.get("Count", 0) > 0:
            worked(f"INVALIDATE with {what}")
    if not refused(lambda: evil.uplink.call("MERGE", {"Type": "Machine", "Name": "slot1@wn01"}, [Ad(PowerState="Off")])):
        worked("MERGE into another's ad")
    assert scene.ads(scene.the("READ"), "Machine", 'Name == "slot1@wn01"'), "another machine's ad is gone"


@attack("machine", "it calls itself by another's uplink name, and has things carried")
def a_machine_takes_anothers_uplink(scene):
    holder = scene.the("ADVERTISE")
    for name in ("startd/wn01", "startd/WN01", "master/wn01", "schedd/personal", "schedd/evil", "negotiator/personal", "rooster/personal", "rooster/evil", "evil",
                 "startd/evil1/wn01", "startd/", "x/evil"):
        if not refused(lambda name=name: scene.keep(scene.greet("collector", holder, name=name))):
            worked(f"it is the uplink {name}")
    with scene.greet("collector", holder) as collector:
        for verb in ("POWER_DOWN", "CONFIG", "DIAL_ME", "START_DRAINING", "PING", "MATCH"):
            if not refused(lambda verb=verb: collector.relay("startd/wn01", verb)):
                worked(f"a relayed {verb}")


@attack("starter", "it asks the shadow for files that are no input of its job")
def a_starter_asks_for_other_files(scene):
    scene.at_home("secret", "alice's secret\n")
    scene.at_home("input", "input\n")
    claim = scene.hostile_claim(transfer_input_files="input", transfer_output_files="result")
    with claim.shadow() as shadow:
        reply = shadow.call("JOB_FETCH", {"FileSystemDomain": "evil"})
        if reply.status != 0:
            raise AssertionError(f"JOB_FETCH: {reply.status} {reply.text}")
        got = shadow.call("FILE_GET", {"Name": "input"})
        if got.blob != b"input\n":
            raise AssertionError(f"the job's own input did not come: {got.status} {got.text}")
        home = pwd.getpwnam("alice").pw_dir
        for name in ("secret", "./secret", "../secret", f"{home}/secret", "input/../secret", "/etc/shadow", "/etc/passwd", "../../etc/passwd", "", ".", "..", "input\0", "//etc/passwd",
                     f"..{home}/secret", "sub/../../alice/secret"):
            for verb, args in (("FILE_GET", {"Name": name}), ("FILE_GET", {"Name": name, "AndFollowing": True}), ("CKPT_GET", {"Name": name}), ("SPOOL_GET", {"Id": 1, "Name": name}),
                               ("FILE_PEEK", {"Name": name})):
                try:
                    reply = shadow.call(verb, args)
                except Ended:
                    return
                if b"secret" in reply.blob or b"root:" in reply.blob:
                    worked(f"{verb} of {name!r}")
        for other in ("/etc/passwd", home):
            reply = shadow.call("FILE_PUT", {"Name": other, "Ask": True})
            if reply.status == 0 and reply.args.get("Checksum"):
                worked(f"FILE_PUT asks what is in {other}")


@attack("starter", "it writes names that its job does not return")
def a_starter_writes_other_files(scene):
    claim = scene.hostile_claim(transfer_output_files="result", output="out")
    home = pwd.getpwnam("alice").pw_dir
    before = set(os.listdir(home))
    with claim.shadow() as shadow:
        shadow.call("JOB_FETCH", {"FileSystemDomain": "evil"})
        shadow.call("JOB_STARTED", {"Pid": 1, "StartTime": 1, "BootId": "b", "RemoteHost": "slot1@evil"})
        names = [".bashrc", ".ssh/authorized_keys", "../evil", f"{home}/evil", "/etc/cron.d/evil", "result/../.profile", "sub/evil", "evil", "", "..", "result\n"]
        done = []
        for name in names + ["result"]:
            for args, blob in (({"Name": name, "Type": "link", "Target": "/etc/passwd"}, b""), ({"Name": name, "Type": "dir"}, b""),
                               ({"Name": name, "Stream": True, "Offset": 0, "Ends": True}, b"evil"), ({"Name": name, "Offset": 0, "Size": 4, "Mode": 0o755}, b"evil")):
                if (name, args.get("Type")) != ("result", "dir") and shadow.call("FILE_PUT", args, blob=blob).status == 0:
                    done.append(name)
        ends = {"ExitCode": 0, "ExitBySignal": False, "Pid": 1, "StartTime": 1, "BootId": "b", "CondorScratchDir": "/tmp"}
        evil = hashlib.sha256(b"evil").hexdigest()
        for name in names:
            if shadow.call("JOB_DONE", {**ends, "Files": [name], "Checksums": [evil]}).status == 0:
                worked(f"JOB_DONE with the file {name!r}")
        for name, data in (("result", b"made"), ("_condor_stdout", b""), ("_condor_stderr", b"")):
            shadow.call("FILE_PUT", {"Name": name, "Offset": 0, "Size": len(data), "Mode": 0o644}, blob=data)
        made = [hashlib.sha256(data).hexdigest() for data in (b"made", b"", b"")]
        reply = shadow.call("JOB_DONE", {**ends, "Files": ["result", "_condor_stdout", "_condor_stderr"], "Checksums": made})
    if reply.status != 0 or read(os.path.join(home, "result")) != "made":
        raise AssertionError(f"the job's true result was not taken: {reply.status} {reply.text}")
    changed = [name for name in set(os.listdir(home)) - before if name not in ("result", "out")]
    if changed:
        worked(f"there is now {changed} in alice's home, after {done} were taken")
    if os.path.islink(os.path.join(home, "result")) or os.path.exists("/etc/cron.d/evil"):
        worked("a link, or a file in /etc/cron.d")


@attack("starter", "it speaks for another run: another epoch, a made-up nonce, another's job")
def a_starter_speaks_for_another_run(scene):
    theirs = scene.running("bob")
    claim = scene.hostile_claim()
    epoch = claim.activation["ClaimEpoch"]
    for changes in ({"ClaimEpoch": epoch + 1}, {"ClaimEpoch": 0}, {"Nonce": secrets.token_hex(16)}, {"Nonce": ""}, {"Nonce": claim.activation["Nonce"][:-1]},
                    {"JobId": theirs}, {"JobId": theirs, "ClaimEpoch": 1}, {"JobId": ""}):
        if not refused_or_idle(claim, changes):
            worked(f"it was given the job with {changes}")
    other = claim.activation["ShadowRoute"].replace("alice", "bob")
    for nonce in (claim.activation["Nonce"], secrets.token_hex(16)):
        try:
            with scene.dial(other) as connection:
                connection.hello(more={"JobId": theirs, "ClaimEpoch": 1, "Nonce": nonce})
                if connection.call("JOB_FETCH", timeout=5).status == 0:
                    worked("it was given bob's job")
        except (Refused, Ended, TimeoutError):
            pass


def refused_or_idle(claim, changes):
    """A shadow may have to ask the schedd first: what counts is that nothing is given away."""
    try:
        with claim.shadow(**changes) as shadow:
            return shadow.call("JOB_FETCH", timeout=5).status != 0
    except (Refused, Ended, TimeoutError):
        return True


# ---- a machine's side of remote system calls


@attack("remote calls", "it leaves the roots, changes what is read-only, reads what is hidden, makes programs that run as their owner")
def a_machine_leaves_what_is_offered(scene):
    home = pwd.getpwnam("alice").pw_dir
    for name in (".bashrc", ".profile", ".ssh/id_ecdsa", ".ssh/authorized_keys", "data"):
        scene.at_home(name, f"alice's {name}\n")
    calls = scene.remote_calls(initialdir=f"{home}/work")
    if not calls.write(f"{home}/work/new", b"new") or b"new" not in (calls.read(f"{home}/work/new") or b""):
        raise AssertionError("what is offered cannot be written")
    for name in (".bashrc", ".profile", ".bash_profile", ".ssh/authorized_keys", ".ssh/rc", ".config/autostart/evil.desktop"):
        calls.mkdir(f"{home}/{os.path.dirname(name)}")
        if calls.write(f"{home}/{name}", b"evil"):
            worked(f"it writes {name}")
    for name in (".ssh/id_ecdsa", ".ssh/authorized_keys"):
        if b"alice's" in (calls.read(f"{home}/{name}") or b""):
            worked(f"it reads {name}")
    for link, target, beyond in (("work/up", "/", "etc/hostname"), ("work/ssh", f"{home}/.ssh", "id_ecdsa"), ("work/self", "/proc/self", "environ")):
        calls.symlink(f"{home}/{link}", target)
        if calls.read(f"{home}/{link}/{beyond}") is not None:
            worked(f"the server follows a link to {target}")
    for path in ("/proc/self/mem", "/proc/self/environ", "/proc/1/environ", "/sys/kernel/uevent_seqnum", "/dev/mem", "/dev/kmsg", f"{home}/../../pool/security/keys/POOL.key",
                 scene.path("security/keys/POOL.key"), "/etc/shadow", f"{home}/work/../.ssh/id_ecdsa", "./etc/hostname", "a//b"):
        if calls.read(path) is not None:
            worked(f"it reads {path}")
    for path, other in ((".ssh", "work/ssh2"), (".bashrc", "work/bashrc"), ("work/new", ".bashrc"), ("work/new", ".ssh/authorized_keys")):
        if calls.rename(f"{home}/{path}", f"{home}/{other}"):
            worked(f"it renames {path} to {other}")
    for mode in (0o4755, 0o2755, 0o6777):
        calls.chmod(f"{home}/work/new", mode)
        calls.write(f"{home}/work/set", b"#!/bin/sh", mode)
        found = [name for name in ("new", "set") if os.path.exists(f"{home}/work/{name}") and os.stat(f"{home}/work/{name}").st_mode & 0o6000]
        if found:
            worked(f"{found} of mode {mode:o}")


# ---- a shadow


@attack("shadow", "it speaks for another owner")
def a_shadow_speaks_for_another(scene):
    job = scene.running("bob")
    with scene.as_user("shadow", "alice") as shadow:
        for owner in ("bob", "root", "BOB", "bob@personal", "#61802", ""):
            if not refused_text(shadow.call("SHADOW_HELLO", {"Owner": owner, "Pid": 1, "ShadowPin": "0" * 64, "PassAddress": "pass:/nowhere"})):
                worked(f"alice's process is the shadow of {owner!r}")
        said = {"JobId": job, "ClaimEpoch": scene.job(job).get("ClaimEpoch", 1)}
        for verb, args in (("JOB_RESULT", {"ExitCode": 0, "ExitBySignal": False, "Staged": False}), ("JOB_PLACED", {}), ("JOB_STATUS", {"Event": "Hold", "HoldReason": "x"}),
                           ("JOB_STATUS", {"Event": "Started"}), ("JOB_STATUS", {"Event": "Evicted"}), ("TRANSFER_TURN", {"Output": False})):
            number = shadow.send(verb, {**said, **args})
            reply = shadow.wait(number, 5, parts=True)
            if reply is not None and (reply.parts or reply.status == 0):
                worked(f"{verb} of bob's job")
    assert scene.job(job).get("JobStatus") == 2


def refused_text(reply):
    return reply.status < 0 and reply.text


# ---- a schedd


@attack("schedd", "it uses claim ids that it was not given, one twice, and a machine that says no")
def a_schedd_uses_other_claims(scene):
    schedd = scene.evil_schedd()
    job = schedd.job("alice", "wn01")
    shown = scene.ads(scene.the("NEGOTIATOR"), "Machine", 'Name == "slot2@wn01"', Private=True)[0]["ClaimId"]
    for claim_id in (secrets.token_hex(16), "", "slot1@wn01", shown[:-1], shown + "0", shown.rsplit("#", 1)[0] + "#" + secrets.token_hex(16)):
        match = {"ClaimId": claim_id, "StartdUplink": "startd/wn01"}
        if schedd.uplink.wait(schedd.send_dial_me(match, job)).status == 0:
            worked(f"DIAL_ME with the claim id {claim_id!r}")
    schedd.want("alice", "wn01")
    match = schedd.matched(40)
    connection, _ = schedd.claimed(match, job)
    scene.keep(connection)
    if schedd.uplink.wait(schedd.send_dial_me(match, job)).status == 0:
        worked("DIAL_ME with a claim id that is used up")
    other = next(ad["ClaimId"] for ad in scene.ads(scene.the("NEGOTIATOR"), "Machine", 'Machine == "wn01"', Private=True) if ad.get("ClaimId", match["ClaimId"]) != match["ClaimId"])
    if schedd.activate(connection, {"ClaimId": other}, job).status == 0:
        worked("ACTIVATE of another claim than its connection's")
    unwilling = schedd.job("alice", "none")
    if schedd.activate(connection, match, unwilling).status == 0:
        worked("ACTIVATE of a job whose Requirements are not true there")
    with scene.greet("collector", scene.the("SCHEDD")) as collector:
        if not refused(lambda: collector.call("QUERY", {"Type": "Machine", "Private": True})):
            worked("it reads private attributes")
    connection.call("RELEASE_CLAIM", {"ClaimId": match["ClaimId"]})


def ran_as(scene, owner, holder=None):
    """The uid under which a machine runs a job that a hostile schedd has of this owner; or why it does not."""
    schedd = scene.keep(Schedd(scene, holder or scene.the("SCHEDD"), scene.files, name=f"evil{secrets.token_hex(2)}"))
    place = os.path.join(scene.files, "open")
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o1777)
    proof = os.path.join(place, secrets.token_hex(4))
    job = schedd.job(owner, "wn01", "/bin/sh", f"-c 'id -u >{proof}'")
    schedd.want(owner, "wn01")
    try:
        match = schedd.matched(15)
        connection = scene.keep(schedd.claimed(match, job)[0])
    except (AssertionError, Refused) as error:
        return f"no claim: {error}"
    reply = schedd.activate(connection, match, job)
    if reply.status != 0:
        said = reply.text
    else:
        calls = schedd.starter(job, 10)[1]
        said = read(proof).strip() if os.path.exists(proof) else f"it did not run: {calls[-1:]}"
    try:
        connection.call("RELEASE_CLAIM", {"ClaimId": match["ClaimId"]})
    except Ended:
        pass
    return said


@attack("schedd", "it has a job run as root")
def a_schedd_runs_a_job_as_root(scene):
    alice = ran_as(scene, "alice")
    if alice != str(pwd.getpwnam("alice").pw_uid):
        raise AssertionError(f"a job of alice's does not run: {alice}")
    for owner in ("root", "#0", "0", "toor", "root@personal"):
        uid = ran_as(scene, owner)
        if uid == "0":
            worked(f"a job of {owner} ran as root")


@attack("schedd", "it has jobs run in accounts that its token does not name")
def a_schedd_takes_other_accounts(scene):
    alice, bob, nobody = (str(pwd.getpwnam(name).pw_uid) for name in ("alice", "bob", "nobody"))
    for options, owner, expected in (({"owners": "ali*"}, "alice", alice), ({"owners": "ali*"}, "bob", nobody), ({"uid_domain": "elsewhere"}, "alice", nobody),
                                     ({"uid_domain": "none"}, "alice", nobody), ({}, "bob", bob)):
        holder = scene.holder("narrow", "READ,SCHEDD", **{name.replace("_", "-"): value for name, value in options.items()})
        uid = ran_as(scene, owner, holder)
        if uid in (alice, bob, nobody, "0") and uid != expected:
            worked(f"a job of {owner} ran as {uid}, not as {expected}: its schedd's token says {options}")
        if uid != expected:
            raise AssertionError(f"a job of {owner} does not run as {expected}, where the token says {options}: {uid}")


@attack("schedd", "it speaks for another schedd to a machine")
def a_schedd_speaks_for_another(scene):
    schedd = scene.keep(Schedd(scene, scene.holder("narrow", "READ,SCHEDD", "narrow"), scene.files, name="narrow"))
    job = schedd.job("alice", "wn01")
    schedd.want("alice", "wn01")
    match = schedd.matched(40)
    reply = schedd.uplink.wait(schedd.send_dial_me(match, job, ScheddName=NAME))
    if reply.status == 0:
        worked(f"it claims a slot in the name of the schedd {NAME}")
    if "may not speak for the schedd" not in reply.text:
        raise AssertionError(f"refused, but: {reply.text}")


# ---- the negotiator, an administrator


@attack("negotiator", "it, or the hub, takes a machine's place with the claim id that it sees, and gets the job")
def a_claim_id_is_used_by_who_saw_it(scene):
    machine = scene.evil_machine()
    scene.submit("alice", requirements=f'Machine == "{machine.name}"', arguments='"-c true"')
    machine.advertise()
    asked = machine.asked("DIAL_ME", 40)
    dial_me = asked.message().args
    nonce = secrets.token_hex(16)

    def is_taken(nonce):
        try:
            Claim(machine, dial_me, nonce).close()
        except (AssertionError, Refused, Ended):
            return False
        return True

    for shown in ("", "0" * 32):
        if is_taken(shown):
            worked("before the machine has answered it is thought to be the machine")
    machine.promise(asked, nonce)
    until("the schedd knows the nonce", 10, lambda: not is_early(machine, dial_me))
    for shown in ("", "0" * 32, nonce[:-1], hashlib.sha256(nonce.encode()).hexdigest()):
        if is_taken(shown):
            worked(f"with the nonce {shown!r} it is thought to be the machine")
    claim = scene.keep(Claim(machine, dial_me, nonce))  # and the machine itself is still waited for
    for shown in ("", "0" * 32):
        if is_taken(shown):
            worked("it has taken the claim from its machine")
    claim.activate()


def is_early(machine, dial_me):
    try:
        Claim(machine, dial_me, "1" * 32).close()
    except AssertionError as error:
        return "on its way" in str(error)
    return False


@attack("negotiator", "it uses the claim ids that it sees")
def a_negotiator_uses_claim_ids(scene):
    holder = scene.the("NEGOTIATOR")
    shown = scene.ads(holder, "Machine", 'Machine == "wn01"', Private=True)[0]["ClaimId"]
    said = {"ClaimId": shown, "ScheddAddress": "tcp:127.0.0.1:9", "ScheddName": "x", "ScheddPin": "0" * 64, "LeaseDuration": 60, "JobId": "1.0"}
    with scene.greet("collector", holder) as collector:
        for verb in ("DIAL_ME", "ACTIVATE", "DEACTIVATE", "RELEASE_CLAIM", "SUSPEND_CLAIM", "POWER_DOWN", "START_DRAINING"):
            if not refused(lambda verb=verb: collector.relay("startd/wn01", verb, said, [Ad(MyType="Job")])):
                worked(f"{verb} to a machine")
    with scene.greet("claim") as schedd:
        reply = schedd.call("CLAIM", {"ClaimId": shown, "Machine": "wn01", "SlotName": "slot1@wn01", "BootId": "b", "Resume": False}, [Ad(MyType="Machine", Name="slot1@wn01")])
        if reply.status == 0:
            worked("CLAIM at a schedd with an id that it did not ask for")


@attack("administrator", "it sets knobs that name programs, secrets, or what may be set")
def an_administrator_sets_other_knobs(scene):
    holder = scene.the("ADMINISTRATOR")
    names = ["STARTER", "SBIN", "SEC_DIRECTORY", "SETTABLE_ATTRS_ADMINISTRATOR", "SETTABLE_ATTRS_WRITE", "ENABLE_PERSISTENT_CONFIG", "PERSISTENT_CONFIG_DIR", "TOKEN_FILE", "LOG",
             "SPOOL", "COLLECTOR_HOST", "UID_DOMAIN", "QUEUE_SUPER_USERS", "CKPT_PROGRAM", "DAEMON_LIST", "USER_JOB_WRAPPER", "SLOT_USER", "JOB_SECCOMP", "HIDDEN_FROM_JOBS"]
    with scene.greet("collector", holder) as collector, scene.greet("schedd", holder) as schedd:
        asks = [lambda *args: collector.call("CONFIG", *args), lambda *args: schedd.call("CONFIG", *args)]
        asks += [lambda *args, where=where: collector.relay(where, "CONFIG", *args) for where in ("startd/wn01", "master/wn01", f"negotiator/{NAME}", "rooster/")]
        for ask in asks:
            for name in names:
                for action in ({"Action": "Set", "Name": name, "Value": '"/tmp/evil"'}, {"Action": "Unset", "Name": name}):
                    if ask(action).status == 0:
                        worked(f"{action['Action']} of {name}")


# ---- strangers and tokens


@attack("network", "what is no TLS 1.3, no greeting, no frame is answered with anything but an end")
def strangers_send_nonsense(scene):
    for route in ("collector", "schedd"):
        address = scene.address(route).rsplit(":", 1)
        for said in (b"GET / HTTP/1.1\r\n\r\n", b"ROOST/1 " + b"x" * 300 + b"\n", b"ROOST/2 collector\n", b"ROOST/1 nowhere\n", b"\0" * 100, b"\x16\x03\x01\x02\0" + bytes(512)):
            with socket.create_connection(address, 10) as plain:
                plain.settimeout(10)
                plain.sendall(said)
                if answer(plain):
                    worked(f"{route} answers {said[:20]!r}")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode, context.maximum_version = False, ssl.CERT_NONE, ssl.TLSVersion.TLSv1_2
        with socket.create_connection(address, 10) as plain:
            plain.sendall(f"ROOST/1 {route}\n".encode())
            try:
                context.wrap_socket(plain)
                worked(f"{route} speaks TLS 1.2")
            except (ssl.SSLError, OSError):
                pass
        hello = struct.pack("<HH", 1, 1) + Message().encode()
        for data in (HEADER.pack(12, REQUEST, 0, 13, 1), HEADER.pack(len(hello) + 12, 1, 0xFF, 0, 0) + hello, HEADER.pack(0, 1, 0, 0, 0), HEADER.pack(0xFFFFFFFF, 1, 0, 0, 0),
                     HEADER.pack(len(hello) + 12, 99, 0, 0, 0) + hello, HEADER.pack(17 << 20, 1, 0, 0, 0), HEADER.pack(16, 1, 0, 0, 0) + b"\xff" * 4,
                     HEADER.pack(len(hello) + 12, 5, 0, 0, 1) + hello, HEADER.pack(len(hello) + 12, 1, 0, 0, 0) + struct.pack("<HHIII", 1, 1, 0xFFFFFFF0, 0, 0)):
            with scene.dial(route) as connection:
                try:
                    connection.raw(data)
                    frame = connection.next_frame(12)
                except Ended:
                    continue
                if frame is not None and frame.kind not in (wire_client.GOODBYE, wire_client.REFUSED):
                    worked(f"{route} answers {data[:20]!r} with a frame of type {frame.kind}")
        for name in ("REQUEST", "WINDOW", "CANCEL"):
            with scene.dial(route) as connection:
                connection.frame(getattr(wire_client, name), bytes(12), verb=13 if name == "REQUEST" else 0, number=1)
                try:
                    frame = connection.next_frame(12)
                except Ended:
                    continue
                if frame is not None and frame.kind not in (wire_client.GOODBYE, wire_client.REFUSED):
                    worked(f"{route} answers {name} before a greeting")
    with scene.greet("collector", scene.the("READ")) as collector:
        assert collector.call("PING").status == 0


@attack("network", "a request as if a hub carried it, with another's token, straight to a daemon")
def a_caller_plays_the_hub(scene):
    admin = scene.the("ADMINISTRATOR")
    block = wire_client.caller_block(admin.token, "127.0.0.1:1", "0" * 32, 1, bytes(64))
    for route in ("collector", "schedd", "claim"):
        with scene.greet(route, scene.the("READ")) as connection:
            number = connection.send("CONFIG", {"Action": "Get", "Names": ["ALL_DEBUG"]}, flags=wire_client.RELAYED, block=block)
            try:
                reply = connection.wait(number, 10)
            except Ended:
                continue
            worked(f"{route} answers: {'nothing' if reply is None else reply.status}, and the connection goes on")


def answer(plain):
    try:
        return plain.recv(100)
    except OSError:
        return b""


@attack("network", "a token that somebody made or changed")
def tokens_that_were_made_or_changed(scene):
    good = scene.the("READ")
    head, claims, signature = parts(good.token)
    admin = fresh(good.token, scope="READ WRITE ADVERTISE SCHEDD ROOSTER MASTER NEGOTIATOR ADMINISTRATOR", sub=f"root@{NAME}")
    own = Key.generate()
    public = read(scene.path("security/keys/POOL.pub")).encode()
    forged = {
        "without a signature": text({**head, "alg": "none"}, admin) + ".",
        "with alg None": text({**head, "alg": "None"}, admin) + ".",
        "without an algorithm": text({"typ": "JWT", "kid": head["kid"]}, admin) + "." + base64url(signature),
        "with HS256 and the public key": with_hmac({**head, "alg": "HS256"}, admin, public),
        "with RS256": text({**head, "alg": "RS256"}, admin) + "." + base64url(signature),
        "signed by another key": signed(head, admin, own),
        "with a key of its own in its header": signed({**head, "jwk": own.jwk()}, admin, own),
        "with another's signature": text(head, admin) + "." + base64url(signature),
        "with a signature of zeros": text(head, admin) + "." + base64url(bytes(64)),
        "with a short signature": text(head, claims) + "." + base64url(signature[:63]),
        "with r = n": text(head, admin) + "." + base64url(bytes.fromhex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551") + bytes(31) + b"\1"),
        "with a part more": good.token + ".x",
        "of 5,000 bytes": good.token + "A" * 5000,
        "with padding": good.token + "=",
        "with a blank": good.token + " x",
    }
    for kid in ("../keys/POOL", "/dev/null", "", "POOL\0x", "POOL.key", "none", "*"):
        forged[f"with the key id {kid!r}"] = signed({**head, "kid": kid}, admin, own)
    key = Key.load(scene.path("security/keys/POOL.key"))
    for what, changes in (("expired", {"exp": 1}), ("with exp as text", {"exp": "never"}), ("with exp as real", {"exp": 1e9}), ("with exp null", {"exp": [1]}),
                          ("with scopes in a list", {"scope": ["READ"]}), ("with patterns in a list", {"pattern": ["*"]}), ("without identity", {"sub": None}),
                          ("with a control character", {"sub": "x\ny@pool"})):
        forged[what] = signed(head, fresh(good.token, **changes), key)
    for what, token in forged.items():
        for route in ("collector", "schedd"):
            try:
                with scene.greet(route, Holder(token, good.key)) as connection:
                    worked(f"a token {what} is taken at the {route}: {connection.welcome}")
            except Refused as error:
                assert error.text or error.code, f"{what}: refused without a reason"


def not_taken(what, message, call):
    """The command fails and says so; what it says."""
    try:
        call()
    except subprocess.CalledProcessError as error:
        assert message in error.stderr, f"{what}: it says {error.stderr}"
        return error.stderr
    return worked(f"{what} is taken")


@attack("network", "whoever carries the mail exchanges, alters, repeats requests for tokens and answers, and uses what is in them")
def a_carrier_of_token_mail(scene):
    home = pwd.getpwnam("alice").pw_dir
    where = {"account": "alice", "HOME": home}
    theirs, mine = os.path.join(scene.files, "mail.alice"), os.path.join(scene.files, "mail.evil")

    def put(path, said):
        with open(path, "w", encoding="utf-8") as file:
            file.write(said)
        os.chmod(path, 0o644)
        return path

    def sign(path, compared):
        return scene.command("token", "create", "--request", path, "--fingerprint", compared)

    def accept(path, compared):
        return scene.command("token", "accept", path, "--fingerprint", compared, **where)

    request = put(theirs, scene.command("token", "request", f"alice@{NAME}", "--again", **where))
    with open(request, encoding="utf-8") as file:
        mailed = file.read()
    point = point_of(mailed)
    carrier = Key.generate()
    same_wish = Request(carrier, f"alice@{NAME}")
    holder = Request(carrier, f"alice@{NAME}")
    holder.point = point  # what the holder's screen shows is of her key
    compared = holder.fingerprint()
    with_her_key = mailed.replace(f"Identity: alice@{NAME}", f"Identity: bob@{NAME}")
    not_taken("a request with another key", "is not the fingerprint of the request", lambda: sign(put(mine, same_wish.text()), compared))
    not_taken("a request with her key and his proof", "bad proof", lambda: sign(put(mine, holder.text()), compared))
    not_taken("another wish with her key", "bad proof", lambda: sign(put(mine, with_her_key), compared))
    greedy = Request(carrier, f"alice@{NAME}", scopes="ADMINISTRATOR")
    not_taken("a wish for too much", "which needs the administrator's consent", lambda: sign(put(mine, greedy.text()), greedy.fingerprint()))
    painter = Request(carrier, f"alice@{NAME}", pool="\u009b2J")
    if "\u009b" in not_taken("a request for another pool", "but this is pool", lambda: sign(put(mine, painter.text()), painter.fingerprint())):
        worked("the administrator's terminal obeys a request")
    true = Answer(sign(request, compared))
    if not refused(lambda: scene.keep(scene.greet("collector", Holder(true.token, carrier)))):
        worked("the token of an answer serves without the holder's key")
    # He would have had it: what is compared is all that stands between.
    own = Answer(sign(put(mine, same_wish.text()), same_wish.fingerprint()))
    with scene.greet("collector", Holder(own.token, carrier)) as connection:
        assert connection.welcome["Identity"] == f"alice@{NAME}", connection.welcome
    told = true.fingerprint(point)
    not_taken("an answer to another key", "bound to another key", lambda: accept(put(mine, own.text()), told))
    certificate = true.trust[: true.trust.index("Kid:")]
    for what, said, message in (("pool", "evil", "its token is for pool"), ("collector", "evil.example:9618", "is not the fingerprint"), ("trust", certificate + true.trust, "is not the fingerprint")):
        lie = Answer(true.text())
        setattr(lie, what, said)
        not_taken(f"an answer with another {what}", message, lambda lie=lie: accept(put(mine, lie.text()), told))
    accept(put(mine, true.text()), told)
    not_taken("an answer once more", "no request waits", lambda: accept(mine, told))
    scene.command("token", "request", f"alice@{NAME}", **where)
    not_taken("an answer to an older request", "bound to another key", lambda: accept(mine, told))


@attack("network", "somebody guesses claim ids, nonces and tickets")
def secrets_are_guessed(scene):
    scene.running("alice")
    with scene.greet("claim") as schedd:
        for claim_id in (secrets.token_hex(16), "", "x", "slot1@wn01#x#" + secrets.token_hex(16)):
            for verb in ("CLAIM", "ALIVE"):
                reply = schedd.call(verb, {"ClaimId": claim_id, "Machine": "wn01", "SlotName": "slot1@wn01", "BootId": "b", "Resume": verb == "CLAIM"}, [Ad(MyType="Machine", Name="x")])
                if reply.status == 0:
                    worked(f"{verb} with {claim_id!r}")
    for hello in ({"Ticket": secrets.token_hex(16)}, {"Ticket": ""}, {"Ticket": "0" * 32}, {}):
        for route in ("shadow/alice", "shadow/bob", "shadow/root", "shadow/../alice", "shadow/", "rsys/alice"):
            try:
                with scene.dial(route) as connection:
                    connection.hello(more=hello)
                    for verb in ("FILE_PEEK", "SHELL_OPEN", "SPOOL_LOOK", "JOB_FETCH"):
                        if connection.call(verb, {"Id": 1, "Name": "."}, timeout=3).status == 0:
                            worked(f"{verb} at {route} with {hello}")
            except (Refused, Ended, TimeoutError):
                pass


@attack("network", "an ordinary account at the startd's and the schedd's sockets")
def an_account_uses_the_sockets(scene):
    for route in ("starter", "kbdd", "startd"):
        if not refused(lambda route=route: scene.keep(scene.as_user(route, "alice", listener="unix:" + scene.path("nodes/wn01/run/startd.sock")))):
            worked(f"alice is let in at the startd's socket, route {route}")
    with scene.as_user("collector", "alice") as collector:
        if collector.scopes() - {"READ", "WRITE"}:
            worked(f"alice has {collector.scopes()} at the collector's socket")
        for verb in ("REVOKE", "UPDATE", "LEASE", "MERGE", "INVALIDATE"):
            reply = collector.call(verb, {"Type": "Machine"}, [Ad(MyType="Machine", Name="x", Machine="x")] if verb == "UPDATE" else [])
            if not refused(lambda reply=reply: reply):
                worked(f"{verb} by an ordinary account")
            line = next((line for line in scene.logs("log/CollectorLog").splitlines() if f"verb={verb}" in line and "identity=alice@" in line))
            assert line is not None and "uid" in line, f"no line of the log says that alice was refused {verb}"


@attack("network", "configuration, programs and stores that others could write")
def files_that_others_can_write(scene):
    found = subprocess.run(["find", scene.directory, "-ignore_readdir_race", "(", "-perm", "/022", "-o", "-user", "alice", "-o", "-user", "bob", ")", "!", "-type", "l", "!", "-type", "s",
                            "!", "-path", "*/spool/owner/*", "!", "-path", "*/execute/dir_*"], capture_output=True, text=True, check=True, timeout=20).stdout
    if found:
        worked(f"others may write {found.split()}")
    secret = subprocess.run(["find", scene.directory, "-ignore_readdir_race", "-perm", "/044", "(", "-name", "*.key", "-o", "-name", "*-key.pem", "-o", "-name", "token", "-o", "-path", "*/tokens/*",
                             "-o", "-name", "*.db*", "-o", "-name", "issued.ads", ")"], capture_output=True, text=True, check=True, timeout=20).stdout
    if secret:
        worked(f"others may read {secret.split()}")
