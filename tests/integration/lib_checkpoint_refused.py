#!/usr/bin/env python3
"""Jobs that hold what no image can hold: each is refused, by name, and goes on as if nothing had been.

lib_checkpoint_refused.py DIRECTORY
lib_checkpoint_refused.py KIND DIRECTORY    the job itself: holds it, says so, and ends when it is told

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import socket
import subprocess
import sys

from lib_checkpoint import CKPT, job_of

held = []  # until the end


def hold(kind, folder):
    path = os.path.join(folder, kind)
    if kind == "network":
        held.append(socket.create_server(("127.0.0.1", 0)))
    elif kind == "named":
        held.append(socket.socket(socket.AF_UNIX))
        held[0].bind(path)
    elif kind == "alone":
        held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    elif kind == "sent":
        held.extend(socket.socketpair())
        socket.send_fds(held[0], [b"x"], [0])
    elif kind == "terminal":
        held.append(os.open("/dev/ptmx", os.O_RDWR))
    elif kind == "lease":
        held.append(os.open(path, os.O_RDONLY | os.O_CREAT))
        fcntl.fcntl(held[0], fcntl.F_SETLEASE, fcntl.F_RDLCK)
    elif kind == "folder":
        os.mkdir(path)
        held.append(os.open(path, os.O_RDONLY))
        os.rmdir(path)
    elif kind == "working":
        os.mkdir(path)
        os.chdir(path)
        os.rmdir(path)
    elif kind == "place":
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT))
        held.append(os.open(path, os.O_PATH))
        os.unlink(path)
    elif kind == "moved":
        os.mkdir(path)
        held.append(os.open(path + "/one", os.O_RDWR | os.O_CREAT))
        os.link(path + "/one", path + ".two")
        os.unlink(path + "/one")
    elif kind == "fifo":
        held.append(os.open(path, os.O_RDONLY))
    elif kind == "process":
        held.append(os.pidfd_open(1))
    elif kind == "huge":
        held.append(os.memfd_create("huge", os.MFD_HUGETLB))


REFUSALS = {
    "network": "a socket of the network is not saved",
    "named": "a socket that has a name is not saved",
    "alone": "a socket that is not connected is not saved",
    "sent": "descriptors are on their way through it",
    "terminal": "/dev/ptmx: a device is not saved",
    "lease": "lease: a lease is not saved",
    "folder": "folder (deleted): a removed directory is not saved",
    "working": "working (deleted), is removed",
    "place": "place (deleted): it was removed",
    "moved": "one (deleted): this name of it was removed, and where it has another one is not known",
    "fifo": "fifo: the other end of the pipe is another process's",
    "process": "it is of a process that is not the job's",
    "huge": "a file of huge pages is not saved",
}


def refuse(kind, folder, text):
    argv = [CKPT, "run", "--", "/usr/bin/python3", os.path.abspath(__file__), kind, folder]
    if kind == "fifo":
        os.mkfifo(os.path.join(folder, kind))
    job = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other = os.open(os.path.join(folder, kind), os.O_WRONLY) if kind == "fifo" else -1
    said = job.stdout.readline()
    if said != "held\n":
        sys.exit(f"{kind}: not held: {said}")
    image = os.path.join(folder, "image")
    made = subprocess.run([CKPT, "dump", str(job_of(job.pid)), image, "--kill"], capture_output=True, text=True)
    named = "working" if kind == "working" else "descriptor "
    if made.returncode != 1 or text not in made.stderr or named not in made.stderr or "\n" in made.stderr[:-1]:
        sys.exit(f"{kind}: {made.returncode}, {made.stderr}")
    if [name for name in os.listdir(folder) if name.startswith("image")]:
        sys.exit(f"{kind}: left {os.listdir(folder)}")
    out, _ = job.communicate("go\n", timeout=60)
    if job.returncode != 3 or out != "went on\n":
        sys.exit(f"{kind}: it did not go on: {job.returncode}, {out}")
    if other >= 0:
        os.close(other)


def main():
    if len(sys.argv) == 3:
        hold(sys.argv[1], os.path.abspath(sys.argv[2]))
        print("held", flush=True)
        sys.stdin.readline()
        print("went on", flush=True)
        os._exit(3)
    for kind, text in REFUSALS.items():
        refuse(kind, sys.argv[1], text)
    print(f"{len(REFUSALS)} kinds: refused, and went on")


if __name__ == "__main__":
    main()
