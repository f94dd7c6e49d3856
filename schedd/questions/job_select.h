/* schedd/questions/job_select.h - identifies the caller of a command, and finds the jobs that the
 * command names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_SELECT_H
#define SCHEDD_QUESTIONS_JOB_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "schedd/queue/queue_table.h"

struct ad;
struct schedd;
struct wire_peer;
struct wire_request;

struct job_caller {
    /* Unix account whose jobs the caller owns; "" for a super user without an account */
    char owner[OWNER_NAME_MAX + 1];
    bool is_super; /* scope ADMINISTRATOR, or listed in QUEUE_SUPER_USERS: may act on all jobs */
};
/* Identifies the caller.  Returns 0; or -EPERM with err for a caller that this schedd cannot
 * serve. */
int caller_find(struct schedd *schedd, const struct wire_peer *peer, struct job_caller *ret,
                struct err *err);
/* Returns whether the caller may act on the job: as its owner, or as a super user. */
bool caller_may(const struct job_caller *caller, const struct job *job);

/* Checks that all entries of QUEUE_SUPER_USERS are full identities (NAME@DOMAIN).  listed is
 * NULL-terminated, or NULL.  Returns 0, or -EINVAL with err, which says what to write instead. */
int caller_check_super_users(const char *const *listed, const char *uid_domain, struct err *err);

/* Answers a request with the error result and the text of err, and logs it with the caller's
 * identity, the verb and the address. */
void caller_refuse(struct schedd *schedd, struct wire_request *request, int result,
                   const struct err *err);
/* Logs, with the caller's identity, the verb and the address, that a request skipped this many jobs
 * because they belong to others.  Logs nothing if jobs is 0. */
void caller_log_denied(struct schedd *schedd, struct wire_request *request, int64_t jobs);

/* Names a job by its ids.  A pointer would not do, because the job may leave the queue between two
 * slices of work. */
struct job_name {
    int64_t cluster;
    int64_t proc; /* -1: the jobs that this cluster's factory has still to make */
};

/* The jobs that a command selected. */
struct selected {
    /* 0; or, with nothing selected, -ESHUTDOWN (the schedd stops), -EDQUOT (evaluation took more
     * than MAX_CONSTRAINT_STEPS), -EBUSY (the caller's requests hold too many bytes, this list
     * included) or -ECANCELED (the caller's connection is gone; the request has been freed, do
     * nothing) */
    int result;
    struct err err; /* text of the error in `result` */
    struct job_name *names;
    size_t count, capacity;
};
/* frees the contents; a zero-initialized struct is allowed */
void selected_fini(struct selected *selected);
/* Callback that gets the selection.  selected is borrowed during the call; the callback may take
 * over selected->names and set it to NULL. */
typedef void (*selected_f)(void *arg, struct selected *selected);
/* Finds the jobs for which an expression is true, in slices (schedd/requests/request_work.h).  text
 * must live as long as the request.  Each job is evaluated once.  done is called once, later and
 * never from within this call, with the names of all these jobs.  All jobs are evaluated before
 * done is called, so a command is carried out for all selected jobs or, after an error, for none.
 * Returns 0; or, with err and without calling done, -EINVAL (not an expression) or -E2BIG (text too
 * long). */
int select_by_constraint(struct schedd *schedd, struct wire_request *request, const char *text,
                         selected_f done, void *arg, struct err *err);
/* Fails the selections under way with -ESHUTDOWN (the schedd stops). */
void selections_fini(struct schedd *schedd);

/* Adds to *ret the jobs that an argument of the request lists.  name: the argument, a list of ids
 * such as "12.3" and "12" (all jobs of a cluster).  A job id that is listed twice is added twice, a
 * cluster id only once.  *missing grows by the number of ids without a job.  Returns 0; or, with
 * err, -EINVAL (not a list of ids), -E2BIG (too many ids) or -EBUSY (the caller's requests hold too
 * many bytes). */
int select_by_ids(struct schedd *schedd, struct wire_request *request, const char *name,
                  struct selected *ret, int64_t *missing, struct err *err);

#endif
