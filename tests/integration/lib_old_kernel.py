"""tests/integration/lib_old_kernel.py PROGRAM ARGUMENT... - runs it as if the kernel were Linux 4.4 (January 2016).

A filter answers every system call that is newer than that with ENOSYS, as the old kernel does.  Numbers are those of x86-64;
Linux gives them in order of age.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import errno
import os
import platform
import struct
import sys

NEWEST = 325  # mlock2, of Linux 4.4
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
BPF_LD_W_ABS, BPF_JGT_K, BPF_RET_K = 0x20, 0x25, 0x06
SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def instruction(code, if_true, if_false, value):
    return struct.pack("HBBI", code, if_true, if_false, value)


def main():
    if platform.machine() != "x86_64":
        sys.exit("lib_old_kernel.py knows the numbers of x86-64 only")
    code = (instruction(BPF_LD_W_ABS, 0, 0, 0)
            + instruction(BPF_JGT_K, 0, 1, NEWEST)
            + instruction(BPF_RET_K, 0, 0, SECCOMP_RET_ERRNO | errno.ENOSYS)
            + instruction(BPF_RET_K, 0, 0, SECCOMP_RET_ALLOW))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit("no filter of system calls: " + os.strerror(ctypes.get_errno()))
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
