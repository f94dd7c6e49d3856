#!/usr/bin/env python3
"""Interrupts a program again and again, resumes it from its images, and looks whether it notices.

lib_checkpoint.py [--rounds N | --images N] [--seed S] [--every SECONDS] [--lazy] [--leave|--beside|--chain N] [--packed]
    [--through COMMAND [--die]] [--middle NAME] -- PROGRAM [ARGUMENT...]

Runs it once as it is, under `roost-ckpt run`.  Then N times more: after a random part of SECONDS an image is made and the
program killed, the image is run, and so on until it ends.  Output and exit status must be those of the first run.
--leave: images are made of the running program, which is killed a little later: what it did meanwhile is done again.
--beside: images are made of the running program, which goes on to its end.
--chain N: images are of what changed since the last, up to N of them, merged at the end (what is counted are deltas).
--packed: these are asked for through a socket, packed, and each is merged with what there is at once, as a pool does it.
--through: a command that is given what is to be run, and runs it in a view of its own, each time in another one; not the first time.
--die: it is killed as soon as there is an image, as by a loss of power.
--middle NAME: two images, made when the process of that name has done about a third and two thirds of its work, by the
    processor time it takes; that there was work before, between and after them is looked at.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

CKPT = os.path.join(os.environ["ROOST_BIN"], "roost-ckpt")
LONGEST = 30


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as listed:
            return [int(word) for word in listed.read().split()]
    except OSError:
        return []


def job_of(outer, depth=2):
    """The process that the keeper keeps, below outer; None when it is not there yet, or no more."""
    if depth == 0:
        return outer
    for child in children(outer):
        return job_of(child, depth - 1)
    return None


def await_true(what, condition):
    until = time.monotonic() + LONGEST
    while not condition():
        if time.monotonic() > until:
            sys.exit(f"it never was so: {what}")
        time.sleep(0.002)


def worked(outer, name):
    """Seconds of processor time of the busiest process of that name, of those below outer."""
    most = 0.0
    for child in children(outer):
        try:
            with open(f"/proc/{child}/comm") as comm, open(f"/proc/{child}/schedstat") as times:
                if comm.read().strip() == name:
                    most = max(most, int(times.read().split()[0]) / 1e9)
        except OSError:
            pass  # it has ended
        most = max(most, worked(child, name))
    return most


class Run:
    """The program, from its start or from an image."""

    def __init__(self, argv, out, depth=2):
        self.out = open(out, "ab")
        self.depth = depth
        self.started = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.out)

    def job(self):
        while self.started.poll() is None:
            job = job_of(self.started.pid, self.depth)
            if job is not None:
                return job
            time.sleep(0.001)
        return None

    def works(self, name, seconds):
        """Until the process of that name has worked for so long, or there is nobody any more.  How long it has."""
        most = 0.0
        while self.started.poll() is None and most < seconds:
            most = max(most, worked(self.started.pid, name))
            time.sleep(0.002)
        return most

    def ends_within(self, seconds):
        try:
            self.started.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    def kill(self):
        self.started.kill()
        self.started.wait()


def is_begun(pid, image):
    """Is it the job already, or what begins or resumes it yet?"""
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip() != os.path.basename(image)[:15]
    except OSError:
        return False


def interrupted(options, out, image):
    """Runs it to its end, through images.  The status, and how many images were made."""
    argv, images, first, lives = [CKPT, "run", "--", *options.program], 0, image, options.lives
    through, depth = (options.through.split(), 4) if options.through else ([], 2)
    while True:
        run = Run([*through, *argv], out, depth)
        while run.started.poll() is None and not (run.job() and is_begun(run.job(), argv[0])):
            time.sleep(0.001)
        if options.middle:
            lives.append(run.works(options.middle, options.work * random.uniform(0.25, 0.4) if images < 2 else float("inf")))
        if run.ends_within(0 if options.middle else random.random() * options.every):
            return run.started.returncode, images
        job = run.job()
        if options.through:  # the one that runs is not replaced: it would be another file for the mount
            image = f"{first}{images % 2}"
        how = "--leave-running" if options.leave else "--kill"
        for _ in range(2 if options.leave else 1):  # the second one of what was interrupted once already
            said = os.path.getsize(out)
            made = job and subprocess.run([CKPT, "dump", str(job), image, how], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE, text=True)
        if made and made.returncode == 0:
            images += 1
            argv = [image] + (["--lazy"] if options.lazy else [])
            if options.leave:
                known = os.path.getsize(out) == said  # what it had said when the image was made
                if run.ends_within(random.random() * options.every / 4 if known else 30):
                    return run.started.returncode, images
            if options.through and not options.die:  # what it wrote is written first
                run.started.wait()
            run.kill()
            if options.leave:  # what it said since, it will say again
                while os.path.exists(f"/proc/{job}"):
                    time.sleep(0.001)
                os.truncate(out, said)
        elif (not made or "no such process" in made.stderr) and run.ends_within(30):  # it had come to its end
            return run.started.returncode, images
        else:
            run.kill()
            sys.exit(f"no image of {options.program}: {made.stderr if made else 'no process'}")


def beside(options, out, image):
    """It never ends but by itself, and should not notice."""
    run, images = Run([CKPT, "run", "--", *options.program], out), 0
    while not run.ends_within(random.random() * options.every):
        job = run.job()
        images += job is not None and subprocess.run([CKPT, "dump", str(job), image, "--leave-running"],
                                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    return run.started.returncode, images


def ask(follower, order):
    """What a follower answers; "" when it has ended."""
    try:
        os.write(follower.stdin.fileno(), (order + "\n").encode())
    except BrokenPipeError:
        pass
    return follower.stdout.readline().split()


def attribute(text, name):
    found = re.search(f'^{name} = "?([^"\n]*)', text, re.MULTILINE)
    return found[1] if found else None


def packed_chain(options, run, folder, image):
    """As chain(), with `roost-ckpt dump --through`."""
    at, whole, delta = (os.path.join(folder, name) for name in ("at", "whole", "delta"))
    follower = subprocess.Popen([CKPT, "follow", str(run.started.pid), folder, "--kept", "--at", at],
                                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(at) and follower.poll() is None:
        time.sleep(0.001)
    deltas, base, count = 0, "0", random.randint(2, options.chain)
    for i in range(count):
        if run.ends_within(random.random() * options.every):
            follower.wait()
            return None
        how = "--kill" if i + 1 == count else "--leave-running"
        made = subprocess.run([CKPT, "dump", str(run.started.pid), delta, how, "--kept", "--attributes", "--pack",
                               "--through", at, "--base", base], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            if run.ends_within(30):
                follower.wait()
                return None
            run.kill()
            sys.exit(f"no image of {options.program}: {made.stderr}")
        base, before = attribute(made.stdout, "CkptImageId"), attribute(made.stdout, "CkptBaseId")
        deltas += before is not None
        if before is None:
            os.replace(delta, whole)
        else:
            subprocess.run([CKPT, "merge", "--pack", whole, delta, whole], check=True, stdout=subprocess.DEVNULL)
    run.kill()
    follower.wait()
    subprocess.run([CKPT, "unpack", whole], check=True)
    os.replace(whole, image)
    return deltas


def chain(options, run, folder, image):
    """Images of what changes, at random moments, merged to one.  None: it came to its end meanwhile; else how many of them
    were deltas."""
    follower = subprocess.Popen([CKPT, "follow", str(run.job()), folder], text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    names, deltas, count = [], 0, random.randint(2, options.chain)
    with follower:
        for i in range(count):
            if run.ends_within(random.random() * options.every):
                return None
            answer = ask(follower, "kill" if i + 1 == count else "image")
            if answer[:1] not in (["whole"], ["delta"]):
                if run.ends_within(30):
                    return None
                run.kill()
                sys.exit(f"no image of {options.program}: {answer}")
            names = names + [answer[1]] if answer[0] == "delta" else [answer[1]]
            deltas += answer[0] == "delta"
    run.kill()
    subprocess.run([CKPT, "merge", *names, image], check=True, stdout=subprocess.DEVNULL)
    return deltas


def chained(options, out, image):
    """As interrupted(), with an image at each interruption that is made of a chain of them."""
    argv, deltas, folder, resumed = [CKPT, "run", "--", *options.program], 0, image + "s", False
    os.makedirs(folder, exist_ok=True)
    while True:
        run = Run(argv, out)
        while run.started.poll() is None and not (run.job() and (not resumed or is_begun(run.job(), image))):
            time.sleep(0.001)
        if run.ends_within(0):
            return run.started.returncode, deltas
        more = (packed_chain if options.packed else chain)(options, run, folder, image)
        if more is None:
            return run.started.returncode, deltas
        deltas, resumed = deltas + more, True
        argv = [image] + (["--lazy"] if options.lazy else [])


def in_the_middle(lives):
    """Was there work in each of three lives?"""
    return len(lives) == 3 and min(lives) > 0.05 * sum(lives)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=0, help="as many rounds as it takes for so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=0.5)
    parser.add_argument("--lazy", action="store_true")
    parser.add_argument("--leave", action="store_true")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--chain", type=int, default=0)
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--through")
    parser.add_argument("--die", action="store_true")
    parser.add_argument("--middle")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole")
        run = Run([CKPT, "run", "--", *options.program], whole)
        options.work = run.works(options.middle, float("inf")) if options.middle else 0
        status = run.started.wait()
        with open(whole, "rb") as text:
            expected = text.read()
        total, number, options.lives = 0, -1, []
        # One that came to its end before it was interrupted has shown nothing: again, then.
        while (not in_the_middle(options.lives) and number < 3 if options.middle else
               total < options.images if options.images > 0 else
               number + 1 < options.rounds or (total == 0 and number < 50)):
            number, options.lives = number + 1, []
            out, image = os.path.join(folder, f"out{number}"), os.path.join(folder, "image")
            way = chained if options.chain else beside if options.beside else interrupted
            ended, images = way(options, out, image)
            total += images
            with open(out, "rb") as text:
                got = text.read()
            if ended != status or got != expected:
                sys.exit(f"{options.program}, seed {options.seed}, round {number}, {images} images: status {ended} "
                         f"(wanted {status}), output\n{got!r}\nwanted\n{expected!r}")
        print(f"{' '.join(options.program)}: {number + 1} times, {total} images: as uninterrupted ({status})")
        if total == 0:
            sys.exit("it was never interrupted")
        if options.middle:
            print(f"{options.middle} worked for {', '.join(f'{life:.2f}' for life in options.lives)} s; {options.work:.2f} s alone")
            if not in_the_middle(options.lives):
                sys.exit("that is not the middle of its work")


if __name__ == "__main__":
    main()
