/* pclient/job.c - see job.h.
 *
 * States: runs, until its first process has ended; then ending, until nothing of it is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pclient/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_enclose.h"
#include "base/os/os_terminal.h"
#include "base/strbuf.h"
#include "pclient/protocol.h"

#define PATH_DEFAULT  "/usr/local/bin:/usr/bin:/bin"
#define READS_MAX     8    /* of each stream, before others have their turn */
#define SETTLE_MS     1    /* first pause before what is left is killed again; then longer */
#define SETTLE_MS_MAX 50   /* ... up to this */
#define GIVE_UP_MS    5000 /* for pipes that somebody holds whom we cannot kill */

struct job {
    const struct job_host *host;
    const struct job_owner *owner;
    struct os_terminal *terminal; /* NULL: a detached job */
    struct loop_timer *timeout, *settle;
    pid_t pid, outer_pid;
    bool open[3]; /* [1] and [2]: the stream has not ended */
    bool full;    /* a stream is not read because there is no room */
    bool ending, done;
    uint64_t ended_ms, settle_ms;
    enum request_reason why;
    struct os_exit how;
    char chunk[PCLIENT_PUSH_MAX];
};

static void job_settle(void *arg);

/* ---- output ---------------------------------------------------------------------------------- */

/* Reads a stream as far as there is room. */
static void read_stream(struct job *job, int stream)
{
    for (int i = 0; job->open[stream] && (job->ending || i < READS_MAX); i++) {
        size_t room = job->owner->room(job->owner->arg, stream);
        if (room == 0) {
            job->full = true;
            return;
        }
        ssize_t got = os_terminal_read(job->terminal, stream, job->chunk,
                                       room < sizeof(job->chunk) ? room : sizeof(job->chunk));
        if (got < 0) {
            return;
        }
        job->open[stream] = got > 0;
        if (got > 0) {
            job->owner->output(job->owner->arg, stream, job->chunk, (size_t)got);
        }
    }
}

static void read_output(struct job *job)
{
    job->full = false;
    if (job->terminal == NULL) {
        return;
    }
    read_stream(job, 1);
    read_stream(job, 2);
    os_terminal_want(job->terminal, false, job->open[1] && job->owner->room(job->owner->arg, 1) > 0,
                     job->open[2] && job->owner->room(job->owner->arg, 2) > 0);
}

void job_pump(struct job *job)
{
    if (job->ending) {
        job_settle(job);
    } else {
        read_output(job);
    }
}

static void output_ready(void *arg)
{
    job_pump(arg);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Goes on until nothing is left; may be the job's last call. */
static void job_settle(void *arg)
{
    struct job *job = arg;
    bool others = os_enclosure_has_others(job->host->enclosure);
    uint64_t now_ms = loop_now_ms(job->host->loop);
    if (others) {
        os_enclosure_kill_others(job->host->enclosure);
    }
    bool gives_up = now_ms - job->ended_ms >= GIVE_UP_MS;
    if (!job->done && (!others || gives_up)) {
        job->done = true;
        bool wanted = job->owner->done(job->owner->arg);
        job->open[1] = job->open[1] && wanted;
        job->open[2] = job->open[2] && wanted;
    }
    read_output(job);
    bool waits = others || ((job->open[1] || job->open[2]) && !job->full);
    if (waits && gives_up) {
        (void)fprintf(stderr,
                      "pclient: something of job %d cannot be killed; going on without it\n",
                      (int)job->outer_pid);
        waits = job->open[1] = job->open[2] = false;
    }
    if (waits) {
        loop_timer_set(job->settle, job->settle_ms);
        job->settle_ms = 2 * job->settle_ms < SETTLE_MS_MAX ? 2 * job->settle_ms : SETTLE_MS_MAX;
    } else if (!job->open[1] && !job->open[2]) {
        job->owner->ended(job->owner->arg);
    } /* else: job_pump() is called when there is room */
}

static void process_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct job *job = arg;
    (void)pid;
    job->pid = 0;
    job->how = *how;
    job->ending = true;
    job->ended_ms = loop_now_ms(job->host->loop);
    job->settle_ms = SETTLE_MS;
    loop_timer_stop(job->timeout);
    job_settle(job);
}

void job_kill(struct job *job, enum request_reason why)
{
    if (!job->ending && job->why == REASON_NONE) {
        job->why = why;
    }
    os_enclosure_kill_others(job->host->enclosure);
}

static void timeout_over(void *arg)
{
    job_kill(arg, REASON_TIMEOUT);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* An empty path is none: /dev/null. */
static const char *path_or_null(const char *path)
{
    return path != NULL && path[0] != '\0' ? path : NULL;
}

/* file: what was found in PATH; NULL: argv[0] is a path. */
static int spawn_file(struct job *job, const char *file, const struct job_spec *what,
                      struct err *err)
{
    const char *const add[] = {job->host->mark, NULL};
    const struct os_spawn spec = {.argv = what->argv,
                                  .stdout_path = path_or_null(what->stdout_path),
                                  .stderr_path = path_or_null(what->stderr_path),
                                  .file = file,
                                  .env_add = add,
                                  .new_session = true,
                                  .terminal = job->terminal};
    return os_spawn(job->host->os, &spec, process_ended, job, &job->pid, err);
}

/* Returns whether this is a link to nothing: else it was not the program that does not exist. */
static bool is_dangling(const struct job *job, const char *path)
{
    struct os_file *file = NULL;
    int rc = os_file_open(job->host->os, path, OS_READ, 0, &file, NULL);
    os_file_close(file);
    return rc == -ENOENT;
}

/* Tries the directories of PATH, as a shell does. */
static int spawn_found(struct job *job, const struct job_spec *what, struct err *err)
{
    const char *path = os_getenv(job->host->os, "PATH");
    int rc = -ENOENT;
    struct strbuf file;
    strbuf_init(&file, 0);
    for (const char *at = path != NULL ? path : PATH_DEFAULT;;) {
        size_t length = strcspn(at, ":");
        struct os_stat stat;
        strbuf_clear(&file);
        strbuf_append(&file, at, length); /* an empty one is the working directory */
        strbuf_printf(&file, "%s%s", length > 0 ? "/" : "./", what->argv[0]);
        if (os_stat(job->host->os, strbuf_text(&file), &stat) == 0 &&
            (stat.is_link || (stat.is_file && (stat.mode & 0111) != 0))) {
            int code = spawn_file(job, strbuf_text(&file), what, err);
            if (code != -EACCES && !(code == -ENOENT && is_dangling(job, strbuf_text(&file)))) {
                strbuf_fini(&file);
                return code;
            }
            rc = code == -EACCES ? code : rc;
        }
        if (at[length] == '\0') {
            break;
        }
        at += length + 1;
    }
    strbuf_fini(&file);
    return rc == -ENOENT ? err_set(err, rc, "%.200s: command not found in PATH", what->argv[0])
                         : rc;
}

int job_start(const struct job_host *host, const struct job_spec *spec,
              const struct job_owner *owner, struct job **ret, struct err *err)
{
    struct job *job = mem_zalloc(sizeof(*job));
    const struct os_terminal_spec pipes = {.ready = output_ready, .arg = job};
    job->host = host;
    job->owner = owner;
    job->open[1] = job->open[2] = !spec->detached;
    int rc = spec->detached ? 0 : os_terminal_open(host->os, &pipes, &job->terminal, err);
    if (rc == 0) {
        rc = strchr(spec->argv[0], '/') != NULL ? spawn_file(job, NULL, spec, err)
                                                : spawn_found(job, spec, err);
    }
    if (rc != 0) {
        os_terminal_close(job->terminal);
        mem_free(job);
        return rc;
    }
    job->outer_pid = os_enclosure_outer_pid(host->enclosure, job->pid);
    job->timeout = loop_timer_create(host->loop, timeout_over, job);
    job->settle = loop_timer_create(host->loop, job_settle, job);
    if (spec->timeout_ms > 0) {
        loop_timer_set(job->timeout, spec->timeout_ms);
    }
    if (job->terminal != NULL) {
        os_terminal_end_input(job->terminal);
        os_terminal_want(job->terminal, false, true, true);
    }
    *ret = job;
    return 0;
}

void job_destroy(struct job *job)
{
    if (job == NULL) {
        return;
    }
    if (job->pid > 0) {
        os_forget(job->host->os, job->pid);
    }
    loop_timer_destroy(job->timeout);
    loop_timer_destroy(job->settle);
    os_terminal_close(job->terminal);
    mem_free(job);
}

pid_t job_pid(const struct job *job)
{
    return job->outer_pid;
}

const struct os_exit *job_how(const struct job *job, enum request_reason *why)
{
    *why = job->why;
    return &job->how;
}
