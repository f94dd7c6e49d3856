# What roost shows on a terminal: colours and the screen of `roost top`, its keys and its size.
#
# usage: lib_terminal.py    with ROOST_CONFIG of a pool that runs, roost in PATH
#
# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

DEADLINE_S = 40


class Terminal:
    def __init__(self, words, env=None, rows=24, columns=80):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.environ.update({"TERM": "xterm"})
            os.environ.pop("NO_COLOR", None)
            os.environ.update(env or {})
            os.execvp(words[0], words)

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, until=None):
        """Until that is in what came since the last call, or the end; what came."""
        end = time.monotonic() + DEADLINE_S
        self.text = b""
        while until is None or until not in self.text:
            if time.monotonic() > end:
                sys.exit(f"FAILED: no {until!r} in {self.text[-2000:]!r}")
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536)
                except OSError:
                    break
        return self.text

    def end(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(what, is_true):
    if not is_true:
        sys.exit(f"FAILED: {what}")


shown = Terminal(["roost", "status"]).read()
check("a table on a terminal is coloured", b"\x1b[1m" in shown)
for name, env in (("NO_COLOR", {"NO_COLOR": "1"}), ("TERM=dumb", {"TERM": "dumb"})):
    check(f"{name} is without colours", b"\x1b" not in Terminal(["roost", "status"], env).read())
lines = Terminal(["roost", "status"], {"NO_COLOR": "1"}, columns=80).read().split(b"\r\n")
slots = [line for line in lines if line.startswith(b"slot")]
check("slots are shown", slots)
check("they fit into 80 columns", all(len(line) <= 80 for line in slots))

top = Terminal(["roost", "top", "-delay", "1h"], rows=10)
frame = top.read(b"Jobs: ")
check("its own screen", frame.startswith(b"\x1b[?1049h"))
top.size(20, 60)
check("a new size is a new frame", b"Slots: " in top.read(b"Jobs: "))
os.write(top.fd, b" ")
check("a blank asks again", b"Slots: " in top.read(b"Jobs: "))
os.write(top.fd, b"q")
check("the screen is given back", top.read().endswith(b"\x1b[?25h\x1b[?1049l"))
check("q ends it well", top.end() == 0)
