/* base/log_linux.c - writes log lines to files and to stderr.
 *
 * Design note: one write(2) with O_APPEND for each line, so that lines of several processes (the
 * shadows of one schedd) do not mix.  Whichever process finds the file too large renames it, under
 * flock() on the file itself.  The others notice at their next line that the path leads to another
 * inode, and open that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define LOG_FILE_MODE 0644

struct log_file {
    char *path;
    int fd; /* -1: could not be opened; tried again with the next line */
    uint64_t max_bytes;
    unsigned keep;
    uint64_t lost_lines;
};

static int open_file(struct log_file *file)
{
    file->fd = open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, LOG_FILE_MODE);
    return file->fd < 0 ? -errno : 0;
}

static void close_file(struct log_file *file)
{
    if (file->fd >= 0) {
        (void)close(file->fd); /* nothing is buffered: each line was reported when it was written */
        file->fd = -1;
    }
}

/* Returns PATH for 0, PATH.old for 1, PATH.old.n for n; the caller owns it. */
static char *old_path(const struct log_file *file, unsigned number)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_puts(&path, file->path);
    if (number > 0) {
        strbuf_puts(&path, ".old");
    }
    if (number > 1) {
        strbuf_printf(&path, ".%u", number);
    }
    return strbuf_take(&path);
}

/* Renames the file.  If that fails the file keeps growing, which is better than losing lines. */
static void move_aside(const struct log_file *file)
{
    if (file->keep == 0) {
        (void)unlink(file->path);
        return;
    }
    for (unsigned number = file->keep; number > 0; number--) {
        char *from = old_path(file, number - 1);
        char *to = old_path(file, number);
        if (from && to) {
            (void)rename(from, to);
        }
        mem_free(from);
        mem_free(to);
    }
}

static bool same_inode(int fd, const char *path, struct stat *status)
{
    struct stat by_path;
    return fstat(fd, status) == 0 && stat(path, &by_path) == 0 &&
           status->st_ino == by_path.st_ino && status->st_dev == by_path.st_dev;
}

/* Makes fd the file that path names, if that is not full. */
static void follow_path(struct log_file *file)
{
    struct stat status;
    if (file->fd >= 0 && !same_inode(file->fd, file->path, &status)) {
        close_file(file);
    }
    if (file->fd < 0) {
        (void)open_file(file); /* a failure shows when the line is written */
        return;
    }
    if (file->max_bytes == 0 || (uint64_t)status.st_size < file->max_bytes) {
        return;
    }
    if (flock(file->fd, LOCK_EX | LOCK_NB) == 0) {
        if (same_inode(file->fd, file->path, &status)) {
            move_aside(file);
        }
        close_file(file); /* and with it the lock */
        (void)open_file(file);
    }
}

static bool write_whole(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        length -= (size_t)written;
    }
    return true;
}

static void file_write(void *context, const char *line, size_t length)
{
    struct log_file *file = context;
    follow_path(file);
    if (file->fd < 0) {
        file->lost_lines++;
        return;
    }
    if (file->lost_lines > 0) {
        char text[128];
        const char *time_end = strchr(line, ' ');
        int note =
            snprintf(text, sizeof(text), "%.*s log warn log.lost \"lines were lost\" lines=%llu\n",
                     time_end ? (int)(time_end - line) : 0, line,
                     (unsigned long long)file->lost_lines);
        if (note > 0 && write_whole(file->fd, text, (size_t)note)) {
            file->lost_lines = 0;
        }
    }
    if (!write_whole(file->fd, line, length)) {
        file->lost_lines++;
    }
}

static void file_close(void *context)
{
    struct log_file *file = context;
    close_file(file);
    mem_free(file->path);
    mem_free(file);
}

int log_sink_file(const char *path, uint64_t max_bytes, unsigned keep, struct log_sink *ret,
                  struct err *err)
{
    struct log_file *file = mem_zalloc(sizeof(*file));
    file->path = mem_strdup(path);
    file->max_bytes = max_bytes;
    file->keep = keep;
    int rc = open_file(file);
    if (rc < 0) {
        file_close(file);
        return err_set(err, rc, "log file %s: %s", path, err_code_text(rc));
    }
    *ret = (struct log_sink){.write = file_write, .close = file_close, .context = file};
    return 0;
}

static void stderr_write(void *context, const char *line, size_t length)
{
    (void)context;
    (void)write_whole(STDERR_FILENO, line, length); /* there is nowhere to complain */
}

struct log_sink log_sink_stderr(void)
{
    return (struct log_sink){.write = stderr_write};
}
