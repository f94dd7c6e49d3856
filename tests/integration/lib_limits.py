#!/usr/bin/env python3
"""What docs/LIMITS.md says that a user is told, against what is told: each message there is provoked, and the other way round.

lib_limits.py LIMITS.md DIRECTORY
lib_limits.py KIND DIRECTORY    the job itself: is what no image can be made of, says so, and ends when it is told

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import ctypes
import fcntl
import mmap
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import threading

import lib_checkpoint_refused  # which provokes what of dumps is not provoked here
from lib_checkpoint import CKPT, LONGEST, await_true, job_of

held = []  # until the end
ours = []  # processes that are ended then
LIBC = ctypes.CDLL(None, use_errno=True)
IO_URING_SETUP, PTRACE_TRACEME, SUBREAPER, CLONE_VM, CLONE_VFORK = 425, 0, 36, 0x100, 0x4000
MARK = bytes(range(64, 128)) * 40


def child(body):
    """A process that does that, and stays; when this returns, it has done it."""
    done, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        body()
        os.write(told, b"x")
        signal.pause()
        os._exit(0)
    ours.append(pid)
    os.read(done, 1)
    os.close(done)
    os.close(told)
    return pid


# ---- what the jobs are


def hold_namespace(_folder):
    stays = subprocess.Popen(["unshare", "--user", "--map-root-user", "cat"], stdin=subprocess.PIPE)
    ours.append(stays.pid)
    await_true("a namespace", lambda: os.readlink(f"/proc/{stays.pid}/ns/user") != os.readlink("/proc/self/ns/user"))


def hold_traced(_folder):
    child(lambda: LIBC.ptrace(PTRACE_TRACEME, 0, None, None))


def clone(flags):
    """A process that waits for a signal, with our memory."""
    stack = ctypes.create_string_buffer(1 << 16)
    held.append(stack)
    top = (ctypes.addressof(stack) + len(stack)) & ~0xFFF
    return LIBC.clone(ctypes.cast(LIBC.pause, ctypes.c_void_p), ctypes.c_void_p(top), flags | signal.SIGCHLD, None)


def hold_shared(_folder):
    ours.append(clone(CLONE_VM))


def hold_vfork(_folder):
    threading.Thread(target=clone, args=(CLONE_VM | CLONE_VFORK,), daemon=True).start()

    def is_there():
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children") as listed:
                ours.extend(int(word) for word in listed.read().split())
        return ours

    await_true("a child", is_there)


hold_vfork_followed = hold_vfork  # nothing that stays holds it, either


def hold_session(_folder):
    def between():
        LIBC.prctl(SUBREAPER, 1, 0, 0, 0)
        leader = os.fork()
        if leader == 0:
            os.setsid()
            child(lambda: None)
            os._exit(0)
        os.waitpid(leader, 0)

    child(between)


def hold_memory(_folder):
    LIBC.shmat.restype = ctypes.c_void_p
    number = LIBC.shmget(0, 4096, 0o1600)
    LIBC.shmat(number, None, 0)
    LIBC.shmctl(number, 0, None)  # gone when we are


def hold_ring(_folder):
    if LIBC.syscall(IO_URING_SETUP, 4, ctypes.create_string_buffer(120)) < 0:
        print("not here", flush=True)
        os._exit(3)


def hold_device(_folder):
    held.append(os.open("/dev/fuse", os.O_RDWR))


def hold_network(_folder):
    held.append(socket.create_server(("127.0.0.1", 0)))


def hold_pipe(folder):
    with socket.socket(socket.AF_UNIX) as teller:
        teller.connect(os.path.join(folder, "teller"))
        held.extend(socket.recv_fds(teller, 1, 1)[1])


def hold_file(folder):
    with open(os.path.join(folder, "read"), "wb") as written:
        written.write(bytes(8192))
    held.append(os.open(os.path.join(folder, "read"), os.O_RDONLY))
    os.read(held[0], 8000)


def hold_numbers(_folder):
    """Such as are not allowed where it is resumed."""
    held.append(os.dup2(0, 300))


def hold_gone(folder):
    held.append(os.open(os.path.join(folder, "gone"), os.O_RDWR | os.O_CREAT))


def hold_other(folder):
    held.append(os.open(os.path.join(folder, "other"), os.O_RDWR | os.O_CREAT))


def hold_folder(folder):
    os.mkdir(os.path.join(folder, "folder"))
    os.chdir(os.path.join(folder, "folder"))


LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def hold_mapped(folder):
    """And not open, as with Python's own."""
    with open(os.path.join(folder, "mapped"), "w+b") as file:
        file.truncate(4096)
        if LIBC.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0) == -1:
            os._exit(4)


def hold_locked(folder):
    held.append(open(os.path.join(folder, "locked"), "wb"))
    fcntl.lockf(held[0], fcntl.LOCK_EX)


def hold_waiting(_folder):
    """In a pipe: a mark by which it is found in the image."""
    held.extend(os.pipe())
    os.write(held[1], MARK)


def hold_removed(folder):
    with open(os.path.join(folder, "removed"), "w+b", buffering=0) as file:
        file.write(MARK)
        held.append(os.dup(file.fileno()))
    os.unlink(os.path.join(folder, "removed"))


def hold_cut(_folder):
    pass


hold_tables = hold_users = hold_cut


def hold_terminal(folder):
    with socket.socket(socket.AF_UNIX) as teller:
        teller.connect(os.path.join(folder, "teller"))
        held.extend(socket.recv_fds(teller, 1, 1)[1])


def hold_unread(_folder):
    held.extend(pty.openpty())
    os.write(held[1], b"x")


# ---- what is done to a job that was saved, before it is resumed


def spoil(image, at):
    with open(image, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0xFF]))


def spoil_mark(folder, image):
    with open(image, "rb") as file:
        places = [found.start() for found in re.finditer(re.escape(MARK), file.read())]
    for place in places:
        if place % 4096 == 0:  # of memory it is anywhere
            spoil(image, place)


def spoil_tables(_folder, image):
    with open(image, "rb") as file:
        spoil(image, file.read().rfind(b"ROOSTCK\x01") + 64)


def lock_it(folder, _image):
    held.append(open(os.path.join(folder, "locked"), "r+b"))
    fcntl.lockf(held[-1], fcntl.LOCK_EX)


def be_other(folder, _image):
    os.unlink(os.path.join(folder, "other"))
    os.mkfifo(os.path.join(folder, "other"))


RESUMED = {
    "file": lambda folder, _: os.truncate(os.path.join(folder, "read"), 100),
    "numbers": lambda *_: None,
    "users": lambda *_: None,
    "gone": lambda folder, _: os.unlink(os.path.join(folder, "gone")),
    "other": be_other,
    "mapped": lambda folder, _: os.unlink(os.path.join(folder, "mapped")),
    "folder": lambda folder, _: os.rmdir(os.path.join(folder, "folder")),
    "locked": lock_it,
    "waiting": spoil_mark,
    "removed": spoil_mark,
    "cut": lambda _, image: os.truncate(image, os.path.getsize(image) - 1),
    "tables": spoil_tables,
}
ALLOWED = {"numbers": ["prlimit", "--nofile=200"], "users": ["prlimit", "--nproc=1"]}


SLOW = ["vfork", "vfork_followed", "shared", "locked"]  # are tried for ten seconds
KINDS = {name[5:]: value for name, value in globals().items() if name.startswith("hold_")}
# What takes another processor: integration.ckpt_move provokes some of it, and limits.sh compares the words; or a loss while it is
# resumed: lib_checkpoint_resumed.py.
ELSEWHERE = re.compile("lacks features that the job|has more registers than|shadow stacks|was killed during the resume|more bytes than a new pipe|which locks the file has|share .kcmp")


def be_job(kind, folder):
    KINDS[kind](os.path.abspath(folder))
    print("held", flush=True)
    sys.stdin.readline()
    print("went on", flush=True)
    for pid in ours:
        os.kill(pid, signal.SIGKILL)
    os._exit(3)


# ---- what is said of them


def follow(job, folder):
    """As dump(); the input stays open, and what follows the job ends nevertheless."""
    with subprocess.Popen([CKPT, "follow", str(job), folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as follower:
        follower.stdin.write("image\n")
        follower.stdin.flush()
        answer = follower.stdout.readline().split(maxsplit=1)
        follower.wait(LONGEST)
    return int(answer[0] == "failed"), answer[1].strip()


def dump(job, image):
    made = subprocess.run([CKPT, "dump", str(job), image, "--kill"], capture_output=True, text=True)
    return made.returncode, made.stderr.strip()


def said_of(kind, folder):
    """None: there is no such thing here."""
    folder = os.path.join(folder, kind)
    os.mkdir(folder)
    if kind == "32bits":
        return said_of_32_bits(folder)
    argv = [CKPT, "run", "--", "/usr/bin/python3", os.path.abspath(__file__), kind, folder]
    ends = pty.openpty() if kind == "terminal" else os.pipe()
    teller = socket.socket(socket.AF_UNIX)
    if kind in ("pipe", "terminal"):
        teller.bind(os.path.join(folder, "teller"))
        teller.listen()
    job = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if kind in ("pipe", "terminal"):
        connection, _ = teller.accept()
        socket.send_fds(connection, [b"x"], [ends[1]])
        connection.close()
    said = job.stdout.readline()
    if said == "not here\n":
        job.wait()
        return None
    if said != "held\n":
        sys.exit(f"{kind}: not held: {said!r}")
    if kind.endswith("_followed"):
        status, message = follow(job_of(job.pid), folder)
    else:
        status, message = dump(job_of(job.pid), os.path.join(folder, "image"))
    if kind in RESUMED:  # these are taken, and cannot be resumed
        job.wait()
        RESUMED[kind](folder, os.path.join(folder, "image"))
        resumed = subprocess.run([*ALLOWED.get(kind, []), os.path.join(folder, "image")], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if (status, resumed.returncode) != (0, 125):
            sys.exit(f"{kind}: {status}, {message}; {resumed.returncode}, {resumed.stderr}")
        return resumed.stderr.strip()
    out, _ = job.communicate("go\n", timeout=LONGEST)
    if status != 1 or (job.returncode, out) != (3, "went on\n"):
        sys.exit(f"{kind}: dump {status}, {message}; then {job.returncode}, {out!r}")
    for end in ends:
        os.close(end)
    return message


def said_of_32_bits(folder):
    """Of a program of our own that waits for a signal: pause(); again."""
    code = b"\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7"
    base, size = 0x8048000, 84 + len(code)
    head = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    path = os.path.join(folder, "bits32")
    with open(path, "wb") as program:
        program.write(head + struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 4096) + code)
    os.chmod(path, 0o755)
    job = subprocess.Popen([CKPT, "run", "--", path], stderr=subprocess.PIPE, text=True)

    def is_there():
        number = job_of(job.pid)
        if job.poll() is not None or number is None:
            return job.poll() is not None
        with open(f"/proc/{number}/comm") as comm:
            return comm.read() == "bits32\n"

    await_true("a program of 32 bits", is_there)
    if job.poll() is not None:
        return None  # not on this kernel
    _, message = dump(job_of(job.pid), os.path.join(folder, "image"))
    if job.poll() is not None:
        sys.exit(f"32 bits: {message}; it ended")
    job.kill()
    job.wait()
    return message


def pattern(text):
    """What a message of the page may be: its numbers are an example's."""
    text = re.escape(text)
    for example, any_such in ((r"process\\? \d+", r"process \\d+"), (r"(thread|descriptor)\\? \d+", r"\1 \\d+"), (r"\\\[\d+\\\]", r"\\[\\d+\\]"),
                              (r"[0-9a-f]{8,}\\-[0-9a-f]{8,}", "[0-9a-f]+-[0-9a-f]+"), (r"SYSV\d{8}", "SYSV[0-9a-f]{8}"), (r"0x[0-9a-f]+", "0x[0-9a-f]+"), (r"/dev/pts/\d+", r"/dev/pts/\\d+"),
                              (r"PATH", r"\\S+")):
        text = re.sub(example, any_such, text)
    return text


def main():
    if sys.argv[1] in KINDS:
        be_job(sys.argv[1], sys.argv[2])
    with open(sys.argv[1]) as page:
        listed = [text for text in re.findall(r"`([^`\n]+)`", page.read()) if re.match(r"process \d+[: ]|cannot resume: ", text)]
    open_ones, kinds = list(listed), [*SLOW, *(set(KINDS) - set(SLOW)), "32bits"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        said = dict(zip(kinds, pool.map(lambda kind: said_of(kind, os.path.abspath(sys.argv[2])), kinds)))
    for kind in kinds:
        if said[kind] is None:
            print(f"{kind}: not on this machine")
            continue
        fits = [text for text in listed if re.search(pattern(text) + "$", said[kind])]
        if not fits or "\n" in said[kind]:
            sys.exit(f"{kind}: it is not on the page: {said[kind]}")
        open_ones = [text for text in open_ones if text not in fits]
    absent = sum(message is None for message in said.values())
    refused = [re.compile(text) for text in lib_checkpoint_refused.REFUSALS.values()]
    open_ones = [text for text in open_ones if not ELSEWHERE.search(text) and not any(each.search(text) for each in refused)]
    if len(open_ones) > absent or len(listed) < len(KINDS):
        sys.exit(f"nobody is told that: {open_ones}; of {listed}")
    print(f"{len(listed)} messages: as they are said")


if __name__ == "__main__":
    main()
