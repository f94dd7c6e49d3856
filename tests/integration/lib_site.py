# tests/integration/lib_site.py - a factory that speaks with a roost-site: what the tests of the types of
# sites have in common.
#
# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import select
import signal
import subprocess
import time

DEADLINE = 30  # seconds for each request of a test
SECRET = "s3cret.it's$HOME-`id`\nand a second line"
PILOT = """#!/bin/sh
# The place of a pilot: says what it was given, and waits.
[ "$1" = --token ] && [ "$3" = --name ] || exit 2
mkdir -p "{work}/ran"
stat -c %a "$2" >"{work}/ran/$4.mode" && cat "$2" >"{work}/ran/$4.secret" || exit 3
n=$4; shift 4
printf '%s\\n' "$@" >"{work}/ran/$n.arguments"
echo run >>"{work}/ran/$n.runs"
echo "pilot $n: one line of output"
while [ ! -e "{work}/ran/$n.exit" ] && [ -d "{work}" ]; do sleep 0.05; done
exit "$(cat "{work}/ran/$n.exit")"
"""


class Failed(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failed(" ".join(map(str, what)))


def equals(what, got, wanted):
    check(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def until(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, what, "not in time")
        time.sleep(0.05)


class Site:
    """A roost-site, begun with these options."""

    def __init__(self, program, kind, work, factory="fab", site="here", begin=True, **options):
        self.kind, self.work, self.factory, self.site, self.number = kind, work, factory, site, 0
        self.process = subprocess.Popen([program, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)
        self.rest = b""
        if begin:
            self.ask("begin", site=site, factory=factory, options=options)

    def send(self, do, deadline=DEADLINE, **members):
        self.number += 1
        request = dict(id=self.number, do=do, deadline=deadline, **members)
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def line(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            check(ready, "no answer within", seconds, "s")
            data = os.read(self.process.stdout.fileno(), 65536)
            check(data, "roost-site has ended")
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def answer(self, deadline=DEADLINE):
        answer = self.line(deadline + 2)
        equals("id", answer.pop("id"), self.number)
        return answer

    def raw(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return self.line(10)

    def ask(self, do, deadline=DEADLINE, **members):
        """The answer, which must be no error."""
        self.send(do, deadline, **members)
        answer = self.answer(deadline)
        check("error" not in answer, do, "->", answer)
        return answer

    def refused(self, error, pattern, do, deadline=DEADLINE, **members):
        """The answer must be this error."""
        self.send(do, deadline, **members)
        answer = self.answer(deadline)
        equals(f"{do} {members}: {answer}", answer.get("error"), error)
        check(re.search(pattern, answer["text"]), do, "->", answer, "expected", pattern)

    def batch(self, number):
        return f"{self.factory}-{self.site}-{number}"

    def submission(self, number, how_many, **members):
        return dict(dict(batch=self.batch(number), count=how_many, pilot=self.work + "/pilot",
                         arguments=["--pool", "a b'c$HOME", ""], secret=SECRET, cpus=1, memory=100, lifetime=600), **members)

    def submit(self, number, count, deadline=DEADLINE, **members):
        return self.ask("submit", deadline, **self.submission(number, count, **members))["taken"]

    def look(self, complete=True, deadline=DEADLINE):
        answer = self.ask("look", deadline)
        if complete is not None:
            equals("complete", answer["complete"], complete)
        return {g["name"]: g for g in answer["glideins"]}

    def states(self, complete=True):
        return {name: g["state"] for name, g in self.look(complete).items()}

    def running(self, complete=True):
        return sorted(name for name, state in self.states(complete).items() if state == "running")

    def remove(self, *names):
        return sorted(self.ask("remove", names=list(names))["removed"])

    def end(self):
        self.process.stdin.close()
        equals("exit status", self.process.wait(10), 0)

    def kill(self):
        """What the factory does after a deadline."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def make_pilot(work):
    path = work + "/pilot"
    with open(path, "w") as f:
        f.write(PILOT.replace("{work}", work))
    os.chmod(path, 0o755)
    return path


def ran(work, name, what):
    """What the pilot of this name has noted; None: nothing yet."""
    try:
        with open(f"{work}/ran/{name}.{what}") as f:
            return f.read()
    except FileNotFoundError:
        return None


def end_pilot(work, name, status):
    with open(f"{work}/ran/{name}.exit.new", "w") as f:
        f.write(str(status))
    os.rename(f"{work}/ran/{name}.exit.new", f"{work}/ran/{name}.exit")


def check_pilot(work, name):
    until(f"the start of {name}", lambda: ran(work, name, "runs"))
    equals("secret", ran(work, name, "secret"), SECRET)
    equals("mode of the secret", ran(work, name, "mode"), "600\n")
    equals("arguments", ran(work, name, "arguments"), "--pool\na b'c$HOME\n\n")
    equals("starts", ran(work, name, "runs"), "run\n")


def processes_with(text):
    """Pids of processes with this in their command lines."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if text.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def files_with(folder, text):
    found = []
    for path, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(path, name), "rb") as f:
                if text.encode() in f.read():
                    found.append(os.path.join(path, name))
    return found


def run_tests(tests):
    for test in tests:
        began = time.monotonic()
        try:
            test()
        except Exception:
            print(f"FAILED: {test.__name__}", flush=True)
            raise
        print(f"{time.monotonic() - began:6.2f} s  {test.__name__}", flush=True)
