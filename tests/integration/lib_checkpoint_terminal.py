#!/usr/bin/env python3
"""A job on a terminal, which it has open by three names, goes on at another one; and then at none.

lib_checkpoint_terminal.py DIRECTORY

SPDX-License-Identifier: Apache-2.0
"""
import os
import pty
import subprocess
import sys

from lib_checkpoint import CKPT, job_of

JOB = r"""
import os, sys
own, named, twin = os.open("/dev/tty", os.O_RDWR), os.open(os.ttyname(0), os.O_RDWR | os.O_NOCTTY), os.dup(1)
os.write(own, b"ready\n")
word = sys.stdin.readline()
for fd, text in ((own, b"own\n"), (named, b"named\n"), (twin, b"twin\n")):
    os.write(fd, text)
print(word.strip(), *map(os.isatty, (0, own, named, twin)), flush=True)
"""


def start(argv):
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(argv[0], argv)
    return pid, fd


def read_until(fd, end, out=b""):
    while end not in out:
        try:
            more = os.read(fd, 1000)
        except OSError:  # the terminal is closed
            more = b""
        if more == b"":
            sys.exit(f"no {end} in {out}")
        out += more
    return out


def main():
    image = os.path.join(sys.argv[1], "image")
    pid, fd = start([CKPT, "run", "--", "/usr/bin/python3", "-c", JOB])
    read_until(fd, b"ready\r\n")
    subprocess.run([CKPT, "dump", str(job_of(pid)), image, "--kill"], check=True, stdout=subprocess.DEVNULL)
    os.waitpid(pid, 0)
    os.close(fd)
    pid, fd = start([image])
    os.write(fd, b"word\n")
    out = read_until(fd, b"True\r\n")
    if not out.endswith(b"own\r\nnamed\r\ntwin\r\nword True True True True\r\n"):
        sys.exit(f"at another terminal: {out}")
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit("at another terminal: it failed")
    made = subprocess.run(["setsid", image], input=b"word\n", capture_output=True, check=True)
    if (made.stdout, made.stderr) != (b"twin\nword False False False False\n", b"own\nnamed\n"):
        sys.exit(f"at none: {made}")
    print("at other terminals: as uninterrupted")


if __name__ == "__main__":
    main()
