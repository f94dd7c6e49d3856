/* pclient/job.c - see job.h.
 *
 * Stages: runs, until its first process has ended; then ending, until no process is left; then
 * done.  What cannot be killed, and what holds the pipes longer than that, is given up.
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
#define SETTLE_MS     1    /* first pause before what is left is killed again; then longer */
#define SETTLE_MS_MAX 50   /* ... up to this */
#define GIVE_UP_MS    5000 /* for pipes that somebody holds whom we cannot kill */

enum stage {
    STAGE_RUNS,
    STAGE_ENDING,
    STAGE_DONE,
    STAGE_GIVEN_UP, /* no more is waited for: output is what can be read at once */
};

struct job {
    const struct job_host *host;
    loop_f changed;
    void *arg;
    struct os_terminal *terminal; /* NULL: a detached job */
    struct loop_timer *timeout, *settle;
    pid_t pid, outer_pid;
    bool open[3];   /* [1] and [2]: the stream has not ended */
    bool wanted[3]; /* ... and there is room for what it has */
    enum stage stage;
    uint64_t ended_ms, settle_ms;
    enum request_reason why;
    struct os_exit how;
    char chunk[PCLIENT_PUSH_MAX];
};

/* ---- output ---------------------------------------------------------------------------------- */

static bool is_awaited(const struct job *job, int stream)
{
    return job->open[stream] && job->wanted[stream];
}

static void output_ready(void *arg)
{
    struct job *job = arg;
    job->changed(job->arg); /* it may destroy the job */
}

/* Says whether there is room for output of the stream. */
static void set_wanted(struct job *job, int stream, bool wanted)
{
    if (wanted && !job->wanted[stream] && job->stage == STAGE_DONE) {
        loop_timer_set(job->settle, job->settle_ms); /* it stopped when nothing was awaited */
    }
    job->wanted[stream] = wanted;
    os_terminal_want(job->terminal, false, is_awaited(job, 1), is_awaited(job, 2));
}

size_t job_take(struct job *job, int stream, size_t room, const char **data)
{
    ssize_t got = -EAGAIN;
    if (!job->open[stream]) {
        return 0;
    }
    if (room > 0) {
        got = os_terminal_read(job->terminal, stream, job->chunk,
                               room < sizeof(job->chunk) ? room : sizeof(job->chunk));
        job->open[stream] = got > 0 || (got < 0 && job->stage != STAGE_GIVEN_UP);
    }
    if (!job->open[stream] || job->wanted[stream] != (room > 0)) {
        set_wanted(job, stream, room > 0);
    }
    *data = job->chunk;
    return got > 0 ? (size_t)got : 0;
}

void job_drop_output(struct job *job)
{
    job->open[1] = job->open[2] = false;
    if (job->terminal != NULL) {
        os_terminal_want(job->terminal, false, false, false);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

enum job_phase job_phase(const struct job *job)
{
    return job->stage < STAGE_DONE          ? JOB_RUNS
           : (job->open[1] || job->open[2]) ? JOB_DONE
                                            : JOB_ENDED;
}

/* Goes on until nothing is left; may be the job's last call. */
static void job_settle(void *arg)
{
    struct job *job = arg;
    bool others = os_enclosure_has_others(job->host->enclosure);
    if (others) {
        os_enclosure_kill_others(job->host->enclosure);
    }
    if (job->stage == STAGE_ENDING && !others) {
        job->stage = STAGE_DONE;
    }
    if (others || is_awaited(job, 1) || is_awaited(job, 2)) {
        if (loop_now_ms(job->host->loop) - job->ended_ms >= GIVE_UP_MS) {
            (void)fprintf(stderr,
                          "pclient: something of job %d cannot be killed; going on without it\n",
                          (int)job->outer_pid);
            job->stage = STAGE_GIVEN_UP;
        } else {
            loop_timer_set(job->settle, job->settle_ms);
            job->settle_ms =
                2 * job->settle_ms < SETTLE_MS_MAX ? 2 * job->settle_ms : SETTLE_MS_MAX;
        }
    }
    job->changed(job->arg); /* it may destroy the job */
}

static void process_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct job *job = arg;
    (void)pid;
    job->pid = 0;
    job->how = *how;
    job->stage = STAGE_ENDING;
    job->ended_ms = loop_now_ms(job->host->loop);
    job->settle_ms = SETTLE_MS;
    loop_timer_stop(job->timeout);
    job_settle(job);
}

void job_kill(struct job *job, enum request_reason why)
{
    if (job->stage == STAGE_RUNS && job->why == REASON_NONE) {
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

int job_start(const struct job_host *host, const struct job_spec *spec, loop_f changed, void *arg,
              struct job **ret, struct err *err)
{
    struct job *job = mem_zalloc(sizeof(*job));
    const struct os_terminal_spec pipes = {.ready = output_ready, .arg = job};
    job->host = host;
    job->changed = changed;
    job->arg = arg;
    job->open[1] = job->open[2] = job->wanted[1] = job->wanted[2] = !spec->detached;
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
