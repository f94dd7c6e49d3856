# tests/integration/lib_site_ssh.py - what site_ssh.sh asks of `roost-site ssh`; the hosts are wn1, wn2 and wn3.
#
# usage: lib_site_ssh.py ROOST_SITE DIRECTORY SSH_CONFIG
# or:    lib_site_ssh.py late SECONDS COMMAND...: a transport that delivers requests for jobs so many seconds late
#
# SPDX-License-Identifier: Apache-2.0
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

from lib_site import (SECRET, Site, check, check_pilot, end_pilot, equals, files_with, make_pilot, processes_with, ran,
                      run_tests, until)


def copy(source, target, late):
    try:
        while data := os.read(source, 65536):
            if b"job -detach" in data:
                with open(late, "w", encoding="utf-8"):
                    pass
                time.sleep(float(sys.argv[2]))
            while data:
                data = data[os.write(target, data):]
        os.close(target)
    except OSError:
        pass  # nobody reads it any more


def be_late():
    """Goes on although roost-site and all that is in its process group are killed, as packets do."""
    if os.fork() > 0:
        os.wait()
        os._exit(0)
    os.setsid()
    with subprocess.Popen(sys.argv[4:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ssh:
        requests = threading.Thread(target=copy, args=(0, ssh.stdin.fileno(), sys.argv[3]))
        requests.start()
        copy(ssh.stdout.fileno(), 1, sys.argv[3])
        requests.join()
    os.rename(sys.argv[3], sys.argv[3] + ".delivered")
    os._exit(0)


if sys.argv[1] == "late":
    be_late()

PROGRAM, WORK, CONFIG = map(os.path.abspath, sys.argv[1:4])
SSH = f"ssh -T -F {CONFIG}"
HOME = WORK + "/site"


def new_site(name, **options):
    options = dict(dict(hosts="wn[1-3]", ssh=SSH, directory=HOME, pclient=os.path.dirname(PROGRAM) + "/pclient",
                        host_timeout="3"), **options)
    return Site(PROGRAM, "ssh", WORK, site=name, **options)


def link(number, state):
    subprocess.run(["ip", "link", "set", f"veth{number}", state], check=True)


def stop(number, how):
    """A host that is silent: its sshd stands still."""
    with open(f"{os.path.dirname(CONFIG)}/wn{number}/pid", encoding="ascii") as f:
        os.kill(int(f.read()), how)


def host_of(glidein):
    return glidein["id"].split(":")[0]


def glideins_live_on_hosts():
    site = new_site("life")
    equals("at first", site.look(), {})
    equals("taken", site.submit(1, 2), 2)
    names = [f"{site.batch(1)}.{i}" for i in (1, 2)]
    seen = site.look()
    equals("running", sorted(seen), names)
    check(host_of(seen[names[0]]) != host_of(seen[names[1]]), seen)
    for name in names:
        check_pilot(WORK, name)
    check("one line of output" in site.ask("log", name=names[1])["text"], "log")
    equals("again", site.submit(1, 2), 2)
    equals("the third host", site.submit(2, 3), 1)
    end_pilot(WORK, names[0], 1)
    until("its end", lambda: site.states()[names[0]] == "ended")
    equals("reason", site.look()[names[0]]["reason"], "exit status 1")
    equals("the free host", site.submit(3, 1), 1)
    site.refused("refuses", "no room", "submit", **site.submission(4, 1))
    equals("removed", len(site.remove(*site.states())), 4)
    equals("states", set(site.states().values()), {"ended"})
    equals("secrets", files_with(HOME, SECRET), [])
    site.end()


def a_dead_host_keeps_nobody_from_serving():
    site = new_site("dead", per_host="2")
    equals("taken", site.submit(1, 3), 3)
    seen = site.look()
    lost = [name for name, glidein in seen.items() if host_of(glidein) == "wn2"]
    left = sorted(set(seen) - set(lost))
    equals("spread", len(lost), 1)
    stop(2, signal.SIGSTOP)
    began = time.monotonic()
    equals("those of the others", site.running(complete=False), left)
    check(time.monotonic() - began < 8, "the look took", time.monotonic() - began, "s")
    equals("room of the others", site.submit(2, 4), 2)
    gone = site.remove(left[0], *lost, site.batch(9) + ".1")
    equals("what is known to be gone", gone, left[:1])
    stop(2, signal.SIGCONT)
    until("all answer", lambda: site.ask("look")["complete"])
    check(set(lost) < set(site.running()), "the dead host's glidein goes on", site.look())
    equals("removed", len(site.remove(*site.states())), 5)
    site.end()
    for number in (1, 2, 3):
        link(number, "down")
    site = new_site("dead")
    site.refused("fails", "none of 3 hosts answers; wn1: .*unreachable", "look", deadline=10)
    site.refused("fails", "none of 3 hosts answers", "submit", deadline=10, **site.submission(5, 1))
    site.end()
    for number in (1, 2, 3):
        link(number, "up")


def glideins_outlive_a_killed_roost_site():
    for moment in (0.5, 1):
        site = new_site("moments", hosts="wn[1-2]")
        batch = int(10 + 10 * moment)
        site.send("submit", **site.submission(batch, 2))
        time.sleep(moment)
        site.kill()
        site = new_site("moments", hosts="wn[1-2]")
        equals("taken", site.submit(batch, 2), 2)
        after = site.running()
        equals("running", after, [f"{site.batch(batch)}.{i}" for i in (1, 2)])
        for name in after:
            until("start", lambda name=name: ran(WORK, name, "runs"))
            equals("starts", ran(WORK, name, "runs"), "run\n")
        equals("removed", site.remove(*after), after)
        site.end()


def what_is_delivered_late_starts_nothing():
    late = WORK + "/late"
    words = shlex.join([sys.executable, os.path.abspath(__file__), "late", "10", late])
    site = new_site("late", hosts="wn1", ssh=f"{words} {SSH}")
    site.refused("fails", "host wn1: .*(no answer in time|the lease of . s)", "submit", deadline=8, **site.submission(1, 1))
    check(os.path.exists(late), "the transport was given the job")
    site.kill()
    until("it is delivered", lambda: os.path.exists(late + ".delivered"))
    site = new_site("late", hosts="wn1")
    equals("glideins", site.look(), {})
    equals("starts", ran(WORK, site.batch(1) + ".1", "runs"), None)
    equals("and then", site.submit(1, 1), 1)
    check_pilot(WORK, site.batch(1) + ".1")
    equals("removed", len(site.remove(site.batch(1) + ".1")), 1)
    equals("running", site.running(), [])
    site.end()


def files_are_copied_once_for_each_version():
    home = WORK + "/copies"
    site = new_site("copy", copy="true", directory=home, pclient=os.path.dirname(PROGRAM) + "/pclient")
    pilot = WORK + "/pilot2"
    with open(make_pilot(WORK), encoding="utf-8") as source, open(pilot, "w", encoding="utf-8") as target:
        target.write(source.read() + "#" * (3 << 20) + "\n")  # more than pipes hold
    equals("a fresh host has none", site.look(), {})
    equals("taken", site.submit(1, 2, pilot=pilot), 2)
    files = {name: os.stat(f"{home}/bin/{name}").st_ino for name in os.listdir(home + "/bin")}
    equals("files", sorted(name.rsplit("-", 1)[0] for name in files), ["pclient", "roost-pilot"])
    for name in site.running():
        check_pilot(WORK, name)
    equals("taken", site.submit(2, 1, pilot=pilot), 1)
    equals("files", {name: os.stat(f"{home}/bin/{name}").st_ino for name in os.listdir(home + "/bin")}, files)
    equals("removed", len(site.remove(*site.running())), 3)
    with open(pilot, "a", encoding="utf-8") as target:
        target.write("#\n")
    equals("taken", site.submit(3, 1, pilot=pilot), 1)
    equals("files", len(os.listdir(home + "/bin")), 3)
    equals("removed", len(site.remove(*site.running())), 1)
    site.refused("wrong", "pilot3", "submit", **site.submission(4, 1, pilot=WORK + "/pilot3"))
    site.end()


def what_cannot_be_right_is_wrong():
    for options, pattern in (({"hosts": ""}, "no host"), ({"hosts": "wn[1-"}, "hosts: "), ({"hosts": "../x"}, "hosts: "),
                             ({"hosts": "a", "ssh": ""}, "no command"), ({"hosts": "a", "ssh": "ssh | cat"}, "ssh: "),
                             ({}, "'hosts' is missing"), ({"hosts": "a", "copy": "maybe"}, "copy = 'maybe'"),
                             ({"hosts": "a", "copy": "true", "pilot": "/p"}, "only one"),
                             ({"hosts": "a", "shh": "x"}, "did you mean 'ssh'")):
        site = Site(PROGRAM, "ssh", WORK, begin=False)
        site.refused("wrong", pattern, "begin", site="x", factory="fab", options=options)
        site.end()
    site = new_site("nossh", ssh="/no/ssh")
    site.refused("fails", "none of 3 hosts answers; wn1: .*no/ssh", "look")
    site.end()


make_pilot(WORK)
run_tests([glideins_live_on_hosts, a_dead_host_keeps_nobody_from_serving, glideins_outlive_a_killed_roost_site,
           what_is_delivered_late_starts_nothing, files_are_copied_once_for_each_version, what_cannot_be_right_is_wrong])
equals("transports", processes_with(CONFIG), [os.getpid()])
