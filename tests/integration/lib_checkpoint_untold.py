#!/usr/bin/env python3
"""What a dump has to ask, and is not answered.

A file system answers, when it is asked which locks a file has: that it knows no such question, and there is an image; or
an error, and there is none, as there may be locks that it would not hold.

lib_checkpoint_untold.py DIRECTORY

The file is one in memory, of a file system that is asked.  The answer is that of a filter of system calls, which the job is
started with.  A place (O_PATH) is not asked.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import os
import re
import struct
import subprocess
import sys
import tempfile

from lib_checkpoint import CKPT, job_of

IOCTL, KCMP = 16, 312
ASK = 2 << 30 | 2408 << 16 | ord("R") << 8 | 0x4C  # base/file_locks.h
JOB = """import os, sys
held = [os.memfd_create("first")] + [os.open(name, os.O_PATH) for name in sys.argv[1:]]
os.write(1, b"held\\n")
os.read(0, 1)
os.write(1, b"went on\\n")
os._exit(3)"""
UNKNOWN = [errno.ENOTTY, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP]
ERRORS = [errno.EACCES, errno.EPERM, errno.EBADF, errno.ENOTCONN, errno.EIO, errno.ENOMEM]
libc = ctypes.CDLL(None, use_errno=True)


def answer(number, call=IOCTL, word=ASK):
    """To that question, the second word of that call (None: any); what else the process does is let through."""
    asked = ((0x20, 0, 0, 24), (0x15, 0, 1, word)) if word is not None else ()
    codes = ((0x20, 0, 0, 0), (0x15, 0, len(asked) + 1, call), *asked, (0x06, 0, 0, 0x50000 | number), (0x06, 0, 0, 0x7FFF0000))
    kept = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *code) for code in codes))
    program = struct.pack("HxxxxxxQ", len(codes), ctypes.addressof(kept))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def begin(argv, number=0):
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            preexec_fn=(lambda: answer(number)) if number else None)


def ends_well(job, name):
    out, _ = job.communicate("go\n", timeout=60)
    if job.returncode != 3 or out != "went on\n":
        sys.exit(f"{name}: it did not go on: {job.returncode}, {out}")


def check(number, image, *places):
    name = errno.errorcode.get(number, "no filter")
    job = begin([CKPT, "run", "--", "/usr/bin/python3", "-c", JOB, *places], number)
    if job.stdout.readline() != "held\n":
        sys.exit(f"{name}: not held")
    dump = subprocess.run([CKPT, "dump", str(job_of(job.pid)), image, "--kill"], capture_output=True, text=True, timeout=60)
    if number not in ERRORS:
        if dump.returncode != 0:
            sys.exit(f"{name}: {dump.returncode}, {dump.stderr}")
        job.communicate(timeout=60)
        ends_well(begin([image]), name)
        os.unlink(image)
        return
    wanted = rf"roost-ckpt: process \d+: descriptor \d+, /memfd:first \(deleted\): cannot find out which locks the file has: {os.strerror(number)}\n"
    if dump.returncode != 1 or not re.fullmatch(wanted, dump.stderr) or os.path.exists(image):
        sys.exit(f"{name}: {dump.returncode}, {dump.stderr}")
    ends_well(job, name)


def no_kcmp(image):
    """Who makes the image may not ask which descriptors are one open file, as in some containers."""
    job = begin([CKPT, "run", "--", "/usr/bin/python3", "-c", JOB])
    if job.stdout.readline() != "held\n":
        sys.exit("no kcmp: not held")
    dump = subprocess.run([CKPT, "dump", str(job_of(job.pid)), image, "--kill"], capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: answer(errno.EPERM, KCMP, None))
    wanted = r"roost-ckpt: process \d+: cannot find out what its threads and descriptors share \(kcmp\): Operation not permitted\n"
    if dump.returncode != 1 or not re.fullmatch(wanted, dump.stderr) or os.path.exists(image):
        sys.exit(f"no kcmp: {dump.returncode}, {dump.stderr}")
    ends_well(job, "no kcmp")


def main():
    image = os.path.join(os.path.abspath(sys.argv[1]), "image")
    for number in UNKNOWN + ERRORS:
        check(number, image)
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as place:  # it has no locks, and would answer EBADF
        check(0, image, place.name)
    no_kcmp(image)
    print(f"{len(UNKNOWN)} answers that there is no such question, {len(ERRORS)} errors, one that was not asked")


if __name__ == "__main__":
    main()
