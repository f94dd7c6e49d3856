/* ckpt/follow/follow_socket_linux.c - lets other processes ask a follower for images: see
 * follow_socket_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/follow/follow_socket_linux.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define LINE_MAX_BYTES 512    /* most bytes of a line with its newline */
#define ORDER_MS       2000   /* in which who has connected says what he wants */
#define STILL_MS       600000 /* what is done while the job stands still takes at most */
#define MS_PER_S       1000
#define WAITING_MAX    4

static int open_socket(const char *path, struct sockaddr_un *ret, struct err *err)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret->sun_path) {
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long for a socket", path);
    }
    memcpy(ret->sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = -errno;
    return fd < 0 ? err_set(err, rc, "%s: %s", path, err_code_text(rc)) : fd;
}

static int64_t now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)MS_PER_S + now.tv_nsec / 1000000;
}

/* Waits until something can be read. within_ms: limit, counted from began_ms; negative: no
 * limit. */
static bool has_come(int fd, int64_t began_ms, int within_ms)
{
    struct pollfd from = {.fd = fd, .events = POLLIN};
    for (;;) {
        int64_t left_ms = within_ms < 0 ? -1 : began_ms + within_ms - now_ms();
        if (within_ms >= 0 && left_ms <= 0) {
            return false;
        }
        int count = poll(&from, 1, (int)left_ms);
        if (count > 0 || (count < 0 && errno != EINTR)) {
            return count > 0;
        }
    }
}

/* Reads a line, without its end.  False: none came in that time, whatever else came. */
static bool read_line(int fd, char line[LINE_MAX_BYTES], int within_ms)
{
    int64_t began_ms = now_ms();
    for (size_t at = 0; at < LINE_MAX_BYTES && has_come(fd, began_ms, within_ms);) {
        ssize_t got = recv(fd, &line[at], 1, 0); /* few and short: no buffer */
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        if (line[at] == '\n') {
            line[at] = '\0';
            return true;
        }
        at++;
    }
    return false;
}

static bool write_line(int fd, const char *line)
{
    size_t length = strlen(line);
    return send(fd, line, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* ---- the follower */

int follow_listen(const char *path, struct err *err)
{
    struct sockaddr_un address;
    int fd = open_socket(path, &address, err);
    if (fd < 0) {
        return fd;
    }
    (void)unlink(path);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, WAITING_MAX) != 0) {
        int rc = -errno;
        (void)close(fd);
        return err_set(err, rc, "%s: %s", path, err_code_text(rc));
    }
    return fd;
}

static bool read_order(const char *line, struct follow_order *ret)
{
    char word[8];
    int end = 0;
    if (sscanf(line, "%7s %255s %" SCNx64 "%n", word, ret->name, &ret->base_id, &end) != 3 ||
        line[end] != '\0') {
        return false;
    }
    ret->kill = strcmp(word, "kill") == 0;
    return (ret->kill || strcmp(word, "image") == 0) && strchr(ret->name, '/') == NULL &&
           strcmp(ret->name, ".") != 0 && strcmp(ret->name, "..") != 0;
}

int follow_accept(int listener, struct follow_order *ret)
{
    static const struct timeval PATIENCE = {.tv_sec = ORDER_MS / MS_PER_S};
    char line[LINE_MAX_BYTES];
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &PATIENCE, sizeof PATIENCE);
    if (!read_line(fd, line, ORDER_MS) || !read_order(line, ret)) {
        (void)close(fd);
        return -EINVAL;
    }
    return fd;
}

int follow_tell_still(void *arg, struct err *err)
{
    char line[LINE_MAX_BYTES];
    int fd = *(const int *)arg;
    if (!write_line(fd, "still\n") || !read_line(fd, line, STILL_MS)) {
        return err_set(err, -ECANCELED, "the caller who asked for the image has disconnected");
    }
    return strcmp(line, "on") == 0
               ? 0
               : err_set(err, -ECANCELED, "%s", strncmp(line, "off ", 4) == 0 ? line + 4 : line);
}

void follow_answer(int fd, int rc, const struct dump_result *result, const struct err *err)
{
    char line[LINE_MAX_BYTES];
    if (rc != 0) {
        (void)snprintf(line, sizeof line, "failed %d %.400s\n", rc, err->text);
    } else {
        (void)snprintf(line, sizeof line, "made %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                       result->is_delta ? "delta" : "whole", result->image_bytes,
                       result->memory_bytes, result->frozen_ns);
    }
    (void)write_line(fd, line); /* who asked may have gone */
}

/* ---- who asks */

static int read_answer(const char *line, struct dump_result *ret, struct err *err)
{
    struct dump_result result = {.image_bytes = 0};
    char what[8];
    int code = 0, at = 0;
    if (sscanf(line, "made %7s %" SCNu64 " %" SCNu64 " %" SCNu64, what, &result.image_bytes,
               &result.memory_bytes, &result.frozen_ns) == 4) {
        result.is_delta = strcmp(what, "delta") == 0;
        *ret = result;
        return 0;
    }
    if (sscanf(line, "failed %d %n", &code, &at) == 1 && code < 0 && at > 0) {
        return err_set(err, code, "%s", line + at);
    }
    return err_set(err, -EPROTO, "unexpected answer of roost-ckpt follow: %.100s", line);
}

static int ask_follower(int fd, const struct follow_order *order,
                        const struct dump_options *options, struct dump_result *ret,
                        struct err *err)
{
    char line[LINE_MAX_BYTES];
    (void)snprintf(line, sizeof line, "%s %s %" PRIx64 "\n", order->kill ? "kill" : "image",
                   order->name, order->base_id);
    bool heard = write_line(fd, line) && read_line(fd, line, -1);
    while (heard && strcmp(line, "still") == 0) { /* again, if what was tried was for a moment */
        int rc = options->while_still != NULL ? options->while_still(options->still_arg, err) : 0;
        if (rc != 0) {
            (void)snprintf(line, sizeof line, "off %.400s\n", err != NULL ? err->text : "");
        }
        heard = write_line(fd, rc != 0 ? line : "on\n") && read_line(fd, line, -1);
    }
    return heard ? read_answer(line, ret, err)
                 : err_set(err, -ECONNRESET,
                           "roost-ckpt follow, which tracks the job's changes, has ended");
}

int follow_ask(const char *path, const struct follow_order *order,
               const struct dump_options *options, struct dump_result *ret, struct err *err)
{
    struct sockaddr_un address;
    int fd = open_socket(path, &address, err);
    if (fd < 0) {
        return fd;
    }
    int rc = 0;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        rc = err_set(err, -ECONNREFUSED, "%s: no roost-ckpt follow listens there", path);
    }
    rc = rc != 0 ? rc : ask_follower(fd, order, options, ret, err);
    (void)close(fd);
    return rc;
}
