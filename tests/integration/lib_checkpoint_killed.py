#!/usr/bin/env python3
"""roost-ckpt is killed at one step after the other: the job goes on, and its output is that of an uninterrupted run.

lib_checkpoint_killed.py LIBRARY [--deaths N] -- PROGRAM...    LIBRARY: preloaded/checkpoint_dying.c, to be preloaded

Each death is at a later call of the dumper's, until it comes to its end.  The image of the time before stays as it was, and
the job that comes of the last one ends, too, as if nothing had been.  With --leave-running, then with --kill.

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


def await_free(run, job, image, what):
    until = time.monotonic() + 60
    while not is_free(job) or has_image(job, image):
        if run.started.poll() is not None:
            return
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
    while run.started.poll() is None and "roost-copy" in zombies(job):
        if time.monotonic() > until:
            sys.exit(f"{what}: copies of the job are left: {zombies(job)}")
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
            if "there is none" not in made.stderr:
                sys.exit(f"{what}: {made.stderr}")
            break
        count, at = count + 1, later
    return count, at, False


def check_end(options, run, image, how, expected, out):
    """Of the job, or, if it was ended, of what its image is."""
    ended = run.started.wait()
    if how == "--kill" and os.path.exists(image):
        ended = Run([image], out).started.wait()
    with open(out, "rb") as text:
        got = text.read()
    if (ended, got) != expected:
        sys.exit(f"{options.program} {how}, seed {options.seed}: status {ended}, output\n{got!r}\nwanted\n{expected!r}")


def zombies(job):
    """Children of it that have ended and wait to be asked for, by names."""
    found = []
    for child in children(job):
        try:
            with open(f"/proc/{child}/stat") as stat:
                text = stat.read()
        except OSError:
            continue
        if text.rsplit(")", 1)[1].split()[0] == "Z":
            found.append(text[text.index("(") + 1:text.rindex(")")])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--deaths", type=int, default=40)
    parser.add_argument("--calls", type=int, default=800, help="of a dump, about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        out, image = os.path.join(folder, "whole"), os.path.join(folder, "image")
        status = Run([CKPT, "run", "--", *options.program], out).started.wait()
        with open(out, "rb") as text:
            expected = (status, text.read())
        for how in "--leave-running", "--kill":
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
