"""Terminals whose both ends are this job's: whatever happens in between, they are what they were.

terminals.py ROUNDS: who is in front on a terminal of its own says for each line that it gets what it finds there.

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def reader():
    """In front, in a group that is not the session's leader's."""
    sizes = []
    signal.signal(signal.SIGWINCH, lambda *_: sizes.append(tuple(os.get_terminal_size())))
    own = os.open("/dev/tty", os.O_RDWR)
    os.write(1, b"ready\n")
    for line in iter(sys.stdin.readline, ""):
        modes = termios.tcgetattr(own)
        os.write(1, f"{line.strip()} {modes[3] & termios.ECHO} {modes[6][termios.VERASE]} {tuple(os.get_terminal_size())} {sizes[-1:]} "
                 f"{os.tcgetpgrp(own) == os.getpgrp()} {os.getsid(0) == os.getppid()} {[os.isatty(fd) for fd in (0, 1, 2, own)]} "
                 f"{os.get_inheritable(1)}\n".encode())
    os._exit(7)


def child():
    """Leads the session."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    modes = termios.tcgetattr(0)
    modes[3] &= ~termios.ECHO
    modes[6][termios.VERASE] = b"#"
    termios.tcsetattr(0, termios.TCSANOW, modes)
    group = os.fork()
    if group == 0:
        while os.tcgetpgrp(0) != os.getpid():
            time.sleep(0.001)
        reader()
    os.setpgid(group, group)
    os.tcsetpgrp(0, group)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(group, 0)[1]))


class Others:
    """Not used yet, left, hung up, with packets."""

    def __init__(self):
        self.fresh = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        self.left, slave = pty.openpty()
        os.close(slave)
        master, self.hung_up = pty.openpty()
        os.close(master)
        self.packets, self.slave = pty.openpty()
        self.again = os.open(os.ttyname(self.slave), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        fcntl.ioctl(self.packets, termios.TIOCPKT, struct.pack("i", 1))

    def say(self):
        os.write(self.again, b"one\n")
        found = [select.select([fd], [], [], 0)[0] != [] for fd in (self.fresh, self.left, self.hung_up)]
        try:
            os.ttyname(self.hung_up)
            found.append("there")
        except OSError as error:
            found.append(error.errno)
        return f"{found} {os.read(self.packets, 100)} {os.get_blocking(self.slave)} {os.get_blocking(self.again)}"


def main():
    others = Others()
    pid, master = pty.fork()
    if pid == 0:
        child()

    def until(word):
        out = b""
        while word not in out:
            out += os.read(master, 1000)
        return out.decode()

    until(b"ready\r\n")
    for number in range(int(sys.argv[1])):
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77 + number % 3, 0, 0))
        os.write(master, b"no##%d\n" % number)
        sys.stdout.write(until(b"\n"))
        print(others.say())
        time.sleep(0.015)
    os.write(master, b"\x04")
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


main()
