/* base/os/os_lock_linux.c - lock files that name their holder.
 *
 * Design note: the lock belongs to the open file description (F_OFD_SETLK).  The kernel releases it
 * however the process dies.  One can ask for its holder without taking it (with flock(2) a question
 * is an attempt, and would make another's attempt fail).  Closing other descriptors of the same
 * file in this process does not release it, as it would a POSIX lock.
 *
 * The file itself stays: removing it would open a race in which two processes hold locks of two
 * files of the same name.  For the same reason a lock counts only if the name still leads to the
 * file that was locked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define LOCK_TRIES 10 /* while others remove and make the file */

struct os_lock {
    int fd;
};

/* Reads the pid in the first line; 0: there is none. */
static pid_t read_holder(int fd)
{
    char text[64];
    ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
    if (got <= 0) {
        return 0;
    }
    text[got] = '\0';
    char *end;
    errno = 0;
    long pid = strtol(text, &end, 10);
    return errno == 0 && *end == '\n' && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool is_still_named(int fd, const char *path)
{
    struct stat mine, named;
    return fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

int os_lock(struct os *os, const char *path, struct os_lock **ret, pid_t *holder, struct err *err)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0) {
            return err_set(err, -errno, "%s: %s", path, strerror(errno));
        }
        if (fcntl(fd, F_OFD_SETLK, &whole) != 0) {
            int error = errno;
            pid_t pid = read_holder(fd);
            close(fd);
            if (error != EAGAIN && error != EACCES) {
                return err_set(err, -error, "cannot lock %s: %s", path, strerror(error));
            }
            if (holder != NULL) {
                *holder = pid;
            }
            return err_set(err, -EAGAIN, "%s: process %d holds the lock", path, (int)pid);
        }
        if (!is_still_named(fd, path)) {
            close(fd);
            continue;
        }
        struct os_lock *lock = mem_zalloc(sizeof(*lock));
        char text[64];
        lock->fd = fd;
        (void)snprintf(text, sizeof(text), "%d", (int)getpid());
        (void)!ftruncate(fd, 0);
        os_lock_note(lock, text);
        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)os_start_time(os, getpid()));
        os_lock_note(lock, text);
        *ret = lock;
        return 0;
    }
    return err_set(err, -EBUSY, "%s: another process keeps replacing this file", path);
}

void os_lock_note(struct os_lock *lock, const char *line)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "%.100s\n", line);
    /* What cannot be written (a full disk) is not known to others; the lock holds all the same. */
    off_t end = lseek(lock->fd, 0, SEEK_END);
    (void)!pwrite(lock->fd, text, (size_t)length, end);
}

void os_unlock(struct os_lock *lock)
{
    if (lock != NULL) {
        (void)!ftruncate(lock->fd, 0);
        close(lock->fd);
        mem_free(lock);
    }
}

pid_t os_lock_holder(struct os *os, const char *path)
{
    (void)os;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    /* Where others may have put something else, nobody waits for who writes into a FIFO. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return 0;
    }
    pid_t pid = 0;
    if (fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) {
        pid = read_holder(fd);
        if (pid == 0) {
            pid = -1;
        }
    }
    close(fd);
    return pid;
}
