/* submit/submit_job.h - from the commands of a submit file to the ad of a job.
 *
 * To add a submit command: a row in COMMANDS of submit_job.c (and, if it is neither text, path,
 * number, boolean nor expression, a function there).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_JOB_H
#define SUBMIT_SUBMIT_JOB_H

#include <stdbool.h>

struct ad;
struct err;
struct submit_file;

/* Does the file exist and may it be read?  0, or a negative errno that err explains. */
typedef int (*submit_look_f)(void *arg, const char *path, bool executable, struct err *err);

struct submit_place {
    const char *cwd;  /* of roost submit, absolute */
    const char *file; /* the submit file's name: JobSubmitFile */
    const char *arch; /* of this machine, for the default Requirements */
    const char *opsys;
    const char *user;   /* who submits: the default of accounting_group_user; NULL: unknown */
    char **env;         /* for getenv = true; NULL-terminated */
    submit_look_f look; /* NULL: files are not looked at */
    void *look_arg;
};

/* A new ad (ad_destroy) of the job at hand.  -EINVAL with "job.sub:12: COMMAND: ..." otherwise. */
int submit_job_make(struct submit_file *file, const char *file_name,
                    const struct submit_place *place, struct ad **ret, struct err *err);

/* What the job has and the cluster's ad has not, or has otherwise; what only the cluster has is
 * undefined.  ad_destroy() it. */
struct ad *submit_job_difference(const struct ad *job, const struct ad *cluster);

#endif
