#!/usr/bin/env python3
"""Has a relinked program end with an image of itself (SIGTSTP) at random moments, runs the images, and looks whether it notices.

lib_relinked.py [--rounds N] [--seed S] [--every SECONDS] [--plain] PROGRAM [ARGUMENT...]

Output and exit status must be those of an uninterrupted run.  --plain: it is not started below `roost-ckpt run`.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time

from lib_checkpoint import job_of

CKPT = os.path.join(os.environ["ROOST_BIN"], "roost-ckpt")
ENDED = -signal.SIGUSR2


def takes_signals(pid, program):
    """Its library has begun, or the image's own program: before that SIGTSTP would stop it, or nothing would come of it."""
    if pid is None:
        return False
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("Name:") and line.split()[1] != os.path.basename(program)[:15]:
                    return False
                if line.startswith("SigBlk:"):
                    return int(line.split()[1], 16) >> (signal.SIGTSTP - 1) & 1 == 1
    except OSError:
        pass
    return False


def interrupted(options, out, image):
    """Runs it to its end, through images.  The status, and how many images there were."""
    argv, images = options.start, 0
    while True:
        with open(out, "ab") as output:
            run = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            run.wait(random.random() * options.every)
        except subprocess.TimeoutExpired:
            below = images == 0 and not options.plain
            while run.poll() is None and not takes_signals(job_of(run.pid) if below else run.pid, options.program[0] if below else argv[0]):
                time.sleep(0.001)
            if run.poll() is None:
                run.send_signal(signal.SIGTSTP)
            try:
                run.wait(60)
            except subprocess.TimeoutExpired:
                run.kill()
                sys.exit(f"{options.program}: neither an image nor the end in 60 s")
        if run.returncode != ENDED:
            return run.returncode, images
        images += 1
        argv = [image]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=0.3)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    options.start = options.program if options.plain else [CKPT, "run", "--", *options.program]
    random.seed(options.seed)
    image = os.path.basename(options.program[0]) + ".ckpt"
    os.environ["ROOST_CHECKPOINT_FILE"] = image
    whole = subprocess.run(options.program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    total = 0
    for number in range(options.rounds):
        out = f"{image}.out{number}"
        status, images = interrupted(options, out, "./" + image)
        total += images
        with open(out, "rb") as text:
            got = text.read()
        if status != whole.returncode or got != whole.stdout:
            sys.exit(f"{options.program}, seed {options.seed}, round {number}, {images} images: status {status} "
                     f"(wanted {whole.returncode}), output\n{got!r}\nwanted\n{whole.stdout!r}")
    print(f"{' '.join(options.program)}: {options.rounds} times, {total} images: as uninterrupted ({whole.returncode})")
    if total == 0:
        sys.exit("it was never interrupted")


if __name__ == "__main__":
    main()
