/* submit/submit_job.h - from the commands of a submit file to the ad of a job.
 *
 * HTCondor's commands, attributes and defaults (docs/SUBMIT.md).  The ad of a file's first job is
 * whole; those of later jobs hold what is different, and ProcId and JobStatus.  As in HTCondor, a
 * later job has all else of the first: what a second queue statement takes back stays.
 *
 * To add a command that becomes one attribute: a row in COMMANDS of submit_command.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_JOB_H
#define SUBMIT_SUBMIT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct err;
struct submit_file;

enum submit_look {
    SUBMIT_LOOK_EXECUTABLE, /* a program that can be sent: it exists and is no broken script */
    SUBMIT_LOOK_INPUT,      /* a file that can be read */
    SUBMIT_LOOK_OUTPUT,     /* no directory, and can be written, or made where it is to be */
    SUBMIT_LOOK_LOG,        /* the same, and no symbolic link */
    SUBMIT_LOOK_DIRECTORY,  /* can be entered */
    SUBMIT_LOOK_GIVEN,      /* a directory that who submits may let a job write to, all of it */
    SUBMIT_LOOK_HOME,       /* *bytes: 1 when it is the home, or above it; else 0 */
    SUBMIT_LOOK_SIZE,       /* of a file, or of all that is below a directory; absent: 0 */
    SUBMIT_LOOK_WRAPPED     /* *bytes: 1 when it is a program with the wrappers; else 0 */
};

/* The knobs that submit_place.site is asked for. */
#define SUBMIT_SITE_COUNT 14
extern const char *const submit_site_knobs[SUBMIT_SITE_COUNT];

struct submit_place {
    const char *cwd;  /* of roost submit, absolute */
    const char *file; /* the submit file's name: JobSubmitFile */
    const char *arch; /* of this machine, for the default Requirements */
    const char *opsys;
    const char *user;     /* who submits: the default of accounting_group_user; or NULL */
    bool own_charge_only; /* user is the owner, and accounting_group_user can be no other */
    const char *filesystem_domain; /* NULL: none is told */
    char **env;                    /* for getenv; NULL-terminated; may be NULL */
    bool obeyed_only; /* refuse what the pool does not obey yet: a job that was to be removed by
                       * its policy must not run without it */
    /* What the path shows: 0 and *bytes (of SIZE and WRAPPED), or a negative errno and err with a
     * line that names the path.  NULL: files are not looked at. */
    int (*look)(void *arg, enum submit_look what, const char *path, int64_t *bytes,
                struct err *err);
    /* A default of the site, as JOB_DEFAULT_REQUESTMEMORY; NULL: HTCondor's own. */
    const char *(*site)(void *arg, const char *knob);
    void (*warn)(void *arg, const char *text); /* NULL: nobody listens */
    void *arg;
};

/* A new ad (ad_destroy) of the job at hand; first: the ad of the file's first job, NULL while this
 * is it.  -EINVAL with "job.sub:12: ..." otherwise, or what look said. */
int submit_job_make(struct submit_file *file, const char *file_name,
                    const struct submit_place *place, int64_t proc, const struct ad *first,
                    struct ad **ret, struct err *err);

/* Is the cluster one whose jobs are made one by one (max_materialize, max_idle)?  *limit is
 * max_materialize, -1 without. */
int submit_job_is_late(struct submit_file *file, bool *ret, int64_t *limit, struct err *err);

#endif
