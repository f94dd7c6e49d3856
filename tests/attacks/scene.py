"""What an attack finds: a pool with machines, users with jobs that run, holders of every scope.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pwd
import signal
import subprocess

from ad_form import Ad
from attack import needs_checkpoints
from evil import Machine, Schedd
from pool import NAME, Pool, until
from remote_calls import RemoteCalls
from tls import TlsError
from wire_client import EACCES, EPERM, Refused


class Scene(Pool):
    def __init__(self, options):
        super().__init__(options.pool, options.roost)
        self.files, self.holders, self.open, self.clusters, self.machines = options.files, {}, [], [], 0

    def the(self, name, scopes=None, pattern=None, **more):
        """The holder of that name; one of the usual kinds by its scope: scene.the("READ")."""
        if name not in self.holders:
            usual = {"ADVERTISE": ("READ,ADVERTISE", "evil*"), "SCHEDD": ("READ,SCHEDD", None), "NEGOTIATOR": ("READ,NEGOTIATOR", None),
                     "ADMINISTRATOR": ("READ,WRITE,ADMINISTRATOR", None), "WRITE": ("READ,WRITE", None)}
            if scopes is None:
                scopes, pattern = usual.get(name, (name, None))
            self.holders[name] = self.holder(name.lower(), scopes, pattern, **more)
        return self.holders[name]

    def keep(self, thing):
        """Closed when the attack is over."""
        self.open.append(thing)
        return thing

    def clean(self):
        for thing in reversed(self.open):
            try:
                thing.close()
            except (OSError, TlsError):
                pass
        self.open.clear()
        for account, cluster in self.clusters:
            self.act(account, "Remove", cluster)
        self.clusters.clear()

    # ---- members

    def slot(self, machine="wn01"):
        """The public ad of a true machine's slot."""
        return self.ads(self.the("READ"), "Machine", f'Machine == "{machine}" && Offline =!= true')[0]

    def evil_machine(self):
        """One that the pool has not seen yet: after a fault it is left alone for a while."""
        self.machines += 1
        return self.keep(Machine(self, self.the("ADVERTISE"), f"evil{self.machines}", self.slot()))

    def evil_schedd(self, **how):
        return self.keep(Schedd(self, self.the("SCHEDD"), self.files, **how))

    # ---- jobs

    def submit(self, account, count=1, **attributes):
        """Jobs of that account; the cluster.  The attributes are those of a submit file."""
        if attributes.get("universe") == "standard":
            needs_checkpoints()
        said = {"executable": "/bin/sh", "transfer_executable": "false", "initialdir": pwd.getpwnam(account).pw_dir, "should_transfer_files": "YES",
                "when_to_transfer_output": "ON_EXIT", "request_memory": "1", "request_disk": "1", **attributes}
        path = os.path.join(self.files, f"{account}.sub")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f"{name} = {value}\n" for name, value in said.items() if value is not None) + f"queue {count}\n")
        os.chmod(path, 0o644)
        cluster = int(self.command("submit", path, "-terse", account=account).split(".")[0])
        self.clusters.append((account, cluster))
        return cluster

    def act(self, account, action, cluster):
        with self.as_user("schedd", account) as schedd:
            return schedd.call("ACT", {"Action": action, "Ids": [str(cluster)], "Reason": "test"})

    def job(self, job, account="root"):
        """A job's ad as this account sees it, or None."""
        with self.as_user("schedd", account) as schedd:
            ads = schedd.call("QUERY", {"Type": "Job", "Ids": [str(job)]}).ads
        return ads[0] if ads else None

    def running(self, account="alice", **attributes):
        """A job that runs until it is removed; its id."""
        cluster = self.submit(account, **{"arguments": '"-c \'sleep 600\'"', "requirements": 'Machine == "wn01"', **attributes})
        job = f"{cluster}.0"
        until(f"{account}'s job {job} runs", 40, lambda: (self.job(job) or Ad()).get("JobStatus") == 2)
        return job

    # ---- what a machine gets hold of

    def at_home(self, name, said, account="alice", mode=0o600):
        """A file of that account's, with the directory that it is in."""
        user = pwd.getpwnam(account)
        path = os.path.join(user.pw_dir, name)
        above = os.path.dirname(path)
        if not os.path.isdir(above):
            os.mkdir(above)
            os.chown(above, user.pw_uid, user.pw_gid)
        with open(path, "w", encoding="utf-8") as file:
            file.write(said)
        os.chown(path, user.pw_uid, user.pw_gid)
        os.chmod(path, mode)
        return path

    def hostile_claim(self, **attributes):
        """An evil machine has a job of alice's, and is asked to run it: the Claim."""
        evil = self.evil_machine()
        evil.advertise()
        self.submit("alice", **{"requirements": f'Machine == "{evil.name}"', "arguments": '"-c true"', **attributes})
        claim = self.keep(evil.claim(evil.asked("DIAL_ME", 30)))
        claim.activate()
        return claim

    def remote_calls(self, **attributes):
        """The session of a standard-universe job of alice's, in an evil machine's hands."""
        self.at_home("work/input", "input\n")
        none = dict.fromkeys(("transfer_executable", "should_transfer_files", "when_to_transfer_output"))
        claim = self.hostile_claim(universe="standard", **none, **attributes)
        return self.keep(RemoteCalls(claim.activation))

    def pids(self, name, uid=None):
        """Processes of the pool whose program is that one."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    comm = file.read().strip()
                with open(f"/proc/{pid}/environ", "rb") as file:
                    ours = self.directory.encode() in file.read()
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    ours = ours or self.directory.encode() in file.read()
                owner = os.stat(f"/proc/{pid}").st_uid
            except OSError:
                continue
            if ours and comm == name[:15] and (uid is None or owner == uid):
                found.append(int(pid))
        return found

    def start_anew(self, name, node):
        """Kills that daemon of a node; its master, or who has none we, starts it again with the arguments that it had."""

        def of_node(name):
            return [pid for pid in self.pids(name) if self.path("nodes", node) in self.words(pid, "cmdline") + self.words(pid, "environ")]

        pid = of_node(name)[0]
        command, environment = self.words(pid, "cmdline").rstrip("\0").split("\0"), self.words(pid, "environ").rstrip("\0").split("\0")
        os.kill(pid, signal.SIGKILL)
        until(f"{name} of {node} is gone", 10, lambda: pid not in self.pids(name))
        if of_node("roost-master"):
            until(f"{name} of {node} is back", 10, lambda: of_node(name))
            return
        environment = dict(entry.split("=", 1) for entry in environment if "=" in entry)
        subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end_all(self, place):
        """Ends every process that was started with that place in its command line or environment."""
        for _ in range(3):  # what is killed may just have started another one
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if f"{place}/" in self.words(pid, "environ") + self.words(pid, "cmdline") and int(pid) != os.getpid():
                        os.kill(int(pid), signal.SIGKILL)
                except OSError:
                    pass

    @staticmethod
    def words_of(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def words(self, pid, what):
        return self.words_of(f"/proc/{pid}/{what}")

    def resident_mib(self, name):
        pid = self.pids(name)[0]
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024


def refused(question):
    """Was the greeting, or the request, refused for who asks?"""
    try:
        reply = question()
    except Refused:
        return True
    return getattr(reply, "status", 0) in (-EACCES, -EPERM)


__all__ = ["NAME", "Scene", "refused"]
