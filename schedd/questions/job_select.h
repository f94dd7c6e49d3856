/* schedd/questions/job_select.h - who asks that something be done to jobs, and to which.
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
    char owner[OWNER_NAME_MAX + 1]; /* "" for one who may act on all and is no user here */
    bool is_super;                  /* ADMINISTRATOR, or one of QUEUE_SUPER_USERS */
};
/* 0, or -EPERM with err for one whom this schedd cannot serve. */
int caller_find(struct schedd *schedd, const struct wire_peer *peer, struct job_caller *ret,
                struct err *err);
bool caller_may(const struct job_caller *caller, const struct job *job);

/* Are all entries of QUEUE_SUPER_USERS whole identities (NAME@DOMAIN)?  0, or -EINVAL with err,
 * which says what to write instead.  listed: NULL-terminated, or NULL. */
int caller_check_super_users(const char *const *listed, const char *uid_domain, struct err *err);

/* Answers a request with result and err, and logs it with the identity, the verb and the peer. */
void caller_refuse(struct schedd *schedd, struct wire_request *request, int result,
                   const struct err *err);
/* Logs the same of a request that left so many jobs as they are, because they are not the caller's;
 * 0: nothing. */
void caller_log_denied(struct schedd *schedd, struct wire_request *request, int64_t jobs);

/* A job by its name: between two slices it may go. */
struct job_name {
    int64_t cluster;
    int64_t proc; /* -1: the jobs of this cluster that are still to be made */
};

/* What was selected. */
struct selected {
    /* 0; -ESHUTDOWN (the schedd ends), -EDQUOT (it took more than MAX_CONSTRAINT_STEPS) or -EBUSY
     * (the caller's requests hold too many bytes, this list among them): nothing was selected;
     * -ECANCELED: the peer is gone, so is the request, and nothing is to be done */
    int result;
    struct err err; /* of a result below 0 */
    struct job_name *names;
    size_t count, capacity;
};
void selected_fini(struct selected *selected); /* zero-initialized is allowed */
/* selected is borrowed for the call, which may take names out of it. */
typedef void (*selected_f)(void *arg, struct selected *selected);
/* Finds the jobs for which the expression (text, which lives as long as the request) is true, in
 * slices (schedd/requests/request_work.h).  Each job is judged once, when it is reached; done,
 * called once and never in here, gets their names.  Nothing is changed before all have been judged,
 * so a command is done to all of them or, on an error, to none.  0; or -EINVAL, -E2BIG with err,
 * and done is not called. */
int select_by_constraint(struct schedd *schedd, struct wire_request *request, const char *text,
                         selected_f done, void *arg, struct err *err);
void selections_fini(struct schedd *schedd); /* ends those under way with -ESHUTDOWN */

/* Adds the jobs of a list of "12.3" and "12", an argument of the request; a job is added once for
 * each time it is named by itself, and once for all times that its cluster is.  *missing counts
 * those that are not there. -EINVAL, -E2BIG, -EBUSY with err. */
int select_by_ids(struct schedd *schedd, struct wire_request *request, const char *name,
                  struct selected *ret, int64_t *missing, struct err *err);

#endif
