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

/* Name of a file in the sandbox in which USER_JOB_WRAPPER, the site's program that starts jobs,
 * writes why it did not start the job. */
#define JOB_PLACE_WRAPPER_ERRORS ".job_wrapper_failure"

struct err;
struct starter;
struct vec;

/* The account under which the job runs. */
struct job_account {
    bool change_user; /* true: the starter is root, and the job runs under uid and gid */
    bool is_owner;    /* true: the account is that of the job's owner */
    uid_t uid;
    gid_t gid;
};

/* Chooses the account for the job, and makes the sandbox unless an empty one exists already
 * (has_sandbox).  Returns 0 or -errno. */
int job_place_prepare(struct starter *starter, bool has_sandbox, struct err *err);
/* Gives the sandbox to the job's account, just before programs run as that account.  Returns 0 or
 * -errno. */
int job_place_hand_over(struct starter *starter, struct err *err);
/* Called when the job has ended: makes the sandbox belong to the starter's account again, so that
 * the job's account can no longer change it.  Returns 0 or -errno. */
int job_place_take_back(struct starter *starter, struct err *err);
/* Returns the working directory in which the job's programs are started, as these programs see its
 * path.  Borrowed. */
const char *job_place_directory(const struct starter *starter);
/* Appends the job's environment to entries (strings that the caller frees).  Returns 0 or -errno.
 */
int job_place_environment(struct starter *starter, struct vec *entries, struct err *err);
/* Returns a struct for cage_spawn() that starts a program under the job's account without the
 * starter's privileges; the caller adds argv, environment and so on. */
struct os_spawn job_place_spec(const struct starter *starter);

#endif
