#!/usr/bin/python3
"""lib_posix.py DIRECTORY - does to files what programs do, and looks whether it comes out as POSIX has it.

Works in any directory of any file system: run it in a local one to see that it is right.  Prints "all right".

SPDX-License-Identifier: Apache-2.0
"""
import errno
import fcntl
import mmap
import os
import random
import sqlite3
import subprocess
import sys


def check(what, *about):
    if not what:
        raise AssertionError(*about)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def fails_with(number, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except OSError as error:
        check(error.errno == number, call, arguments, error)
    else:
        check(False, call, arguments, "did not fail")


def what_is_written_is_read():
    data = os.urandom(3_000_000)
    with open("a", "wb") as file:
        for at in range(0, len(data), 777):
            file.write(data[at:at + 777])
    check(read("a") == data)
    check(os.stat("a").st_size == len(data))
    fd = os.open("a.copy", os.O_RDWR | os.O_CREAT, 0o644)
    source = os.open("a", os.O_RDONLY)
    done = 0
    while done < len(data):
        part = os.copy_file_range(source, fd, len(data) - done, done, done)
        check(part > 0)
        done += part
    check(read("a.copy") == data)
    os.posix_fallocate(fd, 0, 4_000_000)
    check(os.fstat(fd).st_size == 4_000_000)
    os.close(source)
    os.close(fd)


def small_writes_at_any_place():
    fd = os.open("b", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    for number in range(2000):
        os.write(fd, b"line %05d\n" % number)
    check(os.fstat(fd).st_size == 2000 * 11)
    check(os.pread(fd, 11, 11 * 1234) == b"line 01234\n")
    model = bytearray(os.pread(fd, 100000, 0))
    chance = random.Random(3)
    for turn in range(3000):
        at, data = chance.randrange(0, 40000), chance.randbytes(chance.randrange(1, 9000))
        os.pwrite(fd, data, at)
        model.extend(b"\0" * (at - len(model)))
        model[at:at + len(data)] = data
        if turn % 100 == 0:
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
    for number in range(500):
        os.write(one, b"one %d\n" % number)
        os.write(other, b"other %d\n" % number)
    for number in range(2000):
        os.write(one, b"%d\n" % number)
    os.close(one)
    os.close(other)
    expected = "".join(f"one {number}\nother {number}\n" for number in range(500))
    expected += "".join(f"{number}\n" for number in range(2000))
    check(read("c").decode() == expected)


def mappings():
    with open("d", "wb") as file:
        file.truncate(1 << 20)
    with open("d", "r+b") as file:
        with mmap.mmap(file.fileno(), 0) as mapped:
            mapped[5000:5005] = b"hello"
            mapped[900000:900003] = b"xyz"
            mapped.flush()
    data = read("d")
    check(data[5000:5005] == b"hello" and data[900000:900003] == b"xyz" and len(data) == 1 << 20)


def holes():
    with open("s", "wb") as file:
        file.seek(5 << 30)
        file.write(b"end")
    about = os.stat("s")
    check(about.st_size == (5 << 30) + 3 and about.st_blocks < 10000, about)
    fd = os.open("s", os.O_RDONLY)
    check(os.lseek(fd, 0, os.SEEK_DATA) >= (5 << 30) - (1 << 20))
    check(os.pread(fd, 3, 5 << 30) == b"end")
    check(os.pread(fd, 100000, 1 << 30) == b"\0" * 100000)
    os.close(fd)
    os.unlink("s")


def what_is_open_stays_open():
    with open("e", "w+", encoding="ascii") as file:
        file.write("one")
        file.flush()
        os.rename("e", "e2")
        file.write("two")
        file.flush()
        check(read("e2") == b"onetwo")
        os.unlink("e2")
        file.write("three")
        file.flush()
        file.seek(0)
        check(file.read() == "onetwothree")
        about = os.fstat(file.fileno())
        check(about.st_nlink == 0 and about.st_size == 11, about)
    write("x1", "old")
    with open("x1", encoding="ascii") as file:
        write("x2", "new")
        os.rename("x2", "x1")
        check(file.read() == "old" and read("x1") == b"new")


def names():
    os.link("x1", "x3")
    check(os.stat("x3").st_nlink == 2 and os.stat("x3").st_ino == os.stat("x1").st_ino)
    os.unlink("x1")
    check(read("x3") == b"new" and os.stat("x3").st_nlink == 1)
    os.symlink("x3", "l")
    check(os.readlink("l") == "x3" and read("l") == b"new")
    os.makedirs("p/q/r")
    os.rename("p/q", "p/z")
    check(os.listdir("p") == ["z"])
    fails_with(errno.ENOTEMPTY, os.rmdir, "p")
    os.removedirs("p/z/r")
    fails_with(errno.ENOENT, os.rmdir, "p")
    fails_with(errno.EEXIST, os.mkdir, "x3")
    fails_with(errno.ENAMETOOLONG, os.open, "x" * 300, os.O_RDONLY)
    fails_with(errno.EEXIST, os.open, "x3", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    fails_with(errno.ENOTDIR, os.open, "x3/y", os.O_RDONLY)
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR)
    os.write(fd, b"nameless")
    os.link(f"/proc/self/fd/{fd}", "named", src_dir_fd=fd, follow_symlinks=True)
    os.close(fd)
    check(read("named") == b"nameless")
    os.mkdir("many")
    for number in range(3000):
        os.close(os.open(f"many/{number}", os.O_WRONLY | os.O_CREAT, 0o600))
    check(sorted(os.listdir("many"), key=int) == [str(number) for number in range(3000)])
    check(len([each for each in os.scandir("many") if each.is_file()]) == 3000)
    subprocess.run(["rm", "-r", "many"], check=True)
    check(not os.path.exists("many"))


def attributes():
    os.chmod("x3", 0o600)
    check(os.stat("x3").st_mode & 0o777 == 0o600)
    os.utime("x3", (1e9, 1.5e9))
    check(os.stat("x3").st_mtime == 1.5e9 and os.stat("x3").st_atime == 1e9)
    os.chown("x3", os.getuid(), os.getgid())
    try:
        os.chown("x3", os.getuid() + 1, -1)
        check(False, "given away")
    except OSError as error:
        check(error.errno in (errno.EPERM, errno.EINVAL), error)  # EINVAL: there is no such user in a job's namespace
    check(os.stat("x3").st_uid == os.getuid())
    check(os.access("x3", os.R_OK | os.W_OK) and not os.access("x3", os.X_OK))
    check(os.statvfs(".").f_bsize > 0)


def locks():
    """The child gets the lock when it is given back, and not before."""
    with open("lock", "w", encoding="ascii") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        child = os.fork()
        if child == 0:
            with open("lock", "w", encoding="ascii") as own:
                try:
                    fcntl.lockf(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    write("refused", "")
                    fcntl.lockf(own, fcntl.LOCK_EX)
                    os._exit(0)
            os._exit(1)
        while not os.path.exists("refused"):
            pass
        fcntl.lockf(file, fcntl.LOCK_UN)
        check(os.waitpid(child, 0)[1] == 0)
    with open("lock", "rb") as one, open("lock", "rb") as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        fails_with(errno.EAGAIN, fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def fifo():
    os.mkfifo("fifo")
    child = os.fork()
    if child == 0:
        write("fifo", "through")
        os._exit(0)
    check(read("fifo") == b"through")
    check(os.waitpid(child, 0)[1] == 0)


def programs():
    write("prog.c", '#include <stdio.h>\nint main(void) { puts("compiled"); return 7; }\n')
    subprocess.run(["gcc", "-o", "prog", "prog.c"], check=True)
    done = subprocess.run(["./prog"], capture_output=True, check=False)
    check(done.stdout == b"compiled\n" and done.returncode == 7, done)


def database():
    base = sqlite3.connect("t.db")
    base.execute("create table t(a, b)")
    for number in range(200):
        base.execute("insert into t values(?, ?)", (number, str(number) * 20))
    base.commit()
    check(base.execute("select count(*), sum(a) from t").fetchone() == (200, 19900))
    base.execute("pragma journal_mode=wal")
    base.execute("insert into t values(1, 2)")
    base.commit()
    check(base.execute("pragma integrity_check").fetchone() == ("ok",))
    base.close()


def main():
    os.umask(0o022)
    os.chdir(sys.argv[1])
    for step in (what_is_written_is_read, small_writes_at_any_place, two_append, mappings, holes, what_is_open_stays_open,
                 names, attributes, locks, fifo, programs, database):
        try:
            step()
        except BaseException:
            print("in:", step.__name__, file=sys.stderr)
            raise
    print("all right")


main()
