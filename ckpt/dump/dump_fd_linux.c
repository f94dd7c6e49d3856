/* ckpt/dump/dump_fd_linux.c - what all kinds of open files need to be saved: see dump_fd.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/err.h"
#include "ckpt/dump/dump_fd.h"
#include "ckpt/proc_linux.h"

static int set_error(const struct files *files, const struct open_file *file, int rc,
                     const char *why)
{
    return err_set(files->err, rc, "process %d: descriptor %d, %s: %s",
                   (int)file->subject->tracee.pid, file->fd, file->path, why);
}

int fd_refuse(const struct files *files, const struct open_file *file, const char *why)
{
    return set_error(files, file, -EOPNOTSUPP, why);
}

int fd_busy(const struct files *files, const struct open_file *file, const char *why)
{
    return set_error(files, file, -EBUSY, why);
}

int fd_fail(const struct files *files, const struct open_file *file, int rc)
{
    return set_error(files, file, rc, err_code_text(rc));
}

int fd_fetch(const struct open_file *file)
{
    int pidfd = pidfd_open(file->subject->tracee.pid, 0);
    int fd = pidfd >= 0 ? pidfd_getfd(pidfd, file->fd, 0) : -1;
    int rc = fd >= 0 ? fd : -errno;
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    return rc;
}

const char *fd_info(const struct open_file *file, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = file->info; *line != '\0'; line++) {
        if (strncmp(line, name, length) == 0) {
            return line + length;
        }
        line = strchr(line, '\n');
        if (line == NULL) {
            break;
        }
    }
    return NULL;
}

int32_t fd_inner_number(const struct files *files, pid_t id)
{
    for (size_t i = 0; i < files->dump->count; i++) {
        const struct subject *subject = files->dump->subjects[i];
        if (subject->tracee.pid == id) {
            return subject->process.pid;
        }
        for (size_t j = 0; j < subject->tracee.count; j++) {
            if (subject->tracee.threads[j].tid == id) {
                return proc_innermost(subject->tracee.pid, id, "NSpid:");
            }
        }
    }
    return 0;
}

bool fd_has_other(const struct files *files, const struct open_file *file, fd_matches_f *matches)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct open_file *other = &files->items[i];
        if (other->st.st_ino == file->st.st_ino && other->st.st_dev == file->st.st_dev &&
            matches(other, file)) {
            return true;
        }
    }
    return false;
}

int fd_put_message(struct files *files, struct ckpt_file *saved, const void *data, size_t bytes)
{
    struct ckpt_extent extent;
    dump_begin_extent(files->dump, &extent, 0);
    int rc = dump_put(files->dump, &extent, data, bytes, files->err);
    if (rc == 0) {
        uint32_t index = tables_add(&files->dump->tables, CKPT_EXTENTS, &extent);
        saved->extents.first = saved->extents.count == 0 ? index : saved->extents.first;
        saved->extents.count++;
    }
    return rc;
}
