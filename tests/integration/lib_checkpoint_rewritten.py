#!/usr/bin/env python3
"""A file that a job has mapped for itself is rewritten between two images: what the job sees is in the second, which holds
what changed only.

lib_checkpoint_rewritten.py DIRECTORY
lib_checkpoint_rewritten.py job DIRECTORY    the job itself

SPDX-License-Identifier: Apache-2.0
"""
import mmap
import os
import subprocess
import sys
import time

from lib_checkpoint import CKPT, ask, job_of

BYTES = 3 * mmap.PAGESIZE


def write(path, byte):
    with open(path, "r+b" if os.path.exists(path) else "wb") as file:
        file.write(byte * BYTES)


def be_job(path):
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), BYTES, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    for _ in range(2):
        print(memory[0:1] + memory[BYTES - 1:BYTES], flush=True)
        sys.stdin.readline()


def main():
    folder = os.path.abspath(sys.argv[-1])
    path, image = os.path.join(folder, "mapped"), os.path.join(folder, "image")
    if len(sys.argv) == 3:
        return be_job(path)
    write(path, b"1")
    argv = [CKPT, "run", "--", "/usr/bin/python3", os.path.abspath(__file__), "job", folder]
    job = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if job.stdout.readline() != "b'11'\n":
        sys.exit("it does not see what it has mapped")
    while time.time() < os.stat(path).st_ctime + 0.03:  # a time that is believed is older than the clock's tick
        time.sleep(0.001)
    follower = subprocess.Popen([CKPT, "follow", str(job_of(job.pid)), folder], text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
    with follower:
        first = ask(follower, "image")
        write(path, b"2")
        second = ask(follower, "kill")
    if first[0] != "whole" or second[0] != "delta":
        sys.exit(f"not one whole and one delta: {first}, {second}")
    subprocess.run([CKPT, "merge", first[1], second[1], image], check=True, stdout=subprocess.DEVNULL)
    job.communicate()
    resumed = subprocess.run([image], input="\n\n", capture_output=True, text=True)
    if (resumed.returncode, resumed.stdout) != (0, "b'22'\n"):
        sys.exit(f"it sees what was there before: {resumed.returncode}, {resumed.stdout!r}, {resumed.stderr}")
    print("a file that was rewritten: as the job saw it")


if __name__ == "__main__":
    main()
