# tests/integration/lib_site_gridengine.py - what site_gridengine.sh asks of `roost-site gridengine`; the cluster has a host of
# six slots.
#
# usage: lib_site_gridengine.py ROOST_SITE_AS_NOBODY ROOST_SITE DIRECTORY SPOOL_OF_THE_CLUSTER
#
# SPDX-License-Identifier: Apache-2.0
import os
import re
import signal
import subprocess
import sys
import time

from lib_site import (SECRET, Failed, Site, check, check_pilot, end_pilot, equals, files_with, make_pilot, ran, run_tests, until)

PROGRAM, AS_ROOT, WORK, SPOOL = map(os.path.abspath, sys.argv[1:5])
HOME = WORK + "/site"


def new_site(name, **options):
    return Site(PROGRAM, "gridengine", WORK, site=name, **dict(dict(directory=HOME), **options))


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def listed(what):
    """The texts of this element of qstat, for all users."""
    return re.findall(f"<{what}>([^<]*)</{what}>", run("qstat", "-u", "*", "-xml"))


def jobs(site):
    """Numbers and names of its jobs, each once."""
    both = set(zip(listed("JB_job_number"), listed("JB_name")))
    return sorted((number, name) for number, name in both if name.startswith(site.batch("")))


def set_conf(**settings):
    text = run("qconf", "-sconf", "global")
    for name, value in settings.items():
        text = re.sub(f"(?m)^{name} .*", f"{name} {value}", text)
    with open(WORK + "/global", "w", encoding="ascii") as f:
        f.write(text)
    run("qconf", "-Mconf", WORK + "/global")


def pid_of(daemon):
    """The pid of a daemon, which makes its file some time after its start."""
    path = {"qmaster": SPOOL + "/qmaster/qmaster.pid", "execd": SPOOL + "/execd/genode/execd.pid"}[daemon]
    until(path, lambda: os.path.exists(path) and os.path.getsize(path) > 0)
    with open(path, encoding="ascii") as f:
        return int(f.read())


def end(site):
    """Removes all glideins, and ends the site."""
    names = list(site.look())
    equals("removed", site.remove(*names), sorted(names))
    until("all are gone", lambda: site.look() == {})
    equals("secrets", [path for path in files_with(HOME, SECRET) if site.batch("") in path], [])
    site.end()


def a_glidein_lives_from_submission_to_its_end():
    site = new_site("life", extra="-p -7 -ac 'note=two words'", l="mem_free=1M", queue="main.q")
    equals("at first", site.look(), {})
    equals("taken", site.submit(1, 2), 2)
    names = [site.batch(1) + ".1", site.batch(1) + ".2"]
    equals("names", sorted(site.look()), names)
    check(set(site.states().values()) <= {"queued", "running"}, site.look())
    (number, name), = jobs(site)
    equals("name", name, site.batch(1))
    job = run("qstat", "-j", number)
    for pattern in (r"hard resource_list: +h_rt=900,mem_free=1M", r"context: +note=two words", r"priority: +-7", r"notify: +TRUE", r"restart: +n",
                    r"cwd: +" + HOME, r"hard_queue_list: +main.q"):
        check(re.search(pattern, job), pattern, "is not in", job)
    check("s3cret" not in job and "env_list" not in job.replace("env_list:                   TERM=NONE", ""), job)
    for name in names:
        check_pilot(WORK, name)
        until("its output", lambda name=name: "one line of output" in site.ask("log", name=name)["text"])
    until("both run", lambda: site.running() == names)
    for name in names:
        equals("nobody else reads it", os.stat(f"{HOME}/{name}.token").st_mode & 0o777, 0o600)
    equals("nor the directory", os.stat(HOME).st_mode & 0o777, 0o700)
    end_pilot(WORK, names[0], 3)
    until("its end", lambda: list(site.look()) == names[1:])
    equals("removed", site.remove(*names, site.batch(9) + ".1"), names + [site.batch(9) + ".1"])
    until("the end of the other", lambda: site.look() == {})
    equals("secrets", files_with(HOME, SECRET), [])
    site.refused("refuses", "No such file", "log", name=site.batch(9) + ".1")
    site.end()


def a_large_batch_is_several_arrays_and_is_submitted_once():
    site = new_site("large", array_max="4")
    equals("taken", site.submit(1, 10), 10)
    names = sorted(f"{site.batch(1)}.{i}" for i in range(1, 11))
    equals("names", sorted(site.look()), names)
    equals("arrays", [name for _, name in jobs(site)], [site.batch(1), site.batch(1) + "+4", site.batch(1) + "+8"])
    equals("again", site.submit(1, 10), 10)
    until("six run", lambda: len(site.running()) == 6)
    equals("queued", sorted(site.states().values()).count("queued"), 4)
    for name in site.running():
        check_pilot(WORK, name)
    last = f"{site.batch(1)}.10"
    equals("removed", site.remove(last), [last])
    until("it is gone", lambda: last not in site.look())
    equals("again", site.submit(1, 11), 11)
    equals("names", sorted(site.look()), sorted(names + [f"{site.batch(1)}.11"]))
    site.kill()
    site = new_site("large")
    equals("another one sees them", len(site.look()), 11)
    other = new_site("larg")
    equals("others do not", other.look(), {})
    other.end()
    end(site)


def a_killed_submission_is_found_or_made_again():
    for batch, moment in ((1, 0.03), (2, 0.12)):
        site = new_site("killed")
        site.send("submit", **site.submission(batch, 2))
        time.sleep(moment)
        site.kill()
    time.sleep(0.5)  # what Grid Engine has received it has done by then
    site = new_site("killed")
    names = [f"{site.batch(batch)}.{i}" for batch in (1, 2) for i in (1, 2)]
    for batch in (1, 2):
        equals("taken", site.submit(batch, 2), 2)
    equals("names", sorted(site.look()), names)
    for name in names:
        check_pilot(WORK, name)
    end(site)
    for name in names:
        equals("starts", ran(WORK, name, "runs"), "run\n")


def slots_of_a_glidein_are_on_one_host():
    site = new_site("wide", pe="smp", memory="mem_free")
    equals("taken", site.submit(1, 1, cpus=3), 1)
    check_pilot(WORK, site.batch(1) + ".1")
    equals("slots", listed("slots"), ["3"])
    check("h_rt=900,mem_free=34M" in run("qstat", "-j", jobs(site)[0][0]), "memory for each slot")
    end(site)
    site = new_site("wide")
    site.refused("wrong", "2 cpus need the option pe", "submit", **site.submission(1, 1, cpus=2))
    site.end()


def a_glidein_that_is_removed_is_told_by_sigterm():
    site = new_site("told", pilot=WORK + "/polite")
    with open(WORK + "/polite", "w", encoding="ascii") as f:
        f.write("#!/bin/sh\ntrap 'echo told; exit 0' TERM\necho started\nwhile :; do sleep 0.1; done\n")
    os.chmod(WORK + "/polite", 0o755)
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    log = lambda: site.ask("log", name=name)["text"]  # noqa: E731
    until("its file", lambda: os.path.exists(f"{HOME}/{name}.out"))
    until("its output", lambda: log() == "started\n")
    equals("removed", site.remove(name), [name])
    until("it is told", lambda: log() == "started\ntold\n", 15)
    end(site)


def refusals_are_told_from_failures():
    set_conf(max_aj_tasks=10)
    for options, error, pattern in (({"queue": "nope.q"}, "wrong", "unknown queue"), ({"project": "nope"}, "refuses", "project"),
                                    ({"extra": "-ar 7"}, "refuses", "reservation"), ({"l": "nope=1"}, "wrong", "unknown resource"),
                                    ({"l": "arch=none", "extra": "-w e"}, "refuses", "no suitable queues"),
                                    ({"time": "soon"}, "wrong", "time"), ({"array_max": "80000"}, "wrong", "more than 10 tasks")):
        site = new_site("refused", **options)
        site.refused(error, pattern, "submit", **site.submission(1, 15))
        site.end()
    site = new_site("refused")
    equals("listed", site.look(), {})
    equals("cut at max_aj_tasks", site.submit(1, 11), 11)
    equals("arrays", [name for _, name in jobs(site)], [site.batch(1), site.batch(1) + "+10"])
    for limit in ("max_u_jobs", "max_jobs"):
        set_conf(**{limit: 4})  # the lost one is there, too
        equals("of a part", site.submit(2, 15), 10)
        site.refused("refuses", "only 4 jobs are allowed", "submit", **site.submission(3, 1))
        equals("listed", len(site.look()), 21)
        set_conf(**{limit: 0})
        equals("removed", len(site.remove(*[name for name in site.look() if name.startswith(site.batch(2) + ".")])), 10)
        until("they are gone", lambda: len(site.look()) == 11)
    set_conf(max_aj_tasks=75000)
    end(site)


def what_will_not_start_is_held():
    site = new_site("held", directory=WORK + "/held")
    run("qmod", "-d", "main.q")
    equals("taken", site.submit(1, 2), 2)
    names = [site.batch(1) + ".1", site.batch(1) + ".2"]
    (number, _), = jobs(site)
    run("qhold", number + ".1")
    until("it is held", lambda: [site.states()[n] for n in names] == ["held", "queued"])
    check("hqw" in site.look()[names[0]]["reason"], site.look())
    run("qrls", number + ".1")
    os.rename(WORK + "/held", WORK + "/elsewhere")
    run("qmod", "-e", "main.q")
    until("it is in error", lambda: set(site.states().values()) == {"held"})
    check("can't chdir to" in site.look()[names[1]]["reason"], site.look())
    os.rename(WORK + "/elsewhere", WORK + "/held")
    end(site)


def options_are_checked():
    for options, pattern in (({"extra": "-t 1"}, "extra: '-t'"), ({"extra": "-V"}, "extra: '-V'"), ({"extra": "-p"}, "extra"),
                             ({"extra": "'"}, "extra"), ({"array_max": "0"}, "array_max"), ({"directory": "x"}, "directory"),
                             ({"queu": "x"}, "did you mean 'queue'"), ({"queue": ""}, "queue"), ({"queue": "-V"}, "queue"),
                             ({"pe": "nope"}, "not a parallel environment"), ({"pe": "mpi"}, r"round_robin.*spread.*expected one with \$pe_slots")):
        site = Site(PROGRAM, "gridengine", WORK, begin=False)
        site.refused("wrong", pattern, "begin", site="x", factory="fab", options=dict(dict(directory=HOME), **options))
        site.end()
    site = Site(AS_ROOT, "gridengine", WORK, begin=False)
    site.refused("wrong", "uid of this account is 0, .* below 1000 .min_uid", "begin", site="x", factory="fab", options=dict(directory=WORK + "/root"))
    site.end()
    site = Site(PROGRAM, "gridengine", WORK, begin=False)
    site.refused("wrong", "begin with a digit", "begin", site="x", factory="4th", options=dict(directory=HOME))
    site.end()


def what_is_not_a_listing_fails():
    os.mkdir(WORK + "/bin", 0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = WORK + "/bin:" + path
    site = new_site("garbage")
    os.environ["PATH"] = path
    equals("taken", site.submit(1, 2), 2)
    for script in ("/usr/bin/qstat \"$@\" | head -c 700", "/usr/bin/qstat -u '$user'", "echo '<job_info>'", "true", "yes '<job_info/>'"):
        with open(WORK + "/bin/qstat.new", "w", encoding="ascii") as f:
            f.write("#!/bin/sh\n" + script + "\n")
        os.chmod(WORK + "/bin/qstat.new", 0o755)
        os.rename(WORK + "/bin/qstat.new", WORK + "/bin/qstat")
        site.refused("fails", "qstat: (not a complete listing|printed more)", "look")
        site.refused("fails", "qstat", "submit", **site.submission(2, 1))
        site.refused("fails", "qstat", "remove", names=[site.batch(1) + ".1"])
    os.unlink(WORK + "/bin/qstat")
    equals("still there", len(site.look()), 2)
    equals("with their secrets", len([path for path in files_with(HOME, SECRET) if site.batch("") in path]), 2)
    end(site)


def a_qmaster_that_is_dead_or_stands_still_fails():
    site = new_site("dead")
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    check_pilot(WORK, name)
    pid = pid_of("qmaster")
    os.kill(pid, signal.SIGSTOP)
    site.refused("fails", "qstat: no answer in time", "look", deadline=2)
    site.refused("fails", "qstat: no answer in time", "submit", deadline=2, **site.submission(2, 1))
    os.kill(pid, signal.SIGKILL)
    until("the end of the qmaster", lambda: not os.path.exists(f"/proc/{pid}"))
    site.refused("fails", "qstat: .*(commlib|qmaster)", "look", deadline=20)
    site.refused("fails", "qstat", "remove", deadline=20, names=[name])
    other = Site(PROGRAM, "gridengine", WORK, begin=False)
    other.refused("fails", "qconf: .*(commlib|qmaster)", "begin", site="x", factory="fab", options=dict(directory=HOME))
    other.end()
    os.unlink(SPOOL + "/qmaster/qmaster.pid")
    subprocess.run(["sge_qmaster"], check=True)
    until("it answers", lambda: subprocess.run(["qstat"], capture_output=True, check=False).returncode == 0)
    until("it runs", lambda: site.running() == [name])
    equals("starts", ran(WORK, name, "runs"), "run\n")
    end(site)
    path = os.environ["PATH"]
    os.environ["PATH"] = WORK
    site = Site(AS_ROOT, "gridengine", WORK, begin=False)
    os.environ["PATH"] = path
    site.refused("fails", "qconf: exit status 127", "begin", site="x", factory="fab", options=dict(directory=HOME))
    site.end()


LOST = []  # the site with a glidein whose host is gone


def a_glidein_whose_host_is_gone_stays_when_it_is_removed():
    site = new_site("lost")
    LOST.append(site)
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    check_pilot(WORK, name)
    set_conf(max_unheard="00:00:03")
    os.kill(pid_of("execd"), signal.SIGKILL)
    equals("removed", site.remove(name), [name])
    equals("removed again", site.remove(name), [name])
    equals("still there", site.states(), {name: "running"})


def managers_have_it_forgotten_when_its_host_is_known_to_be_gone():
    site, = LOST
    name = site.batch(1) + ".1"
    until("the host is unknown", lambda: "main.q@genode" in subprocess.run(["qselect", "-qs", "u"], capture_output=True, text=True, check=False).stdout)
    equals("removed by somebody", site.remove(name), [name])
    equals("still there", site.states(), {name: "running"})
    run("qconf", "-am", "nobody")
    equals("removed by a manager", site.remove(name), [name])
    until("it is gone", lambda: site.look() == {})
    run("qconf", "-dm", "nobody")
    set_conf(max_unheard="00:05:00")
    end_pilot(WORK, name, 0)
    site.end()
    os.unlink(SPOOL + "/execd/genode/execd.pid")
    subprocess.run(["sge_execd"], check=True)
    until("the queue is ready", lambda: re.search("(?m)^main.q@genode .* lx-amd64 *$", run("qstat", "-f")))


make_pilot(WORK)
try:
    run_tests([a_glidein_lives_from_submission_to_its_end, a_large_batch_is_several_arrays_and_is_submitted_once,
               a_killed_submission_is_found_or_made_again, slots_of_a_glidein_are_on_one_host, a_glidein_that_is_removed_is_told_by_sigterm,
               what_will_not_start_is_held, a_qmaster_that_is_dead_or_stands_still_fails,
               # Without an execd are these, while the qmaster finds out.
               a_glidein_whose_host_is_gone_stays_when_it_is_removed, refusals_are_told_from_failures, options_are_checked,
               what_is_not_a_listing_fails, managers_have_it_forgotten_when_its_host_is_known_to_be_gone])
except (Failed, subprocess.CalledProcessError) as e:
    print(e, getattr(e, "stdout", ""), getattr(e, "stderr", ""))
    sys.exit(1)
