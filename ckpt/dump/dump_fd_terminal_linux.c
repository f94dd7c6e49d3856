/* ckpt/dump/dump_fd_terminal_linux.c - pseudo-terminals whose both ends are the job's.
 *
 * As below script(1), or in Python's pty.  Settings, size, whose controlling terminal it is and who
 * is in front are asked of the master.  What waits to be read in a terminal cannot be had without
 * taking it out: most of the time nothing does, as whoever has the master reads it at once; so the
 * dump is tried again for a second, and refused then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <linux/major.h>
#include <poll.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "ckpt/dump/dump_fd.h"

/* <sys/ioctl.h> has a struct winsize that <asm/termbits.h> has, too. */
int ioctl(int fd, unsigned long request, ...);

_Static_assert(sizeof(struct termios2) == sizeof((struct ckpt_terminal){0}.settings),
               "ckpt_terminal.settings must have the size of struct termios2");

/* ---- which terminal */

static bool is_master(int fd, unsigned *ret_number)
{
    return ioctl(fd, TIOCGPTN, ret_number) == 0;
}

/* Decides by the device number, which the name /dev/tty does not tell. */
static bool is_slave(const struct open_file *file, int fd, unsigned *ret_number)
{
    unsigned device = 0;
    bool known = ioctl(fd, TIOCGDEV, &device) == 0;
    dev_t number = known ? makedev(device >> 8 & 0xfff, (device & 0xff) | (device >> 12 & 0xfff00))
                         : file->st.st_rdev;
    *ret_number = minor(number);
    return major(number) == UNIX98_PTY_SLAVE_MAJOR;
}

bool fd_is_terminal_at(const struct open_file *file, dev_t device)
{
    unsigned number = 0;
    int fd = fd_fetch(file);
    bool slave = fd >= 0 && is_slave(file, fd, &number);
    if (fd >= 0) {
        (void)close(fd);
    }
    return !slave || device == makedev(UNIX98_PTY_SLAVE_MAJOR, number);
}

/* Opens the master of that terminal, if the job has it, and returns a descriptor of ours; else
 * -1. */
static int find_master(const struct files *files, unsigned number)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct open_file *file = &files->items[i];
        unsigned other = 0;
        int fd = S_ISCHR(file->st.st_mode) && file->first == i ? fd_fetch(file) : -1;
        if (fd >= 0 && is_master(fd, &other) && other == number) {
            return fd;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    return -1;
}

/* ---- its state */

/* Returns the number that this process group has inside the job; 0: it has no process of the
 * job. */
static int32_t inner_group(const struct files *files, pid_t group)
{
    for (size_t i = 0; i < files->dump->count; i++) {
        const struct subject *subject = files->dump->subjects[i];
        if (group > 0 && getpgid(subject->tracee.pid) == group) {
            return subject->process.pgid;
        }
    }
    return 0;
}

static int32_t inner_session(const struct files *files, pid_t session)
{
    return session > 0 ? fd_inner_number(files, session) : 0;
}

/* Looking also makes data that is on its way arrive. */
static bool waits_to_be_read(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN | POLLPRI};
    int bytes = 0;
    (void)poll(&end, 1, 0);
    return (end.revents & POLLPRI) != 0 || (ioctl(fd, TIOCINQ, &bytes) == 0 && bytes > 0);
}

static int read_state(const struct files *files, int master, struct ckpt_terminal *ret)
{
    struct pollfd end = {.fd = master};
    int packets = 0, locked = 0;
    pid_t session = 0, group = 0;
    if (ioctl(master, TCGETS2, ret->settings) != 0 || ioctl(master, TIOCGWINSZ, ret->window) != 0 ||
        ioctl(master, TIOCGPKT, &packets) != 0 || ioctl(master, TIOCGPTLCK, &locked) != 0) {
        return -errno;
    }
    bool left = poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0;
    ret->flags = (packets != 0 ? CKPT_TERMINAL_PACKETS : 0) |
                 (locked != 0 ? CKPT_TERMINAL_LOCKED : 0) | (left ? CKPT_TERMINAL_LEFT : 0);
    if (ioctl(master, TIOCGSID, &session) == 0) {
        ret->session = inner_session(files, session);
    }
    if (ioctl(master, TIOCGPGRP, &group) == 0) {
        ret->group = inner_group(files, group);
    }
    return 0;
}

/* Returns whether the master was closed. */
static bool is_hung_up(int fd)
{
    uint16_t window[4];
    return ioctl(fd, TIOCGWINSZ, window) != 0 && errno == EIO;
}

static void plain_settings(struct ckpt_terminal *ret)
{
    struct termios2 settings = {.c_iflag = ICRNL | IXON,
                                .c_oflag = OPOST | ONLCR,
                                .c_cflag = B38400 | CS8 | CREAD | HUPCL,
                                .c_lflag = ISIG | ICANON | ECHO | IEXTEN,
                                .c_ispeed = 38400,
                                .c_ospeed = 38400};
    memcpy(ret->settings, &settings, sizeof settings);
}

static int save_end(struct files *files, const struct open_file *file, int fd, int master,
                    struct ckpt_file *saved)
{
    struct ckpt_terminal state = {.flags = 0};
    int rc = 0;
    if (master >= 0) {
        rc = read_state(files, master, &state);
    } else if (is_hung_up(fd)) {
        state.flags = CKPT_TERMINAL_HUNG_UP;
        plain_settings(&state);
    } else {
        return fd_refuse(files, file,
                         "a process outside of the job has the other end of the terminal");
    }
    if (rc == 0 && master >= 0 && waits_to_be_read(fd)) {
        return err_set(
            files->err, -EBUSY,
            "process %d: descriptor %d, %s: the terminal has input that is not read yet; try again",
            (int)file->subject->tracee.pid, file->fd, file->path);
    }
    rc = rc != 0 ? rc : fd_put_message(files, saved, &state, sizeof state);
    return rc != 0 ? fd_fail(files, file, rc) : 0;
}

int fd_save_terminal(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    unsigned number = 0;
    int fd = fd_fetch(file);
    if (fd < 0) {
        return fd_fail(files, file, fd);
    }
    bool leads = is_master(fd, &number);
    saved->detail = leads ? CKPT_MASTER : CKPT_SLAVE;
    if (!leads && !is_slave(file, fd, &number)) {
        (void)close(fd);
        return fd_save_device(files, file, saved);
    }
    saved->kind = CKPT_TERMINAL;
    saved->id = number;
    int master = find_master(files, number);
    int rc = save_end(files, file, fd, master, saved);
    if (master >= 0) {
        (void)close(master);
    }
    (void)close(fd);
    return rc;
}
