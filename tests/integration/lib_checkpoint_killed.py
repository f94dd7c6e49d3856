#!/usr/bin/env python3
"""roost-ckpt is killed at one step after the other: the job goes on, and its output is that of an uninterrupted run.

lib_checkpoint_killed.py LIBRARY [--deaths N | --within] -- PROGRAM...    LIBRARY: preloaded/checkpoint_dying.c, to be preloaded

Each death is at a later call of the dumper's, until it comes to its end.  The image of the time before stays as it was, and
the job that comes of the last one ends, too, as if nothing had been.  With --leave-running, then with --kill.
--within: at each step of those system calls that the job is made to do in a way of their own: what heals it is made and
    removed, a copy is made and reaped, the image is open in it.  And what it writes too little is written all the same.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from lib_checkpoint import CKPT, Run, children

MMAP, MUNMAP, PWRITE, CLONE, WAIT, OPENAT = 9, 11, 18, 56, 61, 257  # numbers of x86-64
WITHIN = [("--leave-running", MMAP), ("--leave-running", CLONE), ("--leave-running", WAIT), ("--leave-running", MUNMAP),
          ("--kill", OPENAT), ("--kill", PWRITE)]
ENDED = [("roost-copy", 0), ("roost-copy", signal.SIGKILL)]  # copies: by itself, or with its tracer
STEPS = 20  # more than one of them has


def dump(options, job, image, how, **settings):
    environ = dict(os.environ, LD_PRELOAD=options.library, **{name: str(value) for name, value in settings.items()})
    return subprocess.run([CKPT, "dump", str(job), image, how], env=environ, capture_output=True, text=True)


def is_free(job):
    """No thread of it is held or stands in a stop."""
    try:
        for tid in os.listdir(f"/proc/{job}/task"):
            with open(f"/proc/{job}/task/{tid}/status") as status:
                lines = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
            if lines["State"][0] in "tT" or lines["TracerPid"] != "0":
                return False
        return True
    except OSError:
        return False


def has_image(job, image):
    """The image, or what is to be one, is open in it."""
    try:
        return any(os.readlink(f"/proc/{job}/fd/{fd}").startswith(image) for fd in os.listdir(f"/proc/{job}/fd"))
    except OSError:
        return False


def waits_of(job):
    """How often its first thread has waited: who waits again has come out of what it was made to do."""
    try:
        with open(f"/proc/{job}/status") as status:
            return int(status.read().split("\nvoluntary_ctxt_switches:")[1].split()[0])
    except (OSError, IndexError):
        return 0


def await_free(run, job, image, what):
    until, free_since = time.monotonic() + 60, None
    while not is_free(job) or has_image(job, image):
        if run.started.poll() is not None:
            return
        if is_free(job):
            free_since = waits_of(job) if free_since is None else free_since
            if waits_of(job) > free_since + 20:
                sys.exit(f"{what}: the job goes on, and has the image open")
        if time.monotonic() > until:
            sys.exit(f"{what}: the job stands still, or has the image open")
        time.sleep(0.001)


def check_image(image, what):
    if os.path.exists(image):
        told = subprocess.run([CKPT, "info", image, "--verify"], capture_output=True, text=True)
        if told.returncode != 0:
            sys.exit(f"{what}: the image is not whole: {told.stderr}")


def check_copies(options, run, job, image, what):
    """Those of dumpers that were killed are reaped by the next one: or, if they had not come to their end, by the one after."""
    until = time.monotonic() + 60
    while run.started.poll() is None and (left := ended_copies(job)):
        if [how for how in left if how not in ENDED]:
            sys.exit(f"{what}: a copy of the job has not ended by itself: {left}")
        if time.monotonic() > until:
            sys.exit(f"{what}: copies of the job are left: {left}")
        dump(options, job, image, "--leave-running")


def deaths(options, run, job, image, how, at):
    """Dumps that die, each later than the one before, until one does not, or the job has come to its end.  How many died,
    where the last one did, and whether one was made."""
    count = 0
    while job is not None:
        later = at + random.randint(1, max(1, 2 * options.calls // options.deaths))
        made = dump(options, job, image, how, DYING_AT=later)
        what = f"{options.program} {how}, seed {options.seed}, killed at {later}"
        await_free(run, job, image, what)
        check_image(image, what)
        if made.returncode == 0:
            if how == "--leave-running":
                check_copies(options, run, job, image, what)
            return count, later, True
        if made.returncode != -signal.SIGKILL:
            if "no such process" not in made.stderr:
                sys.exit(f"{what}: {made.stderr}")
            break
        count, at = count + 1, later
    return count, at, False


def check_end(options, run, image, how, expected, out):
    """Of the job; or, if a dump ended it, of the job that is resumed from the image.  A dumper that was killed after its image was
    there and before it ended the job leaves both: then the job is what counts."""
    ended = run.started.wait()
    if how == "--kill" and ended == -signal.SIGKILL:
        ended = Run([image], out).started.wait()
    with open(out, "rb") as text:
        got = text.read()
    if (ended, got) != expected:
        sys.exit(f"{options.program} {how}, seed {options.seed}: status {ended}, output\n{got!r}\nwanted\n{expected!r}")


def ended_copies(job):
    """Children of it that have ended, would have told nobody, and wait to be asked for: name and how."""
    found = []
    for child in children(job):
        try:
            with open(f"/proc/{child}/stat") as stat:
                text = stat.read()
        except OSError:
            continue
        fields = text.rsplit(")", 1)[1].split()  # from the third one on, of proc(5)
        if fields[0] == "Z" and fields[35] == "0":
            found.append((text[text.index("(") + 1:text.rindex(")")], int(fields[49])))
    return found


class Lives:
    """Runs of the program, one after the other, each to its end."""

    def __init__(self, options, folder, expected):
        self.options, self.folder, self.expected = options, folder, expected
        self.image, self.count, self.run = os.path.join(folder, "image"), 0, None

    def end(self, how="--leave-running"):
        check_end(self.options, self.run, self.image, how, self.expected, self.out)
        self.run = None

    def job(self):
        while self.run is None or (job := self.run.job()) is None:
            if self.run is not None:
                self.end()
            self.out, self.count = os.path.join(self.folder, f"life{self.count}"), self.count + 1
            self.run = Run([CKPT, "run", "--", *self.options.program], self.out)
        return job


def within(options, lives):
    """How many died."""
    died = 0
    for how, number in WITHIN:
        made, step = None, 0
        while step < STEPS and (made is None or made.returncode != 0):
            job, step = lives.job(), step + 1
            made = dump(options, job, lives.image, how, DYING_IN=number, DYING_AT=step)
            what = f"{options.program} {how}, killed at step {step} of system call {number}"
            if made.returncode not in (-signal.SIGKILL, 0) and "no such process" not in made.stderr:
                sys.exit(f"{what}: {made.returncode}, {made.stderr}")
            died += made.returncode == -signal.SIGKILL
            await_free(lives.run, job, lives.image, what)
            check_image(lives.image, what)
            check_copies(options, lives.run, job, lives.image, what)
    while (made := dump(options, lives.job(), lives.image, "--kill", HALF_WRITES=1)).returncode != 0:
        if "no such process" not in made.stderr:
            sys.exit(f"{options.program}, half of each write: {made.stderr}")
    lives.end("--kill")
    return died


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--deaths", type=int, default=40)
    parser.add_argument("--calls", type=int, default=800, help="of a dump, about")
    parser.add_argument("--within", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        out, image = os.path.join(folder, "whole"), os.path.join(folder, "image")
        status = Run([CKPT, "run", "--", *options.program], out).started.wait()
        with open(out, "rb") as text:
            expected = (status, text.read())
        if options.within:
            lives = Lives(options, folder, expected)
            died = within(options, lives)
            print(f"{' '.join(options.program)}: {died} dumps were killed within a call, {lives.count} runs: as uninterrupted ({status})")
        for how in () if options.within else ("--leave-running", "--kill"):
            died, at, made, runs = 0, 0, False, 0
            while not made:
                out, runs = os.path.join(folder, f"{how}{runs}"), runs + 1
                run = Run([CKPT, "run", "--", *options.program], out)
                more, at, made = deaths(options, run, run.job(), image, how, at)
                died += more
                check_end(options, run, image, how, expected, out)
                if os.path.exists(image):
                    os.unlink(image)
            print(f"{' '.join(options.program)} {how}: {died} dumps were killed, {runs} runs: as uninterrupted ({status})")
            if died == 0:
                sys.exit("none was killed")


if __name__ == "__main__":
    main()
