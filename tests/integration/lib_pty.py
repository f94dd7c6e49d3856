#!/usr/bin/env python3
"""A terminal for a command: types, waits for what it shows, changes the size.

usage: lib_pty.py COMMAND...    (standard input: lines of
    type TEXT      keys, with \\n, \\x03 and so on
    want REGEX     until that is shown, behind what was wanted before; 30 s
    size ROWS COLUMNS
    end STATUS     the command ends with it)

SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


def main():
    script = [line.rstrip("\n") for line in sys.stdin if line.strip()]
    child, master = pty.fork()
    if child == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    shown = ""

    def fail(what):
        sys.stderr.write("%s; it showed:\n%s\n" % (what, shown))
        os.kill(child, signal.SIGKILL)
        sys.exit(1)

    def read_some(until):
        nonlocal shown
        ready, _, _ = select.select([master], [], [], max(0, until - time.time()))
        if not ready:
            return False
        try:
            data = os.read(master, 65536)
        except OSError:
            return False
        shown += data.decode("latin-1")
        return bool(data)

    at = 0
    for line in script:
        word, _, rest = line.partition(" ")
        until = time.time() + 30
        if word == "type":
            os.write(master, rest.encode().decode("unicode_escape").encode("latin-1"))
        elif word == "size":
            rows, columns = (int(number) for number in rest.split())
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        elif word == "want":
            while not (found := re.search(rest, shown[at:])):
                if not read_some(until):
                    fail("not shown: " + rest)
            at += found.end()
        elif word == "end":
            while read_some(until):
                pass
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status != int(rest):
                fail("it ended with %d, not %s" % (status, rest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
