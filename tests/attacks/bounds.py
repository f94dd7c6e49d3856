"""What one identity can do, with no more than its own scopes, to the time and the memory of others.

SPDX-License-Identifier: Apache-2.0
"""
import multiprocessing
import os
import time

from ad_form import Ad
from attack import attack, is_instrumented, worked
from pool import NAME
from wire_client import EBUSY, WINDOW, Ended, Refused

SECONDS, GROWTH_MIB = 6, 128
# What is promised holds for a machine with nothing else to do; the suite allows for others on it.
ANSWER_S = float(os.environ.get("ATTACKS_ANSWER_S", "0.5"))
JOB = {"Cmd": "/bin/true", "Iwd": "/", "TransferExecutable": False, "ShouldTransferFiles": "NO", "Requirements": False}
DAEMONS = {"schedd": "roost-schedd", "collector": "roost-collector"}


def bob(scene):
    return scene.as_user("schedd", "bob")


def queue_of(scene):
    """3000 jobs of bob's, in 1001 clusters; one of them goes when the attack is over."""
    scene.submit("bob", 2000, requirements='Machine == "none"')
    if not hasattr(scene, "has_queue"):
        with bob(scene) as schedd:
            for number in [schedd.send("SUBMIT", JOB) for _ in range(1000)]:
                schedd.wait(number, 60)
        scene.has_queue = True


def others_wait(scene, route, work):
    """Fails when another's PING takes too long, or the daemon grows too much, while work() is done again and again by another process."""

    def repeat(stop):
        while not stop.is_set():
            try:
                work()
            except (Ended, Refused, TimeoutError, OSError):
                stop.wait(0.05)

    queue_of(scene)
    stop = multiprocessing.get_context("fork").Event()
    attacker = multiprocessing.get_context("fork").Process(target=repeat, args=(stop,), daemon=True)
    before = most = scene.resident_mib(DAEMONS[route])
    slowest = 0.0
    with scene.as_user(route, "alice") as other:
        attacker.start()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            began = time.monotonic()
            other.call("PING", timeout=60)
            slowest = max(slowest, time.monotonic() - began)
            most = max(most, scene.resident_mib(DAEMONS[route]))
            time.sleep(0.02)
    stop.set()
    attacker.join(10)
    attacker.kill()
    print(f"    slowest PING {slowest:.2f} s, {most - before:.0f} MiB more")
    if slowest > ANSWER_S:
        worked(f"another's PING took {slowest:.1f} s")
    if most - before > GROWTH_MIB and not is_instrumented():
        worked(f"the {route} has grown by {most - before:.0f} MiB")


@attack("F17", "a submitter asks for a hundred thousand attributes of each job")
def projections_stop_the_schedd(scene):
    def work():
        with bob(scene) as schedd:
            for kind in ("Job", "History"):
                schedd.call("QUERY", {"Type": kind, "Projection": ["Requirements"] * 100000})

    others_wait(scene, "schedd", work)


@attack("F17", "a submitter begins and cancels watches of the queue, as many as he can")
def watches_stop_the_schedd(scene):
    def work():
        with bob(scene) as schedd:
            for _ in range(2500):
                schedd.cancel(schedd.send("WATCH", {"Type": "Job"}, deadline_ms=0))
            schedd.call("PING")

    others_wait(scene, "schedd", work)


def unread(open_one, requests, connections=10):
    """Connections that ask and read nothing."""
    open_ones = [open_one() for _ in range(connections)]
    try:
        for one in open_ones:
            for verb, args in requests:
                one.send(verb, args, deadline_ms=0)
        time.sleep(2)
    finally:
        for one in open_ones:
            one.close()


@attack("F16", "a submitter asks for the queue 40,000 times, and reads no answer")
def unread_answers_fill_the_schedd(scene):
    others_wait(scene, "schedd", lambda: unread(lambda: bob(scene), [("QUERY", {"Type": "Job"})] * 4000))


@attack("F16", "a submitter sends commands for all his jobs, a thousand at a time")
def commands_fill_the_schedd(scene):
    others_wait(scene, "schedd", lambda: unread(lambda: bob(scene), [("JOB_CHECKPOINT", {"Constraint": "true"})] * 500, 2))


@attack("F16", "one reader has all watches that a collector keeps, with constraints of a megabyte")
def one_reader_has_all_watches(scene):
    reader = scene.the("READ")

    def work():
        unread(lambda: scene.greet("collector", reader), [("WATCH", {"Type": "Nothing", "Constraint": f"{number}==" + "1||" * 340000 + "1"}) for number in range(15)], 3)

    others_wait(scene, "collector", work)
    with scene.greet("collector", reader) as greedy, scene.greet("collector", scene.the("ADMINISTRATOR")) as other:
        asked = [greedy.send("WATCH", {"Type": "Nothing"}, deadline_ms=0) for _ in range(4090)]
        if greedy.wait(asked[-1]).status != -EBUSY:
            worked("one reader has 4090 watches")
        number = other.send("WATCH", {"Type": "Machine"}, deadline_ms=0)
        if other.wait(number, parts=True).parts == 0:
            worked("nobody else can watch any more")


def take_nothing(connection):
    """No WINDOW is returned from now on."""
    send = connection.frame
    connection.frame = lambda kind, *more, **how: None if kind == WINDOW else send(kind, *more, **how)


@attack("F17", "a submitter's requests through the hub, whose answers he does not take, keep out those of the pool")
def relayed_requests_keep_others_out(scene):
    queue_of(scene)
    with scene.greet("collector", scene.the("WRITE")) as greedy, scene.greet("collector", scene.the("ADMINISTRATOR")) as other:
        with bob(scene) as schedd:  # answers that fill a window
            parts = schedd.call("QUERY", {"Type": "Job"}).parts
            if parts < 8:
                raise AssertionError(f"the queue is too short for this: {parts} parts")
        name = f"schedd/{NAME}"
        take_nothing(greedy)
        for _ in range(8):
            greedy.instances.clear()  # numbers of an instance end at 1000
            for _ in range(900):
                greedy.send_relay(name, "QUERY", {"Type": "Job"}, deadline_ms=0)
            if greedy.relay(name, "PING").status == -EBUSY:
                break
        else:
            raise AssertionError("there is always room for more")
        if other.relay(name, "PING").status != 0:
            worked("an administrator's request is refused for want of room")


def submit_digest(schedd, text):
    """Jobs that are made later, of this submit file."""
    pieces = [Ad(Text=text[at : at + 1000000]) for at in range(0, len(text), 1000000)]
    place = Ad(Cwd="/tmp", File="x.sub", Arch="X86_64", OpSys="LINUX")
    return schedd.call("SUBMIT", {**JOB, "Digest": True, "DigestPlace": place, "JobMaterializeLimit": 100000}, pieces, timeout=60)


HEAD = "executable = /bin/true\ntransfer_executable = false\nshould_transfer_files = NO\nrequirements = false\n"


@attack("F17", "a submitter's jobs that are made later are as costly to make as they may be")
def costly_digests_stop_the_schedd(scene):
    text = HEAD + f"A = {'x' * 100}\n" + "".join(f"B{number} = {'$(A)' * 100}\n+X{number} = \"$(B{number})\"\n" for number in range(30)) + "queue 100000\n"

    def work():
        with bob(scene) as schedd:
            cluster = submit_digest(schedd, text).args["ClusterId"]
            time.sleep(1)
            schedd.call("ACT", {"Action": "Remove", "Ids": [str(cluster)]}, timeout=60)

    others_wait(scene, "schedd", work)


@attack("F16", "a submitter's lists of jobs that are made later fill the schedd")
def digests_fill_the_schedd(scene):
    text = HEAD + "max_idle = 1\nqueue x from (\n" + "".join(f"item{number}{'y' * 100}\n" for number in range(120000)) + ")\n"
    with bob(scene) as schedd:
        others_wait(scene, "schedd", lambda: submit_digest(bob(scene), text))
        schedd.call("ACT", {"Action": "Remove", "Constraint": "true"}, timeout=60)
