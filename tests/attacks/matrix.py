"""Identity x verb: each identity asks each receiver each verb of docs/protocol/wire.md section 4, and it is written down who may.

matrix.py --pool DIR --roost FILE [--write]

What must be seen is in expected.txt; --write puts there what is seen.  A request is well-formed and does no harm: what it names
is not there, or it is a dry run.  Outcomes:

    yes   the request passed every check of who asks, whatever came of it
    id    the same, but it must show a secret that it does not have: a claim id, a nonce, a ticket
    no    refused for who asks; the connection or the request
    -     nobody answers that verb there

A line is written only where some identity has `yes` or `id`: a verb that is not there is open to nobody.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re
import sys

from ad_form import Ad
from pool import NAME, Pool, until
from wire_client import EACCES, EHOSTUNREACH, ENOKEY, ENOSYS, EPERM, VERBS, Ended, Refused

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.txt")
# Tokens of one scope each; what roles have more of one is the sum.
TOKENS = {
    "READ": {"scopes": "READ"},
    "WRITE": {"scopes": "WRITE"},
    "ADVERTISE": {"scopes": "ADVERTISE", "pattern": "evil"},
    "SCHEDD": {"scopes": "SCHEDD"},
    "ROOSTER": {"scopes": "ROOSTER"},
    "MASTER": {"scopes": "MASTER"},
    "NEGOTIATOR": {"scopes": "NEGOTIATOR"},
    "ADMINISTRATOR": {"scopes": "ADMINISTRATOR"},
}
IDENTITIES = ["stranger", *TOKENS, "user", "root"]
# Whom one reaches, and how: a route of its own, or RELAY by the collector.
DIRECT = ["collector", "schedd", "claim"]
UNIX_ONLY = {"shadow": None, "starter": "nodes/wn01/run/startd.sock"}  # routes of Unix sockets alone; whose
RELAYED = {"schedd/": f"schedd/{NAME}", "startd/": "startd/wn01", "rooster/": "rooster/", "negotiator/": f"negotiator/{NAME}", "master/": "master/wn01"}
RECEIVERS = [*DIRECT, *UNIX_ONLY, *RELAYED]
REFUSALS = (-EACCES, -EPERM)
NO_ID = "0" * 32
NOT_ANSWERED = "none"  # a verb without an answer of its own for a while: it was admitted


VICTIM = "slot9@other"  # an ad of a machine of the administrator's, made anew for each identity


def machine(name, machine_name):
    return Ad(MyType="Machine", Name=f"{name}@{machine_name}", Machine=machine_name, State="Owner")


def named(kind, name):
    return Ad(MyType=kind, Name=name)


NEXT = {"Epoch": 1, "Sequence": 1, "Full": True}
# Requests, by "VERB" or "VERB what": arguments, ads.  A verb that is not here is asked without arguments.
REQUESTS = {
    "UPDATE its own machine": (NEXT, [machine("slot9", "evil")]),
    "UPDATE another machine": (NEXT, [machine("slot9", "wn01")]),
    "UPDATE a master": (NEXT, [named("DaemonMaster", "evil")]),
    "UPDATE a schedd": (NEXT, [named("Scheduler", "evilsched")]),
    "UPDATE a submitter": (NEXT, [named("Submitter", "evil@pool")]),
    "UPDATE a rooster": (NEXT, [named("Rooster", "evilrooster")]),
    "UPDATE a negotiator": (NEXT, [named("Negotiator", "evilnegotiator")]),
    "UPDATE an accounting": (NEXT, [named("Accounting", "evil")]),
    "UPDATE a collector": (NEXT, [named("Collector", "evil")]),
    "MERGE power": ({"Type": "Machine", "Name": VICTIM}, [Ad(PowerStateReason="test")]),
    "MERGE matches": ({"Type": "Machine", "Name": VICTIM}, [Ad(OfflineMatches=1)]),
    "MERGE anything": ({"Type": "Machine", "Name": VICTIM}, [Ad(Requirements=True)]),
    "INVALIDATE another machine": ({"Type": "Machine", "Names": [VICTIM], "Epoch": 1, "Sequence": 2}, []),
    "QUERY": ({"Type": "Machine", "Limit": 1}, []),
    "QUERY private": ({"Type": "Machine", "Private": True, "Limit": 1}, []),
    "WATCH": ({"Type": "Machine"}, []),
    "WATCH private": ({"Type": "Machine", "Private": True}, []),
    "LEASE": ({"Role": "test", "Holder": "test", "Duration": 0}, []),
    "REVOKE": ({"TokenId": "no-such-token", "Expires": 1}, []),
    "POWER_LOCK": ({"Nodes": ["none"], "Lock": False}, []),
    "SUBMIT": ({"Reserve": True}, []),
    "ACT on another's": ({"Action": "Release", "Ids": ["@JOB@"]}, []),
    "EDIT of another's": ({"Ids": ["@JOB@"]}, [Ad(Tested=1)]),
    "JOB_ACCESS to another's": ({"Purpose": "Tail", "JobId": "@JOB@"}, []),
    "JOB_CHECKPOINT of another's": ({"Ids": ["@JOB@"]}, []),
    "MATCH": ({"RequestName": "none", "AutoClusterId": 777, "ClaimId": NO_ID, "SlotName": "slot1@evil", "Machine": "evil", "StartdUplink": "startd/evil"},
              [machine("slot1", "evil")]),
    "NO_MATCH": ({"LastRejMatchNegotiator": NAME}, []),
    "CLAIM": ({"ClaimId": NO_ID, "Machine": "evil", "SlotName": "slot1@evil", "BootId": "b", "Resume": False}, [machine("slot1", "evil")]),
    "ALIVE": ({"ClaimId": NO_ID}, []),
    "CLAIM_GONE": ({"ClaimId": NO_ID, "Reason": "test"}, []),
    "DIAL_ME": ({"ClaimId": NO_ID, "ScheddAddress": "127.0.0.1:1", "ScheddName": "evil", "ScheddPin": "0" * 64, "LeaseDuration": 60, "JobId": "1.0"},
                [Ad(MyType="Job", RequestCpus=1)]),
    "POWER_DOWN": ({"DryRun": True, "Reason": "test"}, []),
    "START_DRAINING": ({"EstimateOnly": True, "HowFast": "graceful"}, []),
    "COMMIT_DRAINING": ({"RequestId": "none"}, []),
    "CANCEL_DRAINING": ({"RequestId": "none"}, []),
    "POWER_KEEP": ({"Until": 1, "Reason": "test"}, []),
    "POWER_RECLAIM": ({"Jobs": 0, "Reason": "test"}, []),
    "POWER_ON": ({"Nodes": ["none"], "DryRun": True, "Reason": "test"}, []),
    "POWER_STATUS": ({}, []),
    "POWER_DOWN_ASK its own": ({"Machine": "evil", "Level": "S3", "DryRun": True, "Reason": "test"}, []),
    "POWER_DOWN_ASK another's": ({"Machine": "wn01", "Level": "S3", "DryRun": True, "Reason": "test"}, []),
    "CONFIG get": ({"Action": "Get", "Names": ["NO_SUCH_KNOB"]}, []),
    "CONFIG set": ({"Action": "Set", "Name": "ALL_DEBUG", "Value": "no such level"}, []),
    "DAEMON_ON": ({"Daemon": "NONE"}, []),
    "USERPRIO": ({"Action": "None", "Name": "none"}, []),
    "POOL_FIGURES its own": ({"Machines": ["evil"]}, []),
    "POOL_FIGURES another's": ({"Machines": ["wn01"]}, []),
    "SHADOW_HELLO of its own": ({"Owner": "@ACCOUNT@", "Pid": 1, "ShadowPin": "0" * 64, "PassAddress": "pass:/nowhere"}, []),
    "SHADOW_HELLO of another": ({"Owner": "bob", "Pid": 1, "ShadowPin": "0" * 64, "PassAddress": "pass:/nowhere"}, []),
    "JOB_STATUS of another's": ({"JobId": "@JOB@", "ClaimEpoch": 0, "Event": "Usage"}, []),
    "JOB_RESULT of another's": ({"JobId": "@JOB@", "ClaimEpoch": 0, "ExitCode": 0, "Staged": False}, []),
    "JOB_PLACED of another's": ({"JobId": "@JOB@", "ClaimEpoch": 0}, []),
    "TRANSFER_TURN of another's": ({"JobId": "@JOB@", "ClaimEpoch": 0, "Output": False}, []),
    "STARTER_HELLO": ({"ClaimId": NO_ID, "JobId": "1.0", "ClaimEpoch": 1}, []),
    "STARTER_DONE": ({"ClaimId": NO_ID, "JobId": "1.0", "ClaimEpoch": 1, "Reason": "test"}, []),
    "CONSOLE_USED": ({"Display": ":0", "ConsoleIdle": 100000}, []),
    "RELAY": ({"Uplink": "none/none", "Verb": VERBS["PING"].number}, []),
    "PING": ({}, []),
}


def requests():
    """(label, verb) of everything that is asked, in the order of the page."""
    for verb in VERBS:
        labels = [label for label in REQUESTS if label.split(" ")[0] == verb]
        for label in labels or [verb]:
            yield label, verb


def filled(args, words):
    def put(value):
        return [put(entry) for entry in value] if isinstance(value, list) else words.get(value, value) if isinstance(value, str) else value

    return {name: put(value) for name, value in args.items()}


def outcome(label, reply):
    if reply is None:
        return NOT_ANSWERED
    if reply.status == -ENOSYS:
        return "-"
    if reply.status == -ENOKEY:
        return "no" if "token" in reply.text else "id"
    denied = reply.args.get("Rejected", 0) or reply.args.get("PermissionDenied", 0) or any(ad.get("Result") == "PermissionDenied" for ad in reply.ads)
    denied = denied or label.startswith("INVALIDATE") and reply.args.get("Count") == 0
    return "no" if reply.status in REFUSALS or denied else "yes"


def connect(pool, identity, holders, route):
    if route in UNIX_ONLY:
        if identity not in ("user", "root"):
            raise Refused(0, "it is not on this machine")
        listener = UNIX_ONLY[route] and "unix:" + pool.path(UNIX_ONLY[route])
        return pool.as_user(route, "alice" if identity == "user" else "root", listener=listener)
    if identity == "stranger":
        return pool.greet(route)
    if identity in ("user", "root"):
        return pool.as_user(route, "alice" if identity == "user" else "root")
    return pool.greet(route, holders[identity])


def ask_all(connection, receiver, words):
    """{label: outcome} of one receiver.  What streams, or waits, shows that it was admitted by its first part or by silence."""
    numbers = {}
    for label, verb in requests():
        if verb == "RELAY" and receiver in RELAYED or label.endswith(" private") and receiver != "collector":
            continue  # a hub refuses to carry it; nobody else has private attributes for anybody
        args, ads = REQUESTS.get(label, ({}, []))
        if receiver == "shadow":
            args = {"JobId": "@JOB@", "ClaimEpoch": 0, **args}  # whose job it is, is asked first
        if receiver in RELAYED:
            numbers[label] = connection.send_relay(RELAYED[receiver], verb, filled(args, words), ads, deadline_ms=3000)
        else:
            numbers[label] = connection.send(verb, filled(args, words), ads, blob=b"\0" * 12 if verb == "RELAY" else b"", deadline_ms=3000)
    answers = {}
    for label, number in numbers.items():
        reply = connection.wait(number, 6, parts=label.startswith("WATCH"))
        if reply is not None and receiver in RELAYED and connection.learn(RELAYED[receiver], reply):
            args, ads = REQUESTS.get(label, ({}, []))  # the receiver has a new instance by now
            reply = connection.relay(RELAYED[receiver], label.split(" ")[0], filled(args, words), ads, deadline_ms=3000)
        if reply is not None and receiver in RELAYED and reply.status == -EHOSTUNREACH:
            raise AssertionError(f"{receiver} is gone, or has not come: {reply.text}")
        if reply is not None and receiver in RELAYED and reply.signed is False:
            raise AssertionError(f"the answer of {receiver} to {label} is not signed by it")
        if reply is not None and reply.status < 0 and not reply.text:
            raise AssertionError(f"{receiver} refuses {label} with {reply.status} and without a reason")
        if reply is not None and receiver in RELAYED and connection.holder.key is None:
            answers[label] = "no" if reply.status < 0 else outcome(label, reply)  # the hub wants a proof
            continue
        answers[label] = "yes" if label.startswith("WATCH") and reply is not None and reply.parts else outcome(label, reply)
        if reply is None or not getattr(reply, "over", False):
            connection.cancel(number)
    return answers


def ask_identity(pool, identity, holders, job, findings):
    words = {"@JOB@": job, "@ACCOUNT@": "root" if identity == "root" else "alice"}
    with pool.greet("collector", holders["ADMINISTRATOR"]) as collector:
        victim = collector.call("UPDATE", NEXT, [machine(*VICTIM.split("@"))])
        assert victim.status == 0 and not victim.args.get("Rejected"), victim.text
    for receiver in RECEIVERS:
        route = "collector" if receiver in RELAYED else receiver
        try:
            with connect(pool, identity, holders, route) as connection:
                findings[receiver, identity] = ask_all(connection, receiver, words)
        except Refused:
            findings[receiver, identity] = {label: "no" for label, _ in requests()}
        except Ended as end:
            raise AssertionError(f"{identity} at {receiver}: the connection ended: {end}") from end


def measure(pool):
    holders = {name: pool.holder(name.lower(), **how) for name, how in TOKENS.items()}
    until("all uplinks are there", 20, lambda: uplinks_are_there(pool, holders["ADMINISTRATOR"]))
    job = submit_held(pool)
    findings = {}
    for identity in IDENTITIES:
        ask_identity(pool, identity, holders, job, findings)
    refusals_are_logged(pool, findings)
    rows = []
    for receiver in RECEIVERS:
        for label, _ in requests():
            cells = [findings[receiver, identity].get(label, "-") for identity in IDENTITIES]
            if any(cell not in ("no", "-") for cell in cells):
                rows.append((receiver, label, cells))
    return rows


HUB = "log/CollectorLog"
LOGS = {"collector": HUB, "schedd": "log/SchedLog", "claim": "log/SchedLog",
        "schedd/": "log/SchedLog", "startd/": "nodes/wn01/log/StartLog", "rooster/": "log/RoosterLog", "negotiator/": "log/NegotiatorLog", "master/": "nodes/wn01/log/MasterLog"}
DENIED = re.compile(r" (?:wire\.denied|queue\.refused|queue\.denied|update\.rejected) (.*)")
WHO = re.compile(r"(?:^| )identity=\"?([^@\" ]*)")
VERB = re.compile(r"(?:^| )verb=(\w+)")
PEER = re.compile(r"(?:^| )peer=\S")


def denials(pool, path):
    """(who, verb) of each line that says who was refused what, from where."""
    seen = set()
    for line in DENIED.findall(pool.logs(path)):
        who, verb = WHO.search(line), VERB.search(line)
        if who and verb and PEER.search(line):
            seen.add((who[1], verb[1]))
    return seen


def refusals_are_logged(pool, findings):
    """What a caller is refused is in the log of who refuses it: who asked, from where, what.  A request that is not carried is one of RELAY; route
    claim looks at no token."""
    missing = []
    hub = denials(pool, HUB)
    for receiver, path in LOGS.items():
        logged = denials(pool, path)
        for identity in TOKENS:
            who = "" if receiver == "claim" else identity.lower()
            for label, verb in requests():
                if findings[receiver, identity].get(label) != "no":
                    continue
                if (who, verb) not in logged and (receiver not in RELAYED or (who, "RELAY") not in hub):
                    missing.append(f"no line in {path} says that {identity} was refused {label}")
    if missing:
        raise AssertionError("\n".join(missing))


def uplinks_are_there(pool, administrator):
    with pool.greet("collector", administrator) as collector:
        return all(collector.relay(uplink, "PING").status == 0 for uplink in RELAYED.values())


def submit_held(pool):
    """A job of bob's, held."""
    with pool.as_user("schedd", "bob") as schedd:
        job = Ad(Cmd="/bin/true", Iwd="/", TransferExecutable=False, JobStatus=5, HoldReason="test", ShouldTransferFiles="NO", Requirements=False)
        reply = schedd.call("SUBMIT", job)
        if reply.status != 0:
            raise AssertionError(f"bob's job: {reply.status} {reply.text}")
        return f"{reply.args.get('ClusterId')}.0"


# ---- the file


def print_rows(rows):
    widths = [max(len(column), 4) for column in IDENTITIES]
    lines = ["# What each identity may ask of whom: read and compared by matrix.py, which says what the words mean.",
             "# A verb without a line is open to nobody there.  docs/SECURITY.md has it as a table: tests/attacks/table.py --write", ""]
    head = f"{'':42}" + "  ".join(f"{name:{width}}" for name, width in zip(IDENTITIES, widths))
    last = None
    for receiver, label, cells in rows:
        if receiver != last:
            lines += ([""] if last is not None else []) + [f"[{receiver}]".ljust(42) + head[42:]]
            last = receiver
        lines.append(f"{label:42}" + "  ".join(f"{cell:{width}}" for cell, width in zip(cells, widths)))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def read_rows(path=EXPECTED):
    rows, receiver = [], None
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("["):
                receiver = line[1 : line.index("]")]
            elif line and not line.startswith("#"):
                rows.append((receiver, line[:42].strip(), line[42:].split()))
    return rows


def differences(expected, seen):
    expected = {(receiver, label): cells for receiver, label, cells in expected}
    seen = {(receiver, label): cells for receiver, label, cells in seen}
    nobody = ["no or -"] * len(IDENTITIES)
    for key in sorted({*expected, *seen}, key=str):
        for identity, wanted, got in zip(IDENTITIES, expected.get(key, nobody), seen.get(key, nobody)):
            if wanted != got and {wanted, got} - {"no", "-", "no or -"}:
                yield f"{identity} asks {key[0]} {key[1]}: '{got}', not '{wanted}'"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pool", required=True)
    parser.add_argument("--roost", required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    seen = measure(Pool(options.pool, options.roost))
    if options.write:
        with open(EXPECTED, "w", encoding="utf-8") as file:
            file.write(print_rows(seen))
        return
    wrong = list(differences(read_rows(), seen))
    if wrong:
        sys.exit("\n".join(["what identities may do is not as in tests/attacks/expected.txt:", *wrong]))
    print(f"{len(seen)} lines of {len(IDENTITIES)} identities are as expected")


if __name__ == "__main__":
    main()
