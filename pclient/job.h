/* pclient/job.h - one job: its first process, what that starts, its output.
 *
 * A job ends with its first process.  Whatever else it has started is killed then, and the job has
 * ended when its pipes were read to their end: there is no output after that, and no process of the
 * job.  Whoever has the job is told that something has changed, and then asks what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCLIENT_JOB_H
#define PCLIENT_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "base/os/os.h"
#include "pclient/request_plan.h"

struct job;
struct os_enclosure;

enum job_phase {
    JOB_RUNS,
    JOB_DONE,  /* no process of the job is left; there may be output to take */
    JOB_ENDED, /* its output has ended, too, and its status can be asked for */
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
    bool detached;           /* its output goes to these files, "" to nowhere */
    const char *stdout_path, *stderr_path;
};

/* Starts a job.  changed(arg) is called from the loop when there is output to take, and when the
 * phase is another one; job_destroy() may be called in it.  host must outlive the job.  Returns 0
 * or -errno, with nothing started. */
int job_start(const struct job_host *host, const struct job_spec *spec, loop_f changed, void *arg,
              struct job **ret, struct err *err);
/* Forgets the job, whose processes may still run.  NULL is allowed. */
void job_destroy(struct job *job);
pid_t job_pid(const struct job *job); /* returns the pid that the host knows */
enum job_phase job_phase(const struct job *job);
/* Kills the job with all that it has started; its phase changes later. */
void job_kill(struct job *job, enum request_reason why);
/* Takes output of stream 1 or 2, at most room bytes of it, which *data points to until the next
 * call.  Returns how many bytes there are; 0: none now.  When room was 0, nothing is read of the
 * stream, and changed() is not called for it, until the next call with room.  May change the
 * phase from JOB_DONE to JOB_ENDED, without a call of changed(). */
size_t job_take(struct job *job, int stream, size_t room, const char **data);
/* Says that nobody wants more of the output. */
void job_drop_output(struct job *job);
/* Returns how the first process ended, after JOB_ENDED; *why: why we ended it. */
const struct os_exit *job_how(const struct job *job, enum request_reason *why);

#endif
