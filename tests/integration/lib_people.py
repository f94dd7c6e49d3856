"""People who switch the machines of six_hosts.sh, jobs that want those machines, and what commands say of both.

usage: lib_people.py --work DIR --roost PROGRAM --seconds N --seed N --hardware MAC HOST=PID...

PID is the process that holds the host's network.  Everything that happens to a machine happens here, so the truth is known:
a command is wrong when it says what has not been true for TRUE_WITHIN_S seconds.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

TRUE_WITHIN_S = 10
SECOND_LOOK_S = 2
COMMAND_S = 10
BACK_WITHIN_S = 60  # from the last thing that people did until all that waits is done, beside the time that the jobs take
EXECUTE_HOSTS = {"wn1": "command", "wn2": "wol", "wn3": "command"}
HERE = os.path.dirname(os.path.abspath(__file__))
JOB = """executable = /bin/sh
transfer_executable = false
arguments = "-c 'echo begin $(Cluster) `uname -n` `date +%s.%N` >>{log}; sleep {seconds}; echo end $(Cluster) `uname -n` `date +%s.%N` >>{log}'"
initialdir = {out}
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
request_memory = 1
{requirements}
queue
"""


def say(text):
    now = time.time()
    print(time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03} {text}", flush=True)


class Machine:
    """An execute host: its power, its cable, and since when it is what it is."""

    def __init__(self, pool, name, holder, method):
        self.pool, self.name, self.holder, self.method = pool, name, holder, method
        self.power = os.path.join(pool.work, "power", name)
        self.shell, self.init, self.ending, self.adapter = None, None, None, None
        self.cable, self.plug_at, self.boots, self.told = True, None, 0, ""
        self.slow_s, self.down_at = 0, None
        self.truth, self.truth_at = "off", time.monotonic()
        self.touched_at = time.monotonic()

    def become(self, truth):
        """off, between, on, unplugged: `between` is judged by nobody."""
        if truth != self.truth:
            self.truth, self.truth_at = truth, time.monotonic()

    def has_been(self, truth, seconds=TRUE_WITHIN_S):
        return self.truth in truth and time.monotonic() - self.truth_at >= seconds

    def set_cable(self, plugged):
        self.cable = plugged
        subprocess.run(["ip", "link", "set", f"port-{self.name}", "up" if plugged else "down"], check=True)

    def boot(self):
        self.pool.remove(self.power + ".off")
        open(self.power + ".power", "w").close()
        if self.adapter is not None:
            self.adapter.kill()
            self.adapter.wait()
            self.adapter = None
        if not self.cable:
            self.set_cable(True)
            self.plug_at = None
        self.boots += 1
        self.told = ""
        env = {name: value for name, value in os.environ.items() if name != "ROOST_CONFIG"}
        self.shell = subprocess.Popen(["nsenter", "-t", str(self.holder), "-n", "unshare", "-p", "-f", "-u", "-m", "--mount-proc", "bash",
                                       os.path.join(self.pool.work, "boot"), self.name], env=env, stdin=subprocess.DEVNULL)
        self.init = None
        self.become("between")
        say(f"{self.name} has power")

    def child(self, pid, program):
        """The pid of a child of pid, as seen from here."""
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                children = file.read().split()
            for child in children:
                with open(f"/proc/{child}/comm", encoding="ascii") as file:
                    if file.read().strip() == program:
                        return int(child)
        except OSError:
            pass
        return None

    def master(self):
        return self.child(self.init, "roost-master") if self.init is not None else None

    def lose_power(self):
        """All processes end at once."""
        if self.init is not None:
            os.kill(self.init, signal.SIGKILL)
        self.shell.kill()
        self.shell.wait()
        self.shell, self.init, self.ending, self.down_at = None, None, None, None
        self.pool.remove(self.power + ".power")
        self.pool.remove(self.power + ".on")  # nothing hears it while the machine is going down
        if self.method == "wol":
            self.adapter = subprocess.Popen(["nsenter", "-t", str(self.holder), "-n", sys.executable, os.path.join(HERE, "lib_wol_adapter.py"),
                                             "eth0", self.pool.hardware, ""], stdout=subprocess.DEVNULL)
        self.become("off")

    def shut_down(self, how):
        """As a person or the machine itself shuts it down: as the unit does it, by `roost stop`, or by SIGTERM alone.

        A wake order that comes before its power is gone, slow_s after its daemons, does nothing."""
        self.become("between")
        command = None
        if how != "term":
            config = os.path.join(self.pool.work, self.name, "roost.conf")
            command = subprocess.Popen(["nsenter", "-t", str(self.init), "-n", "-p", "-m", "-u", "timeout", "30", self.pool.roost, "stop", *(["--for-shutdown"] if how == "shutdown" else [])],
                                       env={**os.environ, "ROOST_CONFIG": config}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        else:
            os.kill(self.master(), signal.SIGTERM)
        self.ending = (time.monotonic() + 20, command)

    def cut(self):
        self.set_cable(False)  # nobody hears a word
        self.plug_at = time.monotonic() + TRUE_WITHIN_S + 3  # the adapter of a machine that is off has a link
        self.lose_power()

    def unplug(self, seconds):
        self.set_cable(False)
        self.plug_at = time.monotonic() + seconds
        self.become("unplugged")

    def tick(self):
        now = time.monotonic()
        if self.plug_at is not None and now >= self.plug_at:
            self.plug_at = None
            self.set_cable(True)
            if self.truth == "unplugged":
                say(f"{self.name} is plugged in")
                self.touched_at = now
                self.become("on")
        if self.shell is not None and self.init is None:
            self.init = self.child(self.shell.pid, "bash")
        if self.shell is not None and self.truth == "between" and self.ending is None and self.master() is not None:
            self.become("on")
        if self.ending is not None:
            until, command = self.ending
            if command is not None:
                command.poll()
            if now > until or (self.master() is None and (command is None or command.returncode is not None)):
                if self.down_at is None:
                    if now > until:
                        self.pool.wrong(f"{self.name} does not shut down within 20 s")
                    self.down_at = now + self.slow_s  # its system ends, too
                if now >= self.down_at:
                    say(f"{self.name} is off")
                    self.lose_power()
        if self.pool.remove(self.power + ".off") and self.truth in ("on", "unplugged"):
            say(f"{self.name} goes to sleep")
            self.shut_down("term")
        wanted = self.pool.remove(self.power + ".on")
        if self.adapter is not None and self.adapter.poll() is not None:
            wanted, self.adapter = True, None
        if wanted and self.shell is None:
            self.boot()


class Pool:
    def __init__(self, options):
        self.work, self.roost, self.hardware = options.work, options.roost, options.hardware
        self.random = random.Random(options.seed)
        self.holders = {name: int(pid) for name, pid in (host.split("=") for host in options.hosts)}
        self.machines = [Machine(self, name, self.holders[name], method) for name, method in EXECUTE_HOSTS.items()]
        self.log = os.path.join(self.work, "out", "truth")
        self.jobs, self.lengths, self.faults, self.asked, self.turn, self.doubts = {}, {}, [], 0, 0, []
        self.question, self.said_again = None, None
        open(self.log, "w").close()
        os.chmod(self.log, 0o666)

    @staticmethod
    def remove(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return False
        return True

    def wrong(self, text):
        say("WRONG: " + text)
        self.faults.append(text)

    def machine(self, name):
        return next((machine for machine in self.machines if machine.name == name), None)

    # ---- what people do

    def act(self, machine, deed):
        say(f"{machine.name}: {deed}")
        machine.told, machine.touched_at = deed, time.monotonic()
        if deed == "cut":
            machine.cut()
        elif deed == "unplug":
            machine.unplug(self.random.uniform(4, 25))
        else:
            machine.slow_s = self.random.choice([0, 0, 1, 3, 6])
            machine.shut_down(deed)

    # ---- jobs

    def submit(self, machine=None, seconds=None):
        if seconds is None:
            seconds = self.random.choice([1, 2, 3, 5, 16])
        path = os.path.join(self.work, "job.sub")
        with open(path, "w", encoding="ascii") as file:
            file.write(JOB.format(log=self.log, seconds=seconds, out=os.path.join(self.work, "out"),
                                  requirements=f'requirements = TARGET.Machine == "{machine}"' if machine else ""))
        answer = self.command("submit", "submit", path, "-terse")
        if answer is not None:
            self.jobs[int(answer.stdout.split(".")[0])] = machine
            self.lengths[int(answer.stdout.split(".")[0])] = seconds

    def runs(self):
        """Runs by the jobs' own lines: job -> (machine, when it began) of those that have not ended."""
        open_runs, done = {}, set()
        with open(self.log, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if len(words) == 4 and words[0] == "begin":
                    open_runs[int(words[1])] = (words[2], float(words[3]))
                elif len(words) == 4:
                    open_runs.pop(int(words[1]), None)
                    done.add(int(words[1]))
        return open_runs, done

    # ---- what commands say

    def command(self, host, *arguments):
        """Runs roost at that host; None when it fails, which is wrong."""
        config = os.path.join(self.work, host, "roost.conf")
        begun = time.monotonic()
        try:
            answer = subprocess.run(["nsenter", "-t", str(self.holders[host]), "-n", self.roost, *arguments], env={**os.environ, "ROOST_CONFIG": config},
                                    capture_output=True, text=True, timeout=3 * COMMAND_S, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            self.wrong(f"roost {' '.join(arguments)} at {host} does not end")
            return None
        self.asked += 1
        if time.monotonic() - begun > COMMAND_S:
            self.wrong(f"roost {' '.join(arguments)} at {host} took {time.monotonic() - begun:.1f} s")
        if answer.returncode != 0:
            self.wrong(f"roost {' '.join(arguments)} at {host}: status {answer.returncode}: {answer.stderr.strip()}")
            return None
        return answer

    def judge(self, what, claims):
        """claims: (machine, the truths that contradict what was said, what was said)."""
        for name, contradicting, said in claims:
            machine = self.machine(name)
            if machine is None or not machine.has_been(contradicting):
                continue
            if self.said_again is not None:
                self.said_again.add((what, machine))
                continue
            age = time.monotonic() - machine.truth_at
            text = f"{what} says {said}; {name} has been {machine.truth} for {age:.1f} s ({machine.told or 'nobody touched it'})"
            self.doubts.append((time.monotonic(), machine, machine.truth_at, text, what, self.question))

    def judge_doubts(self):
        """A machine says that it goes to sleep before it does, and may be taken back at once: each doubt is asked again."""
        for doubt in [doubt for doubt in self.doubts if time.monotonic() - doubt[0] >= SECOND_LOOK_S]:
            self.doubts.remove(doubt)
            _, machine, truth_at, text, what, question = doubt
            if machine.truth_at != truth_at:
                continue
            self.said_again = set()
            question()
            if (what, machine) in self.said_again and machine.truth_at == truth_at:
                self.wrong(text)
            self.said_again = None

    def ask_status(self):
        answer = self.command("laptop", "status", "--json")
        if answer is None:
            return
        ads = json.loads(answer.stdout or "[]")
        claims = []
        for ad in ads:
            if ad.get("Offline"):
                claims.append((ad["Machine"], ("on",), f"{ad['Name']} is offline"))
                claims.append((ad["Machine"], ("unplugged",) if self.machine(ad["Machine"]).method == "command" else (), f"{ad['Name']} is offline"))
            elif "NotRespondingSince" in ad:
                claims.append((ad["Machine"], ("on",), f"{ad['Name']} does not respond"))
            else:
                claims.append((ad["Machine"], ("off", "unplugged"), f"{ad['Name']} is {ad['State']}/{ad['Activity']}"))
        self.judge("status --json", claims)
        for machine in self.machines:
            if machine.boots and not any(ad["Machine"] == machine.name for ad in ads):
                self.judge("status --json", [(machine.name, ("on", "off", "unplugged"), f"nothing of {machine.name}")])

    def ask_status_table(self):
        answer = self.command("laptop", "status")
        claims = []
        for line in answer.stdout.splitlines() if answer else []:
            words = line.split()
            if len(words) > 5 and "@" in words[0]:
                name, power = words[0].split("@")[1], words[5]
                if power == "On":
                    claims.append((name, ("off", "unplugged"), line))
                elif power in ("Off", "Unknown"):
                    claims.append((name, ("on",), line))
        self.judge("status", claims)
        if answer:
            self.judge("status", [(name, ("on",), "not responding") for name in re.findall(r"(wn\d): not responding since", answer.stderr)])

    def ask_available(self):
        answer = self.command("laptop", "status", "-available", "-constraint", "Offline =!= true", "-af", "Machine")
        self.judge("status -available", [(name, ("off", "unplugged"), f"{name} has a free slot") for name in (answer.stdout.split() if answer else [])])

    def ask_power(self):
        answer = self.command("laptop", "power", "status", "--json")
        claims = []
        for ad in json.loads(answer.stdout or "[]") if answer else []:
            state = ad["PowerState"]
            said = f"{ad['Name']} is {state} ({ad.get('PowerStateReason', '')})"
            if state == "On" and "NotRespondingSince" not in ad:
                claims.append((ad["Name"], ("off", "unplugged"), said))
            elif state in ("Off", "Unknown"):
                claims.append((ad["Name"], ("on",), said))
        self.judge("power status --json", claims)

    def ask_power_table(self):
        answer = self.command("laptop", "power", "status")
        claims = []
        for line in answer.stdout.splitlines() if answer else []:
            words = line.split()
            if len(words) > 2 and words[0] in EXECUTE_HOSTS:
                claims.append((words[0], ("off", "unplugged") if words[1] == "On" else ("on",) if words[1] in ("Off", "Unknown") else (), line))
        self.judge("power status", claims)

    def ask_queue(self):
        runs, _ = self.runs()
        answer = self.command("submit", "q", "--json")
        claims = []
        ads = {ad["ClusterId"]: ad for ad in json.loads(answer.stdout or "[]")} if answer else {}
        for job, ad in ads.items():
            if ad["JobStatus"] == 2 and "JobDisconnectedDate" not in ad and "@" in ad.get("RemoteHost", ""):
                claims.append((ad["RemoteHost"].split("@")[1], ("off", "unplugged"), f"{job} runs on {ad['RemoteHost']}"))
            run = runs.get(job)
            machine = self.machine(run[0]) if run else None
            if machine and machine.has_been(("on",)) and time.time() - run[1] > TRUE_WITHIN_S and time.monotonic() - machine.truth_at > time.time() - run[1]:
                if ad["JobStatus"] != 2 or "JobDisconnectedDate" in ad:
                    claims.append((run[0], ("on",), f"{job} has JobStatus {ad['JobStatus']}, but runs on {run[0]}"))
        self.judge("q --json", claims)

    def ask_running(self):
        answer = self.command("submit", "q", "-run")
        claims = []
        for line in answer.stdout.splitlines() if answer else []:
            found = re.search(r"slot\S*@(wn\d)(.*)", line)
            if found:
                claims.append((found[1], ("on",) if "not responding since" in found[2] else ("off", "unplugged"), line.strip()))
        self.judge("q -run", claims)

    def ask_why(self):
        _, done = self.runs()
        waiting = [job for job in self.jobs if job not in done]
        if not waiting:
            return
        job = waiting[self.turn % len(waiting)]
        answer = self.command("submit", "why", f"{job}.0") if self.command("submit", "q", str(job), "-af", "ClusterId").stdout.strip() else None
        if answer is None:
            return
        found = re.search(r"running on slot\S*@(wn\d)", answer.stdout)
        if found:
            self.judge(f"why {job}", [(found[1], ("on",) if "not responding since" in answer.stdout else ("off", "unplugged"), answer.stdout.splitlines()[0])])
        found = re.search(r"\((\d+) awake", answer.stdout)
        gone = sum(machine.has_been(("off", "unplugged")) for machine in self.machines)
        if found and int(found[1]) > 2 * (len(self.machines) - gone):
            self.wrong(f"why {job} counts {found[1]} slots awake, and {gone} of {len(self.machines)} machines are off or cut off: {answer.stdout}")

    def ask(self):
        questions = [self.ask_status, self.ask_status_table, self.ask_available, self.ask_power, self.ask_power_table, self.ask_queue, self.ask_running, self.ask_why]
        self.question = questions[self.turn % len(questions)]
        self.question()
        self.turn += 1

    # ---- the day

    def left(self):
        answer = self.command("submit", "q", "-af", "ClusterId")
        return {int(word) for word in answer.stdout.split()} if answer else set(self.jobs)

    def wait_for_all(self, seconds, what):
        seconds += sum(self.lengths[job] for job in self.left()) / 2  # at worst all want one machine
        end = time.monotonic() + seconds
        while True:
            left = self.left()
            if not left:
                return
            if time.monotonic() > end:
                break
            self.live(1)
        for job in sorted(left):
            why = self.command("submit", "why", f"{job}.0")
            self.wrong(f"job {job} (wants {self.jobs.get(job) or 'any machine'}) is not done {seconds:.0f} s after {what}: {why.stdout.strip() if why else ''}")
        for machine in self.machines:
            say(f"{machine.name} has been {machine.truth} for {time.monotonic() - machine.truth_at:.1f} s")
        answer = self.command("laptop", "power", "status")
        print(answer.stdout if answer else "")

    def live(self, seconds):
        """Time passes: machines do what was begun, and somebody asks something."""
        end = time.monotonic() + seconds
        next_question = 0
        while time.monotonic() < end:
            for machine in self.machines:
                machine.tick()
            self.judge_doubts()
            if time.monotonic() >= next_question:
                self.ask()
                next_question = time.monotonic() + 0.4
            time.sleep(0.05)

    def day(self, seconds):
        end = time.monotonic() + seconds
        next_deed, next_job = time.monotonic() + 4, 0
        while time.monotonic() < end:
            now = time.monotonic()
            if now >= next_job:
                self.submit(self.random.choice([None, *EXECUTE_HOSTS]))
                next_job = now + self.random.expovariate(1 / 2.5)
            if now >= next_deed:
                able = [machine for machine in self.machines if machine.truth == "on" and machine.ending is None and now - machine.truth_at > 1]
                if able:
                    self.act(self.random.choice(able), self.random.choice(["shutdown", "shutdown", "term", "stop", "cut", "cut", "unplug"]))
                    next_deed = now + self.random.expovariate(1 / 6)
            self.live(0.3)


def slow_ones(pool):
    """Machines that are wanted while they shut down: the first wake brings each of them back, whatever its method."""
    say("all machines shut down slowly, and are wanted meanwhile")
    for name in EXECUTE_HOSTS:
        pool.submit(name, 16)
    busy, end = set(), time.monotonic() + BACK_WITHIN_S
    while busy != set(EXECUTE_HOSTS) and time.monotonic() < end:
        pool.live(0.3)
        busy = {run[0] for run in pool.runs()[0].values()}
    slow = [machine for machine in pool.machines if machine.name in busy]
    began = int(time.time())
    for machine in slow:
        machine.told, machine.slow_s = "slow shutdown", 5
        machine.shut_down("shutdown")
        pool.submit(machine.name, 1)
    pool.wait_for_all(BACK_WITHIN_S, "all machines shut down slowly")
    answer = pool.command("laptop", "power", "history", "-constraint", f'Kind == "Wake" && StartTime >= {began}', "-af", "Machine", "Outcome", "Attempts")
    wakes = sorted(answer.stdout.splitlines()) if answer else []
    if wakes != sorted(f"{machine.name} Up 1" for machine in slow):
        pool.wrong(f"the wakes of machines that were wanted while they shut down: {wakes}")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--work", "--roost", "--hardware"):
        parser.add_argument(option, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("hosts", nargs="+")
    options = parser.parse_args()
    pool = Pool(options)
    for machine in pool.machines:
        machine.boot()
    for name in EXECUTE_HOSTS:
        pool.submit(name, 1)
    pool.wait_for_all(30, "the first boot")
    say("people come")
    pool.day(options.seconds)
    say("people go; all that waits is to be done")
    pool.wait_for_all(BACK_WITHIN_S, "people have gone")
    say("one machine is shut down, one loses its power, one is ended by SIGTERM, each under a job; each is wanted and comes back")
    for name in EXECUTE_HOSTS:
        pool.submit(name, 4)
    end = time.monotonic() + 30
    while any(machine.truth != "on" for machine in pool.machines) and time.monotonic() < end:
        pool.live(0.3)
    boots = [machine.boots for machine in pool.machines]
    for machine, deed in zip(pool.machines, ("cut", "shutdown", "term")):
        if machine.truth == "on" and machine.ending is None:
            pool.act(machine, deed)
    for name in EXECUTE_HOSTS:
        pool.submit(name, 1)
    pool.wait_for_all(BACK_WITHIN_S, "all machines were switched off")
    for machine, before in zip(pool.machines, boots):
        if machine.boots <= before:
            pool.wrong(f"{machine.name} did not come back")
    slow_ones(pool)
    history = pool.command("submit", "history", "-af", "ClusterId", "JobStatus", "ExitCode")
    ended = [tuple(line.split()) for line in history.stdout.splitlines()] if history else []
    if sorted(ended) != sorted((str(job), "4", "0") for job in pool.jobs):
        pool.wrong(f"{len(pool.jobs)} jobs, but the history has: {sorted(ended)}")
    boots = ", ".join(f"{machine.name} {machine.boots}" for machine in pool.machines)
    say(f"{len(pool.jobs)} jobs, {pool.asked} answers, boots: {boots}; {len(pool.faults)} faults")
    for machine in pool.machines:
        if machine.shell is not None:
            machine.lose_power()
        if machine.adapter is not None:
            machine.adapter.kill()
    for text in pool.faults:
        print(text)
    return 1 if pool.faults else 0


if __name__ == "__main__":
    sys.exit(main())
