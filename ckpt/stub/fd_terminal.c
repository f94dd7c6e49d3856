/* ckpt/stub/fd_terminal.c - pseudo-terminals whose both ends are the job's.
 *
 * The pair is a new one, with the settings and the size of the old: its number, and so the name of
 * the slave, may be another one.  Whose controlling terminal it was takes it when his session has
 * begun, before he has children: these get it from him.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"

/* Without O_CLOEXEC: that would stay with the open file, and be told of all its descriptors. */
#define PEER (O_RDWR | O_NOCTTY)

_Static_assert(sizeof(struct termios2) == sizeof((struct ckpt_terminal){0}.settings),
               "ckpt_terminal.settings must have the size of struct termios2");

static void read_state(const struct stub *stub, const struct ckpt_file *file,
                       struct ckpt_terminal *ret)
{
    const struct ckpt_extent *extent =
        STUB_ENTRY(stub, CKPT_EXTENTS, struct ckpt_extent, file->extents.first);
    fd_read_extent(stub, ret, extent);
}

static bool belongs_to(const struct ckpt_file *file, const struct ckpt_file *first)
{
    return file->kind == CKPT_TERMINAL && file->id == first->id;
}

/* ---- the ends */

static int make_master(const struct stub *stub, const struct ckpt_terminal *state)
{
    const int no = 0, yes = 1;
    long master = SYS4(openat, AT_FDCWD, "/dev/ptmx", PEER | O_NONBLOCK | O_CLOEXEC, 0);
    if (master < 0) {
        stub_fail(stub, "opening a terminal,", "/dev/ptmx", master);
    }
    stub_must(stub, SYS3(ioctl, master, TIOCSPTLCK, &no), "opening a terminal");
    stub_must(stub, SYS3(ioctl, master, TCSETS2, state->settings),
              "restoring the settings of a terminal");
    stub_must(stub, SYS3(ioctl, master, TIOCSWINSZ, state->window),
              "restoring the size of a terminal");
    if ((state->flags & CKPT_TERMINAL_PACKETS) != 0) {
        stub_must(stub, SYS3(ioctl, master, TIOCPKT, &yes),
                  "restoring the packet mode of a terminal");
    }
    return (int)master;
}

static void put_end(const struct stub *stub, uint32_t index, int master)
{
    const struct ckpt_file *file = fd_file(stub, index);
    int place = fd_place(stub, index);
    if (file->detail == CKPT_MASTER) {
        stub_must(stub, SYS3(dup3, master, place, O_CLOEXEC), "creating a terminal");
        stub_must(stub, SYS3(fcntl, place, F_SETFL, file->flags & O_NONBLOCK),
                  "setting up a terminal");
        return;
    }
    uint32_t flags = file->flags & (O_ACCMODE | O_NONBLOCK | O_APPEND);
    long slave = SYS3(ioctl, master, TIOCGPTPEER, flags | O_NOCTTY);
    fd_put_at(stub, stub_must(stub, slave, "opening a terminal"), place);
}

void fd_open_terminal(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *first = fd_file(stub, index);
    struct ckpt_terminal state;
    const int yes = 1;
    read_state(stub, first, &state);
    int master = make_master(stub, &state);
    for (uint32_t i = index; i < stub->file_count; i++) {
        if (belongs_to(fd_file(stub, i), first) && !fd_is_inherited(stub, fd_file(stub, i))) {
            put_end(stub, i, master);
        }
    }
    if ((state.flags & CKPT_TERMINAL_LEFT) != 0) {
        (void)SYS1(close,
                   stub_must(stub, SYS3(ioctl, master, TIOCGPTPEER, PEER), "opening a terminal"));
    }
    if ((state.flags & CKPT_TERMINAL_LOCKED) != 0) {
        stub_must(stub, SYS3(ioctl, master, TIOCSPTLCK, &yes), "opening a terminal");
    }
    (void)SYS1(close, master); /* was it hung up, it is now */
}

/* ---- whose it is */

/* Opens the slave of the terminal whose session this process leads, for the moment; -1: none. */
static long own_terminal(const struct stub *stub, struct ckpt_terminal *ret)
{
    for (uint32_t i = 0; i < stub->file_count; i++) {
        const struct ckpt_file *file = fd_file(stub, i);
        if (file->kind != CKPT_TERMINAL || file->detail != CKPT_MASTER ||
            fd_is_inherited(stub, file)) {
            continue;
        }
        read_state(stub, file, ret);
        if (ret->session == stub->process->pid) {
            return stub_must(stub, SYS3(ioctl, fd_place(stub, i), TIOCGPTPEER, PEER),
                             "opening the controlling terminal of a session");
        }
    }
    return -1;
}

void stub_take_terminal(const struct stub *stub)
{
    struct ckpt_terminal state;
    long fd = own_terminal(stub, &state);
    if (fd >= 0) {
        stub_must(stub, SYS3(ioctl, fd, TIOCSCTTY, 0),
                  "setting the controlling terminal of a session");
        (void)SYS1(close, fd);
    }
}

void stub_put_in_front(const struct stub *stub)
{
    struct ckpt_terminal state;
    long fd = stub->process->sid == stub->process->pid ? own_terminal(stub, &state) : -1;
    if (fd >= 0 && state.group != 0) {
        (void)SYS3(ioctl, fd, TIOCSPGRP, &state.group); /* it may have ended, as a group does */
    }
    if (fd >= 0) {
        (void)SYS1(close, fd);
    }
}
