/* pclient/request_plan.h - what a line of the controller asks for, and how the end of a job is
 * said: see docs/protocol/pclient.md.
 *
 * Pure: a line becomes a request or a reason why it is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCLIENT_REQUEST_PLAN_H
#define PCLIENT_REQUEST_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct err;
struct strbuf;

#define REQUEST_MARK_MAX      64   /* most bytes of the mark of a detached job */
#define REQUEST_WINDOW_MIN    4096 /* bytes */
#define REQUEST_WINDOW_MAX    ((int64_t)64 << 20)
#define REQUEST_TIMEOUT_MAX_S 315360000.0 /* ten years */
#define REQUEST_JOB_LEASE_S   3600        /* of a detached job, unless -lease says otherwise */

enum request_kind {
    REQUEST_NONE, /* an empty line, or a comment */
    REQUEST_JOB,
    REQUEST_STATUS,
    REQUEST_STDOUT,
    REQUEST_STDERR,
    REQUEST_RESET,
    REQUEST_KILL,
    REQUEST_JOBS,
    REQUEST_RENEW,
    REQUEST_LEASE,
    REQUEST_PING,
    REQUEST_FOLLOW,
    REQUEST_ACK,
    REQUEST_HELP,
    REQUEST_EXIT,
};

/* Texts are those of `words`; NULL: not given. */
struct request {
    enum request_kind kind;
    struct vec words; /* char *, ended by NULL, which is not counted */
    /* Of a job: its words, ended by NULL. */
    const char *const *argv;
    uint64_t timeout_ms;                   /* 0: none */
    const char *mark;                      /* of a detached job: job, kill, renew */
    const char *stdout_path, *stderr_path; /* of a detached job */
    int64_t lease_s;                       /* job -detach, renew (0: as at its start), lease */
    bool take;                             /* stdout, stderr */
    const char *word;                      /* ping: the token, may be NULL; follow: the nonce */
    int64_t bytes;                         /* follow: the window; ack */
};

/* Reads a line, without its newline.  Returns 0; or -errno and err says why the line is refused.
 * request_fini() in each case. */
int request_plan_parse(const char *line, size_t length, struct request *ret, struct err *err);
void request_fini(struct request *request);

/* Reads a mark: 1 to REQUEST_MARK_MAX letters, digits and . _ -; not with a - or . first.  Returns
 * 0 or -EINVAL. */
int request_plan_mark(const char *text, struct err *err);
/* Reads the seconds of a lease.  Returns 0, -EINVAL or -ERANGE. */
int request_plan_lease(const char *text, int64_t *ret, struct err *err);

/* Why pclient has ended a job. */
enum request_reason {
    REASON_NONE,
    REASON_TIMEOUT,
    REASON_KILLED,
};

/* Appends the words of a status: "EXIT 3", "CRASH 9 timeout".  signal_number 0: the job ended by
 * itself, with exit_status. */
void request_plan_status(struct strbuf *out, int exit_status, int signal_number,
                         enum request_reason why);

extern const char REQUEST_HELP_TEXT[];

#endif
