# tests/integration/lib_site_slurm.py - what site_slurm.sh asks of `roost-site slurm`; the cluster has six processors, and
# arrays of at most three tasks.
#
# usage: lib_site_slurm.py ROOST_SITE DIRECTORY PID_FILE_OF_SLURMCTLD
#
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import time

from lib_site import (SECRET, Site, check, check_pilot, end_pilot, equals, files_with, make_pilot, ran, run_tests, until)

PROGRAM, WORK, PID_FILE = map(os.path.abspath, sys.argv[1:4])
HOME = WORK + "/site"


def new_site(name, **options):
    return Site(PROGRAM, "slurm", WORK, site=name, **dict(dict(directory=HOME), **options))


def squeue(*words):
    return subprocess.run(["squeue", "--noheader", *words], capture_output=True, text=True, check=True).stdout.split()


def all_gone(site):
    return all(state == "ended" for state in site.states().values())


def a_glidein_lives_from_submission_to_its_exit_status():
    site = new_site("life", extra="--nice=7 --comment='two words'")
    equals("at first", site.look(), {})
    equals("taken", site.submit(1, 2), 2)
    names = [site.batch(1) + ".1", site.batch(1) + ".2"]
    equals("names", sorted(site.look()), names)
    check(set(site.states().values()) <= {"queued", "running"}, site.look())
    equals("names of arrays", set(squeue("-o", "%j")), {site.batch(1)})
    equals("time", set(squeue("-o", "%l")), {"10:00"})
    equals("nice", set(squeue("-O", "nice")), {"7"})
    for name in names:
        check_pilot(WORK, name)
        until("its output", lambda name=name: "one line of output" in site.ask("log", name=name)["text"])
    until("both run", lambda: site.running() == names)
    end_pilot(WORK, names[0], 3)
    until("its end", lambda: site.states()[names[0]] == "ended")
    equals("reason", site.look()[names[0]]["reason"], "failed, exit status 3")
    equals("secrets", files_with(HOME, SECRET), [f"{HOME}/{names[1]}.token"])
    equals("nobody else reads them", os.stat(f"{HOME}/{names[1]}.token").st_mode & 0o777, 0o600)
    equals("removed", site.remove(*names, site.batch(9) + ".1"), names + [site.batch(9) + ".1"])
    until("the end of the other", lambda: all_gone(site))
    check(site.look()[names[1]]["reason"].startswith("cancelled"), site.look())
    equals("secrets", files_with(HOME, SECRET), [])
    site.refused("refuses", "No such file", "log", name=site.batch(9) + ".1")
    site.end()


def a_large_batch_is_several_arrays_and_is_submitted_once():
    site = new_site("large")
    equals("taken", site.submit(1, 8), 8)
    names = [f"{site.batch(1)}.{i}" for i in range(1, 9)]
    equals("names", sorted(site.look()), names)
    equals("arrays", set(squeue("-o", "%j")), {site.batch(1), site.batch(1) + "+3", site.batch(1) + "+6"})
    equals("again", site.submit(1, 8), 8)
    equals("grown", site.submit(1, 9), 9)
    equals("names", sorted(site.look()), names + [site.batch(1) + ".9"])
    until("six run", lambda: len(site.running()) == 6)
    equals("queued", sorted(site.states().values()).count("queued"), 3)
    for name in site.running():
        check_pilot(WORK, name)
    site.kill()
    site = new_site("large")
    equals("another one sees them", sorted(site.look()), names + [site.batch(1) + ".9"])
    other = new_site("larg")
    equals("others do not", other.look(), {})
    other.end()
    equals("removed", len(site.remove(*site.states())), 9)
    until("all end", lambda: all_gone(site))
    site.end()


def a_killed_submission_is_found_or_made_again():
    for moment in (0.02, 0.07):
        site = new_site("killed")
        batch = int(1000 * moment) + 1
        site.send("submit", **site.submission(batch, 2))
        time.sleep(moment)
        site.kill()
        time.sleep(0.5)  # what Slurm has received it has done by then
        site = new_site("killed")
        equals("taken", site.submit(batch, 2), 2)
        names = [f"{site.batch(batch)}.{i}" for i in (1, 2)]
        equals("names", sorted(n for n in site.look() if n.startswith(site.batch(batch) + ".")), names)
        for name in names:
            check_pilot(WORK, name)
        equals("removed", site.remove(*names), names)
        until("all end", lambda: all_gone(site))
        for name in names:
            equals("starts", ran(WORK, name, "runs"), "run\n")
        site.end()


def refusals_are_told_from_failures():
    for options, error, pattern in (({"partition": "nope"}, "refuses", "Invalid partition"), ({"reservation": "nope"}, "refuses", "reservation"),
                                    ({"constraint": "nope"}, "refuses", "Invalid feature"), ({"licenses": "nope"}, "refuses", "Invalid license"),
                                    ({"gres": "gpu:1"}, "wrong", "generic resource"), ({"time": "soon"}, "wrong", "time"),
                                    ({"array_max": "1000"}, "wrong", "array")):
        site = new_site("refused", **options)
        site.refused(error, pattern, "submit", **site.submission(1, 5))
        equals("listed", site.look(), {})
        site.end()
    site = new_site("refused")
    site.refused("refuses", "not available", "submit", **site.submission(1, 1, memory=100000))
    site.end()
    equals("secrets", files_with(HOME, SECRET), [])


def what_will_not_start_is_held():
    site = new_site("held", partition="short")
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    until("it is held", lambda: site.states()[name] == "held")
    check(site.look()[name]["reason"] in ("PartitionConfig", "PartitionTimeLimit"), site.look())
    equals("removed", site.remove(name), [name])
    until("its end", lambda: all_gone(site))
    site.end()


def options_are_checked():
    for options, pattern in (({"extra": "--array=1"}, "extra: '--array'"), ({"extra": "--wrap=id"}, "extra: '--wrap'"), ({"extra": "-p x"}, "extra"),
                             ({"extra": "'"}, "extra"), ({"array_max": "0"}, "array_max"), ({"directory": "x"}, "directory"),
                             ({"acount": "x"}, "did you mean 'account'"), ({"account": ""}, "account")):
        site = Site(PROGRAM, "slurm", WORK, begin=False)
        site.refused("wrong", pattern, "begin", site="x", factory="fab", options=dict(dict(directory=HOME), **options))
        site.end()


def a_controller_that_is_dead_or_stands_still_fails():
    site = new_site("dead")
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    check_pilot(WORK, name)
    with open(PID_FILE, encoding="ascii") as f:
        pid = int(f.read())
    os.kill(pid, signal.SIGSTOP)
    site.refused("fails", "squeue: no answer in time", "look", deadline=2)
    site.refused("fails", "squeue: no answer in time", "submit", deadline=2, **site.submission(2, 1))
    os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGTERM)  # one that is killed may forget jobs that it has not saved yet
    until("the end of slurmctld", lambda: not os.path.exists(PID_FILE))
    site.refused("fails", "squeue: .*(contact|refused)", "look", deadline=20)
    site.refused("fails", "squeue", "remove", deadline=20, names=[name])
    subprocess.run(["slurmctld"], check=True)
    until("it answers", lambda: subprocess.run(["squeue"], capture_output=True, check=False).returncode == 0)
    until("it runs", lambda: site.running() == [name])
    equals("starts", ran(WORK, name, "runs"), "run\n")
    equals("removed", site.remove(name), [name])
    until("its end", lambda: all_gone(site))
    site.end()
    path = os.environ["PATH"]
    os.environ["PATH"] = WORK
    site = new_site("none")
    os.environ["PATH"] = path
    site.refused("fails", "squeue: exit status 127", "look")
    site.end()


make_pilot(WORK)
run_tests([a_glidein_lives_from_submission_to_its_exit_status, a_large_batch_is_several_arrays_and_is_submitted_once,
           a_killed_submission_is_found_or_made_again, refusals_are_told_from_failures, what_will_not_start_is_held, options_are_checked,
           a_controller_that_is_dead_or_stands_still_fails])
