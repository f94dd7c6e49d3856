"""A live pool as the attacks see it: where its daemons listen, tokens of any kind, connections of any account.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import pwd
import re
import subprocess
import time

from wire_client import Connection, Holder, NOBODY, Refused, dial, greet, open_socket

NAME = "personal"  # `roost init` calls pool, schedd, negotiator and rooster so


class Pool:
    def __init__(self, directory, roost):
        self.directory, self.roost, self.tokens = directory, roost, {}

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def knob(self, name):
        with open(self.path("roost.conf"), encoding="utf-8") as file:
            return re.search(rf"^{name} = (\d+)$", file.read(), re.MULTILINE).group(1)

    def address(self, route):
        return "127.0.0.1:" + self.knob("COLLECTOR_PORT" if route == "collector" else "SCHEDD_PORT")

    def socket(self, route):
        return "unix:" + (self.path("run/collector.sock") if route == "collector" else self.path("spool/schedd.sock"))

    # ---- who calls

    def command(self, *arguments, account=None, **environment):
        """What `roost` prints; CalledProcessError where it fails."""
        ids = {} if account is None else {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}
        return subprocess.run([self.roost, *arguments], check=True, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}, **ids).stdout

    def holder(self, name, scopes, pattern=None, **more):
        """A new token of name@POOL with these scopes, and who holds it."""
        options = [text for option, value in more.items() for text in (f"--{option}", str(value))]
        options += ["--name-pattern", pattern] if pattern else []
        text = self.command("token", "create", "--identity", name if "@" in name else f"{name}@{NAME}", "--scope", scopes, *options)
        return Holder.of_text(text)

    # ---- connections

    def greet(self, route, holder=NOBODY, **how):
        return greet(self.address("schedd" if route != "collector" else route), route, holder, **how)

    def dial(self, route):
        return dial(self.address("schedd" if route != "collector" else route), route)

    def as_user(self, route, account, holder=NOBODY, listener=None, **how):
        """A connection to the Unix socket of the daemon that serves the route, as this account."""
        address = self.socket("schedd" if route != "collector" else route) if listener is None else listener
        os.seteuid(pwd.getpwnam(account).pw_uid)  # whom the socket takes for the other end
        try:
            plain = open_socket(address)
        except OSError as error:
            raise Refused(0, str(error)) from error
        finally:
            os.seteuid(0)
        plain.sendall(f"ROOST/1 {route}\n".encode())
        connection = Connection(plain, address, route)
        try:
            connection.hello(holder, **how)
        except BaseException:
            connection.close()
            raise
        return connection

    # ---- what is there

    def ads(self, holder, kind, constraint=None, **more):
        with self.greet("collector", holder) as collector:
            said = {"Type": kind, **more}
            if constraint is not None:
                said["Constraint"] = constraint
            return collector.call("QUERY", said).ads

    def logs(self, pattern="log/*"):
        text = []
        for path in glob.glob(self.path(pattern)):
            with open(path, encoding="utf-8", errors="replace") as file:
                text.append(file.read())
        return "".join(text)


def until(what, seconds, question):
    """Asks again and again; what it said when it was true."""
    end = time.monotonic() + seconds
    while True:
        said = question()
        if said:
            return said
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)
