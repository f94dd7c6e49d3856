#!/usr/bin/env python3
"""The disk is full, at each write of an image: one clear error, the image that was there stays as it was, the job goes on.

lib_checkpoint_full.py LIBRARY DIRECTORY    LIBRARY: preloaded/checkpoint_dying.c; DIRECTORY: of 48 MiB, and empty

By failing calls; by a disk that is really full, which is seen before, or only when the job writes its own pages; by a limit
of the size of files.

SPDX-License-Identifier: Apache-2.0
"""
import os
import resource
import subprocess
import sys

from lib_checkpoint import CKPT, Run

MIB = 1 << 20
# More memory than there is room on the disk.
FAT = ["/usr/bin/python3", "-c", "import os, sys; fat = os.urandom(64 << 20); print(sum(fat) > 0, flush=True); sys.stdin.read(1)"]
WAITING = ["/usr/bin/python3", "-c", "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)"]


def dump(library, job, image, how="--leave-running", before=None, **settings):
    environ = dict(os.environ, LD_PRELOAD=library, **{name: str(value) for name, value in settings.items()})
    return subprocess.run([CKPT, "dump", str(job), image, how], env=environ, capture_output=True, text=True, preexec_fn=before)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def refused(made, text, folder, names, what):
    if made.returncode != 1 or text not in made.stderr or made.stderr.count("\n") != 1:
        sys.exit(f"{what}: {made.returncode}, {made.stderr!r}")
    if sorted(os.listdir(folder)) != names:
        sys.exit(f"{what}: left {os.listdir(folder)}")


def each_write(library, folder):
    """Of a job that it has room for.  How many writes there are."""
    go = folder + ".go"
    image, out = os.path.join(folder, "image"), os.path.join(folder, "out")
    for how in "--leave-running", "--kill":
        run = Run([CKPT, "run", "--", *WAITING, go], out)
        if dump(library, run.job(), image).returncode != 0:
            sys.exit("no first image")
        old, at = content(image), 1
        while True:
            made = dump(library, run.job(), image, how, FAILING_AT=at)
            if made.returncode == 0:
                break
            refused(made, "No space left on device", folder, ["image", "out"], f"{how}, write {at}")
            renamed = "cannot write the directory of" in made.stderr  # whether that is durable is not known
            if (content(image) != old) != renamed or run.started.poll() is not None:
                sys.exit(f"{how}, write {at}: the old image or the job is not there any more")
            old, at = content(image), at + 1
        open(go, "x").close()
        if (run.started.wait(60) == 0) != (how == "--leave-running"):
            sys.exit(f"{how}: {run.started.returncode}")
        if how == "--kill" and Run([image], out).started.wait(60) != 0:
            sys.exit("the image is of no use")
        os.unlink(image)
        os.unlink(out)
        os.unlink(go)
    return at - 1


def really_full(library, folder):
    image = os.path.join(folder, "image")
    with open(image, "wb") as old:
        old.write(b"old")
    job = subprocess.Popen([CKPT, "run", "--", *FAT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if job.stdout.readline() != b"True\n":
        sys.exit("the fat job did not begin")
    with open(f"/proc/{job.pid}/task/{job.pid}/children") as keeper:
        number = keeper.read().strip()
    with open(f"/proc/{number}/task/{number}/children") as inner:
        number = inner.read().strip()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MIB, 2 * MIB))

    for how in "--leave-running", "--kill":
        refused(dump(library, number, image, how), "the disk lacks", folder, ["image"], f"{how}, a full disk")
        refused(dump(library, number, image, how, ROOMY=1), "No space left on device", folder, ["image"],
                f"{how}, a disk that became full")
        refused(dump(library, number, "/dev/shm/" + os.path.basename(folder), how, before=limit), "File too large", folder, ["image"],
                f"{how}, a limit of the size")
        if content(image) != b"old":
            sys.exit(f"{how}: the old image is not there any more")
    job.communicate(b"x", timeout=60)
    if job.returncode != 0:
        sys.exit(f"the fat job did not go on: {job.returncode}")


def main():
    library, folder = sys.argv[1:]
    count = each_write(library, folder)
    really_full(library, folder)
    print(f"a full disk, at each of {count} writes, and when the job writes: the old image, and the job, are as they were")


if __name__ == "__main__":
    main()
