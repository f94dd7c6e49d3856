#!/usr/bin/python3
"""lib_wrapped.py DIRECTORY [wrapped] - does to files what programs do by their C library, and looks whether it comes out right.

Works in any directory; with "wrapped" it also looks for what wrapped calls refuse.  Prints "all right".

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import fcntl
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time


def check(what, *about):
    if not what:
        raise AssertionError(*about)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def fails_with(number, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except OSError as error:
        check(error.errno == number, call, arguments, error)
    else:
        check(False, call, arguments, "did not fail")


def what_is_written_is_read():
    data = os.urandom(5_000_000)
    with open("a", "wb", buffering=0) as file:
        for at in range(0, len(data), 70001):
            file.write(data[at:at + 70001])
    check(read("a") == data)
    shutil.copyfile("a", "a.copy")
    check(read("a.copy") == data and os.stat("a.copy").st_size == len(data))


def small_writes_at_any_place():
    fd = os.open("b", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    model = bytearray()
    chance = random.Random(3)
    for turn in range(1500):
        at, data = chance.randrange(0, 40000), chance.randbytes(chance.randrange(1, 9000))
        os.pwrite(fd, data, at)
        model.extend(b"\0" * (at + len(data) - len(model)))
        model[at:at + len(data)] = data
        if turn % 50 == 0:
            check(os.pread(fd, 200000, 0) == bytes(model), turn)
        if turn % 251 == 0:
            size = chance.randrange(0, 50000)
            os.ftruncate(fd, size)
            del model[size:]
            model.extend(b"\0" * (size - len(model)))
            check(os.fstat(fd).st_size == size)
    os.close(fd)
    check(read("b") == bytes(model))


def two_append():
    one = os.open("c", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    other = os.open("c", os.O_WRONLY | os.O_APPEND)
    for number in range(100):
        os.write(one, b"one %d\n" % number)
        os.write(other, b"other %d\n" % number)
    os.close(one)
    os.close(other)
    check(read("c").decode() == "".join(f"one {number}\nother {number}\n" for number in range(100)))


def what_one_descriptor_writes_another_reads():
    one = os.open("d", os.O_RDWR | os.O_CREAT, 0o644)
    other = os.open("d", os.O_RDONLY)
    os.write(one, b"old text")
    check(os.pread(other, 8, 0) == b"old text")
    os.pwrite(one, b"new", 0)
    check(os.pread(other, 8, 0) == b"new text")
    os.truncate("d", 3)
    check(os.read(other, 8) == b"new")
    os.close(one)
    os.close(other)


def what_another_writes_before_the_first_read_is_read():
    """Though what comes with a file that is opened is kept for a moment."""
    with open("w", "wb") as file:
        file.write(b"before")
    ask, asked = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        other = os.open("w", os.O_WRONLY)
        while os.read(ask[0], 1) == b"x":
            os.pwrite(other, b"after!", 0)
            os.write(asked[1], b"y")
        os._exit(0)
    for _ in range(50):
        again = os.open("w", os.O_WRONLY)
        os.pwrite(again, b"before", 0)
        os.close(again)
        fd = os.open("w", os.O_RDONLY)
        os.write(ask[1], b"x")
        check(os.read(asked[0], 1) == b"y")
        check(os.read(fd, 6) == b"after!")
        os.close(fd)
    os.write(ask[1], b"q")
    check(os.waitpid(child, 0)[1] == 0)
    for fd in (*ask, *asked):
        os.close(fd)


def descriptors():
    fd = os.open("e", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    other = os.dup(fd)
    os.write(fd, b"abc")
    os.write(other, b"def")
    check(os.lseek(fd, 0, os.SEEK_CUR) == 6)
    os.close(fd)
    fails_with(errno.EBADF, os.write, fd, b"x")
    child = os.fork()
    if child == 0:
        os.write(other, b"child")
        os._exit(0)
    check(os.waitpid(child, 0)[1] == 0)
    check(os.lseek(other, 0, os.SEEK_CUR) == 11)
    os.write(other, b"parent")
    check(read("e") == b"abcdefchildparent")
    os.close(other)
    with open("e", "rb") as source, open("e.out", "wb") as to:
        source.seek(0)
        subprocess.run(["/bin/cat"], stdin=source, stdout=to, check=True)
    check(read("e.out") == b"abcdefchildparent")
    fd = os.open("e", os.O_RDONLY)
    os.unlink("e")
    check(os.read(fd, 3) == b"abc")
    os.close(fd)
    fails_with(errno.ENOENT, os.stat, "e")


def a_child_has_what_its_parent_closes_at_once():
    """Though it has no name any more, by which it could be opened again."""
    with open("x", "wb") as file:
        file.write(b"inherited")
    for turn in range(40):
        os.link("x", "x.gone")
        fd = os.open("x.gone", os.O_RDONLY)
        os.unlink("x.gone")
        child = os.fork()
        if child == 0:
            os._exit(0 if os.read(fd, 100) == b"inherited" else 1)
        os.close(fd)
        check(os.waitpid(child, 0)[1] == 0, turn)


def names():
    os.makedirs("n/deep/er")
    for number in range(3000):
        os.close(os.open(f"n/deep/file{number}", os.O_CREAT | os.O_WRONLY, 0o600))
    check(len(os.listdir("n/deep")) == 3001)
    with os.scandir("n") as found:
        check([(entry.name, entry.is_dir()) for entry in found] == [("deep", True)])
    os.symlink("n/deep", "to_deep")
    os.symlink(os.path.abspath("n"), "n/deep/up")
    check(os.readlink("to_deep") == "n/deep")
    check(os.path.samefile("to_deep/up/deep/er/..", "n/deep"))
    check(os.path.islink("to_deep") and not os.path.islink("n/deep"))
    check(os.path.realpath("to_deep/up/deep") == os.path.abspath("n/deep"))
    os.symlink("round", "round")
    fails_with(errno.ELOOP, os.stat, "round")
    fails_with(errno.ELOOP, os.open, "to_deep", os.O_RDONLY | os.O_NOFOLLOW)
    os.rename("n/deep/file1", "n/renamed")
    os.link("n/renamed", "n/linked")
    check(os.stat("n/linked").st_nlink == 2)
    fails_with(errno.ENOTEMPTY, os.rmdir, "n")
    fails_with(errno.EEXIST, os.mkdir, "n")
    fails_with(errno.ENOTDIR, os.open, "n/renamed/x", os.O_RDONLY)
    fails_with(errno.EISDIR, os.open, "n", os.O_WRONLY)
    os.chmod("n/renamed", 0o640)
    os.utime("n/renamed", (1000, 2000))
    about = os.stat("n/renamed")
    check(about.st_mode & 0o777 == 0o640 and about.st_mtime == 2000 and about.st_atime == 1000)
    check(os.access("n/renamed", os.R_OK) and not os.access("n/none", os.F_OK))
    folder = os.open("n", os.O_RDONLY | os.O_DIRECTORY)
    check(os.stat("renamed", dir_fd=folder).st_ino == about.st_ino)
    here = os.getcwd()
    os.chdir("to_deep")
    check(os.getcwd() == here + "/n/deep" and os.path.exists("file2"))
    os.chdir("..")
    check(os.path.exists("renamed") and os.getcwd() == here + "/n")
    os.fchdir(folder)
    check(os.getcwd() == here + "/n")
    check(subprocess.run(["/bin/ls", "renamed"], check=True, capture_output=True).stdout == b"renamed\n")
    os.chdir(here)
    os.close(folder)
    shutil.rmtree("n")
    check(not os.path.exists("n"))


def masks():
    os.umask(0o027)
    os.close(os.open("m", os.O_CREAT | os.O_WRONLY, 0o666))
    os.mkdir("m.dir")
    check(os.stat("m").st_mode & 0o777 == 0o640 and os.stat("m.dir").st_mode & 0o777 == 0o750)
    os.umask(0o022)


def mappings_and_holes():
    with open("h", "wb") as file:
        file.seek(3 << 20)
        file.write(b"end")
    with open("h", "rb") as file:
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            check(mapped[:4] == b"\0\0\0\0" and mapped[3 << 20:] == b"end")
    check(os.stat("h").st_blocks < 1000)


def many_threads():
    def work(number):
        for turn in range(20):
            with open(f"t{number}", "wb") as file:
                file.write(b"%d" % turn * 5000)
            if read(f"t{number}") != b"%d" % turn * 5000:
                bad.append(number)
    bad = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not bad, bad)


def in_child(work):
    """Its exit status; 9 when it raised."""
    child = os.fork()
    if child == 0:
        status = 9
        try:
            status = work() or 0
        except OSError as error:
            print("child:", error, file=sys.stderr)
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def is_locked(path, kind=fcntl.LOCK_EX, whole=False, start=0, length=0):
    """Whether another process can not have that lock."""
    def work():
        fd = os.open(path, os.O_RDWR)
        try:
            if whole:
                fcntl.flock(fd, kind | fcntl.LOCK_NB)
            else:
                fcntl.lockf(fd, kind | fcntl.LOCK_NB, length, start)
        except (BlockingIOError, PermissionError):
            return 1
        return 0
    return in_child(work) == 1


def locks_of_ranges():
    fd = os.open("l", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(fd, b"0123456789")
    fcntl.lockf(fd, fcntl.LOCK_EX, 4, 2)
    check(is_locked("l", start=5, length=1) and not is_locked("l", start=6, length=1))
    fcntl.lockf(fd, fcntl.LOCK_UN, 2, 2)
    check(not is_locked("l", start=2, length=2) and is_locked("l", start=4, length=2))
    fcntl.lockf(fd, fcntl.LOCK_SH, 0, 0, os.SEEK_END)
    check(is_locked("l", start=10, length=1) and not is_locked("l", fcntl.LOCK_SH, start=10, length=1))
    other = os.open("l", os.O_RDONLY)
    os.close(other)
    check(not is_locked("l"), "closing any descriptor drops a process's locks")
    fcntl.lockf(fd, fcntl.LOCK_EX)
    check(os.fork() != 0 or os._exit(3) is None)
    check(os.waitstatus_to_exitcode(os.wait()[1]) == 3 and is_locked("l"), "a child has no locks to lose")
    os.close(fd)
    check(not is_locked("l"))


def locks_of_files():
    fd = os.open("l", os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    check(is_locked("l", whole=True))
    os.close(os.open("l", os.O_RDONLY))
    check(is_locked("l", whole=True))
    fcntl.flock(fd, fcntl.LOCK_SH)
    check(is_locked("l", whole=True) and not is_locked("l", fcntl.LOCK_SH, whole=True))
    double = os.dup(fd)
    os.close(fd)
    check(is_locked("l", whole=True), "it is of what was opened, not of a descriptor")
    os.close(double)
    check(not is_locked("l", whole=True))


def locks_are_waited_for():
    """The child adds to the number when it gets the lock, which is when we have done."""
    with open("l", "wb") as file:
        file.write(b"1")
    for lock in (fcntl.flock, fcntl.lockf):
        fd = os.open("l", os.O_RDWR)
        lock(fd, fcntl.LOCK_EX)
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            mine = os.open("l", os.O_RDWR)
            check(os.pread(mine, 9, 0) == b"1")
            os.write(tell, b"x")
            lock(mine, fcntl.LOCK_EX)
            os.pwrite(mine, b"%d" % (int(os.pread(mine, 9, 0)) + 1), 0)
            os._exit(0)
        os.read(ready, 1)
        os.pwrite(fd, b"7", 0)
        check(os.waitpid(child, os.WNOHANG) == (0, 0))
        lock(fd, fcntl.LOCK_UN)
        check(os.waitpid(child, 0)[1] == 0 and os.pread(fd, 9, 0) == b"8", lock)
        os.pwrite(fd, b"1", 0)
        os.close(fd)
        os.close(ready)
        os.close(tell)


def waiting_ends_by_a_signal():
    class Alarm(Exception):
        pass

    def rung(*_):
        raise Alarm
    ready, tell = os.pipe()
    gate, go = os.pipe()
    child = os.fork()
    if child == 0:
        fd = os.open("l", os.O_RDWR)
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.write(tell, b"x")
        os.read(gate, 1)
        os._exit(0)
    os.read(ready, 1)
    fd = os.open("l", os.O_RDWR)
    signal.signal(signal.SIGALRM, rung)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        check(False, "there is a lock, and it was had")
    except Alarm:
        pass
    os.write(go, b"x")
    os.waitpid(child, 0)
    fcntl.flock(fd, fcntl.LOCK_EX)
    for each in (fd, ready, tell, gate, go):
        os.close(each)


def locks_stay_over_exec_and_go_with_the_process():
    ready, tell = os.pipe()
    gate, go = os.pipe()
    child = os.fork()
    if child == 0:
        fd = os.open("l", os.O_RDWR)
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.dup2(gate, 0)
        os.dup2(tell, 1)
        os.set_inheritable(fd, True)
        os.execv("/bin/sh", ["sh", "-c", "echo x; read -r line; exit 5"])
    os.read(ready, 1)
    check(is_locked("l"), "a program that is executed has the process's locks")
    os.write(go, b"x\n")
    check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5)
    deadline = time.monotonic() + 30
    while is_locked("l"):
        check(time.monotonic() < deadline, "the lock of a process that is gone")
    for each in (ready, tell, gate, go):
        os.close(each)


def what_is_refused():
    fd = os.open("r", os.O_RDWR | os.O_CREAT, 0o644)
    os.write(fd, b"here")
    fails_with(errno.ENODEV, mmap.mmap, fd, 4)
    library = ctypes.CDLL(None, use_errno=True)
    data = ctypes.create_string_buffer(8)
    for call, expected in ((17, errno.EBADF), (18, errno.EPERM)):  # pread64, pwrite64 past the wrappers
        check(library.syscall(call, fd, data, ctypes.c_size_t(8), ctypes.c_long(0)) == -1)
        check(ctypes.get_errno() == expected, call, ctypes.get_errno())
    os.close(fd)


def main():
    os.chdir(sys.argv[1])
    what_is_written_is_read()
    small_writes_at_any_place()
    two_append()
    what_one_descriptor_writes_another_reads()
    what_another_writes_before_the_first_read_is_read()
    descriptors()
    a_child_has_what_its_parent_closes_at_once()
    names()
    masks()
    mappings_and_holes()
    many_threads()
    locks_of_ranges()
    locks_of_files()
    locks_are_waited_for()
    waiting_ends_by_a_signal()
    locks_stay_over_exec_and_go_with_the_process()
    if sys.argv[2:] == ["wrapped"]:
        what_is_refused()
    print("all right")


main()
