# tests/integration/lib_pclient.py - what tests/integration/pclient.sh does with pclient: requests as a person would type
# them, and a controller that is killed, slow or silent.
#
# usage: lib_pclient.py PCLIENT DIRECTORY
#
# Each test runs as every user and in every way that this machine allows.  Every wait has a deadline.
#
# SPDX-License-Identifier: Apache-2.0
import hashlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import traceback

PCLIENT, WORK = map(os.path.abspath, sys.argv[1:3])
DEADLINE = 60
SOMEBODY = 54321  # needs no account
WAYS = []
OLD_KERNEL = ["/usr/bin/python3", os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib_old_kernel.py")]  # no pidfds


class Way:
    def __init__(self, name, options, user, before=()):
        self.name, self.options, self.user, self.before = name, options, user, before


class SocketInput:
    """The sending direction of a socket, which closes apart from the other one."""

    def __init__(self, ours):
        self.ours = ours

    def write(self, data):
        self.ours.sendall(data)

    def flush(self):
        pass

    def close(self):
        try:
            self.ours.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it is closed


class Client:
    """A pclient, and what its controller does."""

    count = 0

    def __init__(self, way, *options, stderr=None, sockets=False):
        Client.count += 1
        self.way = way
        self.mark = f"pclient-test-{os.getpid()}-{Client.count}"  # in the environment of all its jobs
        self.number = f"9{os.getpid()}{Client.count:03d}"  # seconds that a process of it sleeps
        environment = dict(os.environ, TEST_MARK=self.mark)
        user = {"user": way.user, "group": way.user, "extra_groups": []} if way.user is not None else {}
        ours, theirs = socket.socketpair()  # what sshd gives a program
        ends = theirs if sockets else subprocess.PIPE
        self.process = subprocess.Popen([*way.before, PCLIENT, *way.options, *options], stdin=ends, stdout=ends, stderr=stderr,
                                        env=environment, cwd="/tmp", **user)
        theirs.close()
        if sockets:
            self.process.stdin, self.process.stdout = SocketInput(ours), ours
        self.buffer = b""

    def send(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def more(self):
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert ready, f"nothing was sent; so far: {self.buffer!r}"
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError(f"pclient closed its output; so far: {self.buffer!r}")
        self.buffer += data

    def line(self):
        while b"\n" not in self.buffer:
            self.more()
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def take(self, count):
        while len(self.buffer) < count:
            self.more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def ask(self, line):
        self.send(line)
        return self.line()

    def skip(self, count):
        """Like take(), of bytes that are too many to keep."""
        while len(self.buffer) < count:
            count -= len(self.buffer)
            self.buffer = b""
            self.more()
        self.buffer = self.buffer[count:]

    def expect(self, line, wanted):
        equals(line, self.ask(line), wanted)

    def refused(self, line, why):
        got = self.ask(line)
        assert got.startswith("-1 ") and why in got, f"{line}: {got}"

    def output(self, request):
        words = self.ask(request).split()
        equals(request, words[0], "NBYTES")
        return self.take(int(words[1]))

    def job(self, line):
        pid = int(self.ask("job " + line))
        assert pid > 1, pid
        return pid

    def wait_status(self):
        status = until("the job has ended", lambda: next((s for s in [self.ask("status")] if s != "BUSY"), None))
        return status

    def follow(self, *window):
        words = self.ask(" ".join(["follow", "n0nce", *window])).split()
        equals("follow", words[:3], ["FOLLOW", "n0nce", "1"])
        equals("how", words[3], "subreaper" if "-subreaper" in self.way.options else "namespace")
        return words

    def message(self):
        """The next message after `follow`: a word, and the rest or the bytes."""
        word, _, rest = self.line().partition(" ")
        if word in ("OUT", "ERR"):
            return word, self.take(int(rest))
        return word, rest

    def watch(self, done=False):
        """All messages of a job up to END: its output, its errors, the words of END."""
        found = {"OUT": b"", "ERR": b""}
        while True:
            word, rest = self.message()
            if word == "END":
                assert done, "END without DONE"
                return found["OUT"], found["ERR"], rest
            if word == "DONE":
                done = True
            else:
                found[word] += rest
                self.send(f"ack {len(rest)}")

    def end(self, status=0):
        self.process.stdin.close()
        equals("exit status", self.process.wait(DEADLINE), status)
        self.gone()

    def kill(self):
        self.process.stdin.close()
        self.process.wait(DEADLINE)
        self.gone()

    def gone(self):
        until("no process is left", lambda: not processes(self.mark) and not sleepers(self.number))

    def child(self):
        """The process that holds the jobs."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def escape(self):
        """A shell line that leaves a process without parent, session and environment; it is running when this is written."""
        return f"""sh -c 'setsid setsid env -i sh -c "sleep {self.number} & sleep {self.number}" & echo started; sleep {self.number}'"""

    def escaped(self):
        until("the escaping processes run", lambda: len(sleepers(self.number)) == 3)


def equals(what, got, wanted):
    assert got == wanted, f"{what}: {got!r}, not {wanted!r}"


def until(what, ask):
    end = time.monotonic() + DEADLINE
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < end, f"{what}: not in time"
        time.sleep(0.01)


def look(name, test):
    found = []
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if test(file.read()):
                        found.append(int(pid))
            except OSError:
                pass
    return found


def processes(mark):
    return look("environ", lambda text: f"TEST_MARK={mark}".encode() in text.split(b"\0"))


def sleepers(number):
    return look("cmdline", lambda text: text.split(b"\0")[:2] == [b"sleep", number.encode()])


# ---- the tests


def test_requests(way):
    client = Client(way)
    client.expect("status", "NONE")
    equals("no output", client.output("stdout"), b"")
    pid = client.job("sh -c 'echo out; echo err >&2; exit 3'")
    equals("status", client.wait_status(), "EXIT 3")
    equals("stdout", client.output("stdout"), b"out\n")
    equals("stdout again", client.output("stdout"), b"out\n")
    equals("stderr", client.output("stderr -take"), b"err\n")
    equals("stderr was taken", client.output("stderr"), b"")
    assert not os.path.exists(f"/proc/{pid}")
    pid = client.job(f"sleep {client.number}")
    until("the host knows the pid", lambda: sleepers(client.number) == [pid])
    equals("the output of the last job was dropped", client.output("stdout"), b"")
    client.expect("status", "BUSY")
    client.refused("job true", f"job {pid} runs")
    client.expect("kill", "OK")
    equals("killed", client.wait_status(), "CRASH 9 killed")
    client.refused("kill", "no job runs")
    client.job("sh -c 'kill -11 $$'")
    equals("crash", client.wait_status(), "CRASH 11")
    client.job("-timeout 0.2 sleep 1000")
    equals("timeout", client.wait_status(), "CRASH 9 timeout")
    client.job("-- cat")
    equals("standard input is empty", client.wait_status(), "EXIT 0")
    client.job("sh -c 'echo $0; echo $PCLIENT_MARK; pwd; echo \"$TEST_MARK\"'")
    equals("environment", client.wait_status(), "EXIT 0")
    lines = client.output("stdout").decode().split("\n")
    assert lines[1].startswith("pclient-"), lines
    equals("name, directory, environment", [lines[0], *lines[2:]], ["sh", "/tmp", client.mark, ""])
    client.expect("reset", "OK")
    client.expect("status", "NONE")
    client.job(f"sh -c 'echo out; sleep {client.number}'")
    until("output of a job that runs", lambda: client.output("stdout") == b"out\n")
    client.expect("reset", "OK")
    client.expect("status", "NONE")
    equals("output after reset", client.output("stdout"), b"")
    equals("nothing of it runs", sleepers(client.number), [])
    assert client.ask("ping").startswith("PONG ")
    client.expect("lease 30", "OK")
    assert b"job [-timeout S]" in client.output("help")
    client.expect("exit", "OK")
    client.end()


def test_refusals(way):
    client = Client(way)
    client.refused("job nosuch", "nosuch: command not found in PATH")
    client.refused("job /no/such", "No such file")
    client.refused("job /etc/passwd", "Permission denied")
    client.refused("job", "no command")
    client.refused("joob", "unknown request 'joob'")
    client.refused("job a | b", "column 7: the character |")
    client.refused("x" * ((1 << 20) + 1), "more than 1048576 bytes")
    client.refused("kill no/body", "cannot be the mark")
    client.expect("status", "NONE")
    client.send("# a comment", "", "  ")
    client.expect("status", "NONE")
    equals("a long line", client.ask("ping " + " " * ((1 << 20) - 5)).split()[0], "PONG")
    client.process.stdin.write(b"exit")  # no newline: perhaps a part of another word
    client.end()
    for options, why in [(["-lease", "1"], "expected 2 to 86400"), (["-buffer", "1"], "-buffer 1"), (["-x"], "unknown option '-x'")]:
        run = subprocess.run([PCLIENT, *options], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        equals("exit status of wrong use", run.returncode, 2)
        assert why in run.stderr.decode(), run.stderr


def test_follow(way):
    client = Client(way)
    client.follow()
    for line, out, err, status in [("true", b"", b"", "EXIT 0"), ("sh -c 'echo a; echo b >&2; exit 7'", b"a\n", b"b\n", "EXIT 7"),
                                   ("-timeout 0.2 sleep 1000", b"", b"", "CRASH 9 timeout")]:
        client.job(line)
        got_out, got_err, end = client.watch()
        equals(line, (got_out, got_err, end.rsplit(" ", 3)[0]), (out, err, status))
        user, system, memory = end.rsplit(" ", 3)[1:]
        assert float(user) >= 0 and float(system) >= 0 and int(memory) > 100, end
    client.job(client.escape())
    client.escaped()
    client.send("kill")
    equals("output", client.message(), ("OUT", b"started\n"))
    equals("done", client.message(), ("DONE", ""))
    equals("nothing is left", sleepers(client.number), [])
    equals("the answer", client.line(), "OK")
    equals("end", client.message()[1].rsplit(" ", 3)[0], "CRASH 9 killed")
    client.job("-timeout 0.5 " + client.escape())
    equals("end of what has escaped", client.watch()[2].rsplit(" ", 3)[0], "CRASH 9 timeout")
    equals("nothing is left", sleepers(client.number), [])
    # What a job leaves behind is killed with its first process.
    client.job(f"sh -c 'setsid sleep {client.number} & exit 5'")
    equals("end", client.watch()[2].rsplit(" ", 3)[0], "EXIT 5")
    equals("nothing is left", sleepers(client.number), [])
    client.end()


def test_much_output(way):
    for sockets, mebibytes in ((False, 200), (True, 40)):
        much_output(Client(way, sockets=sockets), mebibytes)


def much_output(client, mebibytes):
    client.follow()
    count = mebibytes << 20
    client.job(f"sh -c 'head -c {count} /dev/zero | tr \"\\0\" x; head -c 100000 /dev/zero >&2'")
    digest, total, errors = hashlib.sha256(), 0, 0
    while True:
        word, rest = client.message()
        if word == "END":
            equals("end", rest.rsplit(" ", 3)[0], "EXIT 0")
            break
        if word == "OUT":
            digest.update(rest)
            total += len(rest)
        elif word == "ERR":
            errors += len(rest)
        if word != "DONE":
            client.send(f"ack {len(rest)}")
    equals("bytes", (total, errors), (count, 100000))
    wanted = hashlib.sha256()
    for _ in range(mebibytes):
        wanted.update(b"x" * (1 << 20))
    equals("checksum", digest.hexdigest(), wanted.hexdigest())
    client.end()


def test_window(way):
    """A reader who acknowledges nothing stops the job, and nothing else."""
    client = Client(way)
    client.follow("4096")
    client.job("sh -c 'yes | head -c 200000'")
    found = b""
    while len(found) < 4096:
        word, rest = client.message()
        equals("message", word, "OUT")
        found += rest
    equals("the window is full", len(found), 4096)
    assert client.ask("ping").startswith("PONG ")
    client.expect("status", "BUSY")
    client.send("ack 96")
    equals("as much as was acknowledged", client.message(), ("OUT", b"y\n" * 48))
    client.send("ack 4096")
    out, _, end = client.watch()
    equals("all of it", (len(out), end.rsplit(" ", 3)[0]), (200000 - 4096 - 96, "EXIT 0"))
    # A job whose output waits can be killed.
    client.job("yes")
    equals("message", client.message()[0], "OUT")
    client.send("kill")
    equals("done", client.message(), ("DONE", ""))
    equals("the answer", client.line(), "OK")
    client.send("ack 4096")
    assert client.watch(done=True)[2].startswith("CRASH 9 killed")
    client.end()


def test_buffer(way):
    """Without `follow`, a job waits when what is kept of its output is full."""
    client = Client(way, "-buffer", "100000", stderr=subprocess.PIPE)
    client.job("sh -c 'head -c 300000 /dev/zero'")
    until("the buffer is full", lambda: len(client.output("stdout")) == 100000)
    client.expect("status", "BUSY")
    client.output("stdout -take")
    until("the buffer is full again", lambda: len(client.output("stdout")) == 100000)
    total = 100000
    while total < 300000:
        total += len(client.output("stdout -take"))
    equals("all", total, 300000)
    equals("end", client.wait_status(), "EXIT 0")
    client.job("yes")
    until("the buffer is full", lambda: len(client.output("stdout")) == 100000)
    client.expect("kill", "OK")
    client.output("stdout -take")
    until("the end", lambda: client.output("stdout -take") == b"" and client.ask("status") == "CRASH 9 killed")
    client.end()
    # of both jobs, and more than once of a job whose buffer was full again
    count = client.process.stderr.read().count(b"pclient: 100000 bytes of the job's standard output are kept; it waits until somebody takes them\n")
    assert count >= 3, count
    client = Client(way, stderr=subprocess.PIPE)
    client.job("yes")
    ready, _, _ = select.select([client.process.stderr], [], [], DEADLINE)
    assert ready, "nothing is said"
    equals("the size of the buffer", client.process.stderr.readline().split()[1], b"67108864")
    client.expect("status", "BUSY")
    client.end()


def test_output_left(way):
    """A job whose processes have ended while its output waits for room can be killed and reset."""
    for request, status in (("kill", "BUSY"), ("reset", "NONE")):
        client = Client(way, "-buffer", "100000", stderr=subprocess.DEVNULL)
        pid = client.job("head -c 150000 /dev/zero")
        until("the process has ended", lambda: not os.path.exists(f"/proc/{pid}"))
        until("the buffer is full", lambda: len(client.output("stdout")) == 100000)
        client.expect("status", "BUSY")
        client.expect(request, "OK")
        client.expect("status", status)
        equals("what is kept", len(client.output("stdout -take")), 100000 if request == "kill" else 0)
        if request == "kill":
            equals("the end", client.wait_status(), "EXIT 0")
            equals("the rest", len(client.output("stdout")), 50000)
        client.expect("reset", "OK")
        client.end()
    client = Client(way)
    client.follow("4096")
    pid = client.job("head -c 5000 /dev/zero")
    found, done = 0, False
    while found < 4096 or not done:
        word, rest = client.message()
        found, done = found + len(rest), done or word == "DONE"
    client.expect("kill", "OK")
    client.send("ack 4096")
    out, _, end = client.watch(done=True)
    equals("the rest, and the end", (len(out), end.rsplit(" ", 3)[0]), (5000 - 4096, "EXIT 0"))
    client.end()


def test_nobody_reads(way):
    """Answers that nobody reads stop neither the lease nor a timeout."""
    client = Client(way, "-lease", "3", stderr=subprocess.PIPE, sockets="-subreaper" in way.options)
    client.job(f"-timeout 4 sh -c 'head -c 1000000 /dev/zero; exec sleep {client.number}'")
    until("output", lambda: len(client.output("stdout")) == 1000000)
    until("the job sleeps", lambda: sleepers(client.number))
    client.send("stdout")
    until("the timeout", lambda: client.send("ping") or not sleepers(client.number))
    began = time.monotonic()
    while time.monotonic() - began < 5:  # more than a lease: requests are still heard
        client.send("ping")
        time.sleep(0.1)
    equals("pclient runs", client.process.poll(), None)
    equals("exit status", client.process.wait(DEADLINE), 3)
    client.kill()


def test_answers_that_wait(way):
    """Kept output cannot be asked for while more than 128 MiB of earlier answers are not read; other requests can."""
    if way is not WAYS[0]:
        return  # it takes much memory
    size = 50000000
    client = Client(way, "-buffer", str(size), stderr=subprocess.PIPE)
    client.job("yes")
    ready, _, _ = select.select([client.process.stderr], [], [], DEADLINE)
    assert ready, "the buffer is not full"
    client.send(*["stdout"] * 5, "status")
    for number in range(3):
        equals(f"answer {number}", client.line(), f"NBYTES {size}")
        client.skip(size)
    for number in range(2):
        words = client.line().split(" ", 2)
        equals(f"refusal {number}", (words[0], words[2]), ("-1", "bytes of earlier answers are not read yet"))
        assert 128 << 20 < int(words[1]) <= 3 * size + 1000, words
    equals("the status", client.line(), "BUSY")
    equals("later", client.ask("stdout"), f"NBYTES {size}")
    client.skip(size)
    client.end()


def test_killed(way):
    """Whoever of pclient is killed or told to end: nothing of the job is left."""
    for number, who, status in [(signal.SIGKILL, "watcher", -9), (signal.SIGKILL, "child", 1), (signal.SIGTERM, "watcher", 1),
                                (signal.SIGHUP, "child", 1), (signal.SIGINT, "child", 1)]:
        client = Client(way, stderr=subprocess.DEVNULL)
        client.job(client.escape())
        client.escaped()
        os.kill(client.process.pid if who == "watcher" else client.child(), number)
        equals(f"{number.name} to the {who}", client.process.wait(DEADLINE), status)
        client.kill()


def test_end_of_input(way):
    for how in ("exit", "end", "output"):
        client = Client(way, stderr=subprocess.DEVNULL)
        client.job(client.escape())
        client.escaped()
        if how == "exit":
            client.expect("exit", "OK")
        elif how == "output":
            client.process.stdout.close()
            client.send("ping")
            equals("nobody reads", client.process.wait(DEADLINE), 1)
        client.end(1 if how == "output" else 0)


def test_lease(way):
    client = Client(way, "-lease", "3", stderr=subprocess.PIPE)
    client.job(client.escape())
    client.escaped()
    began = time.monotonic()
    while time.monotonic() - began < 4:
        client.expect("status", "BUSY")
        time.sleep(0.1)
    ended = time.monotonic()
    equals("exit status", client.process.wait(DEADLINE), 3)
    took = time.monotonic() - ended
    assert took > 2.7, took
    client.kill()
    assert b"nobody has renewed the lease" in client.process.stderr.read()  # says the child; if it stood still, the watcher
    # After follow, only the last token renews, from the moment in which it was sent.
    client = Client(way, "-lease", "3", stderr=subprocess.DEVNULL)
    words = client.follow()
    equals("lease", words[4], "3")
    client.job(client.escape())
    token, began = words[5], time.monotonic()
    while time.monotonic() - began < 4:
        word, rest = client.message() if client.buffer else ("", "")
        client.send(f"ping {token}")
        while word != "PONG":
            word, rest = client.message()
        token = rest
        time.sleep(0.1)
    ended = time.monotonic()
    while client.process.poll() is None and time.monotonic() - ended < DEADLINE:
        try:
            client.send("ping 1", "ping", "status")  # these do not count
        except BrokenPipeError:
            break
        time.sleep(0.1)
    equals("exit status", client.process.wait(DEADLINE), 3)
    took = time.monotonic() - ended
    assert 2 < took < 20, took
    client.process.stdin = open("/dev/null", "wb")  # what is in its buffer cannot be written any more
    client.kill()


def test_token(way):
    """A lease counts from the moment in which the token went out, not from the ping that brings it back."""
    client = Client(way, "-lease", "4", stderr=subprocess.DEVNULL)
    token, began = client.follow()[5], time.monotonic()
    client.job(f"sleep {client.number}")
    while time.monotonic() - began < 3:
        time.sleep(0.05)
    equals("answer", client.ask(f"ping {token}").split()[0], "PONG")
    equals("exit status", client.process.wait(DEADLINE), 3)
    took = time.monotonic() - began
    assert 3.5 < took < 6.5, took
    client.kill()


def test_stopped(way):
    """The kernel keeps the lease when pclient stands still."""
    client = Client(way, "-lease", "3", stderr=subprocess.PIPE)
    client.job(client.escape())
    client.escaped()
    os.kill(client.child(), signal.SIGSTOP)
    equals("exit status", client.process.wait(DEADLINE), 3)
    client.kill()
    said = client.process.stderr.read()
    assert b"nobody has renewed the lease, and the process that held the jobs stood still" in said, said
    if "-subreaper" not in way.options:
        client = Client(way, "-lease", "3", stderr=subprocess.DEVNULL)
        client.job(client.escape())
        client.escaped()
        child = client.child()
        os.kill(client.process.pid, signal.SIGSTOP)
        os.kill(child, signal.SIGSTOP)
        equals("exit status", client.process.wait(DEADLINE), -9)
        client.kill()


def test_lease_of_others(way):
    """Without namespaces, the end of the lease leaves time to kill what does not die at once: here, a process of root."""
    if way.user is None or "-subreaper" not in way.options or way.before:
        return
    for killed in (False, True):
        client = Client(way, "-lease", "2", stderr=subprocess.DEVNULL)
        folder = f"{WORK}/{client.number}.private"  # nobody else may run what is in there
        os.mkdir(folder, 0o700)
        os.chown(folder, 0, way.user)
        os.chmod(folder, 0o710)
        program = shutil.copy(shutil.which("setpriv"), folder)
        os.chmod(program, 0o4755)
        pid, began = client.job(f"{program} --reuid=0 sleep {client.number}"), time.monotonic()
        can_become_root = until("it runs, or ends", lambda: sleepers(client.number) or client.ask("status") != "BUSY") is not True
        shutil.rmtree(folder)
        if killed and can_become_root:
            child = client.child()
            client.process.kill()
            time.sleep(max(0, began + 4 - time.monotonic()))
            assert child in look("cmdline", bool), "the child has given up"  # that of the dead is empty
        equals("exit status", client.process.wait(DEADLINE), -9 if killed and can_become_root else 3)
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # no setuid in this directory
        client.kill()


def jobs_of(client):
    """The detached jobs with marks of this client: mark, pid, seconds."""
    count = int(client.ask("jobs").split()[1])
    lines = [client.line().split() for _ in range(count)]
    return {mark: (int(pid), int(seconds)) for mark, pid, seconds in lines if mark.startswith(client.number)}


def test_detached(way):
    client = Client(way)
    mark, out, err = client.number + ".a", f"{WORK}/{client.number}.out", f"{WORK}/{client.number}.err"
    equals("jobs", jobs_of(client), {})
    pid = client.job(f"-detach {mark} -lease 1000 -stdout {out} -stderr {err} "
                     f"sh -c 'echo $PCLIENT_MARK; echo err >&2; pwd; exec sleep {client.number}'")
    until("the job runs", lambda: sleepers(client.number) == [pid])
    with open(out, encoding="ascii") as file:
        equals("standard output", file.read(), f"{mark}\n/tmp\n")
    with open(err, encoding="ascii") as file:
        equals("standard error", file.read(), "err\n")
    client.expect("status", "NONE")  # it is no job of this pclient
    client.refused(f"job -detach {mark} true", f"a detached job has the mark '{mark}'")
    client.refused(f"job -detach {mark}x nosuch", "nosuch: command not found in PATH")
    client.refused(f"job -detach {mark}x -stdout /no/such/file true", "/no/such/file")
    (listed, seconds), = jobs_of(client).values()
    equals("pid", listed, pid)
    assert 900 < seconds <= 1000, seconds
    client.expect(f"renew {mark} 2000", "OK")
    assert 1900 < jobs_of(client)[mark][1] <= 2000
    client.expect(f"renew {mark}", "OK")  # as long as at its start
    assert 900 < jobs_of(client)[mark][1] <= 1000
    client.refused(f"renew {mark}x", f"no detached job has the mark '{mark}x'")
    client.refused(f"kill {mark}x", f"no detached job has the mark '{mark}x'")
    # It outlives its pclient, however that ends; another one finds it.
    for who in ("watcher", "child"):
        os.kill(client.process.pid if who == "watcher" else client.child(), signal.SIGKILL)
        client.process.wait(DEADLINE)
        number = client.number
        client.process.stdin.close()
        client = Client(way)
        client.number = number
        equals(f"after SIGKILL of the {who}", jobs_of(client)[mark][0], pid)
    # Another user neither sees nor ends it.
    if os.getuid() == 0:
        other = subprocess.run([PCLIENT], input=f"jobs\nkill {mark}\nrenew {mark}\nping\n".encode(), capture_output=True,
                               check=False, user=12345, group=12345, extra_groups=[], cwd="/")
        answers = other.stdout.decode()
        assert f"no detached job has the mark '{mark}'" in answers and "OK" not in answers, answers
        equals("it still runs", sleepers(number), [pid])
    client.expect(f"kill {mark}", "OK")
    equals("nothing of it runs", sleepers(number), [])
    equals("jobs", jobs_of(client), {})
    client.refused(f"kill {mark}", "no detached job")
    # It ends with its first process, and with all that has escaped.
    client.job(f"-detach {mark} sh -c 'setsid sleep {number} & exit 3'")
    until("it has ended", lambda: not jobs_of(client) and not sleepers(number))
    client.job(f"-detach {mark} {client.escape()}")
    client.escaped()
    client.expect(f"kill {mark}", "OK")
    equals("nothing of it runs", sleepers(number), [])
    # Its lease ends it, and nobody else's does.
    client.job(f"-detach {mark} -lease 3 {client.escape()}")
    client.job(f"-detach {mark}2 sleep 1{number}")
    until("it runs", lambda: sleepers("1" + number))
    client.expect("exit", "OK")
    client.process.wait(DEADLINE)
    until("the lease has ended", lambda: not sleepers(number))
    client = Client(way)
    equals("the other one", len(sleepers("1" + number)), 1)
    # What a killed keeper leaves is killed by its mark, at the latest when somebody says so.
    keepers = look("cmdline", lambda text: f"{mark}2".encode() in text.split(b"\0") and b"-outside" in text.split(b"\0"))
    equals("keepers", len(keepers), 2)
    for keeper in keepers:
        os.kill(keeper, signal.SIGSTOP)
    for keeper in keepers:
        os.kill(keeper, signal.SIGKILL)
    if "-subreaper" in way.options:
        client.expect(f"kill {mark}2", "OK")
    until("nothing runs", lambda: not sleepers("1" + number))
    client.end()


def test_leftovers(way):
    """Below a subreaper, what outlives pclient and watcher is found by the next pclient of the user."""
    if "-subreaper" not in way.options:
        return
    client = Client(way, stderr=subprocess.DEVNULL)
    client.job(f"sleep {client.number}")
    until("the job runs", lambda: sleepers(client.number))
    child = client.child()
    os.kill(client.process.pid, signal.SIGSTOP)
    os.kill(child, signal.SIGSTOP)
    os.kill(child, signal.SIGKILL)  # first: it would hear of the end of its watcher
    os.kill(client.process.pid, signal.SIGKILL)
    client.process.wait(DEADLINE)
    equals("it was left", len(sleepers(client.number)), 1)
    other = Client(way)
    other.job(f"sleep {other.number}")
    until("the job runs", lambda: sleepers(other.number))
    third = Client(way)
    third.expect("status", "NONE")
    equals("it was killed", sleepers(client.number), [])
    equals("what belongs to another pclient was not", len(sleepers(other.number)), 1)
    other.end()
    third.end()
    client.kill()


def can(*command, user):
    who = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False, **who).returncode == 0


def run_tests(tests, way):
    status = 0
    for test in tests:
        print(time.strftime("%T"), test.__name__, "--", way.name, flush=True)
        try:
            test(way)
        except BaseException:
            print("FAILED:", test.__name__, "--", way.name)
            traceback.print_exc(file=sys.stdout)
            status = 1
    sys.stdout.flush()
    os._exit(status)


def main():
    users = [None, SOMEBODY] if os.getuid() == 0 else [None]
    for user in users:
        name = "root" if user is None and os.getuid() == 0 else "an ordinary user"
        flags = "-pf" if user is None and os.getuid() == 0 else "-Urpf"
        if can("unshare", flags, "--mount-proc", "true", user=user):
            WAYS.append(Way(f"{name}, namespace", [], user))
        WAYS.append(Way(f"{name}, subreaper", ["-subreaper"], user))
    if can(*OLD_KERNEL, "/bin/true", user=users[-1]):
        for way in [way for way in WAYS if way.user == users[-1]]:
            WAYS.append(Way(f"{way.name}, Linux 4.4", way.options, way.user, OLD_KERNEL))
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    if len(sys.argv) > 3:
        tests = [test for test in tests if test.__name__ in sys.argv[3:]]
    # Each way in a process of its own: most of the time leases are waited for.
    children = []
    for way in WAYS:
        child = os.fork()
        if child == 0:
            run_tests(tests, way)
        children.append(child)
    failed = [child for child in children if os.waitpid(child, 0)[1] != 0]
    sys.exit(1 if failed else 0)


main()
