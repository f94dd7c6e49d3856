# tests/htcondor/lib_site_htcondor.py - what site_htcondor.sh asks of `roost-site htcondor`; the pool has a machine of six
# processors.
#
# usage: lib_site_htcondor.py ROOST_SITE_AS_GLIDE ROOST_SITE DIRECTORY DIRECTORY_OF_HTCONDOR
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../integration")
from lib_site import (SECRET, Failed, Site, check, check_pilot, end_pilot, equals, files_with, make_pilot, ran, run_tests, until)  # noqa: E402

PROGRAM, AS_ROOT, WORK, CONDOR = map(os.path.abspath, sys.argv[1:5])
HOME = WORK + "/site"


def new_site(name, **options):
    return Site(PROGRAM, "htcondor", WORK, site=name, **dict(dict(directory=HOME), **options))


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def jobs():
    text = run("condor_q", "-allusers", "-json")
    return json.loads(text) if text.strip() else []


def limit(text):
    with open(CONDOR + "/limits", "w", encoding="ascii") as f:
        f.write(text + "\n")
    run("condor_reconfig", "-schedd")


def pid_of_schedd():
    return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if open(f"/proc/{pid}/comm", encoding="ascii").read() == "condor_schedd\n"][0]


def end(site):
    names = list(site.look())
    equals("removed", site.remove(*names), sorted(names))
    until("all are gone", lambda: site.look() == {})
    equals("secrets", files_with(HOME, SECRET), [])
    site.end()


def a_glidein_lives_from_submission_to_its_end():
    site = new_site("life", extra="+Project='\"some words\"' priority=7", requirements="Memory > 1", accounting_group="group_x")
    equals("at first", site.look(), {})
    equals("taken", site.submit(1, 2), 2)
    names = [site.batch(1) + ".1", site.batch(1) + ".2"]
    equals("names", sorted(site.look()), names)
    job = jobs()[0]
    for name, value in dict(JobBatchName=site.batch(1), Project="some words", JobPrio=7, RequestCpus=1, RequestMemory=100, AccountingGroup="group_x.glide",
                            ShouldTransferFiles="YES", Environment="").items():
        equals(name, job.get(name), value)
    check(SECRET.split()[0] not in json.dumps(jobs()), "the job ad has the secret")
    for name in names:
        check_pilot(WORK, name)
        until("its output", lambda name=name: "one line of output" in site.ask("log", name=name)["text"])
    equals("running", site.running(), names)
    for name in names:
        equals("nobody else reads it", os.stat(f"{HOME}/{name}.token").st_mode & 0o777, 0o600)
    end_pilot(WORK, names[0], 3)
    until("its end", lambda: list(site.look()) == names[1:])
    equals("removed", site.remove(*names, site.batch(9) + ".1"), names + [site.batch(9) + ".1"])
    until("the end of the other", lambda: site.look() == {})
    equals("secrets", files_with(HOME, SECRET), [])
    site.refused("refuses", "No such file", "log", name=site.batch(9) + ".1")
    site.end()


def a_large_batch_is_submitted_once():
    site = new_site("large", array_max="4")
    equals("taken", site.submit(1, 10), 10)
    names = sorted(f"{site.batch(1)}.{i}" for i in range(1, 11))
    equals("names", sorted(site.look()), names)
    equals("clusters", len({job["ClusterId"] for job in jobs()}), 3)
    equals("again", site.submit(1, 10), 10)
    until("six run", lambda: len(site.running()) == 6)
    equals("queued", sorted(site.states().values()).count("queued"), 4)
    middle = f"{site.batch(1)}.5"
    equals("removed", site.remove(middle), [middle])
    until("it is gone", lambda: middle not in site.look())
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
    for batch, moment in ((1, 0.03), (2, 0.1)):
        site = new_site("killed")
        site.send("submit", **site.submission(batch, 2))
        time.sleep(moment)
        site.kill()
    jobs()  # the schedd answers after it has done what it had received before
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


def a_shared_file_system_needs_no_copies():
    site = new_site("shared", transfer="false")
    equals("taken", site.submit(1, 1), 1)
    equals("transfer", jobs()[0]["ShouldTransferFiles"], "NO")
    check_pilot(WORK, site.batch(1) + ".1")
    end(site)


def refusals_are_told_from_failures():
    for options, error, pattern in (({"requirements": "(a"}, "wrong", "Parse error"), ({"pilot": "/nope"}, "wrong", "/nope"),
                                    ({"schedd": "nope"}, "fails", "unknown host")):
        site = new_site("refused", **options)
        site.refused(error, pattern, "submit", **site.submission(1, 5))
        site.end()
    equals("secrets", files_with(HOME, SECRET), [])
    site = new_site("refused")
    for name in ("MAX_JOBS_PER_OWNER", "MAX_JOBS_SUBMITTED"):
        limit(f"{name} = 2")
        site.refused("refuses", name, "submit", **site.submission(1, 3))
        equals("listed", site.look(), {})
    limit("")
    equals("taken", site.submit(1, 3), 3)
    end(site)


def what_will_not_start_is_held():
    site = new_site("held")
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    run("condor_hold", "-reason", "not today", site.look()[name]["id"])
    equals("state", site.states(), {name: "held"})
    check("not today" in site.look()[name]["reason"], site.look())
    end(site)


def options_are_checked():
    for options, pattern in (({"extra": "executable=/bin/id"}, "extra: 'executable'"), ({"extra": "rank"}, "extra"), ({"extra": "+RoostGlidein=1"}, "extra"),
                             ({"transfer": "perhaps"}, "transfer"), ({"directory": "/tmp/a,b"}, "directory"), ({"pol": "x"}, "did you mean 'pool'"),
                             ({"pool": ""}, "pool"), ({"schedd": "-x"}, "schedd")):
        site = Site(PROGRAM, "htcondor", WORK, begin=False)
        site.refused("wrong", pattern, "begin", site="x", factory="fab", options=dict(dict(directory=HOME), **options))
        site.end()
    site = Site(AS_ROOT, "htcondor", WORK, begin=False)
    site.refused("wrong", "no jobs of root", "begin", site="x", factory="fab", options=dict(directory=WORK + "/root"))
    site.end()


def a_schedd_that_is_dead_or_stands_still_fails():
    site = new_site("dead")
    equals("taken", site.submit(1, 1), 1)
    name = site.batch(1) + ".1"
    check_pilot(WORK, name)
    pid = pid_of_schedd()
    os.kill(pid, signal.SIGSTOP)
    site.refused("fails", "condor_q: no answer in time", "look", deadline=2)
    site.refused("fails", "condor_q: no answer in time", "submit", deadline=2, **site.submission(2, 1))
    os.kill(pid, signal.SIGKILL)
    site.refused("fails", "condor_q: ", "look", deadline=20)
    until("it answers", lambda: subprocess.run(["condor_q"], capture_output=True, check=False).returncode == 0)
    until("it is listed", lambda: list(site.look()) == [name])
    end(site)


make_pilot(WORK)
try:
    run_tests([a_glidein_lives_from_submission_to_its_end, a_large_batch_is_submitted_once, a_killed_submission_is_found_or_made_again,
               a_shared_file_system_needs_no_copies, refusals_are_told_from_failures, what_will_not_start_is_held, options_are_checked,
               a_schedd_that_is_dead_or_stands_still_fails])
except (Failed, subprocess.CalledProcessError) as e:
    print(e, getattr(e, "stdout", ""), getattr(e, "stderr", ""))
    sys.exit(1)
