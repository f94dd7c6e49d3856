/* starter/job/job_place.h - the account, the directory and the environment in which the job's
 * programs run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_PLACE_H
#define STARTER_JOB_JOB_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/os/os.h"

/* A file of the sandbox in which USER_JOB_WRAPPER, the site's wrapper, writes why it did not start
 * the job. */
#define JOB_PLACE_WRAPPER_ERRORS ".job_wrapper_failure"

struct err;
struct starter;
struct vec;

struct job_account {  /* the account that the job runs as */
    bool change_user; /* we are root: uid and gid are set and differ from ours */
    bool is_owner;    /* it is the account of the job's owner */
    uid_t uid;
    gid_t gid;
};

/* Chooses the account, and makes the sandbox unless has_sandbox says that an empty one is there.  0
 * or -errno. */
int job_place_prepare(struct starter *starter, bool has_sandbox, struct err *err);
/* Gives the sandbox to the job's account, just before programs run as that account.  0 or
 * -errno. */
int job_place_hand_over(struct starter *starter, struct err *err);
/* Takes the sandbox back from the account when the job has ended: only we may change it then.  0 or
 * -errno. */
int job_place_take_back(struct starter *starter, struct err *err);
/* Returns the working directory of the job.  Borrowed. */
const char *job_place_directory(const struct starter *starter);
/* Appends the job's environment to entries (mem_ blocks).  0 or -errno. */
int job_place_environment(struct starter *starter, struct vec *entries, struct err *err);
/* Returns a spawn request with the job's account and no privileges of ours; the caller adds argv,
 * environment and so on. */
struct os_spawn job_place_spec(const struct starter *starter);

#endif
