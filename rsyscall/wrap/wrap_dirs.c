/* rsyscall/wrap/wrap_dirs.c - directories that the program reads: see wrap.h.
 *
 * Local and remote directories both use our own DIR, because a static program cannot reach the C
 * library's functions for its DIR by another name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

#define READ_SIZE ((size_t)32 << 10)
#define DOTS      2 /* "." and "..", at positions 0 and 1; the server does not list them */

struct __dirstream {
    int fd;
    bool remote;
    uint64_t cookie; /* the server's cookie of the next entry */
    long position;   /* as telldir() returns it */
    unsigned dots;   /* how many of "." and ".." were returned */
    bool end;        /* data contains the last entries */
    size_t at, length;
    pthread_mutex_t lock; /* for two threads in readdir() at once */
    struct dirent entry;
    unsigned char data[READ_SIZE] __attribute__((aligned(8)));
};

static bool is_remote(int fd, uint64_t *handle)
{
    sigset_t old;
    bool ret = false;
    if (wrap_enter(&old)) {
        const struct wrap_file *file = wrap_file_of(fd);
        ret = file != NULL;
        *handle = ret ? file->handle : 0;
        wrap_leave(&old);
    }
    return ret;
}

WRAP_EXPORT DIR *fdopendir(int fd)
{
    uint64_t handle = 0;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return NULL;
    }
    if (!S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return NULL;
    }
    DIR *dir = mmap(NULL, sizeof *dir, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)dir == MAP_FAILED) {
        errno = ENOMEM;
        return NULL;
    }
    dir->fd = fd;
    dir->remote = is_remote(fd, &handle);
    (void)pthread_mutex_init(&dir->lock, NULL);
    return dir;
}

WRAP_EXPORT DIR *opendir(const char *name)
{
    int fd = wrap_open(AT_FDCWD, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL && fd >= 0) {
        int saved = errno;
        (void)close(fd);
        errno = saved;
    }
    return dir;
}

/* Fetches more entries from the server.  Returns 1, 0 at the end, or a negative errno. */
static int fetch_remote(DIR *dir)
{
    struct rsys_request request = {.op = RSYS_READDIR, .offset = dir->cookie, .length = READ_SIZE};
    struct rsys_reply reply;
    uint64_t handle = 0;
    sigset_t old;
    if (dir->end || !is_remote(dir->fd, &handle) || !wrap_enter(&old)) {
        return dir->end ? 0 : -EBADF;
    }
    request.at.handle = handle;
    wrap_settle();
    int code = wrap_call(&request, &reply);
    if (code == 0 && reply.data_length <= READ_SIZE) {
        memcpy(dir->data, reply.data, reply.data_length);
        dir->at = 0;
        dir->length = reply.data_length;
        dir->end = reply.value == 1 || reply.data_length == 0;
        code = dir->length > 0 ? 1 : 0;
    } else if (code == 0) {
        code = -EIO;
    }
    wrap_leave(&old);
    return code;
}

static struct dirent *give_entry(DIR *dir, const char *name, size_t length, uint64_t ino,
                                 uint32_t type)
{
    dir->position++;
    dir->entry.d_ino = ino;
    dir->entry.d_off = dir->position;
    dir->entry.d_type = (unsigned char)type;
    dir->entry.d_reclen = (unsigned short)sizeof dir->entry;
    memcpy(dir->entry.d_name, name, length);
    dir->entry.d_name[length] = '\0';
    return &dir->entry;
}

static struct dirent *next_remote(DIR *dir)
{
    struct rsys_entry entry;
    struct stat st;
    if (dir->dots < DOTS) {
        uint64_t ino = fstat(dir->fd, &st) == 0 ? st.st_ino : 1;
        dir->dots++;
        return give_entry(dir, "..", dir->dots, ino, DT_DIR);
    }
    for (;;) {
        int code = rsys_entry_next(dir->data, dir->length, &dir->at, &entry);
        if (code == 1 && entry.name.length <= RSYS_NAME_MAX) {
            dir->cookie = entry.cookie;
            return give_entry(dir, entry.name.data, entry.name.length, entry.ino, entry.type);
        }
        code = code == 0 ? fetch_remote(dir) : -EIO;
        if (code <= 0) {
            errno = code < 0 ? -code : errno;
            return NULL;
        }
    }
}

static struct dirent *next_local(DIR *dir)
{
    if (dir->at >= dir->length) {
        long got = syscall(SYS_getdents64, dir->fd, dir->data, READ_SIZE);
        if (got <= 0) {
            return NULL;
        }
        dir->at = 0;
        dir->length = (size_t)got;
    }
    /* The kernel's struct is the C library's on this machine. */
    struct dirent *entry = (struct dirent *)(void *)(dir->data + dir->at);
    dir->at += entry->d_reclen;
    dir->position = entry->d_off;
    return entry;
}

WRAP_EXPORT struct dirent *readdir(DIR *dir)
{
    (void)pthread_mutex_lock(&dir->lock);
    struct dirent *ret = dir->remote ? next_remote(dir) : next_local(dir);
    (void)pthread_mutex_unlock(&dir->lock);
    return ret;
}

WRAP_EXPORT int closedir(DIR *dir)
{
    int fd = dir->fd;
    (void)pthread_mutex_destroy(&dir->lock);
    (void)munmap(dir, sizeof *dir);
    return close(fd);
}

WRAP_EXPORT void rewinddir(DIR *dir)
{
    dir->at = dir->length = 0;
    dir->cookie = 0;
    dir->position = 0;
    dir->dots = 0;
    dir->end = false;
    if (!dir->remote) {
        (void)syscall(SYS_lseek, dir->fd, 0, SEEK_SET);
    }
}

WRAP_EXPORT long telldir(DIR *dir)
{
    return dir->position;
}

/* Positions of a remote directory are numbers of entries, so this reads from the beginning. */
WRAP_EXPORT void seekdir(DIR *dir, long position)
{
    if (dir->remote) {
        rewinddir(dir);
        while (dir->position < position && readdir(dir) != NULL) {
        }
        return;
    }
    dir->at = dir->length = 0;
    dir->position = syscall(SYS_lseek, dir->fd, position, SEEK_SET);
}

WRAP_EXPORT int dirfd(DIR *dir)
{
    return dir->fd;
}

struct dirent64;
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
extern struct dirent64 *readdir64(DIR *) __attribute__((alias("readdir"), visibility("default")));
