/* ckpt/command_follow_linux.c - roost-ckpt follow|merge: images of what changes, and one made of
 * them.
 *
 * `follow` stays for as long as the job does, because what it knows of the job's memory ends with
 * it.  It is told on its input what to do, a word a line, and answers each with a line:
 *
 *     image              whole|delta FILE BYTES MEMORY_BYTES FROZEN_US
 *     whole              the same, and a whole one in any case
 *     kill               the same as image; the job ends when it is durable
 *     (what went wrong)  failed MESSAGE
 *
 * At the end of the input, or of the job, it ends; the job runs on.
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
#include "ckpt/command_linux.h"
#include "ckpt/dump_linux.h"
#include "ckpt/follow_linux.h"
#include "ckpt/merge_linux.h"

#define USAGE      2
#define FAILED     1
#define WORD_BYTES 64
#define WHOLE_EACH 16 /* images in a chain, unless told */

struct followed_job {
    pid_t pid;
    const char *folder;
    struct follow *follow;
    unsigned made, whole_each, since_whole;
    char word[WORD_BYTES];
    size_t word_bytes;
};

static bool make_image(struct followed_job *job, bool whole, bool kill_it)
{
    char path[PATH_MAX];
    struct err err = {.text = ""};
    struct dump_result result;
    bool made = false;
    const struct dump_options options = {.kill = kill_it,
                                         .follow = job->follow,
                                         .whole = whole || job->since_whole >= job->whole_each};
    if (snprintf(path, sizeof path, "%s/%06u.image", job->folder, job->made + 1) >=
        (int)sizeof path) {
        (void)printf("failed the folder's name is too long\n");
    } else if (ckpt_dump(job->pid, path, &options, &result, &err) != 0) {
        (void)printf("failed %s\n", err.text);
    } else {
        made = true;
        job->made++;
        job->since_whole = result.is_delta ? job->since_whole + 1 : 1;
        (void)printf("%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                     result.is_delta ? "delta" : "whole", path, result.image_bytes,
                     result.memory_bytes, result.frozen_ns / 1000);
    }
    (void)fflush(stdout);
    return made;
}

/* False: the job has ended. */
static bool obey(struct followed_job *job)
{
    bool ends = strcmp(job->word, "kill") == 0;
    if (ends || strcmp(job->word, "image") == 0) {
        ends = make_image(job, false, ends) && ends;
    } else if (strcmp(job->word, "whole") == 0) {
        (void)make_image(job, true, false);
    } else {
        (void)printf("failed there is no order '%s', but image, whole and kill\n", job->word);
        (void)fflush(stdout);
    }
    return !ends;
}

/* What has come in.  False: nothing more will. */
static bool hear(struct followed_job *job)
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
        if (!obey(job)) {
            return false;
        }
    }
    return true;
}

static int follow_job(struct followed_job *job, int every_ms)
{
    struct pollfd from[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
    bool goes_on = true;
    from[1].fd = pidfd_open(job->pid, 0);
    if (from[1].fd < 0) {
        (void)fprintf(stderr, "roost-ckpt: process %d: there is none\n", (int)job->pid);
        return FAILED;
    }
    job->follow = follow_create();
    while (goes_on) {
        int count = poll(from, 2, every_ms);
        if (count == 0) {
            (void)make_image(job, false, false);
        } else if (count > 0 && from[1].revents != 0) {
            goes_on = false;
        } else if (count > 0) {
            goes_on = hear(job);
        } else {
            goes_on = errno == EINTR;
        }
    }
    follow_destroy(job->follow);
    (void)close(from[1].fd);
    return 0;
}

static bool number(const char *text, long min, long max, long *ret)
{
    char *end = NULL;
    errno = 0;
    *ret = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *ret >= min && *ret <= max;
}

int ckpt_follow_command(int argc, char **argv)
{
    struct followed_job job = {.whole_each = WHOLE_EACH};
    long pid = 0, every_s = -1, whole_each = WHOLE_EACH;
    bool right = argc >= 4 && argc % 2 == 0 && number(argv[2], 1, INT32_MAX, &pid);
    for (int i = 4; right && i + 1 < argc; i += 2) {
        right = strcmp(argv[i], "--every") == 0 ? number(argv[i + 1], 1, 1000000, &every_s)
                                                : strcmp(argv[i], "--whole-each") == 0 &&
                                                      number(argv[i + 1], 1, 1000, &whole_each);
    }
    if (!right) {
        return USAGE;
    }
    job.pid = (pid_t)pid;
    job.folder = argv[3];
    job.whole_each = (unsigned)whole_each;
    return follow_job(&job, every_s > 0 ? (int)every_s * 1000 : -1);
}

int ckpt_merge_command(int argc, char **argv)
{
    struct err err = {.text = ""};
    uint64_t bytes = 0;
    if (argc < 4) {
        return USAGE;
    }
    const char *out = argv[argc - 1];
    if (ckpt_merge((const char *const *)argv + 2, (size_t)argc - 3, out, &bytes, &err) != 0) {
        (void)fprintf(stderr, "roost-ckpt: %s\n", err.text);
        return FAILED;
    }
    (void)printf("%s: %" PRIu64 " bytes\n", out, bytes);
    return 0;
}
