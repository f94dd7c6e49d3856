/* starter/job/job_place.h - as whom the job's programs run, where, and with which environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_PLACE_H
#define STARTER_JOB_JOB_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/os/os.h"

/* A file of the sandbox: what the site's wrapper of jobs says of why it did not become the job. */
#define JOB_PLACE_WRAPPER_ERRORS ".job_wrapper_failure"

struct err;
struct starter;
struct vec;

struct job_account { /* whom it runs as */
    bool change_user;
    bool is_owner; /* the job's own account */
    uid_t uid;
    gid_t gid;
};

/* Chooses the account, and makes the sandbox unless it is there, as new. */
int job_place_prepare(struct starter *starter, bool has_sandbox, struct err *err);
/* The sandbox is the account's only while the job runs. */
int job_place_hand_over(struct starter *starter, struct err *err);
int job_place_take_back(struct starter *starter, struct err *err);
const char *job_place_directory(const struct starter *starter); /* the job runs in */
int job_place_environment(struct starter *starter, struct vec *entries, struct err *err);
/* A program of the job's account, with nothing of ours: argv and the like are to follow. */
struct os_spawn job_place_spec(const struct starter *starter);

#endif
