#!/usr/bin/env python3
"""Signals that come while a job stands still: handled once when it goes on, and what waits for them has ended.

lib_checkpoint_pending.py PROGRAM DIRECTORY

The job is stopped, gets its signal, and the image is made then: nothing depends on how fast that is.

SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import subprocess
import sys
import time

from lib_checkpoint import CKPT, job_of

ENDED = "1 Interrupted system call -1\n"
WAYS = {"pause": ENDED, "epoll": ENDED, "sleep": ENDED, "read": ENDED, "restarted": "1  1\n"}


def until(true, what):
    deadline = time.monotonic() + 60
    while not true():
        if time.monotonic() > deadline:
            sys.exit(f"never: {what}")
        time.sleep(0.002)


def state(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def try_way(program, way, image, expected, leave):
    job = subprocess.Popen([CKPT, "run", "--", program, way], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if job.stdout.readline() != "waits\n":
        sys.exit(f"{way}: it does not wait")
    pid = job_of(job.pid)
    until(lambda: state(pid) == "S", f"{way}: it sleeps")
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state(pid) == "T", f"{way}: it is stopped")
    os.kill(pid, signal.SIGUSR1)
    subprocess.run([CKPT, "dump", str(pid), image, "--leave-running" if leave else "--kill"], check=True, stdout=subprocess.DEVNULL)
    if leave:
        os.kill(pid, signal.SIGCONT)
        said, _ = job.communicate(timeout=60)
        if said != expected:
            sys.exit(f"{way}: beside its image: {said!r}")
    else:
        job.communicate(timeout=60)
    resumed = subprocess.Popen([image], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = resumed.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        resumed.kill()
        sys.exit(f"{way}: it waits for what came already")
    return said, resumed.returncode


def main():
    image = os.path.join(sys.argv[2], "image")
    for way, expected in WAYS.items():
        for leave in (False, True):
            said, status = try_way(sys.argv[1], way, image, expected, leave)
            if said != expected or status != 7:
                sys.exit(f"{way}: {said!r}, {status}")
    print(f"{len(WAYS)} ways: a signal that came meanwhile")


if __name__ == "__main__":
    main()
