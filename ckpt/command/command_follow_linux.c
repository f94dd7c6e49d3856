/* ckpt/command/command_follow_linux.c - roost-ckpt follow: images of what changes.
 *
 * `follow` stays for as long as the job does, because what it knows of the job's memory ends with
 * it.  It is told on its input what to do, a word a line, and answers each with a line:
 *
 *     image              whole|delta FILE BYTES MEMORY_BYTES FROZEN_US
 *     whole              the same, and a whole one in any case
 *     kill               the same as image; the job ends when it is durable
 *     (what went wrong)  failed MESSAGE
 *
 * At the end of the input, or of the job, it ends; the job runs on.  With --at SOCKET it is asked
 * there instead (follow_socket_linux.h), as often as anybody likes, until the job ends.  It ends,
 * too, after a thread did not stop in time: the kernel holds that one for us until then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/command/command_linux.h"
#include "ckpt/dump/dump_linux.h"
#include "ckpt/follow/follow_linux.h"
#include "ckpt/follow/follow_socket_linux.h"

#define USAGE      2
#define FAILED     1
#define WORD_BYTES 64 /* most bytes of a word, with the terminating zero */
#define WHOLE_EACH 16 /* images in a chain, unless told */

struct followed_job {
    pid_t pid;
    unsigned kept; /* as of ckpt_job_of() */
    const char *folder;
    int listener; /* -1: none */
    struct follow *follow;
    unsigned made, whole_each, since_whole;
    char word[WORD_BYTES];
    size_t word_bytes;
    bool is_over; /* only our end lets the job go */
};

/* Returns the pid of the job itself; 0: it does not exist yet, or any more. */
static pid_t job_pid(const struct followed_job *job)
{
    return ckpt_job_of(job->pid, job->kept);
}

/* Makes an image with that name in the follower's directory. */
static int dump_job(const struct followed_job *job, const char *name,
                    const struct dump_options *options, char path[PATH_MAX],
                    struct dump_result *ret, struct err *err)
{
    pid_t pid = job_pid(job);
    if (snprintf(path, PATH_MAX, "%s/%s", job->folder, name) >= PATH_MAX) {
        return err_set(err, -ENAMETOOLONG, "the folder's name is too long");
    }
    return pid <= 0 ? err_set(err, -ESRCH, "process %d runs no job", (int)job->pid)
                    : ckpt_dump(pid, path, options, ret, err);
}

static bool make_image(struct followed_job *job, bool whole, bool kill_it)
{
    char path[PATH_MAX], name[32];
    struct err err = {.text = ""};
    struct dump_result result;
    const struct dump_options options = {.kill = kill_it,
                                         .follow = job->follow,
                                         .whole = whole || job->since_whole >= job->whole_each};
    (void)snprintf(name, sizeof name, "%06u.image", job->made + 1);
    int rc = dump_job(job, name, &options, path, &result, &err);
    if (rc != 0) {
        job->is_over = rc == -ETIMEDOUT;
        (void)printf("failed %s\n", err.text);
    } else {
        job->made++;
        job->since_whole = result.is_delta ? job->since_whole + 1 : 1;
        (void)printf("%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                     result.is_delta ? "delta" : "whole", path, result.image_bytes,
                     result.memory_bytes, result.frozen_ns / 1000);
    }
    (void)fflush(stdout);
    return rc == 0;
}

/* Carries out an order.  False: the job has ended. */
static bool obey_order(struct followed_job *job)
{
    bool ends = strcmp(job->word, "kill") == 0;
    if (ends || strcmp(job->word, "image") == 0) {
        ends = make_image(job, false, ends) && ends;
    } else if (strcmp(job->word, "whole") == 0) {
        (void)make_image(job, true, false);
    } else {
        (void)printf("failed unknown order '%s'; known are image, whole and kill\n", job->word);
        (void)fflush(stdout);
    }
    return !ends;
}

/* Serves a connection.  False: the job has ended with its image. */
static bool serve_caller(struct followed_job *job)
{
    char path[PATH_MAX];
    struct follow_order order;
    struct dump_result result;
    struct err err = {.text = ""};
    int fd = follow_accept(job->listener, &order);
    if (fd < 0) {
        return true;
    }
    const struct dump_options options = {.kill = order.kill,
                                         .follow = job->follow,
                                         .whole = order.base_id == 0 ||
                                                  order.base_id != follow_base_id(job->follow),
                                         .while_still = follow_tell_still,
                                         .still_arg = &fd};
    int rc = dump_job(job, order.name, &options, path, &result, &err);
    follow_answer(fd, rc, &result, &err);
    (void)close(fd);
    job->is_over = rc == -ETIMEDOUT;
    return rc != 0 || !order.kill;
}

/* Reads what has come in, and carries it out.  False: nothing more will come. */
static bool read_orders(struct followed_job *job)
{
    char bytes[256];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0) {
        return got < 0 && errno == EINTR;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n') {
            job->word[job->word_bytes] = bytes[i];
            job->word_bytes += job->word_bytes + 1 < WORD_BYTES ? 1 : 0;
            continue;
        }
        job->word[job->word_bytes] = '\0';
        job->word_bytes = 0;
        if (!obey_order(job) || job->is_over) {
            return false;
        }
    }
    return true;
}

static int follow_job(struct followed_job *job, int every_ms)
{
    bool listens = job->listener >= 0;
    struct pollfd from[2] = {{.fd = listens ? job->listener : STDIN_FILENO, .events = POLLIN},
                             {.events = POLLIN}};
    bool goes_on = true;
    int code = 0;
    from[1].fd = pidfd_open(job->pid, 0);
    if (from[1].fd < 0) {
        (void)fprintf(stderr, "roost-ckpt: no such process: %d\n", (int)job->pid);
        return FAILED;
    }
    job->follow = follow_create();
    while (goes_on && !job->is_over) {
        int count = poll(from, 2, every_ms);
        if (count == 0) {
            (void)make_image(job, false, false);
        } else if (count > 0 && from[1].revents != 0) {
            goes_on = false;
        } else if (count > 0) {
            goes_on = listens ? serve_caller(job) : read_orders(job);
        } else if (errno != EINTR) {
            (void)fprintf(stderr, "roost-ckpt: cannot wait for orders and the end of the job: %s\n",
                          strerror(errno));
            code = FAILED;
            goes_on = false;
        }
    }
    follow_destroy(job->follow);
    (void)close(from[1].fd);
    return code;
}

static bool read_number(const char *text, long min, long max, long *ret)
{
    char *end = NULL;
    errno = 0;
    *ret = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *ret >= min && *ret <= max;
}

int ckpt_follow_command(int argc, char **argv)
{
    struct followed_job job = {.listener = -1};
    struct err err = {.text = ""};
    const char *at = NULL;
    long pid = 0, every_s = -1, whole_each = WHOLE_EACH;
    bool right = argc >= 4 && read_number(argv[2], 1, INT32_MAX, &pid);
    for (int i = 4; right && i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--kept") == 0) {
            job.kept++;
            continue;
        }
        if (strcmp(argv[i], "--at") == 0) {
            at = value;
            right = value[0] != '\0';
        } else {
            right = strcmp(argv[i], "--every") == 0 ? read_number(value, 1, 1000000, &every_s)
                                                    : strcmp(argv[i], "--whole-each") == 0 &&
                                                          read_number(value, 1, 1000, &whole_each);
        }
        i++;
    }
    if (!right || (at != NULL && every_s > 0)) {
        return USAGE;
    }
    job.pid = (pid_t)pid;
    job.folder = argv[3];
    job.whole_each = (unsigned)whole_each;
    if (at != NULL) {
        job.listener = follow_listen(at, &err);
        if (job.listener < 0) {
            (void)fprintf(stderr, "roost-ckpt: %s\n", err.text);
            return FAILED;
        }
    }
    int status = follow_job(&job, every_s > 0 ? (int)every_s * 1000 : -1);
    if (at != NULL) {
        (void)close(job.listener);
        (void)unlink(at);
    }
    return status;
}
