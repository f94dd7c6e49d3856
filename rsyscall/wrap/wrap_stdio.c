/* rsyscall/wrap/wrap_stdio.c - streams of the C library on remote files: see wrap.h.
 *
 * The C library's streams call the kernel by internal names that cannot be wrapped.  So a stream on
 * a remote file is made by fopencookie() with our functions, and its descriptor number is set, so
 * that fileno() returns it.  A stream of the C library's own that has got the number of a remote
 * file in another way (for example a copy of `stdout` that was taken before we changed it) fails:
 * data is not lost silently.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

/* The standard streams: before: the C library's; ours: used while the descriptor is a remote
 * file. */
static struct {
    FILE *before[3], *ours[3];
} wrap_streams;

/* The C library's own functions, for files of this machine. */
FILE *_IO_fopen(const char *name, const char *mode);
FILE *_IO_fdopen(int fd, const char *mode);

static int fd_of(void *cookie)
{
    return (int)(intptr_t)cookie;
}

static ssize_t cookie_read(void *cookie, char *data, size_t length)
{
    return read(fd_of(cookie), data, length);
}

/* Writes all of the data or returns 0: the C library takes less than all for an error. */
static ssize_t cookie_write(void *cookie, const char *data, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t part = write(fd_of(cookie), data + done, length - done);
        if (part <= 0) {
            return 0;
        }
        done += (size_t)part;
    }
    return (ssize_t)done;
}

static int cookie_seek(void *cookie, off64_t *offset, int whence)
{
    off_t at = lseek(fd_of(cookie), *offset, whence);
    if (at < 0) {
        return -1;
    }
    *offset = at;
    return 0;
}

static FILE **standard_of(int fd)
{
    return fd == STDIN_FILENO ? &stdin : fd == STDOUT_FILENO ? &stdout : &stderr;
}

static int cookie_close(void *cookie)
{
    int fd = fd_of(cookie);
    if (fd <= STDERR_FILENO && wrap_streams.ours[fd] != NULL) {
        *standard_of(fd) = wrap_streams.before[fd];
        wrap_streams.ours[fd] = NULL;
    }
    return close(fd);
}

static FILE *stream_on(int fd, const char *mode)
{
    static const cookie_io_functions_t FUNCTIONS = {cookie_read, cookie_write, cookie_seek,
                                                    cookie_close};
    char plain[4] = {0}; /* fopencookie() knows r, w, a, + */
    size_t length = 0;
    for (; *mode != '\0' && *mode != ',' && length < 2; mode++) {
        if (strchr("rwa+", *mode) != NULL) {
            plain[length++] = *mode;
        }
    }
    FILE *stream = fopencookie((void *)(intptr_t)fd, plain, FUNCTIONS);
    if (stream != NULL) {
        stream->_fileno = fd;
    }
    return stream;
}

void wrap_stdio_follow(int fd)
{
    FILE **standard = standard_of(fd);
    bool remote = wrap_is_ours(fd);
    if (remote && wrap_streams.ours[fd] == NULL) {
        FILE *made = stream_on(fd, fd == STDIN_FILENO ? "r" : "w");
        if (made != NULL) {
            if (fd == STDERR_FILENO) {
                (void)setvbuf(made, NULL, _IONBF, 0);
            }
            wrap_streams.before[fd] = *standard;
            wrap_streams.ours[fd] = made;
        }
    }
    if (wrap_streams.ours[fd] != NULL) {
        *standard = remote ? wrap_streams.ours[fd] : wrap_streams.before[fd];
    }
}

/* Returns the flags of open() for a mode of fopen(); -1: not a valid mode. */
static int flags_of(const char *mode)
{
    bool both = false;
    int more = 0;
    for (const char *at = mode; *at != '\0' && *at != ','; at++) {
        both = both || *at == '+';
        more |= *at == 'e' ? O_CLOEXEC : *at == 'x' ? O_EXCL : 0;
    }
    switch (mode[0]) {
    case 'r':
        return (both ? O_RDWR : O_RDONLY) | more;
    case 'w':
        return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC | more;
    case 'a':
        return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | more;
    default:
        return -1;
    }
}

WRAP_EXPORT FILE *fdopen(int fd, const char *mode)
{
    return wrap_is_ours(fd) && flags_of(mode) >= 0 ? stream_on(fd, mode) : _IO_fdopen(fd, mode);
}

WRAP_EXPORT FILE *fopen(const char *name, const char *mode)
{
    int flags = flags_of(mode);
    if (flags < 0 || !wrap_is_on()) {
        return _IO_fopen(name, mode);
    }
    int fd = wrap_open(AT_FDCWD, name, flags, 0666);
    if (fd < 0) {
        return NULL;
    }
    FILE *stream = fdopen(fd, mode);
    if (stream == NULL) {
        int saved = errno;
        (void)close(fd);
        errno = saved;
    }
    return stream;
}

/* Opens another file under the same stream.  A standard stream changes with its descriptor; for any
 * other, the caller must use the stream that is returned. */
WRAP_EXPORT FILE *freopen(const char *name, const char *mode, FILE *stream)
{
    int flags = flags_of(mode);
    int to = stream != NULL ? fileno(stream) : -1;
    if (flags < 0 || name == NULL || stream == NULL) {
        errno = EINVAL;
        return NULL;
    }
    (void)fflush(stream);
    int fd = wrap_open(AT_FDCWD, name, flags, 0666);
    if (fd < 0 || to < 0 || to > STDERR_FILENO) {
        (void)fclose(stream);
        return fd >= 0 ? fdopen(fd, mode) : NULL;
    }
    int number = dup2(fd, to);
    (void)close(fd);
    return number == to ? *standard_of(to) : NULL;
}

/* ---- without a stream ------------------------------------------------------------------------ */

int __vdprintf_chk(int fd, int flag, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));
int __dprintf_chk(int fd, int flag, const char *format, ...) __attribute__((format(printf, 3, 4)));

__attribute__((format(printf, 2, 0))) WRAP_EXPORT int vdprintf(int fd, const char *format,
                                                               va_list values)
{
    char *text = NULL;
    int length = vasprintf(&text, format, values);
    if (length > 0 && cookie_write((void *)(intptr_t)fd, text, (size_t)length) == 0) {
        length = -1;
    }
    free(text);
    return length;
}

WRAP_EXPORT int dprintf(int fd, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int length = vdprintf(fd, format, values);
    va_end(values);
    return length;
}

WRAP_EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list values)
{
    (void)flag;
    return vdprintf(fd, format, values);
}

WRAP_EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list values;
    (void)flag;
    va_start(values, format);
    int length = vdprintf(fd, format, values);
    va_end(values);
    return length;
}

__attribute__((constructor)) static void begin_streams(void)
{
    for (int fd = 0; fd <= STDERR_FILENO && wrap_is_on(); fd++) {
        wrap_stdio_follow(fd);
    }
}

extern FILE *fopen64(const char *, const char *)
    __attribute__((alias("fopen"), visibility("default")));
extern FILE *freopen64(const char *, const char *, FILE *)
    __attribute__((alias("freopen"), visibility("default")));
