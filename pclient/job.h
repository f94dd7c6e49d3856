/* pclient/job.h - one job: its first process, what that starts, its output.
 *
 * A job ends with its first process.  Whatever else it has started is killed then, its pipes are
 * read to their end, and only then ended() is called: there is no output after that, and no process
 * of the job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCLIENT_JOB_H
#define PCLIENT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/os/os.h"
#include "pclient/request_plan.h"

struct job;
struct loop;
struct os_enclosure;

/* Whoever has the job; arg is given to each call. */
struct job_owner {
    /* Returns how many bytes of stream 1 or 2 are wanted now; 0: none until job_pump(). */
    size_t (*room)(void *arg, int stream);
    void (*output)(void *arg, int stream, const char *data, size_t length);
    /* No process of the job is left; output may still come.  Returns whether that is wanted. */
    bool (*done)(void *arg);
    /* The job has ended, and its status can be asked for. */
    void (*ended)(void *arg);
    void *arg;
};

struct job_host {
    struct loop *loop;
    struct os *os;
    struct os_enclosure *enclosure;
    const char *mark; /* "PCLIENT_MARK=...", for the environment of jobs */
};

struct job_spec {
    const char *const *argv; /* ended by NULL; argv[0] is looked for in PATH if it has no slash */
    uint64_t timeout_ms;     /* 0: none */
    bool detached;           /* its output goes to these files, "" to nowhere, not to its owner */
    const char *stdout_path, *stderr_path;
};

/* Starts a job.  host and owner must outlive it.  Returns 0 or -errno, with nothing started. */
int job_start(const struct job_host *host, const struct job_spec *spec,
              const struct job_owner *owner, struct job **ret, struct err *err);
/* Forgets the job, whose processes may still run.  NULL is allowed; so is a call from ended(). */
void job_destroy(struct job *job);
pid_t job_pid(const struct job *job); /* returns the pid that the host knows */
/* Kills the job with all that it has started; ended() is called later. */
void job_kill(struct job *job, enum request_reason why);
/* Says that there is room for output again.  May call output() and ended(). */
void job_pump(struct job *job);
/* Returns how the first process ended, after ended(); *why: why we ended it. */
const struct os_exit *job_how(const struct job *job, enum request_reason *why);

#endif
