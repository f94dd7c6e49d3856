/* pclient/main.c - the program pclient, which runs a controller's jobs on this host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/os/os_below.h"
#include "base/os/os_enclose.h"
#include "base/os/os_mark.h"
#include "base/os/os_run.h"
#include "base/text.h"
#include "pclient/keep.h"
#include "pclient/pclient.h"
#include "pclient/protocol.h"

#define BUFFER_MIN 4096
#define BUFFER_MAX ((int64_t)128 << 20)

static const char USAGE_TEXT[] =
    "usage: pclient [-lease SECONDS] [-buffer BYTES] [-subreaper]\n"
    "Reads requests from standard input; 'help' lists them. A controller such as pcontrol\n"
    "starts it. See pclient(1).\n";

struct run {
    struct pclient_options options;
    /* PCLIENT_MARK_NAME and what names the watcher for ever: PID namespace, pid, start time. */
    char mark[192];
};

struct leftovers {
    struct os *os;
    char prefix[128]; /* of the marks of this PID namespace */
};

/* Writes what all marks of this PID namespace begin with: "pclient-pid:[4026531836]-". */
static void mark_prefix(struct os *os, char *ret, size_t size)
{
    char space[64] = "";
    if (os_below_read_link(os, "/proc/self/ns", "pid", space, sizeof(space)) != 0) {
        space[0] = '\0';
    }
    (void)snprintf(ret, size, "pclient-%s-", space);
}

/* Kills a process whose pclient is gone, watcher and all. */
static void kill_leftover(void *arg, pid_t pid, const char *mark)
{
    const struct leftovers *left = arg;
    size_t length = strlen(left->prefix);
    char *end;
    char path[64];
    struct os_stat stat;
    (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (strncmp(mark, left->prefix, length) != 0 || os_stat(left->os, path, &stat) != 0 ||
        stat.uid != os_uid(left->os)) {
        return; /* a detached job, a pid that means another process there, or another user's */
    }
    pid_t watcher = (pid_t)strtol(mark + length, &end, 10);
    uint64_t started = *end == '-' ? strtoull(end + 1, NULL, 10) : 0;
    if (watcher > 0 && started > 0 && os_start_time(left->os, watcher) != started) {
        (void)os_kill(left->os, pid, SIGKILL); /* it may be gone by now */
    }
}

/* Without namespaces, a process of a job can outlive a pclient that was killed with its watcher. */
static void kill_leftovers(struct os *os)
{
    struct leftovers left = {.os = os};
    mark_prefix(os, left.prefix, sizeof(left.prefix));
    os_mark_each(PCLIENT_MARK_NAME, kill_leftover, &left);
}

/* The process that holds the jobs. */
static int run_inside(void *arg, struct os_enclosure *enclosure)
{
    struct run *run = arg;
    struct job_host host = {.enclosure = enclosure, .mark = run->mark};
    struct pclient *pclient = NULL;
    struct err err = {""};
    int status = PCLIENT_FAILED;
    if (loop_create(&host.loop, &err) == 0 && os_create(host.loop, &host.os, &err) == 0) {
        os_become_subreaper(host.os); /* it also reaps what loses its parent */
        if (!os_enclosure_is_namespace(enclosure)) {
            kill_leftovers(host.os);
        }
        if (pclient_create(&host, &run->options, &pclient, &err) == 0) {
            status = loop_run(host.loop);
        }
    }
    if (err.text[0] != '\0') {
        (void)fprintf(stderr, "pclient: %s\n", err.text);
    }
    if (!os_enclosure_is_namespace(enclosure)) { /* else the kernel does that */
        os_enclosure_sweep(enclosure);
    }
    pclient_destroy(pclient);
    os_destroy(host.os);
    loop_destroy(host.loop);
    return status;
}

/* Reads the options.  Returns -1, or the exit status. */
static int read_options(int argc, char **argv, struct run *run, struct os_enclose *enclose)
{
    struct err err = {""};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        int64_t bytes = 0;
        int rc = 0;
        if (strcmp(argv[i], "-lease") == 0) {
            rc = request_plan_lease(value, &run->options.lease_s, &err);
            i++;
        } else if (strcmp(argv[i], "-buffer") == 0) {
            rc = text_parse_size(value, &bytes, &err);
            if (rc == 0 && (bytes < BUFFER_MIN || bytes > BUFFER_MAX)) {
                rc = err_set(&err, -1, "-buffer %s: expected %d to %" PRId64 " bytes", value,
                             BUFFER_MIN, BUFFER_MAX);
            }
            run->options.buffer_bytes = (size_t)bytes;
            i++;
        } else if (strcmp(argv[i], "-subreaper") == 0) {
            enclose->no_namespaces = run->options.no_namespaces = true;
        } else if (strcmp(argv[i], "-help") == 0 || strcmp(argv[i], "--help") == 0) {
            (void)printf("%s", USAGE_TEXT);
            return fflush(stdout) == 0 ? PCLIENT_ENDED : PCLIENT_FAILED;
        } else if (strcmp(argv[i], "-version") == 0 || strcmp(argv[i], "--version") == 0) {
            (void)printf("pclient %s, protocol %d\n", ROOST_VERSION, PCLIENT_VERSION);
            return fflush(stdout) == 0 ? PCLIENT_ENDED : PCLIENT_FAILED;
        } else {
            rc = err_set(&err, -1, "unknown option '%s'", argv[i]);
        }
        if (rc != 0) {
            (void)fprintf(stderr, "pclient: %s\n%s", err.text, USAGE_TEXT);
            return PCLIENT_USAGE;
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    struct run run = {
        .options = {.lease_s = PCLIENT_LEASE_S, .buffer_bytes = PCLIENT_BUFFER_BYTES}};
    struct os_enclose enclose = {0};
    struct err err = {""};
    struct os *os = NULL;
    if (keep_is_outside(argc, argv)) {
        return keep_outside(argc, argv);
    }
    int status = read_options(argc, argv, &run, &enclose);
    if (status >= 0) {
        return status;
    }
    if (os_create(NULL, &os, &err) == 0) {
        char prefix[128];
        mark_prefix(os, prefix, sizeof(prefix));
        (void)snprintf(run.mark, sizeof(run.mark), "%s%s%d-%" PRIu64, PCLIENT_MARK_NAME, prefix,
                       (int)os_pid(os), os_start_time(os, os_pid(os)));
        os_destroy(os);
        enclose.lease_ms = (uint64_t)run.options.lease_s * 1000;
        status = os_enclose_run(&enclose, run_inside, &run, &err);
    }
    if (err.text[0] != '\0') {
        (void)fprintf(stderr, "pclient: %s\n", err.text);
        status = status == OS_ENCLOSE_LEASE_STATUS ? status : PCLIENT_FAILED;
    }
    return status;
}
