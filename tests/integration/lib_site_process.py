# tests/integration/lib_site_process.py - what site_process.sh asks of `roost-site process`.
#
# usage: lib_site_process.py ROOST_SITE DIRECTORY
#
# SPDX-License-Identifier: Apache-2.0
import os
import stat
import subprocess
import sys
import time

from lib_site import (SECRET, Site, check, check_pilot, end_pilot, equals, files_with, make_pilot, processes_with, ran,
                      run_tests, until)

PROGRAM, WORK = map(os.path.abspath, sys.argv[1:3])
HOME = WORK + "/site"
os.environ["ROOST_SITE_DIR"] = HOME


def new_site(name, **options):
    return Site(PROGRAM, "process", WORK, site=name, **options)


def a_glidein_lives_from_submission_to_its_exit_status():
    site = new_site("life")
    equals("at first", site.look(), {})
    equals("taken", site.submit(1, 2), 2)
    names = [site.batch(1) + ".1", site.batch(1) + ".2"]
    equals("running", site.running(), names)
    for name in names:
        check_pilot(WORK, name)
        check("one line of output" in site.ask("log", name=name)["text"], "log")
    equals("nobody else reads it", stat.S_IMODE(os.stat(HOME).st_mode), 0o700)
    end_pilot(WORK, names[0], 7)
    until("its end", lambda: site.states()[names[0]] == "ended")
    equals("reason", site.look()[names[0]]["reason"], "exit status 7")
    equals("still running", site.running(), names[1:])
    equals("secrets", files_with(HOME, SECRET), [f"{HOME}/local/{names[1]}.token"])
    check("one line of output" in site.ask("log", name=names[0])["text"], "log")
    equals("removed", site.remove(*names), names)
    equals("running", site.running(), [])
    equals("reason", site.look()[names[1]]["reason"], "killed, or its host was restarted")
    equals("secrets", files_with(HOME, SECRET), [])
    equals("processes", processes_with(f"--name\0{names[1]}"), [])
    site.end()


def a_batch_is_started_once():
    site = new_site("once", per_host="3")
    equals("taken", site.submit(1, 2), 2)
    equals("again", site.submit(1, 2), 2)
    equals("grown", site.submit(1, 3), 3)
    names = [f"{site.batch(1)}.{i}" for i in (1, 2, 3)]
    equals("running", site.running(), names)
    for name in names:
        check_pilot(WORK, name)
    site.refused("refuses", "no room", "submit", **site.submission(2, 1))
    end_pilot(WORK, names[0], 0)
    until("its end", lambda: site.states()[names[0]] == "ended")
    equals("what has ended is not started again", site.submit(1, 3), 3)
    equals("running", site.running(), names[1:])
    equals("the room that there is", site.submit(2, 2), 1)
    equals("removed", len(site.remove(*site.states())), 4)
    site.end()


def what_was_never_started_has_not_ended():
    site = new_site("secret")
    equals("at first", site.look(), {})
    token = f"{HOME}/local/{site.batch(1)}.1.token"
    with open(token, "w", encoding="ascii") as f:
        f.write(SECRET)  # as a roost-site that was killed leaves it
    equals("glideins", site.look(), {})
    check(not os.path.exists(token), "the secret stays")
    equals("taken", site.submit(1, 1), 1)
    check_pilot(WORK, site.batch(1) + ".1")
    equals("removed", len(site.remove(site.batch(1) + ".1")), 1)
    site.end()


def children_of(parent):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                if int(f.read().rsplit(")", 1)[1].split()[1]) == parent:
                    found.append(int(pid))
        except OSError:
            pass
    return found


def glideins_outlive_a_killed_roost_site():
    site = new_site("outlive")
    equals("taken", site.submit(1, 2), 2)
    names = site.running()
    site.send("look")
    site.kill()
    second = new_site("outlive")
    other = new_site("other")
    equals("running", second.running(), names)
    equals("others do not see them", other.look(), {})
    other.refused("wrong", "not a glidein of this site", "remove", names=names)
    equals("removed", second.remove(*names, second.batch(9) + ".1"), names + [second.batch(9) + ".1"])
    equals("running", second.running(), [])
    second.end()
    other.end()


def a_submission_is_killed_at_each_moment():
    for moment in range(8):
        site = new_site("moments")
        batch = 10 + moment
        site.send("submit", **site.submission(batch, 3))
        time.sleep(moment * 0.02)
        site.kill()
        site = new_site("moments")
        before = set(site.running())
        equals("taken", site.submit(batch, 3), 3)
        after = site.running()
        equals("running", after, [f"{site.batch(batch)}.{i}" for i in (1, 2, 3)])
        check(before <= set(after), before, after)
        for name in after:
            until("start", lambda name=name: ran(WORK, name, "runs"))  # it is empty for a moment
            equals("starts", ran(WORK, name, "runs"), "run\n")
        equals("removed", len(site.remove(*after)), 3)
        equals("running", site.running(), [])
        site.end()


def what_cannot_be_right_is_wrong():
    site = new_site("wrong", begin=False)
    options = {"site": "wrong", "factory": "fab"}
    site.refused("wrong", "first request must be 'begin'", "look")
    site.refused("wrong", "unknown option 'per_hots'.*did you mean 'per_host'", "begin", options={"per_hots": "1"}, **options)
    site.refused("wrong", "unknown option 'hosts'", "begin", options={"hosts": "a"}, **options)
    site.refused("wrong", "per_host = '0'", "begin", options={"per_host": "0"}, **options)
    site.refused("wrong", "must begin with '/'", "begin", options={"directory": "x"}, **options)
    site.ask("begin", options={}, **options)
    site.refused("wrong", "asked twice", "begin", options={}, **options)
    site.refused("wrong", "unknown operation", "dance")
    for key, value, pattern in (("batch", "fab-here-1", "does not begin with 'fab-wrong-'"), ("batch", "fab-wrong-/x", "'batch' must"),
                                ("batch", "fab-wrong-" + "x" * 60, "at most 64 bytes"), ("count", 0, "'count'"),
                                ("secret", 7, "not a text"), ("lifetime", 90000, "at most 86100"),
                                ("pilot", "pilot", "must begin with '/'"), ("arguments", "--pool", "'arguments'")):
        site.refused("wrong", pattern, "submit", **site.submission(1, 1, **{key: value}))
    site.refused("wrong", "not the name of a glidein", "log", name="fab-wrong-1.1;id")
    site.refused("refuses", "no output", "log", name="fab-wrong-1.1")
    equals("a line that is no request", site.raw(b"{]")["error"], "wrong")
    equals("a line that is too long", site.raw(b" " * (3 << 20))["error"], "wrong")
    equals("it goes on", site.look(), {})
    site.end()


def a_broken_site_fails():
    site = new_site("broken", pclient="/no/pclient")
    site.refused("fails", "no/pclient", "look")
    site.refused("fails", "no/pclient", "submit", **site.submission(1, 1))
    site.end()
    site = new_site("broken", directory="/proc/nowhere")
    site.refused("fails", "proc/nowhere", "look")
    site.end()
    hanging = WORK + "/hanging"
    with open(hanging, "w") as f:
        f.write("#!/bin/sh\nexec sleep 298\n")
    os.chmod(hanging, 0o755)
    site = new_site("broken", pclient=hanging)
    began = time.monotonic()
    site.refused("fails", "no answer in time", "look", deadline=2)
    check(1 < time.monotonic() - began < 2, "the deadline")
    until("what it has started is gone", lambda: not processes_with("sleep\000298"), 2)
    site.send("look")
    until("the program runs", lambda: processes_with("sleep\000298"))
    shells = children_of(site.process.pid)
    equals("shells", len(shells), 1)
    site.kill()
    until("the shell is killed with roost-site", lambda: not os.path.exists(f"/proc/{shells[0]}/exe"), 5)
    for pid in processes_with("sleep\000298"):
        os.kill(pid, 9)


def a_pilot_that_does_not_start_has_ended():
    site = new_site("nostart")
    equals("taken", site.submit(1, 1, pilot=WORK + "/none"), 1)
    name = site.batch(1) + ".1"
    until("its end", lambda: site.states()[name] == "ended")
    equals("reason", site.look()[name]["reason"], "exit status 127")
    check("none" in site.ask("log", name=name)["text"], "log")
    site.end()


def a_wrong_type_is_refused():
    done = subprocess.run([PROGRAM, "prozess"], capture_output=True, text=True, check=False)
    equals("exit status", done.returncode, 2)
    check("process, ssh, slurm" in done.stderr, done.stderr)


make_pilot(WORK)
run_tests([a_glidein_lives_from_submission_to_its_exit_status, a_batch_is_started_once, what_was_never_started_has_not_ended,
           glideins_outlive_a_killed_roost_site,
           a_submission_is_killed_at_each_moment, what_cannot_be_right_is_wrong, a_broken_site_fails,
           a_pilot_that_does_not_start_has_ended, a_wrong_type_is_refused])
