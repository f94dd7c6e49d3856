#!/usr/bin/env python3
"""What `roost-ckpt dump` does where it cannot do all: the job has not begun, there is nobody to tell, there is no memory.

lib_checkpoint_said.py DIRECTORY [LIBRARY]

LIBRARY: preloaded/checkpoint_dying.c; for who may mount only, and may do so here: another /proc/meminfo.

SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import subprocess
import sys

from lib_checkpoint import CKPT, job_of

CLONE = 56


def begin(*argv, **settings):
    return subprocess.Popen([CKPT, "run", "--", *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **settings)


def dump(job, image, *words, **settings):
    return subprocess.run([CKPT, "dump", str(job), image, *words], stderr=subprocess.PIPE, text=True, timeout=60, **settings)


def echoes(job, what):
    out, _ = job.communicate("x", timeout=60)
    if job.returncode != 0 or out != "x":
        sys.exit(f"{what}: {job.returncode}, {out!r}")


def not_begun(image):
    """It is long on its way to the program, which is in the last of many directories."""
    environ = dict(os.environ, PATH="/n:" * 40000 + "/bin")
    job = begin("cat", env=environ)
    number = None
    while number is None:
        number = job_of(job.pid)
    with open(f"/proc/{number}/comm") as comm:
        early = comm.read() != "cat\n"
    made = dump(number, image, "--kill", stdout=subprocess.DEVNULL)
    if made.returncode != 0 or not early:
        sys.exit(f"not begun: {made.returncode}, {made.stderr}; early: {early}")
    job.communicate(timeout=60)
    echoes(subprocess.Popen([image], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True), "the image of one that had not begun")


def nobody_is_told(image):
    job = begin("cat")
    for words in [], ["--attributes"]:
        with open("/dev/full", "w") as full:
            made = dump(wait_for_cat(job), image, *words, stdout=full)
        if made.returncode != 1 or made.stderr != "roost-ckpt: cannot print the result: No space left on device\n":
            sys.exit(f"nobody is told: {made.returncode}, {made.stderr!r}")
    echoes(job, "the job of which nobody was told")


def wait_for_cat(job):
    while True:
        number = job_of(job.pid)
        if number is not None:
            with open(f"/proc/{number}/comm") as comm:
                if comm.read() == "cat\n":
                    return number


def no_memory(image, library):
    """The dumper would be killed at its next step, once it has the job copied."""
    job, meminfo = begin("cat"), image + ".meminfo"
    environ = dict(os.environ, LD_PRELOAD=library, DYING_AT="1", DYING_IN=str(CLONE))
    number = wait_for_cat(job)
    for free, wanted in (1 << 40, -signal.SIGKILL), (10, 0):
        with open(meminfo, "w") as file:
            file.write(f"MemAvailable: {free} kB\n")
        subprocess.run(["mount", "--bind", meminfo, "/proc/meminfo"], check=True)
        made = dump(number, image, env=environ, stdout=subprocess.DEVNULL)
        subprocess.run(["umount", "/proc/meminfo"], check=True)
        if made.returncode != wanted:
            sys.exit(f"{free} KiB of memory: {made.returncode}, {made.stderr}")
    echoes(job, "the job that was not copied")
    echoes(subprocess.Popen([image], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True), "the image without a copy")


def main():
    image = os.path.join(os.path.abspath(sys.argv[1]), "image")
    if len(sys.argv) > 2:
        no_memory(image, sys.argv[2])
        print("without memory for a copy the job stands still")
        return
    not_begun(image)
    nobody_is_told(image)
    print("one that had not begun, one of which nobody is told")


if __name__ == "__main__":
    main()
