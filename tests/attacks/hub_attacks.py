"""A man in the hub's place, with the hub's own key: he can hide, delay and show wrong ads, and nothing is done that was not asked for by who may.

SPDX-License-Identifier: Apache-2.0
"""
import struct
import subprocess
import time

import proofs
import wire_client
from ad_form import Ad
from attack import attack, worked
from hub import CHANGED, Hub
from pool import NAME, until
from tls import Key, base64url, base64url_decode
from tokens import fresh, parts, signed, text
from wire_client import Message, VERBS, caller_block

STARTDS = ["startd/wn01", "startd/wn02"]
UPLINKS = [*STARTDS, f"schedd/{NAME}", f"rooster/{NAME}", f"negotiator/{NAME}"]
NEVER = ("PING", "INSTANCE")  # which everybody may ask everybody; INSTANCE tells of its sender alone
# What would be seen if it were done: the same as in the matrix, but meant.
ORDERS = {
    "POWER_DOWN": {"Reason": "evil", "Force": True},
    "START_DRAINING": {"HowFast": "fast", "Reason": "evil"},
    "COMMIT_DRAINING": {"RequestId": "x"},
    "POWER_KEEP": {"Until": int(time.time()) + 3600, "Reason": "evil"},
    "POWER_RECLAIM": {"Jobs": 1, "Reason": "evil"},
    "CONFIG": {"Action": "Set", "Name": "STARTD_DEBUG", "Value": "debug"},
    "DIAL_ME": {"ClaimId": "x", "ScheddAddress": "tcp:127.0.0.1:9", "ScheddName": "evil", "ScheddPin": "0" * 64, "LeaseDuration": 60, "JobId": "1.0"},
    "SUBMIT": {"Cmd": "/bin/sh", "Iwd": "/", "Owner": "alice", "TransferExecutable": False},
    "ACT": {"Action": "Remove", "Constraint": "true"},
    "EDIT": {"Constraint": "true"},
    "QUERY": {"Type": "Job"},
    "WATCH": {"Type": "Job"},
    "JOB_ACCESS": {"Purpose": "Shell", "JobId": "1.0"},
    "POWER_ON": {"Nodes": ["wn01"], "Reason": "evil"},
    "USERPRIO": {"Action": "ResetAll"},
    "MATCH": {"RequestName": f"{NAME}#1", "AutoClusterId": 1, "ClaimId": "x", "SlotName": "slot1@evil", "Machine": "evil", "StartdUplink": "startd/evil"},
}


def hub_of(scene):
    """The lying hub; every daemon of the pool is its uplink."""
    if not hasattr(scene, "hub"):
        scene.hub = Hub(int(scene.knob("COLLECTOR_PORT")), scene.path("security/collector.pem"), scene.path("security/collector-key.pem"))
        for name in UPLINKS:
            scene.hub.uplink(name, 40)
        until("the ads of all are there", 30, lambda: {kind for kind, _ in scene.hub.ads} >= {"Machine", "Scheduler", "Rooster", "Negotiator"})
    hub = scene.hub
    hub.show, hub.carry, hub.carry_back = lambda _member, ad: ad, lambda carried: [carried], lambda _carried, frame: [frame]
    return hub


def body(verb):
    return Message(ORDERS.get(verb, {}), [Ad(MyType="Job", Args="evil")] if verb in ("EDIT", "DIAL_ME", "MATCH", "SUBMIT") else []).encode()


def instance_of(hub, name):
    return hub.uplink(name).hello_args.get("Instance", "")


def signed_by(key, hub, token, name):
    """A proof by the wrong key, for POWER_KEEP; right in all else."""
    claims = parts(token)[1]
    return key.sign(proofs.relay(claims["aud"], token, claims["sub"], name, instance_of(hub, name), VERBS["POWER_KEEP"].number, 10000, 1, body("POWER_KEEP")))


def none_is_done(hub, uplinks, block, flags, what, verbs=tuple(VERBS)):
    answers = [(name, verb, hub.say(name, verb, block, body(verb), flags)) for name in uplinks for verb in verbs if verb not in NEVER]
    for name, verb, answer in answers:
        status = answer.wait(5)
        if status is None and answer.frames or status is not None and status >= 0:
            worked(f"{name} does {verb} {what}")


@attack("collector", "it orders daemons by itself")
def the_hub_orders_by_itself(scene):
    hub = hub_of(scene)
    none_is_done(hub, UPLINKS, b"", 0, "because the hub asks for it")


@attack("collector", "it orders in the name of somebody whom it makes up")
def the_hub_makes_up_a_caller(scene):
    hub = hub_of(scene)
    seen = next(token for token in hub.tokens)
    head, _, _ = parts(seen)
    claims = fresh(seen, sub=f"root@{NAME}", scope="READ WRITE ADVERTISE SCHEDD ROOSTER MASTER NEGOTIATOR ADMINISTRATOR", jti="made-up", pattern=None, cnf=None)
    made = [("", "without a token"), (signed(head, claims, Key.generate()), "with a token that the hub has signed"), (text({**head, "alg": "none"}, claims) + ".", "with alg none"),
            (signed(head, claims, Key.load(scene.path("security/collector-key.pem"))), "with a token that the collector's key has signed")]
    for token, what in made:
        for proof in (bytes(64), Key.generate().sign(b"made up")):
            for name in UPLINKS:
                none_is_done(hub, [name], caller_block(token, "127.0.0.1:1", instance_of(hub, name), 1, proof), wire_client.RELAYED, what)


@attack("collector", "it orders with the tokens that it has been shown")
def the_hub_uses_tokens_that_it_saw(scene):
    hub = hub_of(scene)
    scene.command("power", "status")  # an administrator has been here
    greetings = {member.hello_args["Token"]: base64url_decode(member.hello_args["Proof"]) for member in list(hub.members) if member.hello_args.get("Proof")}
    for token in sorted(set(hub.tokens)):
        for name in UPLINKS:
            shown = [bytes(64), signed_by(Key.generate(), hub, token, name), greetings.get(token, b"\1" * 64)]
            for proof in shown + [base64url_decode(one.args["Proof"]) for one in hub.seen[-1:]]:
                none_is_done(hub, [name], caller_block(token, "127.0.0.1:1", instance_of(hub, name), 1, proof), wire_client.RELAYED,
                             f"with the token of {parts(token)[1]['sub']}", ("POWER_KEEP", "CONFIG", "ACT", "DIAL_ME", "MATCH", "QUERY"))


ASK = ("config", "get", "ALL_DEBUG", "--node", "wn01")


def an_order(scene, hub):
    """An administrator's question to wn01 goes through as it should: what was carried."""
    before = len(hub.seen)
    said = scene.command(*ASK).strip()
    if said != "info":
        raise AssertionError(f"an honest question is answered with {said!r}")
    return next(one for one in hub.seen[before:] if one.name() == "CONFIG")


@attack("collector", "it repeats, alters, redirects, keeps back what it carries")
def the_hub_changes_what_it_carries(scene):
    hub = hub_of(scene)
    carried = an_order(scene, hub)
    keep = Message(ORDERS["POWER_KEEP"]).encode()
    for what, uplink, verb, data, deadline in (
            ("again", carried.uplink, carried.verb, carried.body, carried.deadline_ms),
            ("by another machine", "startd/wn02", carried.verb, carried.body, carried.deadline_ms),
            ("with another body", carried.uplink, carried.verb, Message(ORDERS["CONFIG"]).encode(), carried.deadline_ms),
            ("with another verb", carried.uplink, "POWER_KEEP", keep, carried.deadline_ms),
            ("by a schedd", f"schedd/{NAME}", carried.verb, carried.body, carried.deadline_ms),
            ("by the rooster", f"rooster/{NAME}", carried.verb, carried.body, carried.deadline_ms),
            ("with another deadline", carried.uplink, carried.verb, carried.body, 3600000)):
        status = hub.say(uplink, verb, carried.block, data, deadline_ms=deadline).wait(5)
        if status is not None and status >= 0:
            worked(f"a request that was carried is done {what}")


@attack("collector", "it changes requests on their way, the first time that they are sent")
def the_hub_changes_requests_on_their_way(scene):
    hub = hub_of(scene)
    an_order(scene, hub)
    keep = Message(ORDERS["POWER_KEEP"]).encode()
    changes = {"another body": {"body": Message({"Action": "Get", "Names": ["LOG"]}).encode()}, "another verb": {"verb": VERBS["POWER_KEEP"].number, "body": keep},
               "another target": {"uplink": "startd/wn02"}, "a target of another kind": {"uplink": f"schedd/{NAME}"}}
    for what, change in changes.items():
        hub.carry = lambda one, change=change: [one.with_(**change)]
        if ask(scene).returncode == 0:
            worked(f"a request to which the hub gave {what} is done")


def ask(scene):
    """The same question, whatever comes of it."""
    return subprocess.run([scene.roost, *ASK], capture_output=True, text=True, timeout=60, check=False)


@attack("collector", "it delivers what it kept back when the machine has been started anew")
def the_hub_keeps_a_request_back(scene):
    hub = hub_of(scene)
    an_order(scene, hub)
    held = []
    hub.carry = lambda one: held.append(one) or []
    with subprocess.Popen([scene.roost, *ASK], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
        until("a request is held back", 10, lambda: held)
        client.kill()
    scene.start_anew("roost-startd", "wn01")
    hub.cut("startd/wn01")
    hub.uplink("startd/wn01")
    status = hub.say("startd/wn01", held[0].verb, held[0].block, held[0].body, deadline_ms=held[0].deadline_ms).wait(5)
    if status is not None and status >= 0:
        worked("what was held back over a new start of the machine is done")


@attack("collector", "it alters the answers that it carries")
def the_hub_changes_answers(scene):
    hub = hub_of(scene)
    an_order(scene, hub)
    hub.carry_back = lambda _carried, frame: [altered(frame)]
    answer = ask(scene)
    if "evil" in answer.stdout:
        worked(f"the client believes: {answer.stdout.strip()}")
    if answer.returncode == 0 or not answer.stderr.strip():
        raise AssertionError(f"no refusal with a reason: {answer}")


@attack("collector", "it gives an old answer to a new question")
def the_hub_repeats_an_answer(scene):
    hub = hub_of(scene)
    kept = []
    hub.carry_back = lambda _carried, frame: kept.append(frame) or [frame]
    an_order(scene, hub)
    hub.carry_back = lambda _carried, frame: [kept[0]]
    answer = ask(scene)
    if answer.returncode == 0:
        worked(f"the client believes an answer to another question: {answer.stdout.strip()}")
    if not answer.stderr.strip():
        raise AssertionError(f"no refusal with a reason: {answer}")


def a_success(frame):
    """What an honest "done" looks like, but for the signature."""
    return wire_client.Frame(frame.kind, 0, 0, frame.number, struct.pack("<iH", 0, 0) + Message({"Name": "ALL_DEBUG", "Value": "evil"}, [Ad(Name="ALL_DEBUG", Value="evil")]).encode())


def with_flags(frame, flags):
    return wire_client.Frame(frame.kind, flags, frame.verb, frame.number, frame.payload)


@attack("collector", "it makes an answer up, splits one, and sends parts twice or in another order")
def the_hub_forges_parts_of_answers(scene):
    hub = hub_of(scene)
    an_order(scene, hub)
    more, signed_ = wire_client.MORE, wire_client.SIGNED
    forged = {
        "that nobody signed": lambda frame: [a_success(frame)],
        "that is said to be signed": lambda frame: [with_flags(a_success(frame), signed_)],
        "whose last part is called a part": lambda frame: [with_flags(frame, signed_ | more), a_success(frame)],
        "in whose place comes its signature on nothing": lambda frame: [with_flags(frame, signed_ | more), with_flags(frame, signed_)],
        "before which an unsigned part comes": lambda frame: [with_flags(a_success(frame), more), frame],
        "before which a part comes that is said to be signed": lambda frame: [with_flags(a_success(frame), more | signed_), frame],
    }
    for what, parts_of in forged.items():
        hub.carry_back = lambda _carried, frame, parts_of=parts_of: parts_of(frame)
        answer = ask(scene)
        if answer.returncode == 0 or "evil" in answer.stdout:
            worked(f"the client believes an answer {what}: {answer.stdout.strip()}")
    hub.carry_back = lambda _carried, frame: [frame, frame, with_flags(frame, signed_ | more)]
    if ask(scene).stdout.strip() != "info":
        raise AssertionError("an answer after which the hub sends more is not believed")


@attack("collector", "it calls a refusal of the receiver's a success")
def the_hub_turns_a_refusal_into_a_success(scene):
    hub = hub_of(scene)
    command = ("config", "set", "SEC_DIRECTORY=/tmp/evil", "--node", "wn01")
    refused_ = subprocess.run([scene.roost, *command], capture_output=True, text=True, timeout=60, check=False)
    if refused_.returncode == 0:
        raise AssertionError("the machine refuses nothing")
    hub.carry_back = lambda _carried, frame: [wire_client.Frame(frame.kind, frame.flags, frame.verb, frame.number, struct.pack("<i", 0) + frame.payload[4:])]
    said = subprocess.run([scene.roost, *command], capture_output=True, text=True, timeout=60, check=False)
    if said.returncode == 0:
        worked("the client believes that what was refused is done")


@attack("collector", "it repeats, after a new start of the machine and of itself, what was done before")
def the_hub_repeats_across_restarts(scene):
    hub = hub_of(scene)
    done = an_order(scene, hub)

    def again(when):
        now = instance_of(hub, done.uplink)
        renamed = caller_block(done.args["Token"], "127.0.0.1:1", now, done.args["Number"], base64url_decode(done.args["Proof"]))
        for what, block in (("as it was", done.block), ("with the new instance's name", renamed)):
            status = hub.say(done.uplink, done.verb, block, done.body, deadline_ms=done.deadline_ms).wait(5)
            if status is not None and status >= 0:
                worked(f"what was done is done once more {when}, {what}")

    hub.cut("startd/wn01")
    again("after the hub's connection was cut")
    scene.start_anew("roost-startd", "wn01")
    hub.cut("startd/wn01")
    again("after a new start")
    an_order(scene, hub)


@attack("collector", "it makes up revocations, and gives one that is true another number")
def the_hub_makes_up_revocations(scene):
    hub = hub_of(scene)
    token = an_order(scene, hub).args["Token"]
    mine = parts(token)[1]["jti"]
    claims = parts(token)[1]
    statement = proofs.revocation(claims["aud"], token, mine, 0)
    try:
        for number, (shown, proof) in enumerate((("", ""), (token, ""), (token, base64url(bytes(64))), (token, base64url(Key.generate().sign(statement))),
                                                 (signed(parts(token)[0], claims, Key.generate()), base64url(Key.generate().sign(statement))))):
            name = mine if number % 2 else f"{mine}-{number}"
            key = "Revocation", name
            hub.ads[key] = Ad(MyType="Revocation", Name=name, TokenId=mine, Expires=0, Token=shown, Proof=proof)
            with hub.lock:
                hub.tell(CHANGED, key)
            for uplink in STARTDS:
                hub.cut(uplink)  # the next snapshot shows it as well
                hub.uplink(uplink)
            if ask(scene).stdout.strip() != "info":
                worked(f"an administrator's token is refused since the hub has made up its revocation ({number})")
    finally:
        for key in [key for key in hub.ads if key[0] == "Revocation"]:
            del hub.ads[key]
    until("a machine says that it does not believe them", 10, lambda: "revocations.unproved" in scene.logs("../*.log") + scene.logs("nodes/*/log/*"))


@attack("collector", "its greeting says another time, name, instance and scopes")
def the_hub_lies_in_its_greeting(scene):
    hub = hub_of(scene)
    past = scene.holder("past", "READ,WRITE,ADMINISTRATOR")
    over = scene.holder("over", "READ,WRITE,ADMINISTRATOR", expires="1s")
    carried = an_order(scene, hub)
    time.sleep(1.1)
    keep = body("POWER_KEEP")
    try:
        for said in ({"ServerTime": 0}, {"ServerTime": 1 << 40}, {"Name": "startd/wn02", "Identity": f"root@{NAME}", "Instance": "0" * 32, "Uplink": "startd/wn02"}, {"Scopes": "", "Identity": ""},
                     {"FrameMax": 1}, {"FrameMax": 1 << 40}):
            hub.welcome_more = lambda _member, said=said: said
            for uplink in STARTDS:
                hub.cut(uplink)
            instance = instance_of(hub, "startd/wn01")
            if not said.get("FrameMax", 9999) == 1 and ask(scene).stdout.strip() != "info":
                raise AssertionError(f"after a greeting with {said} an honest order is not done")
            for what, holder, name in (("of a token that is over", over, "startd/wn01"), ("for another machine", past, "startd/wn02")):
                args, _ = holder.relay_args(name, instance, VERBS["POWER_KEEP"].number, 10000, keep)
                block = caller_block(args["Token"], "127.0.0.1:1", instance, args["Number"], base64url_decode(args["Proof"]))
                status = hub.say("startd/wn01", "POWER_KEEP", block, keep).wait(5)
                if status is not None and status >= 0:
                    worked(f"an order {what} is done after a greeting with {said}")
            status = hub.say("startd/wn01", carried.verb, carried.block, carried.body, deadline_ms=carried.deadline_ms).wait(5)
            if status is not None and status >= 0:
                worked(f"a repeated order is done after a greeting with {said}")
    finally:
        del hub.welcome_more


def altered(frame):
    """The same answer with another value in it."""
    return wire_client.Frame(frame.kind, frame.flags, frame.verb, frame.number, frame.payload.replace(b"info", b"evil"))


def wants_unwanted(carried):
    """Is it a DIAL_ME for the job that wn01 does not want?"""
    return carried.name() == "DIAL_ME" and Message.decode(carried.body).ads[0].get("Unwanted") is True


@attack("collector", "it shows slots that say no as if they said yes")
def the_hub_shows_wrong_ads(scene):
    hub = hub_of(scene)
    hub.show = lambda _member, ad: Ad({**ad, "Requirements": True, "Start": True}) if ad.get("MyType") == "Machine" else ad
    answers = []
    hub.carry_back = lambda one, frame: answers.append((one, struct.unpack_from("<i", frame.payload)[0])) or [frame]
    willing = scene.submit("alice", executable="/bin/true", requirements='Machine == "wn01"')
    unwilling = scene.submit("alice", executable="/bin/true", requirements='Machine == "wn01"', **{"+Unwanted": "true"})
    until("a job that the machine wants runs", 40, lambda: scene.job(f"{willing}.0") is None)
    until("the other one is offered to the machine", 20, lambda: any(wants_unwanted(one) for one in list(hub.seen)))
    status = until("the machine answers", 30, lambda: [status for one, status in answers if wants_unwanted(one)])[0]
    if status >= 0:
        worked("the machine takes a job that its START refuses")
    job = scene.job(f"{unwilling}.0")
    if job is None or job.get("NumJobStarts", 0) > 0:
        worked("a job that the machine's START refuses has run there")
