#!/usr/bin/env python3
"""Jobs that hold what no image can hold: each is refused, by name, and goes on as if nothing had been.

lib_checkpoint_refused.py DIRECTORY
lib_checkpoint_refused.py KIND DIRECTORY    the job itself: holds it, says so, and ends when it is told

The table is that of docs/LIMITS.md, and what else a dump refuses: but a shadow stack, protection by the processor of which
few have.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import fcntl
import os
import pty
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from lib_checkpoint import CKPT, job_of

AT_ONCE = 8  # most of the slow ones wait: for what may be over in a moment
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
held = []  # until the end


def must(result, what):
    if result is None or result < 0:
        raise OSError(ctypes.get_errno(), what)
    return result


def call(number, *words):
    return must(libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) if isinstance(word, int) else word for word in words]),
                f"system call {number}")


def child(do):
    """One that does that, then waits for its end, which is that of the job."""
    ready, done = os.pipe()
    if os.fork() == 0:
        libc.prctl(1, signal.SIGKILL)
        do()
        os.write(done, b"x")
        os.close(done)
        time.sleep(1000)
    os.read(ready, 1)
    os.close(ready)
    os.close(done)


def thread(do):
    ready = threading.Event()

    def run():
        do()
        ready.set()
        time.sleep(1000)

    threading.Thread(target=run, daemon=True).start()
    ready.wait()


# ---- descriptors

def network(_):
    held.append(socket.create_server(("127.0.0.1", 0)))


def named(path):
    held.append(socket.socket(socket.AF_UNIX))
    held[0].bind(path)


def alone(_):
    held.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))


def sent(_):
    held.extend(socket.socketpair())
    socket.send_fds(held[0], [b"x"], [0])


def empty(_):
    held.extend(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    held[0].send(b"")
    held[0].send(b"x")


def connected(path):
    held.append(socket.socket(socket.AF_UNIX))
    held[0].connect(path + ".door")


def unread(_):
    held.extend(pty.openpty())
    os.write(held[1], b"x")


def lease(path):
    held.append(os.open(path, os.O_RDONLY | os.O_CREAT))
    fcntl.fcntl(held[0], fcntl.F_SETLEASE, fcntl.F_RDLCK)


def folder(path):
    os.mkdir(path)
    held.append(os.open(path, os.O_RDONLY))
    os.rmdir(path)


def working(path):
    os.mkdir(path)
    os.chdir(path)
    os.rmdir(path)


def place(path):
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT))
    held.append(os.open(path, os.O_PATH))
    os.unlink(path)


def moved(path):
    os.mkdir(path)
    held.append(os.open(path + "/one", os.O_RDWR | os.O_CREAT))
    os.link(path + "/one", path + ".two")
    os.unlink(path + "/one")


def fifo(path):
    held.append(os.open(path, os.O_RDONLY))


def process(_):
    held.append(os.pidfd_open(1))


def huge(_):
    held.append(os.memfd_create("huge", os.MFD_HUGETLB))


def ring(_):
    held.append(call(425, 4, ctypes.create_string_buffer(256)))


def watched(path):
    """An epoll watches what only another process has open by now."""
    held.append(libc.epoll_create1(0))
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(path + ".door")
        _, fds, _, _ = socket.recv_fds(door, 1, 1)
    must(libc.epoll_ctl(held[0], 1, fds[0], struct.pack("=IQ", 1, 7)), "epoll_ctl")
    os.close(fds[0])


def unnamed(path):
    held.extend((libc.inotify_init1(0), os.open(path, os.O_RDWR | os.O_CREAT)))
    must(libc.inotify_add_watch(held[0], path.encode(), 2), "inotify_add_watch")
    os.unlink(path)


def unread(path):
    held.extend((libc.inotify_init1(0), os.open(path, os.O_RDWR | os.O_CREAT)))
    must(libc.inotify_add_watch(held[0], path.encode(), 2), "inotify_add_watch")
    os.write(held[1], b"x")


# ---- mappings

def system_v(_):
    number = must(libc.shmget(0, 4096, 0o1600), "shmget")
    held.append(libc.shmat(number, None, 0))
    libc.shmctl(number, 0, None)


def asynchronous(_):
    call(206, 64, ctypes.byref(ctypes.c_ulong(0)))


def secret(_):
    fd = call(447, 0)
    os.ftruncate(fd, 4096)
    held.append(libc.mmap(None, 4096, 3, 1, fd, 0))
    ctypes.memset(held[0], 1, 4096)
    os.close(fd)


def ring_memory(_):
    fd = call(425, 4, ctypes.create_string_buffer(256))
    held.append(libc.mmap(None, 4096, 3, 1, fd, 0))
    os.close(fd)


# ---- processes

def namespace(_):
    child(lambda: must(libc.unshare(0x10000000), "unshare"))


def debugged(_):
    child(lambda: must(libc.ptrace(0, 0, None, None), "ptrace"))


def shared(_):
    """A child with the same descriptors."""
    if call(56, 0x400 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        libc.prctl(1, signal.SIGKILL)
        time.sleep(1000)


def stuck(path):
    """As between vfork and exec: posix_spawn() waits for a child that waits for a reader."""
    actions, words = ctypes.create_string_buffer(256), (ctypes.c_char_p * 2)(b"true", None)
    os.mkfifo(path)
    libc.posix_spawn_file_actions_init(actions)
    libc.posix_spawn_file_actions_addopen(actions, 1, path.encode(), os.O_WRONLY, 0)
    held.extend((actions, words, threading.Thread(target=libc.posix_spawn, daemon=True, args=(
        ctypes.byref(ctypes.c_int()), b"/bin/true", actions, None, words, words))))
    held[-1].start()
    while not any(state(tid) == "D" for tid in os.listdir("/proc/self/task")):
        time.sleep(0.001)


def state(tid):
    with open(f"/proc/self/task/{tid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def session(_):
    libc.prctl(36, 1)
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            libc.prctl(1, 0)
            os.close(ready)
            held.append(done)
            while os.getppid() != 1 and os.path.exists(f"/proc/{os.getppid()}/task"):
                os.write(done, b"x")
                time.sleep(1000)
        os.read(ready, 1)
        os._exit(0)
    os.wait()
    os.close(ready)
    os.close(done)


def first_thread(_):
    """Of a child: it has ended, and another one goes on."""
    def end():
        threading.Thread(target=time.sleep, args=(1000,)).start()
        os.write(held[1], b"x")
        libc.prctl(1, signal.SIGKILL)
        libc.pthread_exit(None)

    held.extend(os.pipe())
    if os.fork() == 0:
        end()
    os.read(held[0], 1)
    os.close(held[0])
    os.close(held[1])


def thread_folder(_):
    thread(lambda: must(libc.unshare(0x200), "unshare"))


def thread_files(_):
    thread(lambda: must(libc.unshare(0x400), "unshare"))


def dispatched(_):
    held.append(ctypes.create_string_buffer(1))
    must(libc.prctl(59, 1, ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.byref(held[0])), "prctl")


def filtered(_):
    """It would end a process that asks for its timers, as a dump makes it do."""
    codes = ((0x20, 0, 0, 0), (0x15, 0, 1, 36), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000))
    held.append(ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *code) for code in codes)))
    program = struct.pack("HxxxxxxQ", len(codes), ctypes.addressof(held[0]))
    libc.prctl(38, 1, 0, 0, 0)
    must(libc.prctl(22, 2, program, 0, 0), "prctl")


def strict(_):
    must(libc.prctl(22, 1, 0, 0, 0), "prctl")


def old(path):
    """A program of 32 bits: it waits for nothing, for ever."""
    code = bytes.fromhex("b81d000000cd80ebf7")  # pause()
    head = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    head += struct.pack("<8I", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 4096)
    with open(path, "wb") as program:
        program.write(head + code)
    os.chmod(path, 0o755)
    started = subprocess.Popen([path], preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))
    held.append(started)
    while os.readlink(f"/proc/{started.pid}/exe") != path:
        time.sleep(0.001)


REFUSALS = {
    network: r": descriptor \d+, socket:\[\d+\]: network sockets are not supported",
    named: r": descriptor \d+, socket:\[\d+\]: sockets with a name are not supported",
    alone: r": descriptor \d+, socket:\[\d+\]: sockets that are not connected are not supported",
    sent: r": descriptor \d+, socket:\[\d+\]: descriptors are being passed through the socket",
    empty: r": descriptor \d+, socket:\[\d+\]: an empty message waits in the socket; try again",
    connected: r": descriptor \d+, socket:\[\d+\]: the socket is connected to a process outside of the job",
    unread: r": descriptor \d+, /dev/ptmx: the terminal has input that is not read yet; try again",
    lease: r": descriptor \d+, .*/lease: file leases are not supported",
    folder: r": descriptor \d+, .*/folder \(deleted\): removed directories are not supported",
    working: r": its working directory .*/working \(deleted\) was removed",
    place: r": descriptor \d+, .*/place \(deleted\): the file was removed, and the descriptor cannot be read \(O_PATH\)",
    moved: r": descriptor \d+, .*/one \(deleted\): this name of the file was removed, and no other name of it was found",
    fifo: r": descriptor \d+, .*/fifo: a process outside of the job has the other end of the pipe",
    process: r": descriptor \d+, anon_inode:\[pidfd\]: the pidfd refers to a process outside of the job",
    huge: r": descriptor \d+, /memfd:huge \(deleted\): files on huge pages are not supported",
    ring: r": descriptor \d+, anon_inode:\[io_uring\]: descriptors of this kind are not supported",
    watched: r": descriptor \d+, anon_inode:\[eventpoll\]: the epoll watches a file that no process of the job has open",
    unnamed: r": descriptor \d+, anon_inode:inotify: cannot find a name for a watched file \(inode \d+\)",
    unread: r": descriptor \d+, anon_inode:inotify: the inotify has events that are not read yet; try again",
    system_v: r": mapping [0-9a-f]+-[0-9a-f]+ of /SYSV00000000 \(deleted\): System V shared memory is not supported",
    asynchronous: r": mapping [0-9a-f]+-[0-9a-f]+ of /\[aio\] \(deleted\): kernel asynchronous I/O \(io_setup\) is not supported",
    secret: r": mapping [0-9a-f]+-[0-9a-f]+ of /secretmem \(deleted\): secret memory \(memfd_secret\) is not supported",
    ring_memory: r": mapping [0-9a-f]+-[0-9a-f]+ of anon_inode:\[io_uring\]: memory of the kernel is not supported",
    namespace: r" is in another user namespace than the job was started with",
    debugged: r" cannot be stopped: the process belongs to another user, may not be traced, or is traced already",
    shared: r" shares memory or descriptors with its parent, as between vfork and exec; try again",
    stuck: r": thread \d+ does not stop; a thread that waits in the kernel, for vfork or a file server, cannot be stopped",
    session: r" is in a session that its parent was never in, which is not supported",
    first_thread: r": its first thread has ended while others run, which is not supported",
    thread_folder: r": thread \d+: the thread has its own working directory, which is not supported",
    thread_files: r": thread \d+: the thread has its own table of descriptors, which is not supported",
    dispatched: r": thread \d+: the thread sends its system calls to its own handler \(PR_SET_SYSCALL_USER_DISPATCH\)",
    filtered: r": the process has a seccomp filter that it was not started with",
    strict: r": the process is in strict mode of seccomp, which is not supported",
    old: r": not a 64-bit program",
}


def be_job(kind, path):
    kind(path)
    os.write(1, b"held\n")
    os.read(0, 1)
    if kind is stuck:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    os.write(1, b"went on\n")
    libc.syscall(60 if kind is strict else 231, 3)


class Refused:
    """A job of that kind, and a dump of it."""

    def __init__(self, kind, folder_of_all):
        self.kind, self.folder = kind, os.path.join(folder_of_all, "of_" + kind.__name__)
        os.mkdir(self.folder)
        path, argv = os.path.join(self.folder, kind.__name__), [CKPT, "run", "--", "/usr/bin/python3", os.path.abspath(__file__)]
        self.ours = []
        if kind is fifo:
            os.mkfifo(path)
        if kind in (connected, watched):
            door = socket.socket(socket.AF_UNIX)
            door.bind(path + ".door")
            door.listen(1)
            self.ours = [door]
        self.job = subprocess.Popen(argv + [kind.__name__, self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if kind is fifo:
            self.ours.append(open(path, "wb", buffering=0))
        if self.ours and kind is not fifo:
            self.ours.append(door.accept()[0])
        if kind is watched:
            self.ours.extend(os.pipe())
            socket.send_fds(self.ours[1], [b"x"], [self.ours[2]])
        said = self.job.stdout.readline()
        if said != "held\n":
            sys.exit(f"{kind.__name__}: not held: {said}")
        self.number = job_of(self.job.pid)
        self.image = os.path.join(self.folder, "image")
        self.dump = subprocess.Popen([CKPT, "dump", str(self.number), self.image, "--kill"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)

    def check(self):
        name, text = self.kind.__name__, REFUSALS[self.kind]
        _, said = self.dump.communicate(timeout=60)
        if self.dump.returncode != 1 or not re.fullmatch(rf"roost-ckpt: process \d+{text}\n", said):
            sys.exit(f"{name}: {self.dump.returncode}, {said}\nwanted: {text}")
        if [one for one in os.listdir(self.folder) if one.startswith("image")]:
            sys.exit(f"{name}: left {os.listdir(self.folder)}")
        out, _ = self.job.communicate("go\n", timeout=60)
        if self.job.returncode != 3 or out != "went on\n":
            sys.exit(f"{name}: it did not go on: {self.job.returncode}, {out}")


def check_numbers(folder):
    """A process whose numbers are another namespace's, and nothing else of it: nobody keeps this job."""
    job = subprocess.Popen(["unshare", "--user", "--map-root-user", "/bin/sh", "-c", "unshare --pid --fork /bin/sh -c 'echo held; read go'; exit 3"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if job.stdout.readline() != "held\n":
        sys.exit("numbers: not held")
    image = os.path.join(folder, "numbers")
    made = subprocess.run([CKPT, "dump", str(job.pid), image, "--kill"], capture_output=True, text=True)
    wanted = r"roost-ckpt: process \d+ is in another process namespace than the job was started with\n"
    if made.returncode != 1 or not re.fullmatch(wanted, made.stderr) or os.path.exists(image):
        sys.exit(f"numbers: {made.returncode}, {made.stderr}\nwanted: {wanted}")
    job.communicate("go\n", timeout=60)
    if job.returncode != 3:
        sys.exit(f"numbers: it did not go on: {job.returncode}")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if len(sys.argv) == 3:
        kinds = {kind.__name__: kind for kind in REFUSALS}
        be_job(kinds[sys.argv[1]], os.path.join(os.path.abspath(sys.argv[2]), sys.argv[1]))
    slow = [shared, stuck]
    waiting = [Refused(kind, sys.argv[1]) for kind in slow]
    for kind in REFUSALS:
        if kind not in slow:
            waiting.append(Refused(kind, sys.argv[1]))
        if len(waiting) > AT_ONCE:
            waiting.pop(len(slow)).check()
    for one in waiting[len(slow):] + waiting[:len(slow)]:
        one.check()
    check_numbers(sys.argv[1])
    print(f"{len(REFUSALS)} kinds: refused, and went on")


if __name__ == "__main__":
    main()
