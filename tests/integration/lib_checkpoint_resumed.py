#!/usr/bin/env python3
"""A job goes on where whoever resumes it has other descriptors and ignores other signals than he who began it, is stopped from a
terminal, or loses a process while it is resumed.

lib_checkpoint_resumed.py DIRECTORY

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import signal
import subprocess
import sys
import time

from lib_checkpoint import CKPT, LONGEST, await_true, job_of

# Says what it finds, into a file: its own descriptors 0 to 2 are those that whoever resumes it gives it.
JOB = r"""
import os, sys, time
os.mkfifo("gate")
out = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.dup2(out, 9)
os.close(out)
gate = os.open("gate", os.O_RDWR)
os.write(1, b"ready\n")
os.read(gate, 1)
there = [number for number in range(3) if os.path.exists(f"/proc/self/fd/{number}")]
with open("/proc/self/status") as status:
    ignored = next(line for line in status if line.startswith("SigIgn")).split()[1]
child = os.fork()
if child == 0:
    os._exit(4)
try:
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
except ChildProcessError:
    ended = "lost"
# Those that a C library keeps for itself may be ignored where a thread of whoever began this made it.
os.write(9, f"{there} {int(ignored, 16) & 0x7fffffff:08x} {ended}\n".encode())
sys.exit(5)
"""
# The child's lock is waited for when it is resumed: there it is found.  "orphan": its parent has ended.
FAMILY = r"""
import fcntl, os, sys, time
locked = os.open("locked", os.O_RDWR | os.O_CREAT)
ready = os.pipe()
if os.fork() == 0:
    if sys.argv[1] == "orphan" and os.fork() != 0:
        os._exit(0)
    fcntl.lockf(locked, fcntl.LOCK_EX)
    os.write(ready[1], b"x")
    time.sleep(1000)
os.read(ready[0], 1)
if sys.argv[1] == "orphan":
    os.wait()
os.write(1, b"ready\n")
time.sleep(1000)
"""


def begin(program, *arguments):
    job = subprocess.Popen([CKPT, "run", "--", "/usr/bin/python3", "-c", program, *arguments],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    if job.stdout.readline() != b"ready\n":
        sys.exit("it did not begin")
    return job


def make_image(program, *arguments):
    job = begin(program, *arguments)
    subprocess.run([CKPT, "dump", str(job.pid), "image", "--kill"], check=True, stdout=subprocess.DEVNULL)
    job.wait()


def end_of(job, what):
    try:
        return job.wait(LONGEST)
    except subprocess.TimeoutExpired:
        job.kill()
        sys.exit(f"{what}: it did not end in {LONGEST} s")


def others():
    """Other descriptors, other ignored signals."""
    make_image(JOB)
    for closed in ([], [0], [1], [2], [0, 1], [0, 1, 2]):
        def change(closed=closed):
            for number in closed:
                os.close(number)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if os.path.exists("out"):
            os.unlink("out")
        os.close(os.open("out", os.O_WRONLY | os.O_CREAT))
        job = subprocess.Popen(["./image"], preexec_fn=change, restore_signals=False, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open("gate", "wb") as gate:
            gate.write(b"x")
        status = end_of(job, f"without {closed}")
        with open("out") as out:
            said = out.read()
        # Python itself ignores SIGPIPE and SIGXFSZ; nohup is meant.
        wanted = f"{[number for number in range(3) if number not in closed]} 01001001 4\n"
        if (status, said) != (5, wanted):
            sys.exit(f"without {closed}: {status}, {said!r}, not {wanted!r}")


def begun_by_who_ignores():
    """Nobody would hear of the end of the job."""
    job = subprocess.Popen([CKPT, "run", "--", "/bin/sh", "-c", "exit 6"], restore_signals=False,
                           preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    if end_of(job, "with SIGCHLD ignored") != 6:
        sys.exit(f"with SIGCHLD ignored: {job.returncode}")


def stopped():
    """As from a terminal: who waits for it sees it stop, and go on."""
    for argv in ([CKPT, "run", "--", "/bin/sh", "-c", "kill -TSTP $$; exit 8"], ):
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.execv(argv[0], argv)
        waited, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            sys.exit(f"it did not stop: {status}")
        os.killpg(pid, signal.SIGCONT)
        waited, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) != 8:
            sys.exit(f"it did not go on: {status}")


def lock_waiter(job):
    """The number of the process that is waiting for the lock, once it is."""
    first = job_of(job.pid)
    keeper = job_of(job.pid, 1)
    for parent in (first, keeper):
        if parent is None:
            continue
        with open(f"/proc/{parent}/task/{parent}/children") as listed:
            for child in map(int, listed.read().split()):
                with open(f"/proc/{child}/stat") as stat, open(f"/proc/{child}/syscall") as call:
                    if child != first and stat.read().split(")")[1].split()[0] == "S" and call.read().startswith("35 "):
                        return child
    return None


def killed(kind):
    """Of a job of two processes the second one is killed while it is resumed: none of it is left."""
    make_image(FAMILY, kind)
    with open("locked", "r+b") as locked:
        fcntl.lockf(locked, fcntl.LOCK_EX)
        job = subprocess.Popen(["./image"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        found = []

        def waits():
            number = lock_waiter(job)
            found[:] = [number] if number else []
            return found or job.poll() is not None

        await_true("somebody waits for the lock", waits)
        if not found:
            sys.exit(f"{kind}: it ended before: {job.returncode}, {job.stderr.read()}")
        os.kill(found[0], signal.SIGKILL)
        if end_of(job, kind) != 125:
            sys.exit(f"{kind}: {job.returncode}, {job.stderr.read()}")
        said = job.stderr.read()
        if said != b"roost-ckpt: cannot resume: a process of the job was killed during the resume: ESRCH\n":
            sys.exit(f"{kind}: {said}")


def damaged():
    """Whoever looks whether an image is whole is told so of what runs first, too: headers, and the first and last of its code."""
    make_image("import os, time\nos.write(1, b'ready\\n')\ntime.sleep(1000)")
    for place in (24, 4095, 4096, 20000):
        with open("image", "r+b") as image:
            image.seek(place)
            byte = image.read(1)
            image.seek(place)
            image.write(bytes([byte[0] ^ 1]))
            image.flush()
            looked = subprocess.run([CKPT, "info", "image", "--verify"], capture_output=True, text=True)
            image.seek(place)
            image.write(byte)
        if looked.returncode != 1 or f"damaged image: bad checksum of the bytes at {place // 4096 and 4096}\n" not in looked.stderr:
            sys.exit(f"damaged at {place}: {looked}")
    subprocess.run([CKPT, "info", "image", "--verify"], check=True, stdout=subprocess.DEVNULL)


def main():
    os.chdir(sys.argv[1])
    begun_by_who_ignores()
    stopped()
    others()
    killed("child")
    killed("orphan")
    damaged()
    print("resumed by others: as uninterrupted")


if __name__ == "__main__":
    main()
